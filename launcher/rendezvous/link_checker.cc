// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/link_checker.h"

#include <sys/socket.h>

#include <system_error>
#include <utility>

#include "launcher/channel/link.h"
#include "launcher/job/errors.h"
#include "launcher/os/name_lookup.h"
#include "launcher/os/tcp.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kTriesAtOnce = 64;
constexpr std::chrono::seconds kTryTime{5};
constexpr std::chrono::seconds kLookUpTime{5};
// For everything: a node that is stopped, or hangs, does not hold up the table for ever.
constexpr std::chrono::seconds kWholeTime{120};
constexpr int kBacklog = 256;

CheckedNode checked_node(const PodOffer& pod) {
  CheckedNode node{.host = pod.host,
                   .trainers = static_cast<int>(pod.trainers.size()),
                   .processes = static_cast<int>(pod.roles.size())};
  for (const TrainerOffer& trainer : pod.trainers) {
    node.cards += static_cast<int>(trainer.cards.size());
  }
  return node;
}

std::vector<int> ports_of(const PodOffer& pod) {
  std::vector<int> ports;
  for (const TrainerOffer& trainer : pod.trainers) ports.push_back(trainer.port);
  for (const RoleOffer& process : pod.roles) {
    if (process.port > 0) ports.push_back(process.port);
  }
  return ports;
}

}  // namespace

LinkChecker::LinkChecker(EventLoop& loop, JobChannel& channel, const Roster& roster,
                         std::string machine)
    : loop_(loop),
      channel_(channel),
      roster_(roster),
      mine_(static_cast<int>(roster.mine)),
      machine_(std::move(machine)),
      late_(loop),
      deadline_(loop) {
  for (int node = 0; node < static_cast<int>(roster_.pods.size()); ++node) {
    result_.nodes.push_back(checked_node(roster_.pods[static_cast<std::size_t>(node)]));
    not_ready_.insert(node);
    rows_missing_.insert(node);
  }
}

LinkChecker::~LinkChecker() {
  for (const UniqueFd& listener : listeners_) loop_.forget(listener.get());
  for (const auto& attempt : trying_) loop_.forget(attempt.first);
}

LinkCheck LinkChecker::run() {
  open_ports();
  channel_.set_events({.stop = [this](const StopCause& cause) { lose(cause); },
                       .kill = [] {},
                       .verdict = [](const JobVerdict&) {},
                       .remark = [](const std::string&) {},
                       .other = [this](int node, const Message& message) { take(node, message); }});
  if (channel_.is_hub()) {
    deadline_.set(kWholeTime, [this] { give_up_on_silent_ones(); });
    take(mine_, CheckReadyMessage{machine_});
  } else {
    channel_.tell(CheckReadyMessage{machine_});
  }
  loop_.run();
  if (hub_lost_) throw NodeMissing(*hub_lost_);
  return result_;
}

// A port that cannot be opened shows as refused in everybody else's row.
void LinkChecker::open_ports() {
  for (const int port : ports_of(roster_.pods.at(roster_.mine))) {
    try {
      UniqueFd listener = listen_on(0, port, kBacklog);
      loop_.on_readable(listener.get(), [fd = listener.get()] {
        UniqueFd(accept4(fd, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)).reset();
      });
      listeners_.push_back(std::move(listener));
    } catch (const std::system_error&) {
      continue;
    }
  }
}

void LinkChecker::take(int node, const Message& message) {
  if (const auto* ready = std::get_if<CheckReadyMessage>(&message)) {
    result_.nodes.at(static_cast<std::size_t>(node)).machine = ready->machine;
    not_ready_.erase(node);
    give_sign_when_all_are_ready();
  } else if (std::holds_alternative<CheckGoMessage>(message)) {
    begin_tries();
  } else if (const auto* row = std::get_if<CheckRowMessage>(&message)) {
    take_row(node, row->tries);
  } else if (const auto* done = std::get_if<CheckDoneMessage>(&message)) {
    result_ = done->check;
    loop_.stop();
  }
}

void LinkChecker::lose(const StopCause& cause) {
  if (!channel_.is_hub()) {
    hub_lost_ = cause.text;
    return loop_.stop();
  }
  result_.silent.push_back(cause.node);
  not_ready_.erase(cause.node);
  rows_missing_.erase(cause.node);
  give_sign_when_all_are_ready();
  report_when_all_rows_are_in();
}

void LinkChecker::give_sign_when_all_are_ready() {
  if (!not_ready_.empty() || !row_.empty()) return;
  channel_.tell(CheckGoMessage{});
  begin_tries();
}

void LinkChecker::begin_tries() {
  std::vector<std::string> hosts;
  for (const PodOffer& pod : roster_.pods) hosts.push_back(pod.host);
  const std::vector<NameAnswer> answers = look_up(hosts, kLookUpTime);
  for (int to = 0; to < static_cast<int>(hosts.size()); ++to) {
    const NameAnswer& answer = answers.at(static_cast<std::size_t>(to));
    if (to != mine_) queue_tries(to, answer.addresses, answer.problem);
  }
  begin_some();
}

void LinkChecker::queue_tries(int to, const std::vector<std::uint32_t>& addresses,
                              const std::string& problem) {
  row_[to] = LinkTry{.from = mine_, .to = to};
  if (addresses.empty()) return note(to, 0, 0, "its name is not known here: " + problem);
  for (const int port : ports_of(roster_.pods.at(static_cast<std::size_t>(to)))) {
    waiting_.push_back({.to = to, .address = addresses.front(), .port = port});
  }
}

void LinkChecker::begin_some() {
  while (!waiting_.empty() && trying_.size() < kTriesAtOnce) {
    Attempt attempt = std::move(waiting_.front());
    waiting_.pop_front();
    attempt.begun = EventLoop::Clock::now();
    try {
      attempt.socket = begin_connect(attempt.address, attempt.port);
    } catch (const std::system_error& error) {
      note(attempt.to, attempt.port, 0, connection_problem(error.code().value()));
      continue;
    }
    const int fd = attempt.socket.get();
    trying_.emplace(fd, std::move(attempt));
    loop_.on_writable(fd, [this, fd] {
      const int error = connect_result(fd);
      finish(fd, error == 0 ? "" : connection_problem(error));
      begin_some();
    });
  }
  if (trying_.empty()) return hand_in();
  if (!late_.is_set()) late_.set(kTryTime, [this] { finish_late_ones(); });
}

void LinkChecker::finish(int fd, const std::string& problem) {
  const auto found = trying_.find(fd);
  const Attempt& attempt = found->second;
  const std::chrono::duration<double, std::milli> took = EventLoop::Clock::now() - attempt.begun;
  note(attempt.to, attempt.port, took.count(), problem);
  loop_.forget(fd);
  trying_.erase(found);
}

void LinkChecker::finish_late_ones() {
  std::vector<int> late;
  const auto now = EventLoop::Clock::now();
  for (const auto& [fd, attempt] : trying_) {
    if (now - attempt.begun >= kTryTime) late.push_back(fd);
  }
  const std::string silence = "no answer in " + std::to_string(kTryTime.count()) + " s";
  for (const int fd : late) finish(fd, silence);
  begin_some();
}

// A link is as good as the worst of its ports.
void LinkChecker::note(int to, int port, double ms, const std::string& problem) {
  LinkTry& link = row_[to];
  const bool is_worse =
      problem.empty() ? link.problem.empty() && ms >= link.ms : link.problem.empty();
  if (!is_worse) return;
  link.port = port;
  link.ms = ms;
  link.problem = problem;
}

void LinkChecker::hand_in() {
  late_.stop();
  std::vector<LinkTry> tries;
  for (const auto& link : row_) tries.push_back(link.second);
  if (channel_.is_hub()) return take_row(mine_, tries);
  channel_.tell(CheckRowMessage{tries});
}

void LinkChecker::take_row(int node, const std::vector<LinkTry>& tries) {
  if (!rows_missing_.contains(node)) return;
  for (LinkTry link : tries) {
    link.from = node;
    if (link.to >= 0 && link.to < static_cast<int>(roster_.pods.size()))
      result_.tries.push_back(link);
  }
  rows_missing_.erase(node);
  report_when_all_rows_are_in();
}

void LinkChecker::give_up_on_silent_ones() {
  result_.silent.insert(result_.silent.end(), rows_missing_.begin(), rows_missing_.end());
  rows_missing_.clear();
  report_when_all_rows_are_in();
}

void LinkChecker::report_when_all_rows_are_in() {
  if (!rows_missing_.empty()) return;
  for (int node = 0; node < static_cast<int>(result_.nodes.size()); ++node) {
    if (const auto clock = channel_.wall_clock_of(node)) {
      result_.nodes[static_cast<std::size_t>(node)].wall_clock = *clock;
    }
  }
  channel_.tell(CheckDoneMessage{result_});
  loop_.stop();
}

}  // namespace paddle_launch
