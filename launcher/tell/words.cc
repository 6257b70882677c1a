// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/words.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "launcher/text/lists.h"
#include "launcher/text/signal_name.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

using Step = NotStarted::Step;

constexpr int kKilledBySigkill = 137;

const ProcessSpec& spec_of(int worker, const ProcessPlan& plan) {
  return plan.processes.at(static_cast<std::size_t>(worker));
}

std::string on_host(const ProcessPlan& plan) {
  return plan.nodes > 1 ? " on " + one_line(plan.host) : "";
}

std::string oom_hint(long oom_kills) {
  if (oom_kills > 0) return ": killed by the OOM killer (the kernel counted one during this run)";
  return ": probably killed by the OOM killer";
}

std::string remedy(const NotStarted& problem) {
  if (problem.step == Step::Execute && problem.error == ENOEXEC) {
    return "the file has no #! line; add one, or give it the ending .py if it is Python";
  }
  if (problem.step == Step::Execute && problem.error == ENOENT)
    return "the file or the interpreter in its #! line is missing; correct the one that is wrong";
  if (problem.step == Step::Execute && problem.error == E2BIG)
    return "arguments and environment are too long for the kernel; shorten them";
  if (problem.step != Step::Execute && problem.error == EAGAIN) {
    return "a limit on processes was reached: RLIMIT_NPROC (ulimit -u), pids.max of the cgroup, or "
           "the kernel's threads-max; raise it or start fewer trainers";
  }
  if (problem.step != Step::Execute && problem.error == ENOMEM)
    return "the machine is out of memory; start fewer processes, or free some of it";
  return "the job cannot go on without it";
}

std::string what_failed(const NotStarted& problem, const ProcessPlan& plan) {
  return problem.step == Step::Execute ? "execute " + plan.program : "fork";
}

struct Describe {
  const ProcessPlan& plan;
  long oom_kills;

  std::string operator()(const Completed&) const { return "completed"; }
  std::string operator()(const Failed& failed) const {
    return fmt::format("{}{} failed: {}", name_of_spec(spec_of(failed.first.worker, plan)),
                       on_host(plan), describe(failed.first, oom_kills));
  }
  std::string operator()(const NotStarted& problem) const { return describe(problem, plan); }
  std::string operator()(const Interrupted& interrupted) const {
    return fmt::format("the launcher{} was stopped by {}", on_host(plan),
                       signal_name(interrupted.signal));
  }
  std::string operator()(const GuardLost&) const {
    if (plan.nodes > 1) {
      return fmt::format(
          "the guard process (pl-guard){}, parent of the trainers there, was killed; all of them "
          "died with it",
          on_host(plan));
    }
    return "the guard process (pl-guard), parent of the trainers, was killed; all trainers died "
           "with it";
  }
  std::string operator()(const LauncherFailed& failed) const {
    return fmt::format("the launcher{} failed: {}", on_host(plan), one_line(failed.what));
  }
  std::string operator()(const JobStopped& stopped) const { return one_line(stopped.cause.text); }
};

struct KindOf {
  using Kind = StopCause::Kind;

  Kind operator()(const Completed&) const { return Kind::Completed; }
  Kind operator()(const Failed&) const { return Kind::WorkerFailed; }
  Kind operator()(const NotStarted&) const { return Kind::NotStarted; }
  Kind operator()(const Interrupted&) const { return Kind::Interrupted; }
  Kind operator()(const GuardLost&) const { return Kind::GuardLost; }
  Kind operator()(const LauncherFailed&) const { return Kind::LauncherFailed; }
  Kind operator()(const JobStopped& stopped) const { return stopped.cause.kind; }
};

}  // namespace

std::string name_of(ProcessName name) {
  return fmt::format("{} {}", words_of(name.role).numbered, name.index);
}

std::string name_of_spec(const ProcessSpec& spec) {
  return name_of(ProcessName{spec.role, spec.rank});
}

std::string describe(const ProcessExit& exit, long oom_kills) {
  if (exit.signal != 0) {
    std::string text = fmt::format("killed by {}{}", signal_name(exit.signal),
                                   exit.core_dumped ? " (core dumped)" : "");
    if (exit.signal != SIGKILL || exit.was_told_to_stop) return text;
    return text + (oom_kills == 0 ? " (not by the kernel's OOM killer)" : oom_hint(oom_kills));
  }
  const std::string text = fmt::format("exit code {}", exit.code);
  return exit.code == kKilledBySigkill ? text + oom_hint(oom_kills) : text;
}

std::string describe(const NotStarted& problem, const ProcessPlan& plan) {
  const ProcessSpec& spec = spec_of(problem.worker, plan);
  return fmt::format("{}{} could not be started: {}: {}; {}", name_of_spec(spec), on_host(plan),
                     what_failed(problem, plan), std::strerror(problem.error), remedy(problem));
}

std::string describe(const Outcome& verdict, const ProcessPlan& plan, long oom_kills) {
  return std::visit(Describe{plan, oom_kills}, verdict);
}

std::string verdict_line(const Outcome& verdict, const ProcessPlan& plan, int others,
                         long oom_kills) {
  std::string text = describe(verdict, plan, oom_kills);
  if (others <= 0) return text;
  if (std::holds_alternative<JobStopped>(verdict))
    return fmt::format("{}; stopping {} here", text, others);
  return fmt::format("{}; stopping {} other{}{}", text, others, others == 1 ? "" : "s",
                     plan.nodes > 1 ? " here" : "");
}

StopCause stop_cause(const Outcome& outcome, const ProcessPlan& plan, int node, SteadyTime at,
                     long oom_kills) {
  if (const auto* stopped = std::get_if<JobStopped>(&outcome)) return stopped->cause;
  return {.kind = std::visit(KindOf{}, outcome),
          .node = node,
          .status = exit_status(outcome),
          .text = one_line(describe(outcome, plan, oom_kills)),
          .at = at};
}

std::string names_in_words(const std::vector<ProcessName>& names) {
  std::string text;
  for (const Role role : kAllRoles) {
    std::vector<int> indices;
    for (const ProcessName& name : names) {
      if (name.role == role) indices.push_back(name.index);
    }
    if (indices.empty()) continue;
    if (!text.empty()) text += "; ";
    text += fmt::format("{} {}", words_of(role).numbered, number_ranges(std::move(indices)));
  }
  return text;
}

std::string how_long(std::chrono::seconds span) {
  const auto whole = span.count();
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string some_of(const std::vector<std::string>& names, std::size_t all, std::size_t most) {
  const std::size_t shown = std::min(names.size(), most);
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += ", ";
    text += one_line(names[i]);
  }
  if (all > shown) text += fmt::format("{}… {} more", text.empty() ? "" : ", ", all - shown);
  return text;
}

namespace {

constexpr std::string_view kNoWay =
    "there is no way to that address: look at the address, at the route (ip route get ADDRESS), "
    "and "
    "for a firewall that rejects";
constexpr std::string_view kSwallowed =
    "a firewall drops the packets, or no machine that is running has this address";
constexpr std::string_view kUnknownName =
    "give addresses instead of names, or add the name to DNS or /etc/hosts on that node";
constexpr std::string_view kClosed =
    "something closed the connection at once: another program at that port, or a firewall";
constexpr std::string_view kOtherVersion = "install the same paddle-launch on every node";

using Advice = std::pair<std::string_view, std::string_view>;

constexpr std::array<Advice, 13> kAdvice = {{
    {"refused",
     "a machine answers, but nothing listens at that port: the launcher does not run there, the "
     "address leads to another machine, or a firewall rejects"},
    {"no route", kNoWay},
    {"unreachable", kNoWay},
    {"no answer", kSwallowed},
    {"timed out", kSwallowed},
    {"name", kUnknownName},
    {"reset", kClosed},
    {"closed", kClosed},
    {"secret", "give every node the same PADDLE_LAUNCH_TOKEN or --token_file"},
    {"another job", "give every node of the job the same --job_id"},
    {"not a launcher",
     "another program has that port; --bootstrap_port chooses another one, the same on every node"},
    {"protocol", kOtherVersion},
    {"version", kOtherVersion},
}};

}  // namespace

std::string_view network_advice(std::string_view problem) {
  const auto* const found =
      std::find_if(kAdvice.begin(), kAdvice.end(), [problem](const Advice& advice) {
        return problem.find(advice.first) != std::string_view::npos;
      });
  return found == kAdvice.end() ? std::string_view() : found->second;
}

}  // namespace paddle_launch
