// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/link_checker.h"

#include <sys/socket.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "launcher/channel/link.h"
#include "launcher/os/name_lookup.h"
#include "launcher/os/sockets.h"

namespace paddle_launch {

namespace {

constexpr std::chrono::seconds kLookUpTime{5};
// From the roster to open ports; whoever needs longer is tried all the same.
constexpr std::chrono::seconds kTimeToOpenPorts{15};
// A row's way to the hub, from a host that is busy.
constexpr std::chrono::seconds kWayOfARow{5};
constexpr std::chrono::seconds kLongestForRows{120};
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

LinkChecker::LinkChecker(EventLoop& loop, Session& session, const Roster& roster,
                         std::string machine)
    : loop_(loop),
      session_(session),
      roster_(roster),
      mine_(static_cast<int>(roster.mine)),
      machine_(std::move(machine)),
      tries_(loop, mine_, [this](const std::vector<LinkTry>& tries) { on_own_row(tries); }),
      deadline_(loop) {
  for (int node = 0; node < static_cast<int>(roster_.pods.size()); ++node) {
    result_.nodes.push_back(checked_node(roster_.pods[static_cast<std::size_t>(node)]));
    not_ready_.insert(node);
    rows_missing_.insert(node);
  }
}

LinkChecker::~LinkChecker() {
  for (const UniqueFd& listener : listeners_) loop_.forget(listener.get());
}

LinkCheck LinkChecker::run() {
  open_ports();
  session_.attend(*this, {});
  if (session_.is_hub()) {
    deadline_.set(kTimeToOpenPorts, [this] { begin(); });
    on_message(mine_, CheckReadyMessage{machine_});
  } else {
    session_.tell(CheckReadyMessage{machine_});
  }
  loop_.run_until([this] { return phase_ == Phase::Over; });
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

void LinkChecker::on_message(int node, const Message& message) {
  if (const auto* ready = std::get_if<CheckReadyMessage>(&message)) {
    result_.nodes.at(static_cast<std::size_t>(node)).machine = ready->machine;
    not_ready_.erase(node);
    begin_when_all_are_ready();
  } else if (std::holds_alternative<CheckGoMessage>(message)) {
    begin();
  } else if (const auto* row = std::get_if<CheckRowMessage>(&message)) {
    on_row(node, row->tries);
  } else if (const auto* done = std::get_if<CheckDoneMessage>(&message)) {
    result_ = done->check;
    end();
  }
}

bool LinkChecker::on_lost(const StopCause& cause) {
  if (phase_ == Phase::Over) return true;
  result_.silent.push_back(cause.node);
  not_ready_.erase(cause.node);
  rows_missing_.erase(cause.node);
  begin_when_all_are_ready();
  report_when_all_rows_are_in();
  return true;
}

// The others may have lost it as well, and try our ports now: these stay open for a try's time.
void LinkChecker::on_stop(const StopCause& cause) {
  if (phase_ == Phase::Over) return;
  result_.silent = {cause.node};
  result_.seen_by = mine_;
  deadline_.set(kTryTime, [this] { end_without_hub(); });
  begin();
}

void LinkChecker::end_without_hub() {
  if (phase_ == Phase::OwnRowIsIn) end();
}

void LinkChecker::begin_when_all_are_ready() {
  if (not_ready_.empty()) begin();
}

void LinkChecker::begin() {
  if (phase_ != Phase::OpeningPorts) return;
  phase_ = Phase::Trying;
  if (session_.is_hub()) {
    session_.tell(CheckGoMessage{});
    deadline_.set(time_for_rows(), [this] { give_up_on_silent_ones(); });
  }
  std::vector<std::string> hosts;
  for (const PodOffer& pod : roster_.pods) hosts.push_back(pod.host);
  const std::vector<NameAnswer> answers = look_up(hosts, kLookUpTime);
  for (int to = 0; to < static_cast<int>(hosts.size()); ++to) {
    const auto place = static_cast<std::size_t>(to);
    const NameAnswer& answer = answers.at(place);
    if (to == mine_) continue;
    if (answer.addresses.empty()) {
      tries_.add_failed(to, "its name is not known here: " + answer.problem);
    } else {
      tries_.add(to, answer.addresses.front(), ports_of(roster_.pods.at(place)));
    }
  }
  tries_.begin();
}

// As long as a node needs that gets no answer from anybody: who says nothing for longer is silent.
std::chrono::seconds LinkChecker::time_for_rows() const {
  std::size_t ports = 0;
  for (const PodOffer& pod : roster_.pods) ports += ports_of(pod).size();
  return std::min(kLookUpTime + LinkTries::longest(ports) + kWayOfARow, kLongestForRows);
}

void LinkChecker::on_own_row(const std::vector<LinkTry>& tries) {
  phase_ = Phase::OwnRowIsIn;
  if (session_.is_hub()) return on_row(mine_, tries);
  session_.tell(CheckRowMessage{tries});
  result_.tries = tries;
  if (result_.seen_by >= 0 && !deadline_.is_set()) end();
}

void LinkChecker::on_row(int node, const std::vector<LinkTry>& tries) {
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
    if (const auto clock = session_.wall_clock_of(node)) {
      result_.nodes[static_cast<std::size_t>(node)].wall_clock = *clock;
    }
  }
  session_.tell(CheckDoneMessage{result_});
  end();
}

void LinkChecker::end() { phase_ = Phase::Over; }

namespace {

constexpr std::size_t kTriesAtOnce = 64;

}  // namespace

LinkTries::LinkTries(EventLoop& loop, int from, Done done)
    : loop_(loop), from_(from), done_(std::move(done)), late_(loop) {}

LinkTries::~LinkTries() {
  for (const auto& attempt : trying_) loop_.forget(attempt.first);
}

std::chrono::seconds LinkTries::longest(std::size_t ports) {
  return kTryTime * static_cast<int>((ports + kTriesAtOnce - 1) / kTriesAtOnce);
}

void LinkTries::add(int to, std::uint32_t address, const std::vector<int>& ports) {
  row_[to] = LinkTry{.from = from_, .to = to};
  for (const int port : ports) waiting_.push_back({.to = to, .address = address, .port = port});
}

void LinkTries::add_failed(int to, const std::string& problem) {
  row_[to] = LinkTry{.from = from_, .to = to, .problem = problem};
}

void LinkTries::begin_some() {
  while (!waiting_.empty() && trying_.size() < kTriesAtOnce) {
    Attempt next = std::move(waiting_.front());
    waiting_.pop_front();
    begin_one(std::move(next));
  }
  if (trying_.empty()) return hand_in();
  wait_for_the_oldest();
}

void LinkTries::begin_one(Attempt attempt) {
  attempt.begun = EventLoop::Clock::now();
  try {
    attempt.socket = begin_connect(attempt.address, attempt.port);
  } catch (const std::system_error& error) {
    return note(attempt.to, attempt.port, 0, connection_problem(error.code().value()));
  }
  const int fd = attempt.socket.get();
  trying_.emplace(fd, std::move(attempt));
  loop_.on_writable(fd, [this, fd] {
    const int error = connect_result(fd);
    finish(fd, error == 0 ? "" : connection_problem(error));
    begin_some();
  });
}

void LinkTries::finish(int fd, const std::string& problem) {
  const auto found = trying_.find(fd);
  const Attempt& attempt = found->second;
  const std::chrono::duration<double, std::milli> took = EventLoop::Clock::now() - attempt.begun;
  note(attempt.to, attempt.port, took.count(), problem);
  loop_.forget(fd);
  trying_.erase(found);
}

void LinkTries::wait_for_the_oldest() {
  const auto oldest = std::min_element(
      trying_.begin(), trying_.end(),
      [](const auto& a, const auto& b) { return a.second.begun < b.second.begun; });
  const auto left = oldest->second.begun + kTryTime - EventLoop::Clock::now();
  late_.set(std::chrono::ceil<std::chrono::milliseconds>(left), [this] { finish_late_ones(); });
}

void LinkTries::finish_late_ones() {
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
void LinkTries::note(int to, int port, double ms, const std::string& problem) {
  LinkTry& link = row_[to];
  const bool is_worse =
      problem.empty() ? link.problem.empty() && ms >= link.ms : link.problem.empty();
  if (!is_worse) return;
  link.port = port;
  link.ms = ms;
  link.problem = problem;
}

void LinkTries::hand_in() {
  late_.stop();
  std::vector<LinkTry> tries;
  for (const auto& link : row_) tries.push_back(link.second);
  done_(tries);
}

}  // namespace paddle_launch
