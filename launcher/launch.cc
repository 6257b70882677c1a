// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/payload.h"
#include "launcher/job/errors.h"
#include "launcher/launch_failure.h"
#include "launcher/nccl/id_keeper.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/inherited.h"
#include "launcher/os/signals.h"
#include "launcher/plan/nccl_env.h"
#include "launcher/plan/pod_plan.h"
#include "launcher/rendezvous/job_terms.h"
#include "launcher/rendezvous/link_checker.h"
#include "launcher/run/end_on_signal.h"
#include "launcher/run/own_words.h"
#include "launcher/run/round.h"
#include "launcher/site/log_place.h"
#include "launcher/site/machine.h"
#include "launcher/site/named_files.h"
#include "launcher/site/offer.h"
#include "launcher/site/start_environment.h"
#include "launcher/steps/company.h"
#include "launcher/steps/elastic_job.h"
#include "launcher/steps/meeting.h"
#include "launcher/steps/next_meeting.h"
#include "launcher/tell/check_table.h"
#include "launcher/tell/dry_run.h"
#include "launcher/tell/rounds_table.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

// All that stays the same from round to round.
struct Job {
  const ParsedCommandLine& command;
  const Environment& env;
  const Surroundings& around;
  const Machine& here;
  EventLoop& loop;
  SignalWatch& signals;
  const Inherited& inherited;
  Company& company;
};

bool is_on_gpus(const JobSpec& job, const Offer& offer) {
  return offer.pod.card_kind == CardKind::Gpu && !job.check && job.dry_run == DryRun::No;
}

OfferRequest request_of(const JobSpec& job, const Environment& env, const Machine& here,
                        const Company& company) {
  OfferRequest request{.job = job,
                       .env = env,
                       .here = here,
                       .share = company.group().share,
                       .has_others = company.has_several_pods()};
  if (company.is_scheduled()) request.place = static_cast<std::size_t>(company.group().mine);
  return request;
}

Met meet(EventLoop& loop, const JobSpec& job, const Environment& env, const Machine& here,
         Company& company, const Offer& offer, const PayloadMaker& payload,
         std::vector<std::string>& notices) {
  JobTerms terms = terms_of(job, here, offer, company.tasks());
  if (offer.problem) terms.problem_status = failure_of(offer.problem).status;
  if (is_on_gpus(job, offer) && job.nccl_ids) company.expect_ids();
  try {
    return meet_the_others(loop, job, env, here, offer.me, company, terms, offer.pod, payload,
                           notices);
  } catch (const StoppedBySignal&) {
    throw;
  } catch (const std::exception&) {
    if (!offer.problem) throw;
    if (!company.is_scheduled()) std::rethrow_exception(offer.problem);
    // Whoever started us shows the words of all nodes in one place.
    const std::string text = fmt::format("{}: {}", here.host_name, offer.problem_text);
    if (failure_of(offer.problem).status == kWrongUseStatus) throw UsageError(text);
    throw LaunchError(text);
  }
}

// --dry_run. Returns the exit status.
int print_plan(const JobSpec& job, const ProcessPlan& plan) {
  const std::string text = job.dry_run == DryRun::Json ? dry_run_json(plan) : dry_run_text(plan);
  return print_out(text) ? 0 : 1;
}

RoundFacts facts_of_round(const RoundState& round, const std::string& payload,
                          const Surroundings& around) {
  return {.round = round,
          .nccl = unpack_payload(payload).nccl,
          .under_scheduler = !around.launched_by.empty(),
          .has_terminal = isatty(STDIN_FILENO) == 1};
}

int show_assumed_plan(const JobSpec& job, const Environment& env, const Machine& here, Offer& offer,
                      const Surroundings& around) {
  NamedLogs(job).assume(offer.means.log_dir);
  const Roster roster = assumed_roster(job, here, offer);
  if (job.has_several_nodes()) {
    say_on_stderr(
        "paddle-launch: --dry_run asked no other node: their cards and ports are taken to be like "
        "this one's\n");
  }
  return print_plan(
      job, plan_pod(job, env, offer.means, roster, facts_of_round({}, {}, around)).processes);
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
History history_of(const JobSpec& job, const Company& company) {
  History history{.rules = {.spec = job.restarts}, .may_be_several = job.has_rounds()};
  if (company.way() == Way::Tcp) history.rules.nodes = RestartRules::Nodes::Typed;
  if (!job.elastic) return history;
  history.rules.nodes = RestartRules::Nodes::Elastic;
  history.rules.level = job.elastic->level;
  return history;
}

// There will be no next one, and main says why.
void show_rounds(const History& history) {
  say_patiently(rounds_table(history.told, 1), std::chrono::seconds(1));
}

// A signal came when the next round was settled already.
[[noreturn]] void end_by_signal(const Job& job, BetweenRounds& between, int signal) {
  const std::string text = fmt::format("stopped by {} between two rounds", signal_name(signal));
  tell_the_others(job.loop, between.connections, kSignalBase + signal,
                  fmt::format("{}: {}", job.here.host_name, text));
  throw StoppedBySignal(signal, text);
}

// To the roster of the next round. What hinders this pod ends the job for all, if it needs all.
Met meet_for_next_round(const Job& job, Offer& offer, BetweenRounds between, ElasticJob* elastic,
                        const PayloadMaker& payload) {
  const JobSpec& spec = job.command.job;
  const auto tell = [&](int status, const std::string& why) {
    if (elastic == nullptr) tell_the_others(job.loop, between.connections, status, why);
  };
  try {
    pause_between_rounds(job.loop, between, !job.company.is_scheduled());
    renew_offer(request_of(spec, job.env, job.here, job.company), offer);
  } catch (const StoppedBySignal& stopped) {
    tell(kSignalBase + stopped.signal, fmt::format("{}: {}", job.here.host_name, stopped.what()));
    throw;
  } catch (const std::exception& error) {
    tell(kLaunchErrorStatus, fmt::format("{}: {}", job.here.host_name, error.what()));
    throw;
  }
  const JobTerms terms = terms_of(spec, job.here, offer, job.company.tasks());
  if (elastic != nullptr) return elastic->meet(std::move(between), terms, offer.pod, payload);
  return meet_again(job.loop, spec, job.company, std::move(between), terms, offer.pod, payload);
}

RoundEnd run_round(const Job& job, RoundWatch* watch, const Offer& offer, const Met& met,
                   OpeningRemarks remarks, History& history) {
  const JobSpec& spec = job.command.job;
  const PodPlan plan = plan_pod(spec, job.env, offer.means, met.roster,
                                facts_of_round(met.round, met.payload, job.around));
  const bool speaks = job.company.speaks();
  if (spec.dry_run != DryRun::No) return {.status = speaks ? print_plan(spec, plan.processes) : 0};
  remarks.add_warnings(offer.warnings);
  remarks.add_warnings(met.warnings);
  remarks.add_warnings(job.company.contradictions(spec, met.roster));
  if (!job.company.remark().empty()) remarks.notices.push_back(job.company.remark());
  history.state = met.round;
  return Round({job.loop, job.signals, job.inherited, spec, job.env, job.here.host_name, speaks,
                job.around.step.has_value(), watch},
               *met.channel, static_cast<int>(met.roster.mine), plan, history)
      .run(std::move(remarks));
}

// Whatever hangs now hangs before anything was started: a signal ends us at once.
Offer make_offer_or_end(const Inherited& inherited, const OfferRequest& request) {
  const SignalsAsBefore may_end_us(inherited);
  return make_offer(request);
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
  Offer offer = make_offer_or_end(inherited, request_of(job, env, here, company));
  const bool is_dry = job.dry_run != DryRun::No;
  if (is_dry && !company.is_scheduled()) return {show_assumed_plan(job, env, here, offer, around)};

  const Job whole{command, env, around, here, loop, signals, inherited, company};
  OpeningRemarks remarks{.notices = command.notices, .warnings = command.warnings};
  History history = history_of(job, company);
  NamedLogs logs(job);
  NcclIdMaker nccl(job, env, offer.means.program);
  const bool on_gpus = is_on_gpus(job, offer);
  if (on_gpus && company.group().mine == 0 && offer.me.place == 0) nccl.prepare();
  std::optional<ElasticJob> elastic;
  if (job.elastic) elastic.emplace(loop, job, env, here, offer.me, remarks.notices);
  const PayloadMaker payload = [&](int trainers, std::uint32_t own_address) {
    JobPayload made{.log_name = logs.name_for_all(offer.means.log_dir)};
    if (on_gpus) {
      made.nccl = nccl.make(ids_for(trainers), interface_of(own_address).value_or(""));
    }
    return pack_payload(made);
  };
  Met met = elastic ? elastic->meet({}, terms_of(job, here, offer, nullptr), offer.pod, payload)
                    : meet(loop, job, env, here, company, offer, payload, remarks.notices);
  if (job.check) return {check_network(loop, met, here, company.speaks())};
  for (;;) {
    waiting.reset();
    logs.take(unpack_payload(met.payload).log_name, offer.means.log_dir);
    RoundWatch* const watch = elastic ? elastic->watch() : nullptr;
    const RoundEnd end = run_round(whole, watch, offer, met, std::exchange(remarks, {}), history);
    if (!end.next) {
      if (elastic) elastic->leave(met.channel->is_hub() && !end.leaves);
      return {end.status, end.verdict};
    }
    waiting.emplace(loop, signals, "between two rounds");
    nccl.end_round();
    BetweenRounds between{
        .connections = met.channel->release(), .roster = std::move(met.roster), .next = *end.next};
    if (end.is_asked_to_end) end_by_signal(whole, between, end.status - kSignalBase);
    try {
      met = meet_for_next_round(whole, offer, std::move(between), elastic ? &*elastic : nullptr,
                                payload);
    } catch (...) {
      if (company.speaks()) show_rounds(history);
      throw;
    }
  }
}

}  // namespace paddle_launch
