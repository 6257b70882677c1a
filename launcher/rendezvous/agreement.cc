// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/agreement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/channel/secret.h"
#include "launcher/job/errors.h"
#include "launcher/text/bytes_as_text.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

// A list of 4096 nodes from each of 4096 nodes would be most of what the hub hears.
constexpr std::size_t kLongestSentList = 1024;
constexpr std::size_t kShownOfLayout = 256;
constexpr std::size_t kMostOddities = 4;

// The other layout, that of rpc, has nodes and trainers as a collective job has.
bool has_servers(const OfferMessage& pod) {
  return !pod.claim.layout.empty() && pod.claim.layout != kRpcLayout;
}

std::string layout_text(const OfferMessage& pod) {
  return pod.claim.layout.empty() ? "a collective job" : one_line(pod.claim.layout);
}

std::string list_text(const OfferMessage& pod) {
  if (has_servers(pod)) return one_line(pod.claim.layout);
  if (!pod.claim.ips.empty())
    return one_line(fmt::format("--ips={}", fmt::join(pod.claim.ips, ",")));
  return pod.ips_digest.empty() ? fmt::format("--master with --nnodes={}", pod.claim.nodes)
                                : fmt::format("another list of {} nodes", pod.claim.nodes);
}

std::string card_word(const OfferMessage& pod) {
  return pod.offer.card_kind ? std::string(words_of(*pod.offer.card_kind).option) : "CPUs";
}

std::string claimed_place(const OfferMessage& pod) {
  if (!pod.claim.name.empty()) return one_line(pod.claim.name);
  return pod.ips_digest.empty() && pod.claim.place ? fmt::format("--rank={}", *pod.claim.place)
                                                   : "node " + one_line(pod.offer.host);
}

std::string launcher_name(const OfferMessage& pod) {
  return fmt::format("process {} on {}", pod.claim.pid, one_line(pod.claim.machine));
}

std::optional<std::string> different_trainers(const OfferMessage& one, const OfferMessage& other) {
  // With parameter servers each node brings what its roles need.
  if (has_servers(one)) return std::nullopt;
  const bool may_differ = one.ips_digest.empty();
  if (one.offer.trainers.size() != other.offer.trainers.size() && !may_differ) {
    return fmt::format(
        "the numbers of cards differ: {} starts {}, {} starts {} trainers; with --ips all nodes "
        "must use "
        "the same number of cards (choose them with --gpus, or --nproc_per_node), or let the nodes "
        "meet by --master and --nnodes, where the numbers may differ",
        node_name(one), one.offer.trainers.size(), node_name(other), other.offer.trainers.size());
  }
  if (one.offer.card_kind != other.offer.card_kind) {
    return fmt::format(
        "the kinds of cards differ: {} trains on {}, {} on {}; choose the same kind on all nodes",
        node_name(one), card_word(one), node_name(other), card_word(other));
  }
  return std::nullopt;
}

}  // namespace

std::string node_name(const OfferMessage& pod) {
  std::string host = one_line(pod.offer.host);
  std::string machine = one_line(pod.claim.machine);
  if (host == machine || machine.empty()) return host;
  if (host.empty()) return machine;  // under a scheduler, at first
  return fmt::format("{} ({})", host, machine);
}

std::optional<std::string> disagreement(const OfferMessage& one, const OfferMessage& other) {
  if (one.claim.version != other.claim.version) {
    return fmt::format(
        "the launchers differ: {} runs paddle-launch {}, {} runs {}; install the same version on "
        "all nodes",
        node_name(one), one_line(one.claim.version), node_name(other),
        one_line(other.claim.version));
  }
  if (one.claim.layout != other.claim.layout) {
    return fmt::format(
        "the jobs differ: {} was given {}, {} was given {}; give every node the same options",
        node_name(one), layout_text(one), node_name(other), layout_text(other));
  }
  if (one.ips_digest != other.ips_digest || one.claim.nodes != other.claim.nodes) {
    return fmt::format(
        "the lists of nodes differ: {} was given {}, {} was given {}; give every node the same "
        "list in the same order",
        node_name(one), list_text(one), node_name(other), list_text(other));
  }
  if (one.claim.sort_ip != other.claim.sort_ip || one.claim.check != other.claim.check) {
    const bool is_check = one.claim.check != other.claim.check;
    const bool one_has_it = is_check ? one.claim.check : one.claim.sort_ip;
    return fmt::format("{} was given on {} and not on {}; give all nodes the same options",
                       is_check ? "--check" : "--sort_ip", node_name(one_has_it ? one : other),
                       node_name(one_has_it ? other : one));
  }
  return different_trainers(one, other);
}

std::optional<std::string> misfit(const OfferMessage& one, const OfferMessage& other) {
  if (other.claim.problem.empty()) return disagreement(one, other);
  return fmt::format("{}: {}", node_name(other), other.claim.problem);
}

std::vector<std::string> oddities(const OfferMessage& one,
                                  const std::map<int, OfferMessage>& others) {
  std::vector<std::string> texts;
  for (const auto& [member, other] : others) {
    if (one.claim.command == other.claim.command || texts.size() == kMostOddities) continue;
    texts.push_back(fmt::format(
        "the nodes run different commands under one --job_id: {} runs `{}`, {} runs `{}`",
        node_name(one), one_line(one.claim.command), node_name(other),
        one_line(other.claim.command)));
  }
  return texts;
}

std::string no_such_place(const OfferMessage& pod, int nodes) {
  return fmt::format("{} says --rank={}, and there are {} nodes; give it one from 0 to {}",
                     node_name(pod), pod.claim.place.value_or(0), nodes, nodes - 1);
}

std::string both_claim(const OfferMessage& one, const OfferMessage& other) {
  return fmt::format(
      "two launchers claim {}: {} and {}; stop one of them, or, if these are two jobs, give each "
      "its own --job_id",
      claimed_place(one), launcher_name(one), launcher_name(other));
}

void throw_refusal(const RefusalMessage& refusal) {
  if (refusal.status == 0) throw NoLongerNeeded(refusal.text);
  if (refusal.status == kNodeMissingStatus) throw NodeMissing(refusal.text);
  // Somebody ended another node's launcher: this one ends as it did.
  if (refusal.status > kSignalBase) {
    throw StoppedBySignal(refusal.status - kSignalBase, refusal.text);
  }
  throw LaunchError(refusal.text);
}

RefusalMessage refusal_because(const StoppedBySignal& stopped, const OfferMessage& mine) {
  return {.status = kSignalBase + stopped.signal,
          .node = -1,
          .text = fmt::format("{}: {}", node_name(mine), stopped.what())};
}

OfferMessage offer_message(const PodClaim& claim, const PodOffer& offer) {
  OfferMessage message{claim, offer, ""};
  // Cut on its way it would differ from the hub's own.
  if (claim.layout.size() > kLongestSentList) {
    message.claim.layout =
        fmt::format("{}… (digest {})", start_of_text(claim.layout, kShownOfLayout),
                    in_hex(digest(claim.layout)));
  }
  if (claim.ips.empty()) return message;
  const std::string list = fmt::format("{}", fmt::join(claim.ips, ","));
  message.ips_digest = digest(list);
  if (list.size() > kLongestSentList) message.claim.ips.clear();
  return message;
}

}  // namespace paddle_launch
