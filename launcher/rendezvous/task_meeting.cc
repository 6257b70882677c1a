// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0018: why MPI and PMIx live in a child of their own.
#include "launcher/rendezvous/task_meeting.h"

#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/child.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kWorthAWord{10};
constexpr int kForItsLastAct = 1000;  // milliseconds
// MPI_Finalize waits for all tasks; they have met already.
constexpr std::chrono::seconds kForItsLeave{60};

// What mpiexec hears over this descriptor is the child's affair from now on: kept here as well it
// would end with the launcher, and mpiexec would take that for a crash.
void leave_to_the_child(int pmi) {
  struct stat facts {};
  if (pmi > STDERR_FILENO && fstat(pmi, &facts) == 0 && S_ISSOCK(facts.st_mode)) close(pmi);
}

}  // namespace

TaskMeeting::TaskMeeting(EventLoop& loop, TaskMeetingSettings settings)
    : loop_(loop),
      settings_(std::move(settings)),
      started_(EventLoop::Clock::now()),
      doing_("starting"),
      deadline_(loop),
      patience_(loop) {
  begin();
  loop_.on_readable(meeting_.fd(), [this] { hear(); });
}

TaskMeeting::~TaskMeeting() {
  loop_.forget(meeting_.fd());
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

// Made before the launcher has opened anything that a child must not keep. It does keep what
// mpiexec gave us: MPICH speaks over an inherited descriptor.
void TaskMeeting::begin() {
  Child child = start_child(
      {.blocks_signals = false, .descriptors = ChildRecipe::Descriptors::All},
      [this](FramePipe launcher) { attend_meeting(std::move(launcher), settings_.order); });
  child_ = child.pid;
  meeting_ = std::move(child.pipe);
  leave_to_the_child(settings_.pmi);
}

std::string TaskMeeting::where() const {
  return number_ ? fmt::format("task {} of {} on {}", number_->task, number_->tasks,
                               settings_.order.host)
                 : fmt::format("a task on {}", settings_.order.host);
}

void TaskMeeting::hear() {
  if (!meeting_.receive()) {
    ended_ = true;
    loop_.forget(meeting_.fd());
  }
  while (const auto frame = meeting_.next()) take(meeting_frame(*frame));
}

void TaskMeeting::take(MeetingFrame frame) {
  if (frame.word == MeetingWord::Doing) {
    doing_ = std::move(frame.bytes);
  } else if (frame.word == MeetingWord::Remark) {
    remark_ = std::move(frame.bytes);
  } else if (frame.word == MeetingWord::Note) {
    if (settings_.note) settings_.note(frame.bytes);
  } else {
    answer_ = std::move(frame);
  }
}

// The child reads as soon as it has answered; it has nothing else to do.
void TaskMeeting::say(MeetingWord word, std::string_view bytes) {
  meeting_.push(word, bytes);
  meeting_.push_all();
}

void TaskMeeting::give_up(const std::string& text, int status) {
  settings_.error(text);
  throw AlreadyTold{status};
}

std::string TaskMeeting::how_it_ended() {
  int status = 0;
  if (waitpid(std::exchange(child_, -1), &status, 0) < 0) return "it is gone";
  return WIFSIGNALED(status) ? fmt::format("it was ended by signal {}", WTERMSIG(status))
                             : fmt::format("it ended with exit code {}", WEXITSTATUS(status));
}

// Until there is one, or the child has ended, or it is too late for any.
void TaskMeeting::wait_for_answer() {
  bool too_late = false;
  const auto left = settings_.timeout - std::chrono::duration_cast<std::chrono::milliseconds>(
                                            EventLoop::Clock::now() - started_);
  deadline_.set(std::max(left, std::chrono::milliseconds(0)), [&] { too_late = true; });
  patience_.set(kWorthAWord, [this] {
    if (settings_.waiting) {
      settings_.waiting(
          fmt::format("{} is still {}; not all tasks have come that far", where(), doing_));
    }
  });
  loop_.run_until([&] { return answer_ || ended_ || too_late; });
  deadline_.stop();
  patience_.stop();
}

// The child has failed and is about to end all tasks; we speak first, as that may end us too.
void TaskMeeting::let_it_abort(const std::string& why) {
  settings_.error(fmt::format("{} could not meet the others: {}", where(), why));
  say(MeetingWord::Close, "");
  pollfd ready{meeting_.fd(), POLLIN, 0};
  poll(&ready, 1, kForItsLastAct);
  throw AlreadyTold{};
}

MeetingFrame TaskMeeting::answer() {
  wait_for_answer();
  if (answer_) {
    MeetingFrame frame = *std::exchange(answer_, std::nullopt);
    if (frame.word == MeetingWord::Failed) let_it_abort(frame.bytes);
    return frame;
  }
  if (ended_) {
    give_up(fmt::format("{} could not meet the others: its meeting process was {}, and {}", where(),
                        doing_, how_it_ended()),
            kLaunchErrorStatus);
  }
  give_up(
      fmt::format(
          "{} is still {} after {} s (--bootstrap_timeout); either a task did not come that far "
          "(look at the nodes whose tasks do not say this), or {} cannot connect its nodes",
          where(), doing_,
          std::chrono::duration_cast<std::chrono::seconds>(settings_.timeout).count(),
          settings_.scheduler),
      kNodeMissingStatus);
}

std::optional<TaskNumber> TaskMeeting::open() {
  const MeetingFrame frame = answer();
  if (frame.word == MeetingWord::NoWay) {
    reasons_ = frame.bytes;
    return std::nullopt;
  }
  TaskNumber number;
  const bool good = std::sscanf(frame.bytes.c_str(), "%d %d", &number.task, &number.tasks) == 2;
  if (!good) {
    give_up(fmt::format("{} could not meet the others: its meeting process did not tell its number",
                        where()),
            kLaunchErrorStatus);
  }
  number_ = number;
  return number;
}

std::vector<std::string> TaskMeeting::gather(std::string_view mine) {
  say(gather_word_, mine);
  auto list = unpack_list(answer().bytes);
  if (!list || list->size() != static_cast<std::size_t>(number_->tasks)) {
    give_up(fmt::format("{} could not meet the others: it did not hear from all {} tasks", where(),
                        number_->tasks),
            kLaunchErrorStatus);
  }
  return std::move(*list);
}

std::string TaskMeeting::share(std::string_view bytes) {
  say(MeetingWord::Share, bytes);
  return answer().bytes;
}

void TaskMeeting::begin_close() { say(MeetingWord::Close, ""); }

void TaskMeeting::wait_for_end() {
  bool too_late = false;
  deadline_.set(std::min<std::chrono::milliseconds>(settings_.timeout, kForItsLeave),
                [&] { too_late = true; });
  loop_.run_until([&] { return ended_ || too_late || answer_; });
  deadline_.stop();
  if (answer_) {
    give_up(fmt::format("{} could not take its leave: {}", where(), answer_->bytes),
            kLaunchErrorStatus);
  }
  if (too_late) {
    give_up(fmt::format("{} is still {}; look at the nodes whose tasks do not say this", where(),
                        doing_),
            kNodeMissingStatus);
  }
  waitpid(std::exchange(child_, -1), nullptr, 0);
}

}  // namespace paddle_launch
