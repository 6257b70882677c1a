// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch.h"

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "launcher/assumed_roster.h"
#include "launcher/claim.h"
#include "launcher/company.h"
#include "launcher/job/errors.h"
#include "launcher/meeting.h"
#include "launcher/nccl_gift.h"
#include "launcher/network_check.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/signals.h"
#include "launcher/planning.h"
#include "launcher/preparation.h"
#include "launcher/round.h"
#include "launcher/run/terminal.h"
#include "launcher/site/machine.h"
#include "launcher/site/own_node.h"
#include "launcher/site/surroundings.h"
#include "launcher/tell/dry_run.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

// While nothing runs yet, a signal ends the launcher. Also the first process of a container, for
// whom the kernel's own way to end a process does not hold.
class EndOnSignal {
 public:
  EndOnSignal(EventLoop& loop, SignalWatch& signals) : loop_(loop), fd_(signals.fd()) {
    loop_.on_readable(fd_, [&signals] {
      while (const std::optional<int> signal = signals.next()) take(*signal);
    });
  }
  EndOnSignal(const EndOnSignal&) = delete;
  EndOnSignal& operator=(const EndOnSignal&) = delete;
  ~EndOnSignal() { loop_.forget(fd_); }

 private:
  static void take(int signal) {
    if (signal == SIGTSTP) return Terminal(false).suspend_launcher();
    if (signal == SIGUSR1 || signal == SIGUSR2 || signal == SIGCHLD) return;
    throw StoppedBySignal(signal, fmt::format("stopped by {} while waiting for the other nodes",
                                              signal_name(signal)));
  }

  EventLoop& loop_;
  int fd_;
};

// What is wrong on this node is not thrown at once: the other nodes are to hear of it, instead of
// waiting for a node that will never come.
struct Readiness {
  OwnNode me;
  Preparation preparation;
  std::exception_ptr problem;
  std::string problem_text;
};

// A trainer that the variables of Paddle's first cluster documents started is in no list of nodes:
// where it is, is known when the nodes have met.
OwnNode own_node(const JobSpec& job, const Machine& here) {
  const OldRole* const old =
      job.servers && job.servers->old_role ? &*job.servers->old_role : nullptr;
  if (old == nullptr || old->mine.role == Role::Server) return find_own_node(job, here);
  return own_node_of_task(job, here, static_cast<std::size_t>(old->place()));
}

// Without --rank the node where all meet becomes the first.
bool may_be_first(const JobSpec& job, const Machine& here, const OwnNode& me) {
  if (!job.master || job.node_rank || !job.servers) return me.place == 0;
  return is_meeting_point(job, here);
}

Readiness get_ready(const JobSpec& job, const Environment& env, const Machine& here,
                    const Company& company) {
  Readiness ready;
  // Who does not know which node it is cannot tell the others anything; a scheduler knows.
  if (!company.is_scheduled()) ready.me = own_node(job, here);
  try {
    if (company.is_scheduled()) {
      ready.me = own_node_of_task(job, here, static_cast<std::size_t>(company.group().mine));
    }
    ready.preparation = prepare(job, env, here, ready.me.host, company.group().share,
                                company.has_several_pods(), may_be_first(job, here, ready.me));
  } catch (const std::exception& error) {
    if (!company.has_several_pods() || (job.dry_run != DryRun::No && !company.is_scheduled()))
      throw;
    ready.problem = std::current_exception();
    ready.problem_text = error.what();
    ready.preparation.offer.host = ready.me.host;
  }
  return ready;
}

int status_of(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const UsageError&) {
    return kWrongUseStatus;
  } catch (...) {
    return 1;
  }
}

Met meet(EventLoop& loop, const JobSpec& job, const Environment& env, const Machine& here,
         Company& company, const Readiness& ready, const GiftMaker& gift,
         std::vector<std::string>& notices) {
  PodClaim claim = make_claim(job, here, ready.me, company, ready.problem_text);
  if (ready.problem) claim.problem_status = status_of(ready.problem);
  try {
    return meet_the_others(loop, job, env, here, ready.me, company, claim, ready.preparation.offer,
                           gift, notices);
  } catch (const StoppedBySignal&) {
    throw;
  } catch (const std::exception&) {
    if (!ready.problem) throw;
    if (!company.is_scheduled()) std::rethrow_exception(ready.problem);
    // Whoever started us shows the words of all nodes in one place.
    const std::string text = fmt::format("{}: {}", here.host_name, ready.problem_text);
    if (status_of(ready.problem) == kWrongUseStatus) throw UsageError(text);
    throw LaunchError(text);
  }
}

int print_plan(const JobSpec& job, const ProcessPlan& plan) {
  const std::string text = job.dry_run == DryRun::Json ? dry_run_json(plan) : dry_run_text(plan);
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}

int show_assumed_plan(const JobSpec& job, const Environment& env, const Machine& here,
                      const Readiness& ready, const Surroundings& around) {
  const Roster roster = assumed_roster(job, here, ready.me, ready.preparation.offer);
  if (job.has_several_nodes()) {
    std::fputs(
        "paddle-launch: --dry_run asked no other node: their cards and ports are taken to be like "
        "this one's\n",
        stderr);
  }
  return print_plan(
      job,
      plan_pod(job, env, ready.preparation, roster, !around.launched_by.empty(), "").processes);
}

// The others have the roster and would start: they are told that this node will not.
void withdraw(JobChannel& channel, int node, const std::string& why) {
  const StopCause cause{.kind = StopCause::Kind::NotStarted,
                        .node = node,
                        .status = 1,
                        .text = why,
                        .at = std::chrono::steady_clock::now()};
  channel.set_events({.stop = [](const StopCause&) {},
                      .kill = [] {},
                      .verdict = [](const JobVerdict&) {},
                      .remark = [](const std::string&) {},
                      .other = {}});
  channel.tell_stop(cause);
  channel.tell_ending({.own = cause});
  channel.decide_now();
  channel.close();
}

}  // namespace

int launch(const ParsedCommandLine& command, const Environment& env) {
  const JobSpec& job = command.job;
  const Surroundings around = surroundings(env);
  const Machine here = look_around();

  // Whoever started us may ignore SIGCHLD; then the kernel would throw away how our children ended.
  const bool sigchld_was_ignored = is_ignored(SIGCHLD);
  signal(SIGCHLD, SIG_DFL);
  SignalWatch signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD});
  EventLoop loop;
  std::optional<EndOnSignal> waiting(std::in_place, loop, signals);
  Company company(loop, job, env, around, here);
  company.gather();
  const Readiness ready = [&] {
    const SignalsAsBefore may_end_us(signals);
    return get_ready(job, env, here, company);
  }();
  const bool is_dry = job.dry_run != DryRun::No;
  if (is_dry && !company.is_scheduled()) return show_assumed_plan(job, env, here, ready, around);

  Remarks remarks{.notices = command.notices, .warnings = command.warnings};
  NcclGift nccl;
  const bool on_gpus = ready.preparation.offer.card_kind == CardKind::Gpu && !job.check && !is_dry;
  const Program& program = ready.preparation.program;
  if (on_gpus && company.group().mine == 0 && ready.me.place == 0) nccl.prepare(job, env, program);
  const Met met = meet(loop, job, env, here, company, ready,
                       on_gpus ? nccl.maker(job, env, program) : GiftMaker(), remarks.notices);
  if (job.check) return check_network(loop, met, here.host_name, company.speaks());

  waiting.reset();
  const PodPlan plan =
      plan_pod(job, env, ready.preparation, met.roster, !around.launched_by.empty(), met.gift);
  if (is_dry) return company.speaks() ? print_plan(job, plan.processes) : 0;
  remarks.add_warnings(ready.preparation.warnings);
  remarks.add_warnings(met.warnings);
  remarks.add_warnings(company.contradictions(job, met.roster));
  if (!company.remark().empty()) remarks.notices.push_back(company.remark());
  try {
    return run_round({loop, signals, sigchld_was_ignored, *met.channel,
                      static_cast<int>(met.roster.mine), company.speaks(), around.step.has_value()},
                     job, env, here, plan, remarks, ready.preparation.open_files_given);
  } catch (const std::exception& error) {
    withdraw(*met.channel, static_cast<int>(met.roster.mine),
             fmt::format("node {} could not start: {}", plan.processes.host, error.what()));
    throw;
  }
}

}  // namespace paddle_launch
