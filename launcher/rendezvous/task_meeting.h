// SPDX-License-Identifier: Apache-2.0
// The launcher's side of a meeting of tasks that a scheduler started together: the child does the
// talking (meeting_child), this waits for its answers, and gives up on it at the deadline.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/os/event_loop.h"
#include "launcher/os/frames.h"
#include "launcher/rendezvous/bootstrap_plugin.h"
#include "launcher/rendezvous/meeting_child.h"

namespace paddle_launch {

struct TaskMeetingSettings {
  MeetingOrder order{};
  std::chrono::milliseconds timeout{0};               // of the whole meeting
  int pmi = -1;                                       // the descriptor to mpiexec; -1: none
  std::string scheduler{};                            // "mpirun": for messages
  std::function<void(const std::string&)> error{};    // shown at once
  std::function<void(const std::string&)> waiting{};  // what takes long, once
  std::function<void(const std::string&)> note{};     // which library was taken, and why
};

// What fails is shown, and then thrown as AlreadyTold.
class TaskMeeting {
 public:
  // The child begins at once.
  TaskMeeting(EventLoop& loop, TaskMeetingSettings settings);
  TaskMeeting(const TaskMeeting&) = delete;
  TaskMeeting& operator=(const TaskMeeting&) = delete;
  ~TaskMeeting();

  // None: no plugin could be loaded; reasons() says why, a line for each path.
  std::optional<TaskNumber> open();
  const std::string& reasons() const { return reasons_; }
  const std::string& remark() const { return remark_; }
  // NCCL ids will be shared after the next gather: something for MPI to carry.
  void expect_ids() { gather_word_ = MeetingWord::GatherBeforeIds; }

  void tell_error(const std::string& text) const { settings_.error(text); }

  std::vector<std::string> gather(std::string_view mine);  // by task
  std::string share(std::string_view bytes);               // task 0's
  // The child takes its leave while we go on; wait_for_end makes sure that it is gone.
  void begin_close();
  void wait_for_end();

 private:
  void begin();
  MeetingFrame answer();
  void wait_for_answer();
  [[noreturn]] void let_it_abort(const std::string& why);
  void hear();
  void take(MeetingFrame frame);
  void say(MeetingWord word, std::string_view bytes);
  [[noreturn]] void give_up(const std::string& text, int status);
  std::string where() const;
  std::string how_it_ended();

  EventLoop& loop_;
  TaskMeetingSettings settings_;
  EventLoop::Clock::time_point started_;
  pid_t child_ = -1;
  FramePipe meeting_;
  std::optional<MeetingFrame> answer_;
  std::optional<TaskNumber> number_;
  std::string doing_;
  std::string reasons_;
  std::string remark_;
  MeetingWord gather_word_ = MeetingWord::Gather;
  bool ended_ = false;
  Alarm deadline_;
  Alarm patience_;
};

}  // namespace paddle_launch
