// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/words.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <fmt/format.h>

#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

constexpr int kKilledBySigkill = 137;

int rank_of(int worker, const ProcessPlan& plan) {
  return plan.processes.at(static_cast<std::size_t>(worker)).rank;
}

std::string oom_hint(long oom_kills) {
  if (oom_kills > 0) return ": killed by the OOM killer (the kernel counted one during this run)";
  return ": probably killed by the OOM killer";
}

std::string remedy(const NotStarted& problem) {
  if (problem.exec && problem.error == ENOEXEC) {
    return "the file has no #! line; add one, or give it the ending .py if it is Python";
  }
  if (problem.exec && problem.error == ENOENT)
    return "the file or the interpreter in its #! line is missing";
  if (problem.exec && problem.error == E2BIG)
    return "arguments and environment are too long for the kernel";
  if (!problem.exec && problem.error == EAGAIN) {
    return "a limit on processes was reached: RLIMIT_NPROC (ulimit -u), pids.max of the cgroup, or "
           "the kernel's "
           "threads-max; raise it or start fewer trainers";
  }
  if (!problem.exec && problem.error == ENOMEM) return "the machine is out of memory";
  return "nothing was left running";
}

// How many bytes of well-formed UTF-8 begin here; 0: not text.
std::size_t utf8_length(std::string_view bytes) {
  const auto lead = static_cast<unsigned char>(bytes.front());
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                                                           : 0;
  if (length == 0 || length > bytes.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(bytes[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character.front());
  if (character.size() == 2)
    return first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0;
  return character.size() == 1 && (first < 0x20 || first == 0x7F) && first != '\n' && first != '\t';
}

struct Describe {
  const ProcessPlan& plan;
  long oom_kills;

  std::string operator()(const Completed&) const { return "completed"; }
  std::string operator()(const Failed& failed) const {
    return fmt::format("rank {} failed: {}", rank_of(failed.first.worker, plan),
                       describe(failed.first, oom_kills));
  }
  std::string operator()(const NotStarted& problem) const { return describe(problem, plan); }
  std::string operator()(const Interrupted& interrupted) const {
    return "the launcher was stopped by " + signal_name(interrupted.signal);
  }
  std::string operator()(const GuardLost&) const {
    return "the guard process (pl-guard), parent of the trainers, was killed; all trainers died "
           "with it";
  }
  std::string operator()(const JobStopped& stopped) const { return printable(stopped.cause.text); }
};

}  // namespace

std::string describe(const ProcessExit& exit, long oom_kills) {
  if (exit.signal != 0) {
    const std::string text = fmt::format("killed by {}{}", signal_name(exit.signal),
                                         exit.core_dumped ? " (core dumped)" : "");
    return exit.signal == SIGKILL && !exit.was_told_to_stop ? text + oom_hint(oom_kills) : text;
  }
  const std::string text = fmt::format("exit code {}", exit.code);
  return exit.code == kKilledBySigkill ? text + oom_hint(oom_kills) : text;
}

std::string describe(const NotStarted& problem, const ProcessPlan& plan) {
  const ProcessSpec& spec = plan.processes.at(static_cast<std::size_t>(problem.worker));
  const std::string object = problem.exec             ? " " + plan.program
                             : problem.step == "fork" ? ""
                                                      : " " + spec.log_path;
  return fmt::format("rank {} could not be started: {}{}: {}; {}", spec.rank, problem.step, object,
                     std::strerror(problem.error), remedy(problem));
}

std::string describe(const Outcome& verdict, const ProcessPlan& plan, long oom_kills) {
  return std::visit(Describe{plan, oom_kills}, verdict);
}

std::string rank_ranges(std::vector<int> ranks) {
  std::sort(ranks.begin(), ranks.end());
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? fmt::format("{}", ranks[i]) : fmt::format("{}-{}", ranks[i], ranks[last]);
    i = last + 1;
  }
  return text;
}

std::string printable(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t length = utf8_length(bytes);
    const std::string_view character = bytes.substr(0, std::max<std::size_t>(length, 1));
    if (length != 0 && !is_control(character)) {
      text += character;
    } else {
      for (const char byte : character)
        text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    }
    bytes.remove_prefix(character.size());
  }
  return text;
}

}  // namespace paddle_launch
