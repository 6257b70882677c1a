// SPDX-License-Identifier: Apache-2.0
// A hub that gathers, and those who were in the round before or come now.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/channel/message.h"
#include "launcher/job/errors.h"
#include "launcher/rendezvous/gathering.h"
#include "tests/unit/channel/far_pod.h"

namespace paddle_launch {

inline constexpr int kGathered = 2;  // the number of the round

// `place`: of the round before the one that is gathered.
inline OfferMessage offer(const std::string& host, std::optional<int> place = std::nullopt) {
  OfferMessage message;
  message.terms.version = "0.1.0";
  message.terms.nodes = 3;
  message.terms.place = place;
  message.terms.round = place ? kGathered - 1 : -1;
  message.offer.name = "pod-" + host;
  message.offer.host = host;
  message.offer.trainers = {{{}, 6070}};
  return message;
}

inline std::vector<std::string> hosts_of(const Roster& roster) {
  std::vector<std::string> hosts;
  for (const PodOffer& pod : roster.pods) hosts.push_back(pod.host);
  return hosts;
}

// How a meeting ended: with what it found, or with the status and the text of what it threw.
struct MeetingEnd {
  std::optional<Gathered> met{};
  int status = -1;
  std::string text{};

  std::vector<std::string> hosts() const {
    return met ? hosts_of(met->roster) : std::vector<std::string>{"no roster: " + text};
  }
};

template <class Meet>
MeetingEnd end_of(const Meet& meet) {
  try {
    return {.met = meet()};
  } catch (const NodeMissing& error) {
    return {.status = kNodeMissingStatus, .text = error.what()};
  } catch (const StoppedBySignal& error) {
    return {.status = 128 + error.signal, .text = error.what()};
  } catch (const NoLongerNeeded& error) {
    return {.status = 0, .text = error.what()};
  } catch (const LaunchError& error) {
    return {.status = 1, .text = error.what()};
  }
}

class WithGathering : public WithHub {
 protected:
  WithGathering() : session_(std::make_unique<HubSession>(std::move(hub_))) {}

  // Was in the round before with this place, and has not made its offer yet.
  std::unique_ptr<FarPod> old_member(int place) {
    members_[came_] = place;
    return newcomer();
  }
  std::unique_ptr<FarPod> newcomer() {
    ++came_;
    return come();
  }
  std::unique_ptr<FarPod> newcomer(const OfferMessage& offers) {
    auto pod = newcomer();
    pod->say(offers);
    return pod;
  }
  std::unique_ptr<FarPod> old_member(const OfferMessage& offers) {
    auto pod = old_member(offers.terms.place.value_or(-1));
    pod->say(offers);
    return pod;
  }
  // Was in the round before, and went with these words before anybody gathered.
  void lost_member(int place, const std::vector<Message>& last_words = {}) {
    const auto pod = old_member(place);
    for (const Message& message : last_words) pod->say(message);
    pod->leave();
    turn_until([&] { return !at_hub_->has(came_ - 1); });
  }

  // What this pod says waits for the gathering.
  void say_beforehand(FarPod& pod, const Message& message) {
    const std::size_t before = at_hub_->unheard().size();
    pod.say(message);
    turn_until([&] { return at_hub_->unheard().size() > before; });
  }

  MeetingEnd gather(const OfferMessage& mine) {
    Roster last;
    for (const std::string& name : names_) last.pods.emplace_back().name = name;
    session_->begin(last, members_);
    Gathering gathering(loop_, settings_, *session_, mine, narrator_);
    gathering_ = &gathering;
    return end_of([&] { return gathering.run({}); });
  }

  // When the hub has taken all that this pod said until now. `member`: the hub's number for it.
  void when_heard(FarPod& pod, int member, std::function<void()> then) {
    pod.say(clocks_now());
    once([this, member] { return at_hub_->clock_of(member).has_value(); }, std::move(then));
  }

  GatheringSettings settings_{.round = {.number = kGathered, .restarts = 1},
                              .nodes = 3,
                              .names = {"n1", "n2", "n3"},
                              .timeout = std::chrono::hours(1)};
  std::unique_ptr<HubSession> session_;
  std::map<int, int> members_;                     // of the round before, and their places
  std::vector<std::string> names_ = {"", "", ""};  // of its pods
  Narrator narrator_;
  Gathering* gathering_ = nullptr;  // while it runs
  int came_ = 0;
};

}  // namespace paddle_launch
