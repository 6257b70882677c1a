// SPDX-License-Identifier: Apache-2.0
#include "launcher/aftermath.h"

#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "launcher/run/log_directory.h"
#include "launcher/site/kernel_facts.h"
#include "launcher/tell/failure_report.h"
#include "launcher/tell/log_excerpt.h"
#include "launcher/tell/log_lines.h"
#include "launcher/tell/words.h"

namespace paddle_launch {

Aftermath::Aftermath(const ProcessPlan& plan, std::string host_name, long oom_kills_before)
    : plan_(plan), host_name_(std::move(host_name)), oom_kills_before_(oom_kills_before) {}

long Aftermath::oom_kills() const { return oom_kills_so_far() - oom_kills_before_; }

void Aftermath::tell_verdict(const Voice& voice, const Outcome& verdict, int others) const {
  std::string text = describe(verdict, plan_, oom_kills());
  if (others > 0) text += fmt::format("; stopping {} other{}", others, others == 1 ? "" : "s");
  voice.error(text);
}

void Aftermath::tell_end(const Voice& voice, const RoundResult& result) const {
  for (const int pid : result.survivors) {
    voice.error(fmt::format("{} did not end within 30 s of SIGKILL; it is left to the kernel",
                            describe_stuck_process(pid)));
  }
  if (std::holds_alternative<Completed>(result.outcome))
    return voice.info("Local processes completed.");
  mark_victims(voice, result);
  if (const auto* failed = std::get_if<Failed>(&result.outcome))
    report_failure(voice, failed->first, result);
}

void Aftermath::mark_victims(const Voice& voice, const RoundResult& result) const {
  const std::string because = describe(result.outcome, plan_, oom_kills());
  const std::string now = timestamp();
  std::vector<std::pair<std::string, std::string>> lines;
  for (const ProcessExit& exit : result.exits) {
    if (!exit.was_told_to_stop) continue;
    const ProcessSpec& spec = plan_.processes.at(static_cast<std::size_t>(exit.worker));
    lines.emplace_back(spec.log_path, log_stop_line(spec, because, now));
  }
  if (!append_to_logs(lines)) {
    voice.warning(
        "the last line could not be written to the log of every stopped rank; is the disk full, or "
        "the log "
        "directory gone?");
  }
}

void Aftermath::report_failure(const Voice& voice, const ProcessExit& first,
                               const RoundResult& result) const {
  const ProcessSpec& spec = plan_.processes.at(static_cast<std::size_t>(first.worker));
  const std::optional<std::string> tail = read_log_end(spec.log_path);
  const std::string node =
      plan_.host == host_name_ ? host_name_ : fmt::format("{} ({})", host_name_, plan_.host);
  const FailureFacts facts{.node = node,
                           .when = timestamp_of(first.ended),
                           .log_excerpt = tail ? log_excerpt(*tail, kLogLineMark) : "",
                           .log_readable = tail.has_value(),
                           .oom_kills = oom_kills()};
  voice.always(abort_line(plan_.world_size, culprits(result.exits, plan_)));
  voice.always(failure_report(first, result.exits, plan_, facts));
}

}  // namespace paddle_launch
