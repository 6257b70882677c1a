// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/launch_failure.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/inherited.h"
#include "launcher/os/signals.h"
#include "launcher/rendezvous/link_checker.h"
#include "launcher/run/end_on_signal.h"
#include "launcher/run/own_words.h"
#include "launcher/site/etcd_files.h"
#include "launcher/site/machine.h"
#include "launcher/site/own_node.h"
#include "launcher/site/started_together.h"
#include "launcher/steps/assumed_roster.h"
#include "launcher/steps/company.h"
#include "launcher/steps/elastic_job.h"
#include "launcher/steps/job_terms.h"
#include "launcher/steps/meeting.h"
#include "launcher/steps/nccl_id_maker.h"
#include "launcher/steps/next_meeting.h"
#include "launcher/steps/payload.h"
#include "launcher/steps/planning.h"
#include "launcher/steps/play.h"
#include "launcher/steps/readiness.h"
#include "launcher/tell/check_table.h"
#include "launcher/tell/rounds_table.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

bool is_on_gpus(const JobSpec& job, const Readiness& ready) {
  return ready.preparation.offer.card_kind == CardKind::Gpu && !job.check &&
         job.dry_run == DryRun::No;
}

Met meet(EventLoop& loop, const JobSpec& job, const Environment& env, const Machine& here,
         Company& company, const Readiness& ready, const PayloadMaker& payload,
         std::vector<std::string>& notices) {
  JobTerms terms = make_terms(job, here, ready.me, company, ready.problem_text);
  if (ready.problem) terms.problem_status = failure_of(ready.problem).status;
  if (is_on_gpus(job, ready) && job.nccl_ids) company.expect_ids();
  try {
    return meet_the_others(loop, job, env, here, ready.me, company, terms, ready.preparation.offer,
                           payload, notices);
  } catch (const StoppedBySignal&) {
    throw;
  } catch (const std::exception&) {
    if (!ready.problem) throw;
    if (!company.is_scheduled()) std::rethrow_exception(ready.problem);
    // Whoever started us shows the words of all nodes in one place.
    const std::string text = fmt::format("{}: {}", here.host_name, ready.problem_text);
    if (failure_of(ready.problem).status == kWrongUseStatus) throw UsageError(text);
    throw LaunchError(text);
  }
}

int show_assumed_plan(const JobSpec& job, const Environment& env, const Machine& here,
                      Readiness& ready, const Surroundings& around) {
  NamedLogs(job).assume(ready.preparation);
  const Roster roster = assumed_roster(job, here, ready.me, ready.preparation.offer);
  if (job.has_several_nodes()) {
    say_on_stderr(
        "paddle-launch: --dry_run asked no other node: their cards and ports are taken to be like "
        "this one's\n");
  }
  return print_plan(
      job,
      plan_pod(job, env, ready.preparation, roster, !around.launched_by.empty(), "").processes);
}

// --check: the documents' "ping each other first", done for the user. Returns the exit status.
int check_network(EventLoop& loop, const Met& met, const Machine& here, bool speaks) {
  const LinkCheck check = LinkChecker(loop, *met.channel, met.roster, here.host_name).run();
  met.channel->close();
  // Without its hub every node has a table of its own.
  const bool is_shown = speaks || check.seen_by >= 0;
  const bool written = !is_shown || print_out(check_table(check));
  const int status = check_status(check);
  return written || status != 0 ? status : kLaunchErrorStatus;
}

// Whether and how this job may have several rounds.
Rounds rounds_of(const JobSpec& job, const Company& company) {
  Rounds rounds{.rules = {.spec = job.restarts}, .may_be_several = job.has_rounds()};
  if (company.way() == Way::Tcp) rounds.rules.nodes = RestartRules::Nodes::Typed;
  if (!job.elastic) return rounds;
  rounds.rules.nodes = RestartRules::Nodes::Elastic;
  rounds.rules.level = job.elastic->level;
  return rounds;
}

// There will be no next one, and main says why.
void show_rounds(const Rounds& rounds) {
  say_patiently(rounds_table(rounds.told, 1), std::chrono::seconds(1));
}

// A signal came when the next round was settled already.
[[noreturn]] void end_by_signal(const Job& job, BetweenRounds& between, int signal) {
  const std::string text = fmt::format("stopped by {} between two rounds", signal_name(signal));
  tell_the_others(job.loop, between.connections, kSignalBase + signal,
                  fmt::format("{}: {}", job.here.host_name, text));
  throw StoppedBySignal(signal, text);
}

// To the roster of the next round. What hinders this pod ends the job for all, if it needs all.
Met meet_for_next_round(const Job& job, Readiness& ready, BetweenRounds between,
                        ElasticJob* elastic, const PayloadMaker& payload) {
  const JobSpec& spec = job.command.job;
  const auto tell = [&](int status, const std::string& why) {
    if (elastic == nullptr) tell_the_others(job.loop, between.connections, status, why);
  };
  try {
    pause_between_rounds(job.loop, between, !job.company.is_scheduled());
    prepare_again(spec, job.env, job.here, job.company, ready);
  } catch (const StoppedBySignal& stopped) {
    tell(kSignalBase + stopped.signal, fmt::format("{}: {}", job.here.host_name, stopped.what()));
    throw;
  } catch (const std::exception& error) {
    tell(kLaunchErrorStatus, fmt::format("{}: {}", job.here.host_name, error.what()));
    throw;
  }
  const JobTerms terms = make_terms(spec, job.here, ready.me, job.company, "");
  const PodOffer& offer = ready.preparation.offer;
  if (elastic != nullptr) return elastic->meet(std::move(between), terms, offer, payload);
  return meet_again(job.loop, spec, job.company, std::move(between), terms, offer, payload);
}

// Whatever hangs now hangs before anything was started: a signal ends us at once.
Readiness get_ready_or_end(const Inherited& inherited, const JobSpec& job, const Environment& env,
                           const Machine& here, Company& company) {
  const SignalsAsBefore may_end_us(inherited);
  return get_ready(job, env, here, company);
}

}  // namespace

LaunchEnd launch(const ParsedCommandLine& command, const Environment& env) {
  const JobSpec& job = command.job;
  const Surroundings around = surroundings(env);
  const Machine here = look_around();
  if (job.elastic) check_etcd_files(job.elastic->etcd);

  const Inherited inherited = what_was_inherited();
  signal(SIGCHLD, SIG_DFL);
  SignalWatch signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD});
  EventLoop loop;
  std::optional<EndOnSignal> waiting(std::in_place, loop, signals,
                                     "while waiting for the other nodes");
  Company company(loop, job, env, around, here);
  company.gather();
  Readiness ready = get_ready_or_end(inherited, job, env, here, company);
  const bool is_dry = job.dry_run != DryRun::No;
  if (is_dry && !company.is_scheduled()) return {show_assumed_plan(job, env, here, ready, around)};

  const Job whole{command, env, around, here, loop, signals, inherited, company};
  OpeningRemarks remarks{.notices = command.notices, .warnings = command.warnings};
  Rounds rounds = rounds_of(job, company);
  NamedLogs logs(job);
  std::optional<NcclIdMaker> nccl(std::in_place);
  const bool on_gpus = is_on_gpus(job, ready);
  const Program& program = ready.preparation.program;
  if (on_gpus && company.group().mine == 0 && ready.me.place == 0) nccl->prepare(job, env, program);
  std::optional<ElasticJob> elastic;
  if (job.elastic) elastic.emplace(loop, job, env, here, ready.me, remarks.notices);
  const auto payload = [&] {
    return logs.maker(ready.preparation, on_gpus ? nccl->maker(job, env, program) : PayloadMaker());
  };
  Met met = elastic ? elastic->meet({}, make_terms(job, here, ready.me, company, ""),
                                    ready.preparation.offer, payload())
                    : meet(loop, job, env, here, company, ready, payload(), remarks.notices);
  if (job.check) return {check_network(loop, met, here, company.speaks())};
  for (;;) {
    waiting.reset();
    logs.take(met.payload, ready.preparation);
    if (elastic) rounds.watch = elastic->watch();
    const RoundEnd end = play(whole, ready, met, std::exchange(remarks, {}), rounds);
    if (!end.next) {
      if (elastic) elastic->leave(met.channel->is_hub() && !end.leaves);
      return {end.status, end.verdict};
    }
    waiting.emplace(loop, signals, "between two rounds");
    nccl.emplace();  // the ids of the last round have served
    BetweenRounds between{
        .connections = met.channel->release(), .roster = std::move(met.roster), .next = *end.next};
    if (end.is_asked_to_end) end_by_signal(whole, between, end.status - kSignalBase);
    try {
      met = meet_for_next_round(whole, ready, std::move(between), elastic ? &*elastic : nullptr,
                                payload());
    } catch (...) {
      if (company.speaks()) show_rounds(rounds);
      throw;
    }
  }
}

}  // namespace paddle_launch
