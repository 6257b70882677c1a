// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/meeting_child.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/rendezvous/bootstrap_plugin.h"
#include "launcher/rendezvous/meeting_frames.h"

namespace paddle_launch {
namespace {

using Loaded = std::unique_ptr<BootstrapPlugin>;

class Attendant {
 public:
  Attendant(int socket, const MeetingOrder& order) : socket_(socket), order_(order) {}

  void attend() {
    load_all();
    if (!preferred_ && !companion_) return say(MeetingWord::NoWay, text_of_reasons());
    open();
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
  // The first name is the way to exchange; the second one tells whether everybody has it.
  void load_all() {
    doing("loading the plugins");
    for (std::size_t i = 0; i < order_.plugins.size(); ++i) {
      (i == 0 ? preferred_ : companion_) = load(order_.plugins[i]);
    }
  }

  Loaded load(const std::string& name) {
    for (const std::string& directory : order_.directories) {
      const std::string path = fmt::format("{}/{}.so", directory, name);
      if (access(path.c_str(), F_OK) != 0) {
        reasons_.push_back(path + ": no such file");
        continue;
      }
      try {
        return std::make_unique<BootstrapPlugin>(path);
      } catch (const std::exception& error) {
        reasons_.push_back(fmt::format("{}: {}", path, error.what()));
      }
    }
    return nullptr;
  }

  std::string text_of_reasons() const { return fmt::format("{}", fmt::join(reasons_, "\n")); }

  void open() {
    if (!companion_ || (opens_first() && !order_.all_are_asked)) {
      companion_.reset();
      open_one(*preferred_);
    } else {
      open_one(*companion_);
      if (order_.plugins.size() > 1 && everybody_has_the_preferred_one()) {
        open_one(*preferred_);
        all_are_known_here_ = false;
      }
    }
    doing("asking for this task's number");
    const TaskNumber number = open_->number();
    say(MeetingWord::Opened, fmt::format("{} {}\n{}", number.task, number.tasks, remark_));
  }

  void open_one(const BootstrapPlugin& plugin) {
    doing(fmt::format("joining the other tasks through {}", plugin.name()));
    plugin.open();
    open_ = &plugin;
  }

  bool opens_first() const { return preferred_ && preferred_->opens_first(); }

  // A node without MPI would leave the others waiting in MPI_Init. One that has an MPI that cannot
  // be opened inside PMIx answers as if it had none.
  bool everybody_has_the_preferred_one() {
    doing(fmt::format("asking all tasks through {} whether they have MPI", open_->name()));
    if (opens_first()) reasons_ = {preferred_->name() + " cannot be opened after PMIx"};
    const bool has_it = preferred_ && !opens_first();
    const std::string mine =
        has_it ? "" : fmt::format("{} ({})", order_.host, fmt::join(reasons_, "; "));
    std::vector<std::string> lacking = open_->allgather(mine);
    const std::size_t tasks = lacking.size();
    std::erase(lacking, std::string());
    if (lacking.empty()) return true;
    // Where nobody has MPI it is not missed.
    if (lacking.size() == tasks) return false;
    remark_ = fmt::format("MPI is not used: {} of the tasks cannot use it, the first on {}",
                          lacking.size(), lacking.front());
    return false;
  }

  void serve() {
    while (const std::optional<MeetingFrame> order = hear()) {
      if (order->word == MeetingWord::Close) return close();
      if (order->word == MeetingWord::Gather) {
        // PMIx rather than MPI where both are open: nothing but its own server is asked.
        const BootstrapPlugin& way = companion_ ? *companion_ : *open_;
        doing("gathering what the tasks offer through " + way.name());
        say(MeetingWord::Answer, pack_list(way.allgather(order->bytes)));
        all_are_known_here_ = true;
      } else {
        if (!all_are_known_here_) wait_for_all("have started MPI");
        doing("sharing what task 0 gives through " + open_->name());
        say(MeetingWord::Answer, open_->broadcast(order->bytes));
      }
    }
  }

  // MPI_Init and MPI_Finalize take a fence of PMIx that gathers nothing for a barrier. Under Slurm
  // it is none (22.05, TreeWidth of at least the number of nodes): a task then gets MPI's first
  // message before it has a handler for it, and crashes. A fence that gathers does hold everybody.
  void wait_for_all(const std::string& why) {
    doing(fmt::format("waiting through {} until all tasks {}", companion_->name(), why));
    companion_->allgather("");
  }

  void close() {
    if (companion_ && open_ == preferred_.get()) {
      wait_for_all("have what task 0 gives");
      doing(fmt::format("taking leave of {}", preferred_->name()));
      preferred_->close();
      doing(fmt::format("taking leave of {}", companion_->name()));
      companion_->close();
    } else {
      doing(fmt::format("taking leave of {}", open_->name()));
      open_->close();
    }
    open_ = nullptr;
  }

  std::optional<MeetingFrame> hear() {
    std::array<char, 65536> part{};
    while (true) {
      if (auto frame = heard_.next()) return frame;
      const ssize_t count = read(socket_, part.data(), part.size());
      if (count <= 0) return std::nullopt;  // the launcher is gone
      heard_.feed({part.data(), static_cast<std::size_t>(count)});
    }
  }

  void doing(std::string what) {
    doing_ = std::move(what);
    say(MeetingWord::Doing, doing_);
  }

  void say(MeetingWord word, std::string_view bytes) const {
    const std::string frame = frame_bytes(word, bytes);
    std::string_view rest = frame;
    while (!rest.empty()) {
      const ssize_t count = send(socket_, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (count <= 0) return;
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  int socket_;
  const MeetingOrder& order_;
  Loaded preferred_;
  Loaded companion_;
  const BootstrapPlugin* open_ = nullptr;
  bool all_are_known_here_ = true;  // everybody has opened what we have opened
  std::vector<std::string> reasons_;
  std::string remark_;
  std::string doing_;
  FrameReader heard_;
};

}  // namespace

void attend_meeting(int socket, const MeetingOrder& order) {
  Attendant attendant(socket, order);
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
