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
  return !pod.terms.layout.empty() && pod.terms.layout != kRpcLayout;
}

std::string layout_text(const OfferMessage& pod) {
  return pod.terms.layout.empty() ? "a collective job" : one_line(pod.terms.layout);
}

std::string list_text(const OfferMessage& pod) {
  if (has_servers(pod)) return one_line(pod.terms.layout);
  if (!pod.terms.ips.empty())
    return one_line(fmt::format("--ips={}", fmt::join(pod.terms.ips, ",")));
  return pod.ips_digest.empty() ? fmt::format("--master with --nnodes={}", pod.terms.nodes)
                                : fmt::format("another list of {} nodes", pod.terms.nodes);
}

std::string card_word(const OfferMessage& pod) {
  return pod.offer.card_kind ? std::string(words_of(*pod.offer.card_kind).option) : "CPUs";
}

std::string claimed_place(const OfferMessage& pod) {
  if (!pod.terms.name.empty()) return one_line(pod.terms.name);
  return pod.ips_digest.empty() && pod.terms.place ? fmt::format("--rank={}", *pod.terms.place)
                                                   : "node " + one_line(pod.offer.host);
}

std::string launcher_name(const OfferMessage& pod) {
  return fmt::format("process {} on {}", pod.terms.pid, one_line(pod.terms.machine));
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
  std::string machine = one_line(pod.terms.machine);
  if (host == machine || machine.empty()) return host;
  if (host.empty()) return machine;  // under a scheduler, at first
  return fmt::format("{} ({})", host, machine);
}

std::optional<std::string> disagreement(const OfferMessage& one, const OfferMessage& other) {
  if (one.terms.version != other.terms.version) {
    return fmt::format(
        "the launchers differ: {} runs paddle-launch {}, {} runs {}; install the same version on "
        "all nodes",
        node_name(one), one_line(one.terms.version), node_name(other),
        one_line(other.terms.version));
  }
  if (one.terms.layout != other.terms.layout) {
    return fmt::format(
        "the jobs differ: {} was given {}, {} was given {}; give every node the same options",
        node_name(one), layout_text(one), node_name(other), layout_text(other));
  }
  if (one.ips_digest != other.ips_digest || one.terms.nodes != other.terms.nodes) {
    return fmt::format(
        "the lists of nodes differ: {} was given {}, {} was given {}; give every node the same "
        "list in the same order",
        node_name(one), list_text(one), node_name(other), list_text(other));
  }
  if (one.terms.sort_ip != other.terms.sort_ip || one.terms.check != other.terms.check) {
    const bool is_check = one.terms.check != other.terms.check;
    const bool one_has_it = is_check ? one.terms.check : one.terms.sort_ip;
    return fmt::format("{} was given on {} and not on {}; give all nodes the same options",
                       is_check ? "--check" : "--sort_ip", node_name(one_has_it ? one : other),
                       node_name(one_has_it ? other : one));
  }
  return different_trainers(one, other);
}

std::optional<std::string> misfit(const OfferMessage& one, const OfferMessage& other) {
  if (other.terms.problem.empty()) return disagreement(one, other);
  return fmt::format("{}: {}", node_name(other), other.terms.problem);
}

std::vector<std::string> oddities(const OfferMessage& one,
                                  const std::map<int, OfferMessage>& others) {
  std::vector<std::string> texts;
  for (const auto& [member, other] : others) {
    if (one.terms.command == other.terms.command || texts.size() == kMostOddities) continue;
    texts.push_back(fmt::format(
        "the nodes run different commands under one --job_id: {} runs `{}`, {} runs `{}`",
        node_name(one), one_line(one.terms.command), node_name(other),
        one_line(other.terms.command)));
  }
  return texts;
}

std::string no_such_place(const OfferMessage& pod, int nodes) {
  return fmt::format("{} says --rank={}, and there are {} nodes; give it one from 0 to {}",
                     node_name(pod), pod.terms.place.value_or(0), nodes, nodes - 1);
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

OfferMessage offer_message(const JobTerms& terms, const PodOffer& offer) {
  OfferMessage message{terms, offer, ""};
  // Cut on its way it would differ from the hub's own.
  if (terms.layout.size() > kLongestSentList) {
    message.terms.layout =
        fmt::format("{}… (digest {})", start_of_text(terms.layout, kShownOfLayout),
                    in_hex(digest(terms.layout)));
  }
  if (terms.ips.empty()) return message;
  const std::string list = fmt::format("{}", fmt::join(terms.ips, ","));
  message.ips_digest = digest(list);
  if (list.size() > kLongestSentList) message.terms.ips.clear();
  return message;
}

}  // namespace paddle_launch
