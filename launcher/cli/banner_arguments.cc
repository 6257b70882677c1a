// SPDX-License-Identifier: Apache-2.0
// See banner_arguments.h.
#include "launcher/cli/banner_arguments.h"

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/value_rule.h"
#include "launcher/job/card.h"
#include "launcher/text/python_repr.h"

namespace paddle_launch {

std::vector<std::pair<std::string, std::string>> banner_arguments(const GivenOptions& given,
                                                                  const JobSpec& job) {
  std::map<std::string, std::string> shown = {
      {"log_dir", job.console == ConsoleMode::Direct ? "None" : job.log_dir},
      {"server_num", "None"},
      {"servers", ""},
      {"worker_num", "None"},
      {"workers", ""},
  };
  for (const auto& [key, option] : given) {
    shown[std::string(key)] = shown_value(option.option->rule, option.value);
  }

  // --devices is the open spelling of the same argument.
  shown.erase("devices");
  const CardKind kind = job.cards ? job.cards->kind.value_or(CardKind::Gpu) : CardKind::Gpu;
  shown[std::string(words_of(kind).option)] = job.cards ? job.cards->list : "None";
  // Endpoints name the hosts of a job with parameter servers; --ips then has its default.
  const std::string list = job.servers ? "127.0.0.1" : fmt::format("{}", fmt::join(job.ips, ","));
  shown["ips"] = job.master || job.elastic ? "None" : list;
  shown["training_script"] = (job.script.is_module ? "-m " : "") + job.script.name;
  shown["training_script_args"] = python_repr(job.script.args);
  return {shown.begin(), shown.end()};
}

}  // namespace paddle_launch
