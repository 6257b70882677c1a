// SPDX-License-Identifier: Apache-2.0
// The options that were given, by the user or by the environment, each with a value that its rule
// has accepted.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/cli/option_table.h"

namespace paddle_launch {

struct GivenOption {
  const Option* option = nullptr;
  std::string name;               // as typed ("--selected_gpus"), or the variable's name
  std::string text;               // as ValueReading::text
  Value value;                    // likewise
  bool from_environment = false;  // a default of the user's: not typed for this job
  std::string file = {};          // of --config, where it stands; from_environment then as well

  // What the rule of the option reads; nothing else may be asked for.
  template <typename T>
  const T& as() const {
    return std::get<T>(value);
  }
};

// "--gpus=0,1" or "PADDLE_DEVICES=0,1"; its name alone where it may stand so. Never a password.
std::string said(const GivenOption& given);

// "leave out --gpus" or "unset PADDLE_DEVICES".
std::string how_to_drop(const GivenOption& given);

// Throws UsageError when the rule refuses the value.
GivenOption accept(const Option& option, std::string_view name, std::string_view value,
                   bool from_environment);

[[noreturn]] void refuse_together(const GivenOption& one, const GivenOption& other,
                                  std::string_view why);

class GivenOptions {
 public:
  using Map = std::map<std::string_view, GivenOption>;  // by key; the table owns the keys

  void add(GivenOption given);
  void drop(std::string_view key);

  const GivenOption* find(std::string_view key) const;
  const GivenOption* first_of(std::initializer_list<std::string_view> keys) const;
  std::optional<std::string> text(std::string_view key) const;
  bool is_true(std::string_view key) const;

  template <typename T>
  std::optional<T> value(std::string_view key) const {
    const GivenOption* const given = find(key);
    return given == nullptr ? std::nullopt : std::optional<T>(given->as<T>());
  }

  Map::const_iterator begin() const { return given_.begin(); }
  Map::const_iterator end() const { return given_.end(); }

 private:
  Map given_;
};

// What is told beside the job.
struct Remarks {
  std::vector<std::string> notices;
  std::vector<std::string> warnings;
};

// Drops an option that does not count, with the warning that it is not used, and why. `unused` is
// gone afterwards.
void drop_unused(const GivenOption& unused, std::string_view because, GivenOptions& given,
                 Remarks& remarks);

// Why a variable does not count: "the command line says --ips=…, and an option beats a variable".
std::string option_comes_first(const GivenOption& option);

// --gpus, its relatives for the other kinds of cards, and --devices, as far as they were given.
std::vector<const GivenOption*> card_options(const GivenOptions& given);

}  // namespace paddle_launch
