// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/meeting_child.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/rendezvous/bootstrap_plugin.h"
#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

using Loaded = std::unique_ptr<BootstrapPlugin>;

constexpr const char* kNotWanted = "-";

class Attendant {
 public:
  Attendant(FramePipe launcher, const MeetingOrder& order)
      : launcher_(std::move(launcher)), order_(order) {}

  void attend() {
    load_all();
    if (!outer_) return say(MeetingWord::NoWay, text_of_reasons());
    open(*outer_);
    say(MeetingWord::Opened, fmt::format("{} {}", number_.task, number_.tasks));
    serve();
  }

  void fail(const std::string& why) {
    say(MeetingWord::Failed, fmt::format("{}: {}", doing_, why));
    if (open_ == nullptr) return;
    // Whoever waits for us in the same call is not to wait for its deadline. The launcher speaks
    // first: aborting may end it.
    hear();
    open_->abort(1, fmt::format("{} on {}", doing_, order_.host));
  }

 private:
  // The inner one first: MPI brings the PMIx that it was built with, and one process has one PMIx.
  void load_all() {
    doing("loading the plugins");
    if (order_.plugins.size() > 1) inner_ = load(order_.plugins[1]);
    why_not_mpi_ = fmt::format("{} ({})", order_.host, fmt::join(reasons_, "; "));
    outer_ = load(order_.plugins.front());
    if (outer_ || order_.never_mpi_alone) return;
    outer_ = std::move(inner_);
    may_have_inner_ = false;
  }

  Loaded load(const std::string& name) {
    for (const std::string& directory : order_.directories) {
      const std::string path = fmt::format("{}/{}.so", directory, name);
      if (access(path.c_str(), F_OK) != 0) {
        reasons_.push_back(path + ": no such file");
        continue;
      }
      try {
        auto plugin = std::make_unique<BootstrapPlugin>(path);
        note(fmt::format("{}.so is {}", name, plugin->name()));
        return plugin;
      } catch (const std::exception& error) {
        reasons_.push_back(fmt::format("{}: {}", path, error.what()));
      }
    }
    note(fmt::format("{}.so cannot be used: {}", name, fmt::join(reasons_, "; ")));
    return nullptr;
  }

  std::string text_of_reasons() const { return fmt::format("{}", fmt::join(reasons_, "\n")); }

  void open(const BootstrapPlugin& plugin) {
    doing(fmt::format("joining the other tasks through {}", plugin.name()));
    plugin.open();
    open_ = &plugin;
    doing("asking for this task's number");
    const TaskNumber number = plugin.number();
    if (&plugin != outer_.get() && number != number_) {
      throw std::runtime_error(
          fmt::format("{} says that this is task {} of {}, and {} task {} of {}", plugin.name(),
                      number.task, number.tasks, outer_->name(), number_.task, number_.tasks));
    }
    number_ = number;
    note(fmt::format("the tasks have met through {}", plugin.name()));
  }

  void serve() {
    while (const std::optional<MeetingFrame> order = hear()) {
      if (order->word == MeetingWord::Close) return close();
      if (order->word == MeetingWord::Share) {
        share(order->bytes);
      } else {
        gather(order->bytes, order->word == MeetingWord::GatherBeforeIds);
      }
    }
  }

  // With the bytes goes a word on MPI, so that nobody waits in MPI_Init for a task that has none.
  void gather(const std::string& mine, bool before_ids) {
    doing("gathering what the tasks offer through " + outer_->name());
    std::vector<std::string> words;
    std::vector<std::string> bytes;
    for (const std::string& both : outer_->allgather(pack_list({word_on_mpi(before_ids), mine}))) {
      auto list = unpack_list(both);
      if (!list || list->size() != 2) throw std::runtime_error("a task has another paddle-launch");
      words.push_back(std::move(list->front()));
      bytes.push_back(std::move(list->back()));
    }
    const bool opens = open_ == outer_.get() && everybody_can(std::move(words));
    say(MeetingWord::Answer, pack_list(bytes));
    if (!opens) return;
    open(*inner_);
    wait_for_all("have started MPI");
  }

  void share(const std::string& bytes) {
    const bool is_idle = inner_ && open_ == outer_.get();
    note(fmt::format(
        "what task 0 gives goes through {}{}", open_->name(),
        is_idle ? "; MPI is not opened, for want of NCCL ids or of tasks that have it" : ""));
    doing("sharing what task 0 gives through " + open_->name());
    say(MeetingWord::Answer, open_->broadcast(bytes));
  }

  // Empty: let us use it. Otherwise why not.
  std::string word_on_mpi(bool before_ids) const {
    if (!may_have_inner_ || (!before_ids && !order_.must_use_mpi)) return kNotWanted;
    return inner_ ? std::string() : why_not_mpi_;
  }

  bool everybody_can(std::vector<std::string> words) {
    if (std::count(words.begin(), words.end(), kNotWanted) > 0) return false;
    const std::size_t tasks = words.size();
    std::erase(words, std::string());
    if (words.empty()) return true;
    const std::string which =
        fmt::format("{} of the tasks cannot use it, the first on {}", words.size(), words.front());
    if (order_.must_use_mpi) throw std::runtime_error("--bootstrap=mpi: " + which);
    // Where nobody has MPI it is not missed.
    say(words.size() < tasks ? MeetingWord::Remark : MeetingWord::Note,
        "MPI is not used: " + which);
    return false;
  }

  // MPI_Init and MPI_Finalize take a fence of PMIx that gathers nothing for a barrier. Under Slurm
  // it is none (22.05, TreeWidth of at least the number of nodes): a task then gets MPI's first
  // message before it has a handler for it, and crashes. A fence that gathers does hold everybody.
  void wait_for_all(const std::string& why) {
    doing(fmt::format("waiting through {} until all tasks {}", outer_->name(), why));
    outer_->allgather("");
  }

  void close() {
    const bool has_inner = open_ != outer_.get();
    if (has_inner) {
      wait_for_all("have what task 0 gives");
      take_leave(*inner_);
    }
    if (!has_inner || !outer_->inner_takes_leave()) take_leave(*outer_);
    open_ = nullptr;
  }

  void take_leave(const BootstrapPlugin& plugin) {
    doing(fmt::format("taking leave of {}", plugin.name()));
    plugin.close();
  }

  // None: the launcher is gone.
  std::optional<MeetingFrame> hear() {
    const auto frame = launcher_.wait();
    if (!frame) return std::nullopt;
    return meeting_frame(*frame);
  }

  void doing(std::string what) {
    doing_ = std::move(what);
    say(MeetingWord::Doing, doing_);
  }

  void note(const std::string& text) { say(MeetingWord::Note, text); }

  // All of it at once: what comes next may be a call that takes long.
  void say(MeetingWord word, std::string_view bytes) {
    launcher_.push(word, bytes);
    launcher_.push_all();
  }

  FramePipe launcher_;
  const MeetingOrder& order_;
  Loaded outer_;  // everything is gathered through it
  Loaded inner_;  // MPI, which is opened inside it where there is something for it to carry
  bool may_have_inner_ = true;
  const BootstrapPlugin* open_ = nullptr;  // the one that was opened last
  TaskNumber number_;
  std::vector<std::string> reasons_;
  std::string why_not_mpi_;
  std::string doing_;
};

// MPI's libraries may read it; the user's keys are for rank 0.
void take_stdin_away() {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
}

}  // namespace

std::string pack_list(const std::vector<std::string>& list) {
  WireWriter out;
  out.varint(list.size());
  for (const std::string& entry : list) out.text(entry);
  return out.take();
}

std::optional<std::vector<std::string>> unpack_list(std::string_view bytes) {
  WireReader in(bytes);
  std::vector<std::string> list(in.count());
  for (std::string& entry : list) entry = in.text(in.left());
  if (!in.finished_well()) return std::nullopt;
  return list;
}

void attend_meeting(FramePipe launcher, const MeetingOrder& order) {
  take_stdin_away();
  Attendant attendant(std::move(launcher), order);
  try {
    attendant.attend();
  } catch (const std::exception& error) {
    attendant.fail(error.what());
    _exit(1);
  }
  // With the handlers that MPI left behind: MPICH from 4.2 on takes its leave of mpiexec in one,
  // and without it mpiexec kills the other launchers of the node.
  std::exit(0);
}

}  // namespace paddle_launch
