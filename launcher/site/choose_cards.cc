// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/choose_cards.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/card.h"
#include "launcher/job/errors.h"
#include "launcher/text/device_list.h"

namespace paddle_launch {
namespace {

// The cards of the machine, or no knowledge of them because the user vouches for what is named.
struct Stock {
  CardKind kind;
  std::optional<FoundCards> found;
};

std::string describe(const Stock& stock) {
  const auto& found = *stock.found;
  const auto word = words_of(stock.kind).option;
  if (found.cards.empty()) return fmt::format("0 {} were found here ({})", word, found.probe);
  std::vector<int> indices;
  for (const auto& card : found.cards) indices.push_back(card.index);
  return fmt::format("{} {} were found here by {}: {}", indices.size(), word, found.probe,
                     fmt::join(indices, ","));
}

[[noreturn]] void refuse_absent(const CardName& name, const Stock& stock, const std::string& said) {
  throw UsageError(
      fmt::format("{}: card {} is not there; {}. Name cards that are there, or add --assume_gpus "
                  "(PADDLE_LAUNCH_ASSUME_GPUS=1) to try the job on a machine without cards, or "
                  "name no cards and "
                  "give --nproc_per_node for processes on the CPU.",
                  said, name.text, describe(stock)));
}

// The card of that name; none where the user vouches for it or the probe cannot tell.
const FoundCard* locate(const CardName& name, const Stock& stock, const std::string& said) {
  if (!stock.found) return nullptr;
  const auto& cards = stock.found->cards;
  if (name.form == CardNameForm::Mig && !cards.empty()) return nullptr;  // a part of some card
  const FoundCard* match = nullptr;
  for (const auto& card : cards) {
    const bool same = name.form == CardNameForm::Number ? std::to_string(card.index) == name.text
                                                        : card.uuid.starts_with(name.text);
    if (!same) continue;
    if (match != nullptr) {
      throw UsageError(
          fmt::format("{}: {} fits more than one card ({} and {}); write more of the UUID", said,
                      name.text, match->uuid, card.uuid));
    }
    match = &card;
  }
  const bool uuids_known = cards.empty() || !cards.front().uuid.empty();
  if (match == nullptr && (name.form == CardNameForm::Number || uuids_known)) {
    refuse_absent(name, stock, said);
  }
  return match;
}

Card card_of(const CardName& name, std::string index, const FoundCard* found) {
  Card card{name.text, std::move(index), std::nullopt};
  if (found != nullptr && !found->pci_bus.empty()) card.pci_bus = found->pci_bus;
  return card;
}

std::string said_by(const CardChoice& choice) {
  return fmt::format("{}={}", choice.option, choice.list);
}

std::vector<CardName> parse_choice(const CardChoice& choice) {
  std::vector<CardName> names;
  for (const auto& entry : split_card_list(choice.list)) {
    const auto name = parse_card_name(entry);
    if (!name) {
      const auto what =
          entry.empty() ? "an entry is empty" : fmt::format("'{}' is not a card", entry);
      throw UsageError(
          fmt::format("{}: {}; write each card between commas, such as {}=0,1,2,3 (or GPU-… or "
                      "MIG-… names)",
                      said_by(choice), what, choice.option));
    }
    names.push_back(*name);
  }
  return names;
}

// Trainers on one card by mistake are slow and hard to see, so a card counts once however it is
// named.
std::vector<Card> each_once(std::vector<Card> cards, const std::string& said) {
  std::set<std::string> seen;
  for (const auto& card : cards) {
    if (seen.insert(card.index).second) continue;
    throw UsageError(
        fmt::format("{}: card {} is named twice; name each card once", said, card.name));
  }
  return cards;
}

// Indices are places in the variable, as FLAGS_selected_gpus counts.
std::vector<Card> all_visible(const VisibleCards& visible, const Stock& stock) {
  const auto said = fmt::format("{}={}", visible.variable, visible.value);
  std::vector<Card> cards;
  std::set<const FoundCard*> seen;
  for (const auto& name : visible.names) {
    const FoundCard* found = locate(name, stock, said);
    if (found != nullptr && !seen.insert(found).second) {
      throw UsageError(
          fmt::format("{}: {} names a card a second time; name each card once", said, name.text));
    }
    cards.push_back(card_of(name, std::to_string(cards.size()), found));
  }
  return cards;
}

const Card* find_member(const CardName& wanted, const std::vector<Card>& members) {
  const auto same = [&](const Card& card) { return card.name == wanted.text; };
  const auto exact = std::find_if(members.begin(), members.end(), same);
  if (exact != members.end()) return &*exact;
  if (wanted.form == CardNameForm::Number) return nullptr;
  const auto begins = [&](const Card& card) { return card.name.starts_with(wanted.text); };
  if (std::count_if(members.begin(), members.end(), begins) != 1) return nullptr;
  return &*std::find_if(members.begin(), members.end(), begins);
}

std::vector<Card> choose_visible(const CardChoice& choice, const VisibleCards& visible,
                                 const Stock& stock) {
  const auto names = parse_choice(choice);
  if (visible.names.empty()) {
    throw UsageError(
        fmt::format("{}: {}='{}' hides all cards; unset it, or leave out {} to run on the CPU",
                    said_by(choice), visible.variable, visible.value, choice.option));
  }
  const auto members = all_visible(visible, stock);
  std::vector<Card> cards;
  for (const auto& name : names) {
    const Card* member = find_member(name, members);
    if (member == nullptr) {
      throw UsageError(fmt::format(
          "Can't find your {0} {1} in {2}[{3}]. {4} names physical cards as {2} spells them; name "
          "members "
          "of {2}, or change or unset it.",
          words_of(stock.kind).option, name.text, visible.variable, visible.value, choice.option));
    }
    cards.push_back(*member);
  }
  return each_once(std::move(cards), said_by(choice));
}

std::vector<Card> choose_physical(const CardChoice& choice, const Stock& stock) {
  const auto said = said_by(choice);
  std::vector<Card> cards;
  for (const auto& name : parse_choice(choice)) {
    const FoundCard* found = locate(name, stock, said);
    const bool number = name.form == CardNameForm::Number;
    if (!number && found == nullptr) {
      const auto variable = words_of(stock.kind).visible_variable;
      throw UsageError(fmt::format(
          "{}: {} has no number that a trainer could be told; set {}={} and leave out {}", said,
          name.text, variable, choice.list, choice.option));
    }
    cards.push_back(card_of(name, number ? name.text : std::to_string(found->index), found));
  }
  return each_once(std::move(cards), said);
}

std::vector<Card> all_found(const Stock& stock) {
  std::vector<Card> cards;
  if (!stock.found) return cards;
  for (const auto& found : stock.found->cards) {
    const CardName name{CardNameForm::Number, std::to_string(found.index)};
    cards.push_back(card_of(name, name.text, &found));
  }
  return cards;
}

// Which custom device the user means. A launcher inside a trainer finds that of the trainer's job.
std::optional<CardKind> custom_kind(const Environment& env) {
  const std::string type = lookup(env, kCustomVariable).value_or("");
  if (type.empty() || env.contains("PADDLE_LAUNCH_JOB")) return std::nullopt;
  std::vector<std::string_view> known;
  for (const auto& words : kCardWords) {
    if (type == words.custom) return words.kind;
    if (!words.custom.empty()) known.push_back(words.custom);
  }
  throw UsageError(
      fmt::format("{}={}: such cards are not known here; it takes one of {}, or unset it",
                  kCustomVariable, type, fmt::join(known, ", ")));
}

// --devices and a bare command leave the kind open: the backend tells, then the variables, GPU
// first.
CardKind kind_of(const JobSpec& job, const Environment& env) {
  if (job.cards && job.cards->kind) return *job.cards->kind;
  for (const auto& words : kCardWords) {
    if (job.backend == words.backend) return words.kind;
  }
  if (const auto kind = custom_kind(env)) return *kind;
  for (const auto& words : kCardWords) {
    if (visibility_variable(words.kind, env)) return words.kind;
  }
  return CardKind::Gpu;
}

bool wants_cpu(const JobSpec& job) {
  if (job.backend == "gloo") return true;
  return job.cards && split_card_list(job.cards->list) == std::vector<std::string>{"cpu"};
}

}  // namespace

ChosenCards choose_cards(const JobSpec& job, const Environment& env,
                         const std::function<FoundCards(CardKind)>& probe) {
  if (wants_cpu(job)) return {};
  const CardKind kind = kind_of(job, env);
  const auto visible = visible_cards(kind, env);
  if (visible && visible->names.empty() && !job.cards) return {};

  Stock stock{kind, std::nullopt};
  const bool is_looked_for = words_of(kind).option != kOpenOption;
  if (!job.assume_cards && is_looked_for) stock.found = probe(kind);
  std::vector<Card> cards;
  if (visible) {
    cards = job.cards ? choose_visible(*job.cards, *visible, stock) : all_visible(*visible, stock);
  } else {
    cards = job.cards ? choose_physical(*job.cards, stock) : all_found(stock);
  }
  if (cards.empty() && !is_looked_for) {
    throw UsageError(fmt::format(
        "{}={}: such cards are not looked for; name them with --devices=0,1 or in {}, or give "
        "--devices=cpu",
        kCustomVariable, words_of(kind).custom, words_of(kind).visible_variable));
  }
  if (cards.empty()) return {};
  return {kind, std::move(cards)};
}

ChosenCards choose_cards(const JobSpec& job, const Environment& env) {
  return choose_cards(job, env, [&env](CardKind kind) { return find_cards_of(kind, env); });
}

// How the chosen cards are dealt to the node's trainers.

namespace {

using Hands = std::vector<std::vector<Card>>;

std::string option_of(const ChosenCards& chosen) {
  return fmt::format("--{}", words_of(chosen.kind.value_or(CardKind::Gpu)).option);
}

void require_positive(int nproc_per_node) {
  if (nproc_per_node >= 1) return;
  throw UsageError(fmt::format(
      "--nproc_per_node={}: a node needs at least one process; give 1 or more", nproc_per_node));
}

// The part of `nproc_per_node` that falls to each launcher.
std::size_t part_of_processes(int nproc_per_node, const NodeShare& share) {
  if (nproc_per_node % share.launchers == 0) {
    return static_cast<std::size_t>(nproc_per_node / share.launchers);
  }
  throw UsageError(fmt::format(
      "--nproc_per_node={0}: this node has {1} launchers, and {0} processes cannot be shared out "
      "evenly among them; start as many launchers on a node as divide {0}, or change "
      "--nproc_per_node, which counts the processes of the whole node",
      nproc_per_node, share.launchers));
}

std::size_t part_of_cards(const ChosenCards& chosen, const NodeShare& share) {
  const std::size_t cards = chosen.cards.size();
  const auto launchers = static_cast<std::size_t>(share.launchers);
  if (cards % launchers == 0) return cards / launchers;
  std::vector<std::string> names;
  for (const Card& card : chosen.cards) names.push_back(card.name);
  throw UsageError(fmt::format(
      "this node has {} card{} ({}) and {} launchers; the launchers cannot have the same number of "
      "cards each. Start as many launchers on a node as divide its cards (one is enough for all of "
      "them), or name cards with {}.",
      cards, cards == 1 ? "" : "s", fmt::join(names, ","), share.launchers, option_of(chosen)));
}

Hands deal_evenly(const ChosenCards& chosen, std::size_t trainers) {
  const std::size_t cards = chosen.cards.size();
  if (cards % trainers != 0) {
    throw UsageError(fmt::format(
        "{0}' number:{1} mod nproc_per_node:{2} must == 0: {1} cards cannot be dealt evenly to {2} "
        "processes; change --nproc_per_node, or name other cards with --{0}",
        words_of(chosen.kind.value_or(CardKind::Gpu)).option, cards, trainers));
  }
  const auto each = static_cast<std::ptrdiff_t>(cards / trainers);
  Hands dealt;
  for (auto next = chosen.cards.begin(); next != chosen.cards.end(); next += each) {
    dealt.emplace_back(next, next + each);
  }
  return dealt;
}

std::size_t trainers_of_mine(const ChosenCards& chosen, std::optional<int> nproc_per_node,
                             const NodeShare& share) {
  if (nproc_per_node) return part_of_processes(*nproc_per_node, share);
  if (chosen.cards.empty()) return 1;
  return share.own_cards ? chosen.cards.size() : part_of_cards(chosen, share);
}

}  // namespace

Hands deal_cards(const ChosenCards& chosen, std::optional<int> nproc_per_node,
                 const NodeShare& share) {
  if (nproc_per_node) require_positive(*nproc_per_node);
  const std::size_t mine = trainers_of_mine(chosen, nproc_per_node, share);
  if (chosen.cards.empty()) return Hands(mine);
  if (share.own_cards) return deal_evenly(chosen, mine);
  const Hands all = deal_evenly(chosen, mine * static_cast<std::size_t>(share.launchers));
  const auto first = all.begin() + first_of_share(share, static_cast<int>(mine));
  return {first, first + static_cast<std::ptrdiff_t>(mine)};
}

namespace {

// The vendors' runtimes read a second name, which schedulers set.
std::string_view second_variable(CardKind kind) {
  if (kind == CardKind::Xpu) return "XPULINK_VISIBLE_DEVICES";
  if (kind == CardKind::Npu) return "ASCEND_RT_VISIBLE_DEVICES";
  return {};
}

bool ends_list(const std::string& entry) {
  return entry.empty() || entry.starts_with('-') || entry == "NoDevFiles";
}

void add_name(VisibleCards& visible, const std::string& entry) {
  const auto said = fmt::format("{}={}", visible.variable, visible.value);
  const auto name = parse_card_name(entry);
  if (!name) {
    throw UsageError(
        fmt::format("{}: '{}' does not name a card; write numbers (0,1), GPU-… or MIG-…, "
                    "separated by commas, or unset {}",
                    said, entry, visible.variable));
  }
  if (std::find(visible.names.begin(), visible.names.end(), *name) != visible.names.end()) {
    throw UsageError(fmt::format("{}: card {} is named twice; name each card once", said, entry));
  }
  const bool number = name->form == CardNameForm::Number;
  if (!visible.names.empty() && number != (visible.names[0].form == CardNameForm::Number)) {
    throw UsageError(
        fmt::format("{}: numbers and UUIDs are mixed, and what CUDA makes of that is not defined; "
                    "use one of the two for all cards",
                    said));
  }
  visible.names.push_back(*name);
}

}  // namespace

std::optional<std::string> visibility_variable(CardKind kind, const Environment& env) {
  for (const auto name : {words_of(kind).visible_variable, second_variable(kind)}) {
    if (!name.empty() && env.contains(name)) return std::string(name);
  }
  return std::nullopt;
}

std::optional<VisibleCards> visible_cards(CardKind kind, const Environment& env) {
  const auto variable = visibility_variable(kind, env);
  if (!variable) return std::nullopt;
  VisibleCards visible{*variable, *lookup(env, *variable), {}};
  const auto entries = split_card_list(visible.value);
  if (entries.front() == "all" && entries.size() == 1) return std::nullopt;
  for (const auto& entry : entries) {
    if (ends_list(entry)) break;
    add_name(visible, entry);
  }
  return visible;
}

}  // namespace paddle_launch
