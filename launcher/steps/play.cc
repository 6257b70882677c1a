// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/play.h"

#include <unistd.h>

#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/payload.h"
#include "launcher/job/errors.h"
#include "launcher/launch_failure.h"
#include "launcher/run/end_on_signal.h"
#include "launcher/run/own_words.h"
#include "launcher/run/pre_hook.h"
#include "launcher/tell/dry_run.h"
#include "launcher/tell/rounds_table.h"
#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

// The others have the roster and would start, or go on: they are told that this node will not.
void withdraw(Session& channel, RoundPolicy& policy, const RoundTerms& terms,
              const StopCause& cause) {
  channel.attend(policy, terms);
  channel.tell_stop(cause);
  channel.tell_ending({.own = cause});
  channel.decide_now();
  channel.close();
}

StopCause cause_of(const Outcome& outcome, const ProcessPlan& plan, int node) {
  return stop_cause(outcome, plan, node, std::chrono::steady_clock::now());
}

// --elastic_pre_hook: what it says is shown, and a failure of it is no reason not to train.
void run_hook(const Job& job, const PodPlan& plan, OpeningRemarks& remarks) {
  const auto& elastic = job.command.job.elastic;
  if (!elastic || elastic->pre_hook.empty()) return;
  const EndOnSignal waiting(job.loop, job.signals, "before the round began");
  const PreHookResult hook = run_pre_hook(job.loop, elastic->pre_hook, plan.processes.common_env);
  std::vector<std::string>& lines = hook.problem.empty() ? remarks.notices : remarks.warnings;
  for (std::string& line : hook_lines(hook.output)) lines.push_back(std::move(line));
  if (hook.problem.empty()) return;
  remarks.warnings.push_back(
      fmt::format("--elastic_pre_hook='{}': {}; the round begins all the same",
                  one_line(elastic->pre_hook), hook.problem));
}

}  // namespace

RoundFacts facts_of_round(const RoundState& round, const std::string& payload,
                          const Surroundings& around) {
  return {.round = round,
          .nccl = unpack_payload(payload).nccl,
          .under_scheduler = !around.launched_by.empty(),
          .has_terminal = isatty(STDIN_FILENO) == 1};
}

int print_plan(const JobSpec& job, const ProcessPlan& plan) {
  const std::string text = job.dry_run == DryRun::Json ? dry_run_json(plan) : dry_run_text(plan);
  return print_out(text) ? 0 : 1;
}

RoundEnd play(const Job& job, const Offer& offer, const Met& met, OpeningRemarks remarks,
              Rounds& rounds) {
  const JobSpec& spec = job.command.job;
  rounds.state = met.round;
  rounds.is_running = false;
  const PodPlan plan = plan_pod(spec, job.env, offer.means, met.roster,
                                facts_of_round(met.round, met.payload, job.around));
  if (spec.dry_run != DryRun::No) {
    return {.status = job.company.speaks() ? print_plan(spec, plan.processes) : 0};
  }
  remarks.add_warnings(offer.warnings);
  remarks.add_warnings(met.warnings);
  remarks.add_warnings(job.company.contradictions(spec, met.roster));
  std::erase_if(remarks.warnings,
                [&rounds](const std::string& text) { return !rounds.warned.insert(text).second; });
  if (!job.company.remark().empty()) remarks.notices.push_back(job.company.remark());
  RoundPolicy policy(rounds, plan.processes.nodes);
  const RoundTerms terms = policy.terms(spec.grace);
  const int node = static_cast<int>(met.roster.mine);
  try {
    run_hook(job, plan, remarks);
    return run_round({job.loop, job.signals, job.inherited, *met.channel, node,
                      job.company.speaks(), job.around.step.has_value(), rounds, spec.grace},
                     spec, job.env, job.here, plan, remarks);
  } catch (const StoppedBySignal& stopped) {
    withdraw(*met.channel, policy, terms,
             cause_of(Interrupted{stopped.signal}, plan.processes, node));
    throw;
  } catch (const std::exception& error) {
    StopCause cause = cause_of(LauncherFailed{error.what()}, plan.processes, node);
    if (!rounds.is_running) {
      cause.kind = StopCause::Kind::NotStarted;
      cause.status = failure_of(std::current_exception()).status;  // as this launcher ends itself
      cause.text = fmt::format("node {} could not start: {}", plan.processes.host, error.what());
    }
    withdraw(*met.channel, policy, terms, cause);
    throw;
  }
}

}  // namespace paddle_launch
