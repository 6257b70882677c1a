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
#include "launcher/tell/probable_cause.h"
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
  // The logs are read before our own last lines go into them.
  const auto* failed = std::get_if<Failed>(&result.outcome);
  const std::string report = failed != nullptr ? failure(failed->first, result) : "";
  mark_victims(voice, result);
  if (failed == nullptr) return;
  voice.always(abort_line(plan_.world_size, culprits(result.exits, plan_)));
  voice.always(report);
}

void Aftermath::mark_victims(const Voice& voice, const RoundResult& result) const {
  const std::string because = describe(result.outcome, plan_, oom_kills());
  const std::string now = timestamp();
  // With the guard gone nobody knows who ended when: whoever is not known to have ended was
  // stopped.
  std::vector<bool> stopped(plan_.processes.size(),
                            std::holds_alternative<GuardLost>(result.outcome));
  for (const ProcessExit& exit : result.exits)
    stopped.at(static_cast<std::size_t>(exit.worker)) = exit.was_told_to_stop;
  std::vector<std::pair<std::string, std::string>> lines;
  for (std::size_t i = 0; i < stopped.size(); ++i) {
    const ProcessSpec& spec = plan_.processes[i];
    if (stopped[i]) lines.emplace_back(spec.log_path, log_stop_line(spec, because, now));
  }
  if (!append_to_logs(lines)) {
    voice.warning(
        "the last line could not be written to the log of every stopped rank; is the disk full, or "
        "the log "
        "directory gone?");
  }
}

std::string Aftermath::failure(const ProcessExit& first, const RoundResult& result) const {
  std::vector<std::string> paths;
  for (const ProcessSpec& spec : plan_.processes) paths.push_back(spec.log_path);
  const std::vector<std::optional<LogEnd>> ends = read_log_ends(paths);
  const auto excerpt = [&ends](int worker) {
    return log_excerpt(ends.at(static_cast<std::size_t>(worker))->bytes, kLogLineMark);
  };
  std::vector<LastWords> words;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    if (ends[i])
      words.push_back(
          {static_cast<int>(i), this_run(ends[i]->bytes, kLogLineMark), ends[i]->written_ns});
  }
  const auto index = static_cast<std::size_t>(first.worker);
  const bool readable = index < ends.size() && ends[index].has_value();
  FailureFacts facts{.node = plan_.host == host_name_
                                 ? host_name_
                                 : fmt::format("{} ({})", host_name_, plan_.host),
                     .when = timestamp_of(first.ended),
                     .log_excerpt = readable ? excerpt(first.worker) : "",
                     .log_readable = readable,
                     .oom_kills = oom_kills()};
  if (const std::optional<int> cause = probable_cause(first.worker, words)) {
    facts.suspicion = Suspicion{*cause, excerpt(*cause)};
  }
  return failure_report(first, result.exits, plan_, facts);
}

}  // namespace paddle_launch
