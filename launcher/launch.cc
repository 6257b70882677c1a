// SPDX-License-Identifier: Apache-2.0
// docs/architecture.md walks along this line, from argv to the exit status.
#include "launcher/launch.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/message.h"
#include "launcher/job/errors.h"
#include "launcher/launch_failure.h"
#include "launcher/nccl/id_keeper.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/files.h"
#include "launcher/os/signals.h"
#include "launcher/plan/nccl_env.h"
#include "launcher/plan/pod_plan.h"
#include "launcher/rendezvous/choose.h"
#include "launcher/rendezvous/link_checker.h"
#include "launcher/run/announcer.h"
#include "launcher/run/end_on_signal.h"
#include "launcher/run/own_words.h"
#include "launcher/run/restart_policy.h"
#include "launcher/run/round.h"
#include "launcher/site/launch_values.h"
#include "launcher/site/log_place.h"
#include "launcher/site/machine.h"
#include "launcher/site/named_files.h"
#include "launcher/site/offer.h"
#include "launcher/site/start_environment.h"
#include "launcher/tell/check_table.h"
#include "launcher/tell/dry_run.h"
#include "launcher/tell/rounds_table.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

OfferRequest request_of(const Launch& launch, const Rendezvous& peers) {
  OfferRequest request{
      .job = launch.job, .env = launch.env, .here = launch.here, .has_others = peers.has_others()};
  if (const TaskGroup* const tasks = peers.tasks()) {
    request.share = tasks->share;
    request.place = static_cast<std::size_t>(tasks->mine);
  }
  return request;
}

// Whatever hangs now hangs before anything was started: a signal ends us at once.
Offer make_offer_or_end(const Launch& launch, const Rendezvous& peers) {
  const SignalsAsBefore may_end_us(launch.inherited);
  Offer offer = make_offer(request_of(launch, peers));
  if (offer.problem) offer.problem_status = failure_of(offer.problem).status;
  return offer;
}

bool is_on_gpus(const JobSpec& job, const Offer& offer) {
  return offer.pod.card_kind == CardKind::Gpu && !job.check && job.dry_run == DryRun::No;
}

// --dry_run. Returns the exit status.
int print_plan(const JobSpec& job, const ProcessPlan& plan) {
  const std::string text = job.dry_run == DryRun::Json ? dry_run_json(plan) : dry_run_text(plan);
  return print_out(text) ? 0 : 1;
}

// A scheduler has started the others already; without one they would have to be started for a plan.
bool asks_nobody(const JobSpec& job, const Rendezvous& peers) {
  return job.dry_run != DryRun::No && peers.tasks() == nullptr;
}

PodPlan plan_of(const Launch& launch, const Offer& offer, const Gathered& met) {
  const RoundFacts facts{.round = met.round,
                         .nccl = unpack_payload(met.payload).nccl,
                         .under_scheduler = !launch.around.launched_by.empty(),
                         .has_unread_input = has_unread_bytes(STDIN_FILENO)};
  return plan_pod(launch.job, launch.env, offer.means, met.roster, facts);
}

int show_assumed_plan(const Launch& launch, Offer& offer) {
  NamedLogs(launch.job).assume(offer.means.log_dir);
  if (launch.job.has_several_nodes()) {
    say_on_stderr(
        "paddle-launch: --dry_run asked no other node: their cards and ports are taken to be like "
        "this one's\n");
  }
  const Gathered assumed{.roster = assumed_roster(launch.job, launch.here, offer)};
  return print_plan(launch.job, plan_of(launch, offer, assumed).processes);
}

// --check: the documents' "ping each other first", done for the user. Returns the exit status.
int check_network(const Launch& launch, Rendezvous& peers, const Roster& roster) {
  Session& session = peers.session();
  const LinkCheck check = LinkChecker(launch.loop, session, roster, launch.here.host_name).run();
  session.close();
  // Without its hub every node has a table of its own.
  const bool is_shown = peers.speaks() || check.seen_by >= 0;
  const bool written = !is_shown || print_out(check_table(check));
  const int status = check_status(check);
  return written || status != 0 ? status : kLaunchErrorStatus;
}

// The others hear of a problem of this pod; here it is what the launch ends with, whatever became
// of the meeting.
Gathered gather_first(const Launch& launch, Rendezvous& peers, const Brought& brought,
                      Announcer& announcer) {
  const Announcer::Wait wait(announcer);
  const Offer& offer = brought.offer;
  try {
    return peers.gather(brought);
  } catch (const StoppedBySignal&) {
    throw;
  } catch (const std::exception&) {
    if (!offer.problem) throw;
    if (peers.tasks() == nullptr) std::rethrow_exception(offer.problem);
    // Whoever started us shows the words of all nodes in one place.
    const std::string text = fmt::format("{}: {}", launch.here.host_name, offer.problem_text);
    if (offer.problem_status == kWrongUseStatus) throw UsageError(text);
    throw LaunchError(text);
  }
}

RoundEnd run_round(const Launch& launch, Rendezvous& peers, const Offer& offer, const Gathered& met,
                   OpeningRemarks remarks, History& history) {
  const PodPlan plan = plan_of(launch, offer, met);
  const bool speaks = peers.speaks();
  if (launch.job.dry_run != DryRun::No) {
    return {.status = speaks ? print_plan(launch.job, plan.processes) : 0};
  }
  remarks.add_warnings(offer.warnings);
  remarks.add_warnings(met.warnings);
  remarks.add_warnings(plan.warnings);
  for (const std::string& notice : met.notices) remarks.notices.push_back(notice);
  for (const std::string& notice : plan.notices) remarks.notices.push_back(notice);
  history.state = met.round;
  return Round({launch.loop, launch.signals, launch.inherited, launch.job, launch.env,
                launch.here.host_name, speaks, launch.around.step.has_value(), peers.watch()},
               peers.session(), static_cast<int>(met.roster.mine), plan, history)
      .run(std::move(remarks));
}

// The others wait for this pod, which does not go on.
void call_off(const Launch& launch, Rendezvous& peers, int status, const std::string& why) {
  peers.call_off(status, fmt::format("{}: {}", launch.here.host_name, why));
}

// A signal came when the next round was settled already.
[[noreturn]] void end_by_signal(const Launch& launch, Rendezvous& peers, int signal) {
  const std::string text = fmt::format("stopped by {} between two rounds", signal_name(signal));
  call_off(launch, peers, kSignalBase + signal, text);
  throw StoppedBySignal(signal, text);
}

// Until the next round may begin; then this pod has a new offer for it.
void renew_after_pause(const Launch& launch, Rendezvous& peers, const NextRound& next,
                       Offer& offer) {
  try {
    // Also where there is no pause: a signal may have come while the last round was being ended.
    run_until(launch.loop, next.pause,
              [&] { return peers.session().is_called_off(peers.others_may_come()); });
    renew_offer(request_of(launch, peers), offer);
  } catch (const StoppedBySignal& stopped) {
    call_off(launch, peers, kSignalBase + stopped.signal, stopped.what());
    throw;
  } catch (const std::exception& error) {
    call_off(launch, peers, kLaunchErrorStatus, error.what());
    throw;
  }
}

Gathered gather_next(const Launch& launch, Rendezvous& peers, const Brought& brought, Offer& offer,
                     Announcer& announcer) {
  renew_after_pause(launch, peers, brought.next, offer);
  const Announcer::Wait wait(announcer);
  return peers.gather(brought);
}

// What the first pod has for all: what every pod of the job has to know alike.
std::string payload_for_all(const Offer& offer, NamedLogs& logs, NcclIdMaker* nccl, int trainers,
                            std::uint32_t own_address) {
  JobPayload made{.log_name = logs.name_for_all(offer.means.log_dir)};
  if (nccl != nullptr) {
    made.nccl = nccl->make(ids_for(trainers), interface_of(own_address).value_or(""));
  }
  return pack_payload(made);
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
  const Launch launch{job, env, around, here, inherited, loop, signals};
  Announcer announcer(job);
  const std::unique_ptr<Rendezvous> peers = choose_rendezvous(launch, announcer);
  if (!peers->speaks()) announcer.be_silent();
  Offer offer = make_offer_or_end(launch, *peers);
  if (asks_nobody(job, *peers)) return {show_assumed_plan(launch, offer)};

  NamedLogs logs(job);
  NcclIdMaker nccl(job, env, offer.means.program);
  const bool on_gpus = is_on_gpus(job, offer);
  if (on_gpus && offer.me.place == 0) nccl.prepare();
  const PayloadMaker payload = [&](int trainers, std::uint32_t own_address) {
    return payload_for_all(offer, logs, on_gpus ? &nccl : nullptr, trainers, own_address);
  };
  OpeningRemarks remarks{.notices = command.notices, .warnings = command.warnings};
  History history{.rules = rules_of(job, peers->others_may_come()),
                  .may_be_several = job.has_rounds()};
  Brought brought{.offer = offer, .payload = payload, .has_ids = on_gpus && job.nccl_ids};
  Gathered met = gather_first(launch, *peers, brought, announcer);
  for (;;) {
    if (job.check) return {check_network(launch, *peers, met.roster)};
    waiting.reset();
    logs.take(unpack_payload(met.payload).log_name, offer.means.log_dir);
    const RoundEnd end = run_round(launch, *peers, offer, met, std::exchange(remarks, {}), history);
    if (!end.next) {
      peers->leave(peers->session().is_hub() && !end.leaves);
      return {end.status, end.verdict};
    }
    waiting.emplace(loop, signals, "between two rounds");
    nccl.end_round();
    if (end.is_asked_to_end) end_by_signal(launch, *peers, end.status - kSignalBase);
    brought.next = *end.next;
    try {
      met = gather_next(launch, *peers, brought, offer, announcer);
    } catch (...) {
      if (peers->speaks()) say_patiently(rounds_table(history.told, 1), std::chrono::seconds(1));
      throw;
    }
  }
}

}  // namespace paddle_launch
