// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/scheduler.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/hub_meeting.h"
#include "launcher/rendezvous/member_meeting.h"
#include "launcher/rendezvous/shared_nodes.h"
#include "launcher/rendezvous/task_agreement.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

// What task 0 tells everybody.
struct HubAddress {
  Key secret{};
  int port = 0;
  std::vector<std::uint32_t> addresses{};
  std::string payload{};
};

std::string encode_address(const HubAddress& hub) {
  WireWriter out;
  out.text(bytes_of(hub.secret));
  out.varint(static_cast<std::uint64_t>(hub.port));
  out.varint(hub.addresses.size());
  for (const std::uint32_t address : hub.addresses) out.varint(address);
  out.text(hub.payload);
  return out.take();
}

[[noreturn]] void refuse_words_of(std::size_t task, std::string_view which) {
  throw LaunchError(fmt::format(
      "what task {} {} cannot be read; install the same paddle-launch on all nodes", task, which));
}

HubAddress decode_address(std::string_view bytes) {
  WireReader in(bytes);
  HubAddress hub;
  const auto secret = key_of(in.text(kKeyBytes));
  hub.port = static_cast<int>(in.varint(UINT16_MAX));
  hub.addresses.resize(in.count());
  for (auto& address : hub.addresses) address = static_cast<std::uint32_t>(in.varint(UINT32_MAX));
  hub.payload = in.text(in.left());
  if (!in.finished_well() || !secret) {
    refuse_words_of(0, "told about the way to it");
  }
  hub.secret = *secret;
  return hub;
}

// The address of ours that leads to most of the other nodes.
std::optional<std::uint32_t> address_towards(const TaskParty& party) {
  const TaskGroup& group = party.group;
  std::vector<std::uint32_t> sources;
  for (std::size_t pod = 0; pod < party.facts.size(); ++pod) {
    if (group.node_of[pod] == group.node_of[static_cast<std::size_t>(group.mine)]) continue;
    for (const std::uint32_t address : party.facts[pod].addresses) {
      if (const auto source = source_address_for(address)) sources.push_back(*source);
    }
  }
  return most_frequent(std::move(sources));
}

}  // namespace

TaskParty gather_tasks(TaskMeeting& meeting, int my_task, const NodeFacts& mine) {
  std::vector<NodeFacts> by_task;
  for (const std::string& bytes : meeting.gather(encode_facts(mine))) {
    auto facts = decode_facts(bytes);
    if (!facts) refuse_words_of(by_task.size(), "told about its node");
    by_task.push_back(std::move(*facts));
  }
  TaskParty party{.group = group_tasks(by_task, my_task)};
  for (const int task : party.group.task_at) {
    party.facts.push_back(by_task[static_cast<std::size_t>(task)]);
  }
  return party;
}

Scheduler::Scheduler(EventLoop& loop, TaskMeeting& meeting, const TaskParty& party,
                     TcpSettings settings)
    : loop_(loop), meeting_(meeting), party_(party), settings_(std::move(settings)) {
  settings_.node_of = party_.group.node_of;
  settings_.names = party_.group.hosts;
}

std::vector<OfferMessage> Scheduler::gather_offers(const JobTerms& terms, const PodOffer& mine) {
  const std::vector<std::string> by_task =
      meeting_.gather(encode(Message(offer_message(terms, mine))));
  std::vector<OfferMessage> offers;
  for (const int task : party_.group.task_at) {
    const auto message = decode(by_task[static_cast<std::size_t>(task)]);
    const auto* offer = message ? std::get_if<OfferMessage>(&*message) : nullptr;
    if (offer == nullptr) refuse_words_of(static_cast<std::size_t>(task), "offers");
    offers.push_back(*offer);
  }
  return offers;
}

// All on one node: loopback, which is always there. Otherwise the address towards the others first.
std::vector<std::uint32_t> Scheduler::own_addresses() const {
  if (party_.group.nodes == 1) return {kLoopback};
  std::vector<std::uint32_t> addresses =
      party_.facts.at(static_cast<std::size_t>(party_.group.mine)).addresses;
  const auto best = address_towards(party_);
  std::stable_partition(addresses.begin(), addresses.end(),
                        [&best](std::uint32_t address) { return address == best; });
  if (addresses.empty()) {
    throw LaunchError(
        fmt::format("{} has no network address besides loopback, so the other nodes cannot reach "
                    "it; give one of its interfaces an address",
                    party_.group.hosts.at(static_cast<std::size_t>(party_.group.mine))));
  }
  return addresses;
}

void Scheduler::share_hub_address(int trainers, const PayloadMaker& payload) {
  HubAddress hub;
  if (party_.group.mine == 0) {
    hub.secret = random_key();
    hub.addresses = own_addresses();
    const bool is_one = hub.addresses.size() == 1;
    listener_ = listen_on(is_one ? hub.addresses.front() : 0, 0, kHubBacklog);
    hub.port = local_port(listener_.get());
    if (payload) hub.payload = payload(trainers, hub.addresses.front());
  }
  const std::string shared = meeting_.share(party_.group.mine == 0 ? encode_address(hub) : "");
  meeting_.begin_close();
  hub = decode_address(shared);
  settings_.identity.secret = hub.secret;
  settings_.hub_addresses = hub.addresses;
  settings_.hub_host = format_ipv4(hub.addresses.empty() ? 0 : hub.addresses.front());
  settings_.ports = {hub.port};
  payload_ = hub.payload;
}

// The first pod speaks, and nobody ends before it has: mpirun stops all others as soon as one has
// failed.
void Scheduler::refuse(const RefusalMessage& problem) {
  const bool is_first = party_.group.mine == 0;
  if (is_first) meeting_.tell_error(problem.text);
  try {
    meeting_.share(is_first ? problem.text : "");
    meeting_.begin_close();
    meeting_.wait_for_end();
  } catch (const StoppedBySignal&) {
    // Somebody was faster; all has been said.
  }
  throw AlreadyTold{problem.status};
}

Met Scheduler::meet(const JobTerms& terms, const PodOffer& mine, const PayloadMaker& payload) {
  const std::vector<OfferMessage> offers = gather_offers(terms, mine);
  if (const auto problem = task_disagreement(offers, party_.group.node_of)) refuse(*problem);
  int trainers = 0;
  for (const OfferMessage& offer : offers)
    trainers += static_cast<int>(offer.offer.trainers.size());
  share_hub_address(trainers, payload);
  PodOffer offer = mine;
  if (offer.host.empty() && party_.group.nodes == 1) offer.host = format_ipv4(kLoopback);
  Met met = party_.group.mine == 0
                ? HubMeeting(loop_, settings_, std::move(listener_), terms, offer, {}).run({})
                : MemberMeeting(loop_, settings_, terms, offer).run();
  meeting_.wait_for_end();
  met.payload = payload_;
  // Both shapes of a job show its trainers the same pod name: that of the node's first pod.
  for (std::size_t pod = 0; pod < offers.size(); ++pod) {
    met.roster.pods[pod].name = offers[pod].offer.name;
  }
  return met;
}

}  // namespace paddle_launch
