// SPDX-License-Identifier: Apache-2.0
// One round of attempts to find the hub of this job among some addresses and ports. On a shared
// host the first port may belong to somebody else's job: then all the others are tried at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/channel/link.h"
#include "launcher/os/event_loop.h"

namespace paddle_launch {

struct DialTarget {
  std::uint32_t address = 0;
  int port = 0;
};

// Of a job that is not this one, or of one with another command.
struct OtherHub {
  Greeting greeting{};
  DialTarget where{};
  bool knows_secret = false;
};

// Why no hub was found.
struct DialFailure {
  std::string why{};        // of the attempt that came furthest: "connection refused", …
  bool is_refused = false;  // nobody listens there
  std::vector<OtherHub> other_jobs{};  // that answered
};

class Dialer {
 public:
  // Exactly one of them is called, once. The dialer may be destroyed inside.
  struct Events {
    std::function<void(std::unique_ptr<Link>)> found;
    std::function<void(const DialFailure&)> failed;
  };

  Dialer(EventLoop& loop, ChannelIdentity identity, const std::vector<DialTarget>& targets,
         std::optional<std::uint32_t> from, Events events);
  Dialer(const Dialer&) = delete;
  Dialer& operator=(const Dialer&) = delete;
  ~Dialer();

 private:
  // How far an attempt came; the one that came furthest is told. A port that refuses is the usual
  // thing next to a port that answers wrongly.
  enum class Depth { Refused, Failed, Silent, Answered };

  void begin(const DialTarget& target);
  void connected(int fd);
  void ended(int fd, const LinkEnd& end);
  void proved(int fd);
  void lose(int fd, Depth depth, const std::string& why);
  void finish_if_all_failed();
  void give_head_start();
  void begin_others();

  EventLoop& loop_;
  ChannelIdentity identity_;
  Events events_;
  std::map<int, DialTarget> targets_;
  std::map<int, UniqueFd> connecting_;
  std::map<int, std::unique_ptr<Link>> greeting_;
  Alarm connect_time_;
  Alarm head_start_;
  std::optional<std::uint32_t> from_;
  std::vector<DialTarget> others_;  // what is tried when the first port is not the hub's
  DialFailure failure_;
  std::optional<Depth> depth_;  // of the attempt that failure_.why tells of
};

}  // namespace paddle_launch
