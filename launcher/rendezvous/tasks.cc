// SPDX-License-Identifier: Apache-2.0
// docs/running-under-slurm.md and docs/running-under-mpi.md are the pages of those who start tasks.
#include "launcher/rendezvous/tasks.h"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/card.h"
#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/identity.h"
#include "launcher/rendezvous/task_group.h"
#include "launcher/rendezvous/tcp.h"
#include "launcher/site/choose_cards.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/number.h"
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
std::optional<std::uint32_t> address_towards(const std::vector<NodeFacts>& facts,
                                             const TaskGroup& group) {
  std::vector<std::uint32_t> sources;
  for (std::size_t pod = 0; pod < facts.size(); ++pod) {
    if (group.node_of[pod] == group.node_of[static_cast<std::size_t>(group.mine)]) continue;
    for (const std::uint32_t address : facts[pod].addresses) {
      if (const auto source = source_address_for(address)) sources.push_back(*source);
    }
  }
  return most_frequent(std::move(sources));
}

// Named by the user, then nowhere else; otherwise where they are installed beside the launcher.
std::vector<std::string> plugin_directories(const Environment& env) {
  if (const auto named = lookup(env, "PADDLE_LAUNCH_PLUGIN_DIR")) return {*named};
  const std::filesystem::path own = own_directory();
  if (own.empty()) return {};
  return {(own.parent_path() / "lib" / "paddle-launch").string()};
}

int pmi_descriptor(const Environment& env) {
  return static_cast<int>(parse_whole_number(lookup(env, "PMI_FD").value_or("")).value_or(-1));
}

TaskMeetingSettings meeting_settings(const Launch& launch, const Choice& choice,
                                     Narrator& narrator) {
  TaskMeetingSettings settings{
      .order = {.plugins = choice.plugins,
                .directories = plugin_directories(launch.env),
                .must_use_mpi = choice.must_use_mpi,
                .never_mpi_alone = choice.else_slurm_step,
                .host = launch.here.host_name},
      .timeout = launch.job.bootstrap_timeout,
      .pmi = pmi_descriptor(launch.env),
      .scheduler = launch.around.launched_by,
      .error = [&narrator](const std::string& text) { narrator.error(text); }};
  // The others would say the same.
  if (launch.around.task != 0 || launch.job.quiet) return settings;
  settings.waiting = [&narrator](const std::string& text) { narrator.plain(text); };
  settings.note = [&narrator](const std::string& text) { narrator.note(text); };
  return settings;
}

// Under Slurm several nodes may share a host name (they do where a cluster is tried out on one
// machine); elsewhere containers of one machine may share its boot id.
std::string node_identity(const Environment& env, const Machine& here) {
  if (const auto name = lookup(env, "SLURMD_NODENAME")) return "slurm " + *name;
  return here.host_name + " " +
         read_file("/proc/sys/kernel/random/boot_id").value_or(std::string());
}

NodeFacts own_facts(const Environment& env, const Machine& here) {
  NodeFacts facts{.node = node_identity(env, here), .host = here.host_name};
  for (const std::string& text : here.addresses) {
    const auto address = parse_ipv4(text);
    if (address && !is_loopback(*address)) facts.addresses.push_back(*address);
  }
  for (const CardWords& words : kCardWords) {
    const auto variable = visibility_variable(words.kind, env);
    if (variable) {
      facts.visible_cards += *variable + "=" + lookup(env, *variable).value_or("") + ";";
    }
  }
  return facts;
}

}  // namespace

Tasks::Tasks(const Launch& launch, const Choice& choice, Narrator& narrator)
    : launch_(launch),
      narrator_(narrator),
      meeting_(launch.loop, meeting_settings(launch, choice, narrator)) {}

bool Tasks::open() {
  const std::optional<TaskNumber> number = meeting_.open();
  if (!number) return false;
  std::vector<NodeFacts> by_task;
  for (const std::string& bytes :
       meeting_.gather(encode_facts(own_facts(launch_.env, launch_.here)))) {
    auto facts = decode_facts(bytes);
    if (!facts) refuse_words_of(by_task.size(), "told about its node");
    by_task.push_back(std::move(*facts));
  }
  group_ = group_tasks(by_task, number->task);
  group_.share.own_cards |= launch_.around.cards_per_task;
  for (const int task : group_.task_at) facts_.push_back(by_task[static_cast<std::size_t>(task)]);
  return true;
}

std::vector<OfferMessage> Tasks::gather_offers(const OfferMessage& mine) {
  const std::vector<std::string> by_task = meeting_.gather(encode(Message(mine)));
  std::vector<OfferMessage> offers;
  for (const int task : group_.task_at) {
    const auto message = decode(by_task[static_cast<std::size_t>(task)]);
    const auto* offer = message ? std::get_if<OfferMessage>(&*message) : nullptr;
    if (offer == nullptr) refuse_words_of(static_cast<std::size_t>(task), "offers");
    offers.push_back(*offer);
  }
  return offers;
}

// All on one node: loopback, which is always there. Otherwise the address towards the others first.
std::vector<std::uint32_t> Tasks::own_addresses() const {
  if (group_.nodes == 1) return {kLoopback};
  const auto mine = static_cast<std::size_t>(group_.mine);
  std::vector<std::uint32_t> addresses = facts_.at(mine).addresses;
  const auto best = address_towards(facts_, group_);
  std::stable_partition(addresses.begin(), addresses.end(),
                        [&best](std::uint32_t address) { return address == best; });
  if (addresses.empty()) {
    throw LaunchError(
        fmt::format("{} has no network address besides loopback, so the other nodes cannot reach "
                    "it; give one of its interfaces an address",
                    group_.hosts.at(mine)));
  }
  return addresses;
}

// The first pod speaks, and nobody ends before it has: mpirun stops all others as soon as one has
// failed.
void Tasks::refuse(const RefusalMessage& problem) {
  const bool is_first = group_.mine == 0;
  if (is_first) narrator_.error(problem.text);
  try {
    meeting_.share(is_first ? problem.text : "");
    meeting_.begin_close();
    meeting_.wait_for_end();
  } catch (const StoppedBySignal&) {
    // Somebody was faster; all has been said.
  }
  throw AlreadyTold{problem.status};
}

Gathered Tasks::gather(const Brought& brought) {
  OfferMessage mine =
      offer_message(terms_of(launch_.job, launch_.here, brought.offer, &group_), brought.offer.pod);
  Gathered gathered = star_ ? star_->gather(brought.next.state, std::move(mine), brought.payload)
                            : gather_first(mine, brought);
  // Both shapes of a job show its trainers the same pod name: that of the node's first pod.
  for (std::size_t pod = 0; pod < pod_names_.size(); ++pod) {
    gathered.roster.pods.at(pod).name = pod_names_[pod];
  }
  if (!meeting_.remark().empty()) gathered.notices.push_back(meeting_.remark());
  for (std::string& text : contradictions(launch_, group_, gathered.roster)) {
    gathered.warnings.push_back(std::move(text));
  }
  return gathered;
}

Gathered Tasks::gather_first(const OfferMessage& mine, const Brought& brought) {
  if (brought.has_ids) meeting_.expect_ids();
  const std::vector<OfferMessage> offers = gather_offers(mine);
  if (const auto problem = task_disagreement(offers, group_.node_of)) refuse(*problem);
  int trainers = 0;
  for (const OfferMessage& offer : offers) {
    trainers += static_cast<int>(offer.offer.trainers.size());
    pod_names_.push_back(offer.offer.name);
  }
  HubAddress hub;
  UniqueFd listener;
  if (group_.mine == 0) {
    hub.secret = random_key();
    hub.addresses = own_addresses();
    const bool is_one = hub.addresses.size() == 1;
    listener = listen_on(is_one ? hub.addresses.front() : 0, 0, kHubBacklog);
    hub.port = local_port(listener.get());
    if (brought.payload) hub.payload = brought.payload(trainers, hub.addresses.front());
  }
  const std::string shared = meeting_.share(group_.mine == 0 ? encode_address(hub) : "");
  meeting_.begin_close();
  hub = decode_address(shared);
  TcpSettings settings{.identity = scheduled_identity(launch_.job, launch_.here),
                       .hub_addresses = hub.addresses,
                       .ports = {hub.port},
                       .names = group_.hosts,
                       .timeout = patience_with(brought.offer, launch_.job),
                       .node_of = group_.node_of,
                       .hub_tells_for_all = true,
                       .are_compared = true};
  settings.identity.secret = hub.secret;
  settings.hub_host = format_ipv4(hub.addresses.empty() ? 0 : hub.addresses.front());
  star_.emplace(launch_.loop, std::move(settings), narrator_, std::move(listener));
  OfferMessage offer = mine;
  if (offer.offer.host.empty() && group_.nodes == 1) offer.offer.host = format_ipv4(kLoopback);
  Gathered gathered = star_->gather({}, std::move(offer), {});
  meeting_.wait_for_end();
  gathered.payload = hub.payload;
  return gathered;
}

}  // namespace paddle_launch
