// SPDX-License-Identifier: Apache-2.0
// The picture of all keys of a prefix: looks at them, watches them from there on, and looks again
// whenever the server might have been lost. Whether the server answers is judged here alone.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/etcd/etcd_client.h"

namespace paddle_launch {

struct PrefixEvents {
  std::function<void()> changed;  // entries(); and once after the first look
  // Told when it changes, and once at the start; empty: the server answers.
  std::function<void(const EtcdProblem& problem)> connection;
};

class PrefixWatch {
 public:
  PrefixWatch(EtcdClient& client, std::string prefix, PrefixEvents events);

  std::vector<EtcdEntry> entries() const;

  // Another request was not answered.
  void look_again();
  void stop();

  Moment due() const;
  void on_time(Moment now);

 private:
  void look();
  void take_look(const EtcdReply& reply);
  void take_picture(const RangeAnswer& range);
  void open_stream(std::int64_t from_revision);
  void take_piece(std::string_view piece);
  void take_line(std::string_view line);
  void apply(const std::vector<WatchEvent>& events);
  void close_stream();
  void tell_connection(const EtcdProblem& problem);

  EtcdClient& client_;
  std::string prefix_;
  PrefixEvents events_;
  std::map<std::string, EtcdEntry> picture_;
  bool has_picture_ = false;
  std::optional<EtcdProblem> problem_;  // nothing: not known yet
  bool is_looking_ = false;
  bool is_stopped_ = false;
  Moment last_look_{};
  Moment next_look_{};  // also: the stream must have begun until then
  std::optional<Http::Id> stream_;
  std::string line_;  // its last one, not whole yet
};

}  // namespace paddle_launch
