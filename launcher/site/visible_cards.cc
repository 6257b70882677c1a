// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/visible_cards.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "launcher/job/card.h"
#include "launcher/job/errors.h"

namespace paddle_launch {
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
