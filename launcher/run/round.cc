// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/round.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <exception>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "launcher/channel/judge.h"
#include "launcher/job/errors.h"
#include "launcher/run/end_on_signal.h"
#include "launcher/run/log_directory.h"
#include "launcher/run/own_words.h"
#include "launcher/run/pre_hook.h"
#include "launcher/site/kernel_facts.h"
#include "launcher/site/named_files.h"
#include "launcher/tell/banner.h"
#include "launcher/tell/job_report.h"
#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

// The phases of a round, and what ends them:
//
// Starting    the hook runs, the guard opens the logs      | the logs are open; an outcome
// Running     processes start and run                      | an outcome; the last process is gone
// Stopping    the outcome is known, processes are stopped  | the last process is gone
// Concluding  this pod's end is told, others are waited for| the verdict over the job
// Over        last words, console and report               |
//
//                     | Starting     | Running     | Stopping      | Concluding     | Over
// stop, another pod's | Stopping     | Stopping    | -             | said; patience | -
// stop, the watch's   | told, and as another pod's  | told          | told           | -
// kill, another pod's | guard kills  | guard kills | guard kills   | -              | -
// verdict of the job  | kept         | kept        | kept          | Over           | -
// SIGINT, SIGTERM, …  | Stopping     | Stopping    | SIGINT again: | told; patience;| the console
//                     | (hook: ends) |             | kills         | again: kill,   | is waited for
//                     |              |             |               | then decides   | 0.5 s at most
// launcher fails      | told, thrown | Stopping    | noted         | decides alone  | told, thrown
//
// Once processes run, a launcher that fails is an outcome like others: the supervisor stops them.
// Another pod's stop that comes while the hook runs waits in the session.

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;

// How long the other nodes may take to stop, beyond the grace: what survives SIGKILL is given 30 s.
constexpr std::chrono::seconds kPatienceWithOthers{40};

// Between two rounds, or when the job was asked to end: how long a console that nobody reads is
// waited for.
constexpr milliseconds kPatienceWithConsole{5000};

// Nodes seldom finish in the same instant: less is not worth a word.
constexpr std::chrono::seconds kWorthAWord{2};

std::optional<int> process_with_stdin(const ProcessPlan& plan) {
  const auto found = std::find_if(plan.processes.begin(), plan.processes.end(),
                                  [](const ProcessSpec& spec) { return spec.has_stdin; });
  if (found == plan.processes.end()) return std::nullopt;
  return static_cast<int>(found - plan.processes.begin());
}

ConsoleSettings console_settings(const JobSpec& job, const Environment& env) {
  const bool colour =
      isatty(STDOUT_FILENO) == 1 && !lookup(env, "NO_COLOR") && lookup(env, "TERM") != "dumb";
  return {.prefix_lines = job.console == ConsoleMode::All, .colour = colour};
}

milliseconds since(SteadyTime then) {
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - then);
}

}  // namespace

Round::Round(const RoundSettings& settings, Session& session, int node, const PodPlan& plan,
             History& history)
    : settings_(settings),
      session_(session),
      node_(node),
      plan_(plan),
      history_(history),
      speaks_(settings.speaks),
      voice_(settings.job.quiet ? LogLevel::Error : settings.job.log_level,
             [this](std::string_view text) {
               if (speaks_ && console_) console_->say(text);
             }),
      reader_(process_with_stdin(plan.processes)),
      terminal_(reader_ && Terminal::can_be_lent()),
      slow_(settings.loop),
      deadline_(settings.loop) {}

RoundEnd Round::run(OpeningRemarks remarks) {
  remarks_ = std::move(remarks);
  std::erase_if(remarks_.warnings,
                [this](const std::string& text) { return !history_.warned.insert(text).second; });
  try {
    run_hook();
    start();
    watch_processes();
    conclude();
    return end();
  } catch (const StoppedBySignal& stopped) {
    withdraw(Interrupted{stopped.signal});
    throw;
  } catch (const UsageError& error) {
    withdraw(error.what(), kWrongUseStatus);
    throw;
  } catch (const std::exception& error) {
    withdraw(error.what(), kLaunchErrorStatus);
    throw;
  }
}

// --elastic_pre_hook: what it says is shown, and a failure of it is no reason not to train.
void Round::run_hook() {
  const auto& elastic = settings_.job.elastic;
  if (!elastic || elastic->pre_hook.empty()) return;
  const EndOnSignal waiting(settings_.loop, settings_.signals, "before the round began");
  const PreHookResult hook =
      run_pre_hook(settings_.loop, elastic->pre_hook, plan_.processes.common_env);
  std::vector<std::string>& lines = hook.problem.empty() ? remarks_.notices : remarks_.warnings;
  for (std::string& line : hook_lines(hook.output)) lines.push_back(std::move(line));
  if (hook.problem.empty()) return;
  remarks_.warnings.push_back(
      fmt::format("--elastic_pre_hook='{}': {}; the round begins all the same",
                  one_line(elastic->pre_hook), hook.problem));
}

void Round::start() {
  started_ = std::chrono::steady_clock::now();
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const JobSpec& job = settings_.job;
  GuardSettings settings = guard_settings(job, plan_, history_.state.number == 0);
  const bool all = job.console == ConsoleMode::All;
  const bool follows_logs = all || (speaks_ && job.console == ConsoleMode::RankZero);
  console_.emplace(console_settings(job, settings_.env),
                   follows_logs ? followed_logs(plan_.processes, settings.start_lines, all)
                                : std::vector<FollowedLog>{});
  if (plan_.store_relay) {
    store_relay_ = open_store_relay(settings_.loop, *plan_.store_relay,
                                    [this](const std::string& text) { voice_.warning(text); });
  }
  settings.inherited = settings_.inherited;
  settings.own_session = !terminal_.is_lent();
  settings.lend_terminal = terminal_.is_lent();
  guard_.emplace(plan_.processes, settings);
  // Read while the guard is busy: the kernel takes its time for this file.
  post_mortem_.emplace(plan_.processes, settings_.host_name, node_, oom_kills_so_far());
  if (!plan_.servers) return;
  conductor_.emplace(
      settings_.loop, session_, conductor_settings(*plan_.servers, *job.servers), *this,
      look_for_servers(*plan_.servers, [this](const std::string& text) { voice_.warning(text); }));
}

void Round::watch_processes() {
  supervisor_.emplace(
      settings_.loop, *guard_, *console_, settings_.signals, terminal_,
      StopPolicy(crew_of(plan_.processes), terminal_.is_lent() ? reader_ : std::nullopt,
                 settings_.scheduler_signals_workers),
      *this);
  result_ = supervisor_->run(longest());
  supervisor_.reset();
  gpu_log_.reset();
  ending_signal_ = result_.ending_signal;
  if (settings_.watch != nullptr) settings_.watch->work_ends();
  if (conductor_) conductor_->pod_ended();
  if (result_.refusal && result_.refusal->is_wrong_use) throw UsageError(result_.refusal->text);
  if (result_.refusal) throw LaunchError(result_.refusal->text);
  terminal_.take_back();
}

void Round::conclude() {
  phase_ = Phase::Concluding;
  if (!verdict_) {
    PodEnding mine = post_mortem_->ending(result_, cause_);
    try {
      wait_for_others(mine);
    } catch (const std::exception& error) {
      result_.launcher_failure = error.what();
      decide_alone(std::move(mine));
    }
  }
  phase_ = Phase::Over;
  slow_.stop();
  deadline_.stop();
  settings_.loop.forget(settings_.signals.fd());
  if (settings_.watch != nullptr) settings_.watch->end();
}

void Round::wait_for_others(const PodEnding& mine) {
  session_.tell_ending(mine);
  if (verdict_) return;
  if (!std::holds_alternative<Completed>(result_.outcome)) begin_patience();
  settings_.loop.on_readable(settings_.signals.fd(), [this] { take_signals(); });
  slow_.set(kWorthAWord, [this] {
    voice_.info("the processes of this node have ended; waiting for the other nodes to end");
  });
  settings_.loop.run_until([this] { return verdict_.has_value(); });
}

// The launcher failed when its processes were gone: nobody is waited for any longer, and what is
// known by now is the verdict.
void Round::decide_alone(PodEnding mine) {
  phase_ = Phase::Over;
  const LauncherFailed because{result_.launcher_failure};
  if (mine.own.kind == StopCause::Kind::Completed) {
    mine.own = post_mortem_->cause(because);
    post_mortem_->tell_verdict(voice_, because, 0);
  }
  mine.asked_to_end = mine.own.kind != StopCause::Kind::LauncherFailed;
  session_.tell_stop(mine.own);
  session_.tell_ending(mine);
  session_.decide_now();
  if (!verdict_) verdict_ = judge({PodAccount{.ending = mine}});
}

RoundEnd Round::end() {
  const auto patience = patience_with_console();
  drain_console(patience);
  post_mortem_->tell_end(voice_, result_, *verdict_);
  add_round(history_.told, {.state = history_.state,
                            .nodes = plan_.processes.nodes,
                            .trainers = plan_.processes.world_size,
                            .lasted = since(started_),
                            .cause = verdict_->first});
  RoundEnd end = end_of_round(history_.rules, *verdict_,
                              {.has_cause = verdict_->first.node == node_,
                               .ending_signal = ending_signal_,
                               .has_failed = !result_.launcher_failure.empty()});
  say_what_comes(end);
  console_->finish(settings_.signals, patience);
  guard_->wait_for_end();
  if (end.next) return end;
  if (settings_.job.report && speaks_) report(end);
  // The hub waits until all have the verdict, and a member without a console until the first pod,
  // which has it, has said its last: mpirun throws away the rest once one launcher has failed.
  const bool has_listeners = session_.is_hub() || !settings_.speaks;
  if (end.leaves || !has_listeners) return end;
  try {
    session_.close();
  } catch (const std::exception&) {
    // Everything is told by now: a loop that fails here changes nothing any more.
  }
  return end;
}

void Round::say_what_comes(const RoundEnd& end) const {
  if (end.is_asked_to_end) return;
  const ToldRound& ended = history_.told.back();
  const RestartSpec& restarts = history_.rules.spec;
  if (end.next) return voice_.info(next_round_line(ended, *end.next, restarts.most));
  if (verdict_->next && !end.leaves) return;
  if (end.leaves) {
    voice_.info(
        "this node leaves the job, which goes on without it; `paddle-launch --stop` ends an "
        "elastic job on all nodes");
  } else if (verdict_->asked_to_end == 0) {
    const std::string why = no_next_round_line(ended, restarts);
    if (!why.empty()) voice_.info(why);
  }
  const std::string table = rounds_table(history_.told);
  if (!table.empty()) voice_.always(table);
}

// None: without an end, where a job ended by itself, since nobody but this launcher waits.
std::optional<milliseconds> Round::patience_with_console() const {
  if (result_.user_is_impatient) return kPatienceOfAnImpatientUser;
  if (verdict_->next || ending_signal_ != 0) return kPatienceWithConsole;
  return std::nullopt;
}

// What the trainers wrote is on the console before our own last words are. The others have been
// told by now: whoever does not read this console holds up nobody but us.
void Round::drain_console(std::optional<milliseconds> patience) {
  if (console_->drain(settings_.signals, patience) || !verdict_->next) return;
  if (std::exchange(history_.told_of_console, true)) return;
  voice_.warning(fmt::format(
      "nobody has read the console for {} s: the next round does not wait for it, and what the "
      "trainers of this one wrote is in the log directory",
      std::chrono::duration_cast<std::chrono::seconds>(kPatienceWithConsole).count()));
}

// Before the others may end: mpirun stops this launcher as soon as one of them has failed.
void Round::report(const RoundEnd& end) const {
  const auto problem = write_report_file(
      *settings_.job.report, job_report(end.verdict, end.status, history_.state.restarts));
  if (!problem) return;
  say_patiently(fmt::format("paddle-launch: warning: --report={}\n", *problem),
                std::chrono::seconds(1));
}

// The others have the roster and would start, or go on: they are told that this node will not.
void Round::withdraw(const std::string& what, int status) {
  const ProcessPlan& plan = plan_.processes;
  if (phase_ != Phase::Starting) return withdraw(LauncherFailed{what});
  cause_ = stop_cause(LauncherFailed{what}, plan, node_, std::chrono::steady_clock::now());
  cause_->kind = StopCause::Kind::NotStarted;
  cause_->status = status;
  cause_->text = fmt::format("node {} could not start: {}", plan.host, what);
  withdraw(LauncherFailed{what});
}

void Round::withdraw(const Outcome& because) {
  phase_ = Phase::Over;
  let_go();
  if (!cause_) {
    cause_ = stop_cause(because, plan_.processes, node_, std::chrono::steady_clock::now());
  }
  attend();
  session_.tell_stop(*cause_);
  session_.tell_ending({.own = *cause_});
  session_.decide_now();
  session_.close();
}

// In this order; with the guard go the processes.
void Round::let_go() {
  supervisor_.reset();
  gpu_log_.reset();
  if (settings_.watch != nullptr) settings_.watch->end();
  slow_.stop();
  deadline_.stop();
  settings_.loop.forget(settings_.signals.fd());
  conductor_.reset();
  guard_.reset();
  terminal_.take_back();
  store_relay_.reset();
  console_.reset();
}

// Hears what has come since the roster, and everything from now on.
void Round::attend() {
  // The nodes of an elastic job find each other again through etcd.
  const bool finds_way_back = history_.may_be_several && settings_.watch == nullptr;
  session_.attend(
      *this, {.another_may_follow = history_.may_be_several,
              .nodes_may_join = settings_.watch != nullptr,
              .patience = finds_way_back ? settings_.job.grace + kForTheWayBack : milliseconds(0)});
}

void Round::on_stop(const StopCause& cause) {
  if (supervisor_) return supervisor_->stop_because(cause);
  if (phase_ != Phase::Concluding) return;
  if (conductor_) conductor_->job_stops();
  post_mortem_->tell_verdict(voice_, JobStopped{cause}, 0);
  begin_patience();
}

void Round::on_kill() {
  if (supervisor_) supervisor_->kill_now();
}

// What keeps the pods of a job with servers in step.
void Round::on_message(int node, const Message& message) {
  if (conductor_) conductor_->on_message(node, message);
}

// Whether the job goes on after this round.
std::optional<NextRound> Round::next_round(const JobVerdict& verdict, bool hub_is_lost) {
  return paddle_launch::next_round(history_.rules,
                                   {.state = history_.state,
                                    .lasted = since(begun_),
                                    .nodes = plan_.processes.nodes,
                                    .hub_is_lost = hub_is_lost},
                                   verdict);
}

std::optional<RefusalMessage> Round::on_newcomer(const OfferMessage& offer) {
  return settings_.watch->on_newcomer(offer);
}

void Round::on_reason_to_stop(const StopCause& cause) {
  session_.tell_stop(cause);
  if (supervisor_) supervisor_->stop_because(cause);
}

void Round::take_signals() {
  while (const std::optional<int> signal = settings_.signals.next()) on_signal(*signal);
}

// The user may still interrupt: whoever has finished early is a part of the job until its end.
void Round::on_signal(int signal) {
  if (signal == SIGTSTP) return terminal_.suspend_launcher();
  if (!asks_to_end(signal)) return;
  const StopPolicy::Order order = interrupts_.interrupted(signal, std::chrono::steady_clock::now());
  if (order == StopPolicy::Order::Stop) return on_interrupt(signal);
  if (order != StopPolicy::Order::Kill) return;
  // Once more, and nobody is waited for any longer.
  if (std::exchange(has_killed_, true)) return session_.decide_now();
  session_.tell_kill();
}

void Round::on_interrupt(int signal) {
  begin_patience();
  if (ending_signal_ == 0) ending_signal_ = signal;
  // Of no consequence once the work is done.
  if (!conductor_ || !conductor_->is_work_done()) {
    if (conductor_) conductor_->job_stops();
    post_mortem_->tell_verdict(voice_, Interrupted{signal}, 0);
  }
  session_.tell_stop(post_mortem_->cause(Interrupted{signal}));
}

void Round::begin_patience() {
  if (!deadline_.is_set()) deadline_.set(longest(), [this] { session_.decide_now(); });
}

void Round::on_watching() {
  attend();
  if (settings_.watch == nullptr) return;
  supervisor_->spare(settings_.watch->keeper());
  settings_.watch->begin(session_, plan_.processes.nodes, *this);
}

void Round::on_hang(bool nothing_is_started) {
  voice_.warning(fmt::format(
      "{} after 10 s: the guard hangs ({}); does the disk answer? Ctrl-C ends the launch",
      nothing_is_started ? "the logs are not open and nothing is started"
                         : "not all processes are started",
      describe_stuck_process(guard_->pid())));
}

void Round::on_logs_open(const OpenedLogs& logs) {
  if (phase_ == Phase::Starting) phase_ = Phase::Running;
  const bool is_first = history_.told.empty();
  if (is_first) introduce_job(voice_, settings_.job, plan_, settings_.env);
  for (const std::string& text : remarks_.warnings) voice_.warning(text);
  for (const std::string& text : logs.warnings) voice_.warning(text);
  for (const std::string& text : remarks_.notices) voice_.info(text);
  if (!is_first) voice_.info(round_begins_line(plan_.processes));
  console_->follow(logs.begins);
}

void Round::on_started() {
  const GpuLogSettings gpus = gpu_log_settings(plan_, settings_.job.job_id, settings_.env);
  if (settings_.job.gpu_log && wants_gpu_log(gpus)) gpu_log_.emplace(gpus);
  if (conductor_) conductor_->begin();
}

void Round::on_exit(int process) {
  if (store_relay_ && process == 0) store_relay_->rank_zero_is_gone();
}

void Round::on_good_exit(int process) {
  if (conductor_) conductor_->ended_well(process);
}

void Round::on_workers_done() {
  if (conductor_) conductor_->workers_done();
}

void Round::on_outcome(const Outcome& outcome, int others) {
  phase_ = Phase::Stopping;
  if (std::holds_alternative<Completed>(outcome)) {
    return voice_.info(
        fmt::format("all workers have finished; stopping {} here that served them", others));
  }
  if (conductor_) conductor_->job_stops();
  speaks_ = speaks_ || speaks_for_lost_hub(outcome);
  post_mortem_->tell_verdict(voice_, outcome, others);
  if (std::holds_alternative<JobStopped>(outcome)) return;
  cause_ = post_mortem_->cause(outcome);
  session_.tell_stop(*cause_);
}

void Round::on_second_interrupt() {
  voice_.error("interrupted again: killing what is left");
  session_.tell_kill();
}

// The first pod spoke for all; where it is lost, the first pod of each other node does.
bool Round::speaks_for_lost_hub(const Outcome& outcome) const {
  const auto* stopped = std::get_if<JobStopped>(&outcome);
  const bool is_lost = stopped != nullptr && stopped->cause.kind == StopCause::Kind::PodLost &&
                       stopped->cause.node == 0;
  return is_lost && (plan_.first_on_node || node_ == 1);
}

void Round::start_workers() {
  if (supervisor_) supervisor_->start_rest();
}

void Round::stop_servers() {
  if (supervisor_) supervisor_->job_completed();
}

// So long this pod's processes may take to end where the launcher has failed, and the other pods
// once the job is being stopped.
milliseconds Round::longest() const { return settings_.job.grace + kPatienceWithOthers; }

}  // namespace paddle_launch
