// SPDX-License-Identifier: Apache-2.0
// What holds the pods of a job together, from the first roster to the last word, through all its
// rounds: the first reason to stop reaches everyone, and all launchers end a round with one
// verdict. A job of one node has a session too, so that nobody asks "am I alone?".
//
// A round begins for the session with its roster, which a gathering has made, and whoever attends
// hears of it until the verdict. Between rounds nobody attends: what comes then waits for the next
// gathering. docs/architecture.md shows the whole life.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/message.h"
#include "launcher/job/ending.h"
#include "launcher/job/link_check.h"

namespace paddle_launch {

// Beyond the grace, which trainers may need to save: how long a node may be out of reach while the
// job is being stopped.
constexpr std::chrono::seconds kForTheWayBack{10};

// Whoever listens to the session while a round runs. What is not overridden is of no interest to
// it.
class RoundEvents {
 public:
  virtual ~RoundEvents() = default;

  // Another pod gave the reason.
  virtual void on_stop(const StopCause& /*cause*/) {}
  // Somebody's user is impatient.
  virtual void on_kill() {}
  virtual void on_verdict(const JobVerdict& /*verdict*/) {}
  virtual void on_remark(const std::string& /*line*/) {}
  // What pods say to each other for --check and in a job with parameter servers.
  virtual void on_message(int /*node*/, const Message& /*message*/) {}
  // The hub has lost a pod. True: that is no reason to stop (--check).
  virtual bool on_lost(const StopCause& /*cause*/) { return false; }
  // Asked once, where the verdict is made, and only where another round may follow: whether the
  // job goes on. `hub_is_lost`: the verdict is a member's own.
  virtual std::optional<NextRound> next_round(const JobVerdict& /*verdict*/, bool /*hub_is_lost*/) {
    return std::nullopt;
  }
  // Asked on the hub, and only where nodes may join: somebody new wants to take part. May refuse
  // it.
  virtual std::optional<RefusalMessage> on_newcomer(const OfferMessage& /*offer*/) {
    return std::nullopt;
  }
};

// What counts for the round that begins.
struct RoundTerms {
  bool another_may_follow = false;
  bool nodes_may_join = false;
  // From the reason to stop on: so long a pod that is out of reach is waited for. Zero: it is lost.
  std::chrono::milliseconds patience{0};
};

class Session {
 public:
  Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  virtual ~Session() = default;

  // `who` hears what has come since the roster, in order, and everything from now on; it outlives
  // the round.
  virtual void attend(RoundEvents& who, const RoundTerms& terms) = 0;
  // This pod's own reason to stop.
  virtual void tell_stop(const StopCause& own) = 0;
  virtual void tell_kill() = 0;
  // All workers of the whole job have ended well: nothing that happens from now on is a reason to
  // stop.
  virtual void work_is_done() = 0;
  // This pod's processes are gone. The verdict comes when all have said so.
  virtual void tell_ending(const PodEnding& mine) = 0;
  // Gives up on whoever has not told how it ended; the verdict comes at once.
  virtual void decide_now() = 0;
  // To the hub, or from the hub to all.
  virtual void tell(const Message& message) = 0;
  // Waits, for a short time at most, until everybody has what was sent to them.
  virtual void close() = 0;

  // Between rounds: there can be no other, by what has come since the verdict. `others_may_come`:
  // in the place of a pod that goes.
  virtual bool is_called_off(bool /*others_may_come*/) const { return false; }
  // The others are not to wait for this pod, which cannot go on. Waits, a short time at most, until
  // they know.
  virtual void call_off(int /*status*/, const std::string& /*why*/) {}

  virtual bool is_hub() const = 0;
  // Some pod has told its end: its work is done, and another round would do it again.
  virtual bool has_endings() const { return false; }
  // Who waits for the next round.
  virtual std::vector<OfferMessage> newcomers() const { return {}; }
  // The hub knows, once it has asked: what a node's clock shows, less what ours does.
  virtual std::optional<ClockDifference> wall_clock_of(int /*node*/) const { return std::nullopt; }

 protected:
  enum class Phase {
    Running,
    Stopping,  // for a reason that somebody gave
    WorkDone,  // all workers have ended well, and nothing is a reason to stop any more
    Decided,   // the verdict is made, or was heard
  };

  void begin_round(RoundEvents& who, const RoundTerms& terms) {
    attendant_ = &who;
    terms_ = terms;
  }
  RoundEvents& events() { return *attendant_; }
  const RoundTerms& terms() const { return terms_; }
  JobVerdict with_next_round(JobVerdict verdict, bool hub_is_lost) {
    if (terms_.another_may_follow) verdict.next = events().next_round(verdict, hub_is_lost);
    return verdict;
  }

 private:
  class Nobody final : public RoundEvents {};

  Nobody nobody_;
  RoundEvents* attendant_ = &nobody_;
  RoundTerms terms_;
};

// What an elastic job minds while a round runs: nodes that come, and orders from outside.
class RoundWatch {
 public:
  class Listener {
   public:
    // Once at most: what happens after that is the next round's.
    virtual void on_reason_to_stop(const StopCause& cause) = 0;
    virtual void on_warning(const std::string& line) = 0;

   protected:
    ~Listener() = default;
  };

  RoundWatch() = default;
  RoundWatch(const RoundWatch&) = delete;
  RoundWatch& operator=(const RoundWatch&) = delete;
  virtual ~RoundWatch() = default;

  // The process that talks to etcd.
  virtual pid_t keeper() const = 0;
  // Lets in who fits, refuses who does not.
  virtual std::optional<RefusalMessage> on_newcomer(const OfferMessage& offer) = 0;
  // `listener` hears of what is seen until end().
  virtual void begin(const Session& session, int nodes, Listener& listener) = 0;
  // Processes of the job have done their work: nobody is let in any more.
  virtual void work_ends() = 0;
  virtual void end() = 0;
};

}  // namespace paddle_launch
