// SPDX-License-Identifier: Apache-2.0
// The first node's part in a meeting over TCP: waits for the others, compares what they were told,
// and gives everyone the same roster, or the same reason why there will be no job.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "launcher/channel/hub.h"
#include "launcher/channel/message.h"
#include "launcher/os/event_loop.h"
#include "launcher/rendezvous/hub_probe.h"
#include "launcher/rendezvous/missing_news.h"
#include "launcher/rendezvous/other_launchers.h"
#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/tcp_settings.h"

namespace paddle_launch {

class HubMeeting {
 public:
  // `ports_taken`: ports where the hub was expected and somebody else is.
  HubMeeting(EventLoop& loop, const TcpSettings& settings, UniqueFd listener, const JobTerms& terms,
             const PodOffer& mine, std::vector<int> ports_taken);

  // Throws LaunchError or NodeMissing when there will be no job.
  Met run(const PayloadMaker& payload);

 private:
  static constexpr int kMyself = -1;  // in place of a member's number

  void take(int member, const Message& message);
  void take_offer(int member, const OfferMessage& offer);
  std::optional<std::string> objection(const OfferMessage& offer) const;
  int status_of(const JobTerms& terms) const;
  void all_are_here();
  void gone(int member);
  bool has_told_for_all() const {
    return refusal_ && settings_.hub_tells_for_all && settings_.refusal;
  }
  void refuse(RefusalMessage refusal, std::chrono::milliseconds patience);
  void refused_by_another_hub(const std::string& host, const RefusalMessage& refusal);
  void stop_when_all_are_told();

  void tick();
  WaitingFacts facts() const;
  std::vector<std::string> missing_names() const;
  void probe();

  Met complete(const PayloadMaker& payload);
  std::map<int, int> places() const;

  EventLoop& loop_;
  const TcpSettings& settings_;
  JobTerms terms_;
  OfferMessage mine_;
  std::unique_ptr<Hub> hub_;
  std::map<int, OfferMessage> arrived_;  // by member, in the order of their coming; not myself
  std::map<int, int> member_of_place_;   // of the places that were claimed
  std::optional<RefusalMessage> refusal_;
  bool is_over_ = false;
  int told_ = 0;  // how many know of the refusal
  HubProbe hub_probe_;
  std::size_t next_probe_ = 0;
  Alarm ticking_;
  Alarm lingering_;
  Alarm bad_news_;
  EventLoop::Clock::time_point started_;
  MissingNews missing_news_;
  std::map<std::string, std::string> last_tries_;  // what came of probing a node
  OtherLaunchers others_;
};

}  // namespace paddle_launch
