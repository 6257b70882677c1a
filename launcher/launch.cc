// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/meeting.h"
#include "launcher/network_check.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/signals.h"
#include "launcher/plan/collective.h"
#include "launcher/plan/world.h"
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

// Eight launchers under `mpirun -np 8` must never start eight worlds of one.
void refuse_several_tasks(const Surroundings& around) {
  if (around.tasks == 1) return;
  throw UsageError(fmt::format(
      "{} started {} launchers together, and joining them into one job is not built yet in this "
      "version; start one "
      "launcher, for example `{}`",
      around.launched_by, around.tasks == 0 ? "perhaps several" : std::to_string(around.tasks),
      around.launched_by == "srun" ? "srun --ntasks=1 paddle-launch …" : "paddle-launch …"));
}

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
  Preparation preparation;
  std::exception_ptr problem;
  std::string problem_text;
};

Readiness get_ready(const JobSpec& job, const Environment& env, const Machine& here,
                    const OwnNode& me) {
  Readiness ready;
  try {
    ready.preparation = prepare(job, env, here, me.host);
  } catch (const std::exception& error) {
    if (!job.has_several_nodes() || job.dry_run != DryRun::No) throw;
    ready.problem = std::current_exception();
    ready.problem_text = error.what();
    ready.preparation.offer.host = me.host;
  }
  return ready;
}

Met meet(EventLoop& loop, const JobSpec& job, const Environment& env, const Machine& here,
         const OwnNode& me, const Readiness& ready, std::vector<std::string>& notices) {
  const PodClaim claim = make_claim(job, here, me, ready.problem_text);
  try {
    return meet_the_others(loop, job, env, here, me, claim, ready.preparation.offer, notices);
  } catch (const std::exception&) {
    if (ready.problem) std::rethrow_exception(ready.problem);
    throw;
  }
}

CollectivePlan make_plan(const JobSpec& job, const Environment& env, const Preparation& ready,
                         const WorldPlan& world, const std::string& host) {
  const bool give_stdin =
      job.stdin_to_rank_zero || (world.trainers.size() == 1 && isatty(STDIN_FILENO) == 1);
  CollectivePlan plan = plan_collective(world,
                                        {.backend = job.backend,
                                         .log_dir = ready.log_dir,
                                         .job_id = job.job_id,
                                         .temporary_dir = lookup(env, "TMPDIR").value_or("/tmp")},
                                        ready.program, env, ready.cpus, give_stdin);
  plan.processes.host = host;
  plan.processes.nodes = world.nodes;
  return plan;
}

int show_plan(const JobSpec& job, const Environment& env, const Machine& here, const OwnNode& me,
              const Preparation& ready) {
  const Roster roster = assumed_roster(job, here, me, ready.offer);
  const ProcessPlan plan =
      make_plan(job, env, ready, plan_world(roster), roster.pods.at(roster.mine).host).processes;
  if (job.has_several_nodes()) {
    std::fputs(
        "paddle-launch: --dry_run asked no other node: their cards and ports are taken to be like "
        "this one's\n",
        stderr);
  }
  const std::string text = job.dry_run == DryRun::Json ? dry_run_json(plan) : dry_run_text(plan);
  std::fputs(text.c_str(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
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
  refuse_several_tasks(surroundings(env));
  const Machine here = look_around();
  const OwnNode me = find_own_node(job, here);
  const Readiness ready = get_ready(job, env, here, me);
  if (job.dry_run != DryRun::No) return show_plan(job, env, here, me, ready.preparation);

  // Whoever started us may ignore SIGCHLD; then the kernel would throw away how our children ended.
  const bool sigchld_was_ignored = is_ignored(SIGCHLD);
  signal(SIGCHLD, SIG_DFL);
  SignalWatch signals({SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP, SIGCHLD});
  EventLoop loop;
  Remarks remarks{.notices = command.notices, .warnings = command.warnings};
  std::optional<EndOnSignal> waiting(std::in_place, loop, signals);
  const Met met = meet(loop, job, env, here, me, ready, remarks.notices);
  if (job.check) return check_network(loop, met, here.host_name);

  waiting.reset();
  const WorldPlan world = plan_world(met.roster);
  const std::string& host = met.roster.pods.at(met.roster.mine).host;
  const CollectivePlan plan = make_plan(job, env, ready.preparation, world, host);
  for (const auto* texts : {&ready.preparation.warnings, &met.warnings}) {
    remarks.warnings.insert(remarks.warnings.end(), texts->begin(), texts->end());
  }
  try {
    return run_round(
        {loop, signals, sigchld_was_ignored, *met.channel, static_cast<int>(met.roster.mine)}, job,
        env, here, world, plan, remarks, ready.preparation.open_files_given);
  } catch (const std::exception& error) {
    withdraw(*met.channel, static_cast<int>(met.roster.mine),
             fmt::format("node {} could not start: {}", host, error.what()));
    throw;
  }
}

}  // namespace paddle_launch
