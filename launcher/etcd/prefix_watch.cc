// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/prefix_watch.h"

#include <algorithm>
#include <utility>

#include "launcher/etcd/gateway.h"

namespace paddle_launch {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kBetweenLooks{1};
constexpr std::size_t kLongestLine = std::size_t{64} << 20U;

}  // namespace

PrefixWatch::PrefixWatch(EtcdClient& client, std::string prefix, KeeperEvents& events)
    : client_(client),
      prefix_(std::move(prefix)),
      events_(events),
      next_look_(steady_clock::now()) {}

std::vector<EtcdEntry> PrefixWatch::entries() const {
  std::vector<EtcdEntry> all;
  all.reserve(picture_.size());
  for (const auto& [key, entry] : picture_) all.push_back(entry);
  return all;
}

void PrefixWatch::tell_connection(const EtcdProblem& problem) {
  if (problem_ == problem) return;
  problem_ = problem;
  events_.on_connection(problem);
}

Moment PrefixWatch::due() const { return is_looking_ ? Moment::max() : next_look_; }

void PrefixWatch::on_time(Moment now) {
  if (now >= due()) look();
}

// A server that ends every stream at once is not asked more than once a second.
void PrefixWatch::look_again() {
  if (is_stopped_) return;
  close_stream();
  next_look_ = std::max(steady_clock::now(), last_look_ + kBetweenLooks);
}

void PrefixWatch::stop() {
  is_stopped_ = true;
  close_stream();
  next_look_ = Moment::max();
}

void PrefixWatch::look() {
  close_stream();
  is_looking_ = true;
  last_look_ = steady_clock::now();
  next_look_ = Moment::max();
  client_.call({.path = kRangePath,
                .body = range_request(prefix_),
                .deadline = client_.deadline_for_all(),
                .is_fresh = true},
               [this](const EtcdReply& reply) {
                 is_looking_ = false;
                 take_look(reply);
               });
}

void PrefixWatch::take_look(const EtcdReply& reply) {
  const auto range = reply.is_fine ? read_range(reply.body, prefix_) : std::nullopt;
  if (range) {
    next_look_ = Moment::max();
    tell_connection({});
    take_picture(*range);
    if (!is_stopped_) open_stream(range->revision + 1);
    return;
  }
  next_look_ = steady_clock::now() + kBetweenLooks;
  tell_connection(
      reply.is_fine
          ? EtcdProblem{EtcdProblem::Kind::Unexplained,
                        client_.with_address("answers, but not as etcd does (no list of keys)")}
          : EtcdProblem{reply.kind, reply.problem});
}

void PrefixWatch::take_picture(const RangeAnswer& range) {
  std::map<std::string, EtcdEntry> seen;
  for (const EtcdEntry& entry : range.entries) seen.insert_or_assign(entry.key, entry);
  if (std::exchange(has_picture_, true) && seen == picture_) return;
  picture_ = std::move(seen);
  events_.on_entries();
}

void PrefixWatch::open_stream(std::int64_t from_revision) {
  next_look_ = steady_clock::now() + kToAnswer;
  stream_ = client_.stream(
      kWatchPath, watch_request(prefix_, from_revision),
      [this](std::string_view piece) { take_piece(piece); },
      [this](const HttpReply&) {
        stream_.reset();
        look_again();
      });
}

void PrefixWatch::close_stream() {
  if (stream_) client_.cancel(*std::exchange(stream_, std::nullopt));
  line_.clear();
}

void PrefixWatch::take_piece(std::string_view piece) {
  // What was there before has no end of a line.
  std::size_t end = piece.find('\n');
  if (end != std::string_view::npos) end += line_.size();
  line_.append(piece);
  if (line_.size() > kLongestLine) return look_again();
  for (; stream_ && end != std::string::npos; end = line_.find('\n')) {
    const std::string line = line_.substr(0, end);
    line_.erase(0, end + 1);
    take_line(line);
  }
}

void PrefixWatch::take_line(std::string_view line) {
  const auto answer = read_watch(line, prefix_);
  if (!answer || answer->is_over) return look_again();
  if (answer->is_created) next_look_ = Moment::max();
  if (!answer->events.empty()) apply(answer->events);
}

void PrefixWatch::apply(const std::vector<WatchEvent>& events) {
  for (const auto& [is_delete, entry] : events) {
    if (is_delete) {
      picture_.erase(entry.key);
    } else {
      picture_.insert_or_assign(entry.key, entry);
    }
  }
  events_.on_entries();
}

}  // namespace paddle_launch
