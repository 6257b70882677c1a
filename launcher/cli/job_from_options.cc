// SPDX-License-Identifier: Apache-2.0
#include "launcher/cli/job_from_options.h"

#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/environment_defaults.h"
#include "launcher/cli/nodes_of_job.h"
#include "launcher/cli/restarts_of_job.h"
#include "launcher/cli/value_rule.h"
#include "launcher/job/card.h"
#include "launcher/job/errors.h"
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
    shown[std::string(key)] = shown_value(option.option->rule, option.text);
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

namespace {

std::optional<CardKind> kind_of(std::string_view key) {
  for (const CardWords& words : kCardWords) {
    if (words.option == key && key != kOpenOption) return words.kind;
  }
  return std::nullopt;
}

std::optional<CardChoice> choose_cards(const GivenOptions& given) {
  const std::vector<const GivenOption*> cards = card_options(given);
  if (cards.empty()) return std::nullopt;
  const GivenOption& chosen = *cards.front();
  if (cards.size() > 1) refuse_together(chosen, *cards[1], "each names all cards of the job");
  const GivenOption* const backend = given.find("backend");
  if (backend != nullptr && backend->text == "gloo" && chosen.text != "cpu") {
    refuse_together(chosen, *backend, "gloo is for CPU jobs, which have no cards");
  }
  return CardChoice{chosen.name, kind_of(key_of(*chosen.option)), chosen.text};
}

ConsoleMode console_named(std::string_view word) {
  if (word == "all") return ConsoleMode::All;
  if (word == "none") return ConsoleMode::None;
  if (word == "direct") return ConsoleMode::Direct;
  return ConsoleMode::RankZero;
}

void fill_network(const GivenOptions& given, JobSpec& job) {
  if (const GivenOption* host = given.find("host")) {
    job.host = host->text;
    job.host_source = host->name;
  }
  job.job_id = given.text("job_id").value_or(job.job_id);
  job.job_id_given = given.find("job_id") != nullptr;
  if (const GivenOption* const port = given.find("start_port")) {
    job.start_port = given.value<int>("start_port");
    job.start_port_source = port->name;
  }
  const GivenOption* const range = given.find("port_range");
  if (range == nullptr) return;
  if (const GivenOption* const port = given.find("start_port")) {
    refuse_together(*port, *range, "the first names the ports, the second leaves the choice open");
  }
  job.port_range = range->as<std::pair<int, int>>();
}

// How the launchers of several nodes talk to each other.
void fill_channel(const GivenOptions& given, const Environment& env, JobSpec& job) {
  job.bootstrap = given.text("bootstrap").value_or(job.bootstrap);
  // These launchers were told their places, whatever a scheduler could give them.
  if (job.servers && job.servers->single) job.bootstrap = "tcp";
  job.bootstrap_port = given.value<int>("bootstrap_port").value_or(job.bootstrap_port);
  job.bootstrap_timeout =
      given.value<std::chrono::milliseconds>("bootstrap_timeout").value_or(job.bootstrap_timeout);
  if (const auto heartbeat = given.value<int>("heartbeat")) {
    job.heartbeat = std::chrono::seconds(*heartbeat);
  }
  job.token_file = given.text("token_file");
  if (!job.token_file) job.token = non_empty(env, kTokenVariable);
}

void take_check(const GivenOptions& given, JobSpec& job) {
  const GivenOption* const check = given.find("check");
  if (check == nullptr) return;
  if (const GivenOption* const dry_run = given.find("dry_run")) {
    refuse_together(*check, *dry_run, "the first connects the nodes, the second touches nothing");
  }
  if (!job.may_have_others()) {
    throw UsageError(fmt::format(
        "{}: there is one node, so there is no network between nodes to try. Name the nodes with "
        "{} or with --master=HOST:PORT --nnodes=N, or {}.",
        said(*check),
        job.servers ? "--servers=HOST:PORT,… --workers=HOST:PORT,…" : "--ips=ADDRESS,ADDRESS,…",
        how_to_drop(*check)));
  }
  job.check = true;
}

// A variable may be exported for all jobs of a user: only what was typed for this one contradicts.
void refuse_logs_of_direct_output(const GivenOptions& given) {
  if (given.text("console") != "direct") return;
  for (const std::string_view key : {"log_dir", "log_names", "log_overwrite"}) {
    const GivenOption* const option = given.find(key);
    if (option == nullptr || option->from_environment || option->text == "False") continue;
    refuse_together(*given.find("console"), *option,
                    "with the first there are no logs, which the second is about");
  }
}

void refuse_report_of_nothing(const GivenOptions& given) {
  const GivenOption* const report = given.find("report");
  if (report == nullptr) return;
  for (const std::string_view key : {"dry_run", "check"}) {
    const GivenOption* const other = given.find(key);
    if (other == nullptr) continue;
    refuse_together(*report, *other, "the first tells how a job ended, the second starts none");
  }
}

void fill_output(const GivenOptions& given, JobSpec& job) {
  job.log_dir = given.text("log_dir").value_or(job.log_dir);
  job.log_overwrite = given.is_true("log_overwrite");
  job.local_log_names = given.text("log_names") == "local";
  job.log_level = given.value<LogLevel>("log_level").value_or(job.log_level);
  job.quiet = given.is_true("quiet");
  job.console = console_named(given.text("console").value_or(""));
  job.stdin_to_rank_zero = given.find("stdin") != nullptr;
  job.report = given.text("report");
  job.stop_with_parent = given.is_true("stop_with_parent");
}

}  // namespace

JobSpec job_from_options(const GivenOptions& given, JobFrame frame, const Environment& env,
                         Script script) {
  JobSpec job;
  job.started_together = frame.started_together;
  job.script = std::move(script);
  job.script.python = given.text("python");
  job.mode = frame.mode;
  job.servers = std::move(frame.servers);
  job.elastic = std::move(frame.elastic);
  job.restarts = restarts_of_job(given, job.elastic);
  job.cards = choose_cards(given);
  job.assume_cards = given.is_true("assume_gpus");
  job.nproc_per_node = given.value<int>("nproc_per_node");
  job.backend = given.text("backend").value_or(job.backend);
  if (given.text("bind") == "numa") job.bind = Binding::Numa;
  job.drop_proxies = given.text("proxy") == "drop";
  job.omp_threads = given.value<int>("omp");
  job.nccl_lib = given.text("nccl_lib");
  job.nccl_ids = given.text("nccl_ids") != "off";
  job.store_door = given.text("store_door") != "off";
  job.gpu_log = given.find("enable_gpu_log") == nullptr || given.is_true("enable_gpu_log");
  fill_network(given, job);
  fill_nodes(given, job);
  fill_channel(given, env, job);
  take_check(given, job);
  refuse_logs_of_direct_output(given);
  refuse_report_of_nothing(given);
  fill_output(given, job);
  job.grace = given.value<std::chrono::milliseconds>("grace").value_or(job.grace);
  if (const auto dry_run = given.text("dry_run")) {
    job.dry_run = *dry_run == "json" ? DryRun::Json : DryRun::Text;
  }
  return job;
}

}  // namespace paddle_launch
