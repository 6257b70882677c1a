// SPDX-License-Identifier: Apache-2.0
// The picture of all keys of a prefix: looks at them, watches them from there on, and looks again
// whenever the server might have been lost. Whether the server answers is judged here alone.
//
//   looking    one range request is under way; its answer is the picture
//   watching   a stream tells what changes; when it does not begin in time, when it ends, or when
//              no server took another request, looking begins again, but not twice in a second
//   stopped    for good
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/etcd/etcd_client.h"

namespace paddle_launch {

class PrefixWatch {
 public:
  PrefixWatch(EtcdClient& client, std::string prefix, KeeperEvents& events);

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
  KeeperEvents& events_;
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
