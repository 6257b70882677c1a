// SPDX-License-Identifier: Apache-2.0
// Pods of one job, for the contract of every rendezvous. Each is a process of its own, as in life:
// it can be killed at any moment, and takes its children along.
//
// A pod meets the others and takes part in its rounds without starting anything. What becomes of it
// it writes, line by line, into a pipe; Pods reads the pipes of all.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/os/unique_fd.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/site/launch_values.h"
#include "launcher/site/own_node.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

// What one pod does.
struct Part {
  int number = 0;              // by which the test knows it: its trainers' ports tell it
  std::optional<int> place{};  // that it asks for; none: its number
  int rounds = 1;              // so many are enough
  bool stays = false;          // in the first round, until that is stopped
  bool calls_off = false;      // after the first round
  bool has_other_layout = false;
  std::string problem{};  // why it cannot start anything
  std::string payload{};  // if it is asked for one; empty: none
  std::chrono::milliseconds timeout{60'000};

  int wish() const { return place.value_or(number); }
};

// What a pod was started with.
struct StartedWith {
  JobSpec job{};
  Environment env{};
  Surroundings around{};
  OwnNode me{};
};

// Where the pods of one job can find each other.
class Ground {
 public:
  Ground() = default;
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;
  virtual ~Ground() = default;

  virtual StartedWith start(const Part& part) const = 0;
  virtual std::unique_ptr<Rendezvous> choose(const Launch& launch, Narrator& narrator) const;
};

// How a pod met the others in one round.
struct Met {
  int round = 0;
  int mine = 0;
  std::vector<int> pods{};  // their numbers, by their places
  std::string roster{};     // as text: the same for all
  std::string payload{};
};

struct PodEnd {
  int status = -1;  // what its launcher would exit with; -1: it was killed
  std::string text{};
};

struct Pod {
  pid_t pid = -1;
  UniqueFd told{};
  std::string unread{};

  bool waits = false;  // it was told once that others are missing
  std::vector<Met> met{};
  std::vector<std::string> said{};  // on the console that all launchers share
  std::string kind{};               // of its rendezvous
  std::optional<PodEnd> end{};
};

class Pods {
 public:
  explicit Pods(const Ground& ground) : ground_(ground) {}
  Pods(const Pods&) = delete;
  Pods& operator=(const Pods&) = delete;
  ~Pods();

  // Returns its index.
  std::size_t start(const Part& part);
  // With the numbers from 0 on, all alike.
  void start_all(int count, const Part& like = {});
  void kill(std::size_t pod);

  // False: it did not become so within a time in which everything else would have.
  bool wait(const std::function<bool()>& is_so);
  bool wait_for_round(int round, const std::vector<std::size_t>& pods);
  bool wait_for_ends();

  const Pod& at(std::size_t pod) const { return pods_.at(pod); }
  const std::deque<Pod>& all() const { return pods_; }
  // What each of them told, for a message.
  std::string story() const;

 private:
  void read(Pod& pod);

  const Ground& ground_;
  std::deque<Pod> pods_;
};

}  // namespace paddle_launch
