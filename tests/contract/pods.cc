// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/pods.h"

#include <cxxabi.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>
#include <typeinfo>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/launch_failure.h"
#include "launcher/os/check.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/files.h"
#include "launcher/os/signals.h"
#include "launcher/rendezvous/choose.h"
#include "launcher/site/machine.h"
#include "launcher/text/bytes_as_text.h"
#include "launcher/text/lists.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

// Much longer than anything takes, also on a machine that does a lot else.
constexpr std::chrono::seconds kPatience{90};
constexpr int kFirstPort = 20'000;
constexpr int kPortsOfAPod = 10;

// The pod's side.

// One line, tab by tab.
class Teller {
 public:
  explicit Teller(int fd) : fd_(fd) {}

  void tell(const std::vector<std::string>& words) const {
    write_all(fd_, fmt::format("{}\n", fmt::join(words, "\t")));
  }

 private:
  int fd_;
};

std::string one_field(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
  return text;
}

class TellingNarrator final : public Narrator {
 public:
  explicit TellingNarrator(const Teller& teller) : teller_(teller) {}

  void waiting(const WaitingFacts& /*facts*/) override {
    if (!std::exchange(waits_, true)) teller_.tell({"waits"});
  }
  void error(const std::string& text) override { teller_.tell({"said", one_field(text)}); }

 private:
  const Teller& teller_;
  bool waits_ = false;
};

// Takes part in a round whose processes have nothing to do.
class Attendant final : public RoundEvents {
 public:
  Attendant(RoundState state, bool is_last) : state_(state), is_last_(is_last) {}

  void on_stop(const StopCause& /*cause*/) override { is_stopped_ = true; }
  void on_verdict(const JobVerdict& verdict) override { verdict_ = verdict; }
  std::optional<NextRound> next_round(const JobVerdict& /*verdict*/,
                                      bool /*hub_is_lost*/) override {
    if (is_last_) return std::nullopt;
    NextRound next{.state = state_};
    ++next.state.number;
    return next;
  }

  bool is_stopped() const { return is_stopped_; }
  const std::optional<JobVerdict>& verdict() const { return verdict_; }

 private:
  RoundState state_;
  bool is_last_;
  bool is_stopped_ = false;
  std::optional<JobVerdict> verdict_;
};

Offer offer_of(const Part& part, const OwnNode& me) {
  Offer offer{.me = me};
  const int port = kFirstPort + part.number * kPortsOfAPod;
  offer.pod.name = fmt::format("pod-{:02}", part.number);
  offer.pod.host = me.host;
  offer.pod.trainers = {{{}, port}, {{}, port + 1}};
  offer.pod.master_port = port + 2;
  if (part.problem.empty()) return offer;
  offer.problem_text = part.problem;
  offer.problem = std::make_exception_ptr(LaunchError(part.problem));
  return offer;
}

int number_of(const PodOffer& pod) {
  return pod.trainers.empty() ? -1 : (pod.trainers.front().port - kFirstPort) / kPortsOfAPod;
}

void tell_meeting(const Teller& teller, const Gathered& met) {
  std::vector<int> numbers;
  std::vector<std::string> pods;
  for (const PodOffer& pod : met.roster.pods) {
    numbers.push_back(number_of(pod));
    std::vector<int> ports;
    for (const TrainerOffer& trainer : pod.trainers) ports.push_back(trainer.port);
    pods.push_back(fmt::format("{}:{}", pod.host, fmt::join(ports, "+")));
  }
  const std::string roster =
      fmt::format("{} master {} nodes {}", fmt::join(pods, " "),
                  met.roster.pods.front().master_port, fmt::join(met.roster.node_of, ","));
  teller.tell({"met", std::to_string(met.round.number), std::to_string(met.roster.mine),
               fmt::format("{}", fmt::join(numbers, ",")), roster, in_hex(met.payload)});
}

// None: it was the last one.
std::optional<NextRound> attend(const Launch& launch, Rendezvous& peers, const Part& part,
                                const RoundState& state) {
  Session& session = peers.session();
  Attendant attendant(state, state.number + 1 >= part.rounds);
  session.attend(attendant,
                 {.another_may_follow = true, .nodes_may_join = peers.watch() != nullptr});
  const bool stays = part.stays && state.number == 0;
  launch.loop.run_until(
      [&] { return !stays || attendant.is_stopped() || attendant.verdict().has_value(); });
  session.tell_ending({});
  launch.loop.run_until([&] { return attendant.verdict().has_value(); });
  return attendant.verdict()->next;
}

void take_part(const Launch& launch, Rendezvous& peers, const StartedWith& with, const Part& part,
               const Teller& teller) {
  const Offer offer = offer_of(part, with.me);
  PayloadMaker payload;
  if (!part.payload.empty()) {
    payload = [&part](int trainers, std::uint32_t) {
      return part.payload + fmt::format(" of {} for {}", part.number, trainers);
    };
  }
  Brought brought{.offer = offer, .payload = payload};
  for (;;) {
    const Gathered met = peers.gather(brought);
    tell_meeting(teller, met);
    const auto next = attend(launch, peers, part, met.round);
    if (!next) break;
    if (part.calls_off) {
      const std::string why = fmt::format("pod {} cannot go on", part.number);
      peers.call_off(kLaunchErrorStatus, why);
      throw LaunchError(why);
    }
    brought.next = *next;
  }
  peers.session().close();
  peers.leave(peers.session().is_hub());
}

std::string kind_of(const Rendezvous& peers) {
  int status = 0;
  char* const name = abi::__cxa_demangle(typeid(peers).name(), nullptr, nullptr, &status);
  std::string kind = status == 0 ? name : "";
  free(name);
  return kind.substr(kind.rfind(':') + 1);
}

// As launch() begins and ends.
void be_pod(const Ground& ground, const Part& part, const Teller& teller) {
  StartedWith with = ground.start(part);
  if (part.has_other_layout) with.job.mode = Mode::Rpc;
  const Machine here = look_around();
  const Inherited inherited = what_was_inherited();
  signal(SIGCHLD, SIG_DFL);
  SignalWatch signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD});
  EventLoop loop;
  const Launch launch{with.job, with.env, with.around, here, inherited, loop, signals};
  TellingNarrator narrator(teller);
  PodEnd end{.status = 0};
  try {
    const std::unique_ptr<Rendezvous> peers = ground.choose(launch, narrator);
    teller.tell({"kind", kind_of(*peers)});
    take_part(launch, *peers, with, part, teller);
  } catch (...) {
    const LaunchFailure failure = failure_of(std::current_exception());
    end = {failure.status, one_field(failure.text)};
  }
  teller.tell({"end", std::to_string(end.status), end.text});
}

// The test's side.

int number_in(const std::string& text) {
  return static_cast<int>(parse_whole_number(text).value_or(-1));
}

void take_line(Pod& pod, const std::string& line) {
  const std::vector<std::string_view> parts = split(line, '\t');
  const std::vector<std::string> words(parts.begin(), parts.end());
  const std::string& what = words.front();
  if (what == "waits") pod.waits = true;
  if (what == "kind") pod.kind = words.at(1);
  if (what == "said") pod.said.push_back(words.at(1));
  if (what == "end") pod.end = {number_in(words.at(1)), words.at(2)};
  if (what != "met") return;
  Met met{.round = number_in(words.at(1)),
          .mine = number_in(words.at(2)),
          .roster = words.at(4),
          .payload = from_hex(words.at(5)).value_or("no hexadecimal text")};
  for (const std::string_view number : split(words.at(3), ','))
    met.pods.push_back(number_in(std::string(number)));
  pod.met.push_back(std::move(met));
}

}  // namespace

std::unique_ptr<Rendezvous> Ground::choose(const Launch& launch, Narrator& narrator) const {
  return choose_rendezvous(launch, narrator);
}

Pods::~Pods() {
  for (std::size_t pod = 0; pod < pods_.size(); ++pod) kill(pod);
}

std::size_t Pods::start(const Part& part) {
  std::array<int, 2> ends{};
  check(pipe2(ends.data(), O_CLOEXEC), "pipe2");
  UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  const pid_t pid = check(fork(), "fork");
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    be_pod(ground_, part, Teller(writing.get()));
    _exit(0);
  }
  Pod& pod = pods_.emplace_back();
  pod.pid = pid;
  pod.told = std::move(reading);
  return pods_.size() - 1;
}

void Pods::start_all(int count, const Part& like) {
  for (int number = 0; number < count; ++number) {
    Part part = like;
    part.number = number;
    start(part);
  }
}

void Pods::kill(std::size_t index) {
  Pod& pod = pods_.at(index);
  if (pod.pid < 0) return;
  ::kill(pod.pid, SIGKILL);
  waitpid(std::exchange(pod.pid, -1), nullptr, 0);
  if (!pod.end) pod.end = PodEnd{};
}

void Pods::read(Pod& pod) {
  std::array<char, 65536> piece{};
  const ssize_t size = ::read(pod.told.get(), piece.data(), piece.size());
  if (size <= 0) {
    pod.told.reset();
    if (!pod.end) pod.end = PodEnd{};
    return;
  }
  pod.unread.append(piece.data(), static_cast<std::size_t>(size));
  std::size_t from = 0;
  for (std::size_t to = 0; (to = pod.unread.find('\n', from)) != std::string::npos; from = to + 1) {
    take_line(pod, pod.unread.substr(from, to - from));
  }
  pod.unread.erase(0, from);
}

bool Pods::wait(const std::function<bool()>& is_so) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!is_so()) {
    std::vector<pollfd> watched;
    std::vector<Pod*> owners;
    for (Pod& pod : pods_) {
      if (!pod.told) continue;
      watched.push_back({pod.told.get(), POLLIN, 0});
      owners.push_back(&pod);
    }
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (watched.empty() || left.count() <= 0) return false;
    if (poll(watched.data(), watched.size(), static_cast<int>(left.count())) <= 0) return false;
    for (std::size_t i = 0; i < watched.size(); ++i) {
      if (watched[i].revents != 0) read(*owners[i]);
    }
  }
  return true;
}

bool Pods::wait_for_round(int round, const std::vector<std::size_t>& pods) {
  return wait([&] {
    return std::all_of(pods.begin(), pods.end(), [&](std::size_t pod) {
      const auto& met = pods_.at(pod).met;
      return !met.empty() && met.back().round >= round;
    });
  });
}

bool Pods::wait_for_ends() {
  return wait([this] {
    return std::all_of(pods_.begin(), pods_.end(), [](const Pod& pod) { return pod.end; });
  });
}

std::string Pods::story() const {
  std::string text;
  for (std::size_t i = 0; i < pods_.size(); ++i) {
    const Pod& pod = pods_[i];
    text += fmt::format("\n  {} {}: {} rounds", i, pod.kind, pod.met.size());
    if (!pod.met.empty()) {
      const Met& last = pod.met.back();
      text += fmt::format(", the last: round {}, place {} of [{}] {}", last.round, last.mine,
                          fmt::join(last.pods, ","), last.roster);
    }
    if (!pod.said.empty()) text += fmt::format(", said: {}", fmt::join(pod.said, " | "));
    text += pod.end ? fmt::format(", ended with {}: {}", pod.end->status, pod.end->text)
                    : ", has not ended";
  }
  return text;
}

}  // namespace paddle_launch
