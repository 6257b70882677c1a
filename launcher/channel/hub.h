// SPDX-License-Identifier: Apache-2.0
// The middle of the star: listens, lets in who proves the job's secret, and carries messages to and
// from each member. Strangers cost a bounded number of small buffers for a bounded time.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/channel/link.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/sockets.h"

namespace paddle_launch {

constexpr int kHubPorts = 10;      // where it may be: the first that is free
constexpr int kHubBacklog = 4096;  // all nodes of a large job may come at once
// How long the others may take to fetch the last word before the connections are closed.
constexpr std::chrono::seconds kLastWord{2};

// Who we are to whoever connects, and how soon a silent one is given up.
struct ChannelIdentity {
  Key secret{};
  Greeting greeting{};
  KeepAlive keep_alive{};
  CredentialOpener open{};
  bool any_command = false;  // a member takes the hub of another command as well
};

// How far another machine's clock is from ours, and how sure that is: asked and answered, the
// answer was read somewhere between.
class ClockOffset {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Duration = std::chrono::nanoseconds;

  // `theirs` was read after `asked` and before `answered`.
  ClockOffset(Time asked, Time theirs, Time answered)
      : offset_(theirs - (asked + (answered - asked) / 2)),
        error_((answered - asked) / 2),
        measured_(answered) {}

  // A moment of theirs on our clock.
  Time ours(Time theirs) const { return theirs - offset_; }
  // Clocks that nobody disciplines drift apart: the older the sample, the less it says.
  Duration error(Time now) const { return error_ + (now - measured_) / kDriftDivisor; }

 private:
  static constexpr int kDriftDivisor = 10'000;  // 100 ppm, the worst of usual quartz

  Duration offset_;
  Duration error_;
  Time measured_;
};

class Hub {
 public:
  using Clock = EventLoop::Clock;

  // A message of a member, or why it is gone.
  struct News {
    int member = 0;
    std::variant<Message, std::string> what{};
  };

  // Whoever hears of the members. What is not overridden is of no interest to it.
  class Listener {
   public:
    virtual ~Listener() = default;

    virtual void on_message(int /*member*/, const Message& /*message*/) {}
    virtual void on_gone(int /*member*/, const std::string& /*why*/) {}
    // About strangers, at most once a second.
    virtual void on_remark(const std::string& /*line*/) {}
    // A launcher that introduced itself and does not belong to this job.
    virtual void on_other_job(const Greeting& /*greeting*/, std::uint32_t /*address*/) {}
    virtual void on_away(int /*member*/, const std::string& /*why*/) {}
    virtual void on_back(int /*member*/) {}
  };

  Hub(EventLoop& loop, UniqueFd listener, ChannelIdentity identity);
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;
  ~Hub();

  // What members said, and who went, while nobody listened is told at once.
  void listen(Listener& listener);
  void stop_listening();
  const std::deque<News>& unheard() const { return inbox_.waiting(); }

  const ChannelIdentity& identity() const { return identity_; }

  void send(int member, const Message& message);
  // What encode() made of a message.
  void send_encoded(int member, std::string_view message);
  // To everyone who has proved the secret.
  void send_all(const Message& message);
  // As at the beginning, after hurry().
  void relax() const;
  // The answer to the next ClockMessage of this member counts from now.
  void ask_clock(int member) { asked_at_[member] = Clock::now(); }
  void hurry(int member) const { links_.at(member)->hurry(); }
  // Closing at once could throw away what is still on its way: the members close first, if they do
  // so in time. Nobody is listened to any more.
  void let_members_leave(std::chrono::milliseconds patience);
  // Closes the connection; `gone` is not called.
  void drop(int member);

  // A round begins: whoever is in it gets a ticket, and no other is good any more. Nobody is away.
  void void_tickets();
  Ticket give_ticket(int member);
  // For so long a member whose connection breaks, and that has a ticket, is away and not gone: with
  // its ticket it comes back over another connection, as the same member. Who makes the offer for
  // the next round needs its ticket no more.
  void hold_places(std::chrono::milliseconds longest);
  // What whoever comes back is to hear, in this order, as encode() made it.
  void tell_returning(std::string message) { for_returning_.push_back(std::move(message)); }
  void forget_what_to_tell() { for_returning_.clear(); }
  bool is_away(int member) const { return away_.contains(member); }

  bool has(int member) const { return links_.contains(member); }
  // Of those who have proved the secret.
  std::size_t members() const { return links_.size() - strangers_.size(); }
  bool has_members() const { return members() > 0; }
  std::optional<ClockOffset> clock_of(int member) const;
  // Theirs less ours in nanoseconds, with half the round trip as the error.
  std::optional<std::pair<std::int64_t, std::int64_t>> wall_clock_of(int member) const;
  std::uint32_t address_of(int member) const { return peers_.at(member).first; }
  // The address of ours that this member reached.
  std::optional<std::uint32_t> reached_by(int member) const {
    return local_address(links_.at(member)->fd());
  }

 private:
  void accept_some();
  void rest_from_accepting();
  bool make_room();
  void accept_again();
  void forget_stranger(int id);
  void admit(UniqueFd connected);
  Link::Events link_events(int id);
  void ended(int id, const LinkEnd& end);
  bool goes_away(int id, const LinkEnd& end);
  void take_return(int id, const Ticket& ticket);
  void take(int id, Message message);
  void take_clock(int id, const ClockMessage& clock);
  void note_stranger(int id, const std::string& why);
  void tell_strangers();

  EventLoop& loop_;
  UniqueFd listener_;
  ChannelIdentity identity_;
  Inbox<News> inbox_;
  Listener nobody_;
  Listener* events_ = &nobody_;
  int next_id_ = 0;
  std::map<int, std::unique_ptr<Link>> links_;
  std::map<int, std::pair<std::uint32_t, int>> peers_;
  std::map<int, Clock::time_point> strangers_;  // since when; not proved yet, the oldest first
  bool is_full_ = false;                        // newcomers wait in the kernel's queue
  std::map<int, Clock::time_point> asked_at_;
  std::map<int, ClockOffset> clocks_;
  std::map<int, std::pair<std::int64_t, std::int64_t>> wall_clocks_;
  std::map<int, Key> tickets_;
  std::map<int, std::string> away_;  // why
  std::vector<std::string> for_returning_;
  Alarm places_held_;
  Alarm rest_;
  Alarm next_remark_;
  std::string last_stranger_;
  int untold_strangers_ = 0;
};

}  // namespace paddle_launch
