// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/company.h"

#include <chrono>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/card.h"
#include "launcher/job/errors.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/files.h"
#include "launcher/run/own_words.h"
#include "launcher/site/choose_cards.h"
#include "launcher/tell/voice.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::seconds kForTheFirstTask{3};

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

void show_error(const std::string& text) { say_on_stderr("paddle-launch: error: " + text + "\n"); }

// For who asked for the details, or for the plan.
std::function<void(const std::string&)> notes_of(const JobSpec& job) {
  if (job.dry_run != DryRun::No) {
    return [](const std::string& text) { say_on_stderr("paddle-launch: " + text + "\n"); };
  }
  return
      [voice = Voice(job.log_level, say_on_stderr)](const std::string& text) { voice.debug(text); };
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
    if (variable)
      facts.visible_cards += *variable + "=" + lookup(env, *variable).value_or("") + ";";
  }
  return facts;
}

}  // namespace

Company::Company(EventLoop& loop, const JobSpec& job, const Environment& env,
                 const Surroundings& around, const Machine& here)
    : loop_(loop),
      here_(here),
      env_(env),
      around_(around),
      choice_(choose_way(job, around)),
      way_(choice_.way) {
  if (way_ != Way::Tasks) return;
  const bool tells = around_.task == 0 && !job.quiet;
  meeting_ = std::make_unique<TaskMeeting>(
      loop, TaskMeetingSettings{.order = {.plugins = choice_.plugins,
                                          .directories = plugin_directories(env),
                                          .must_use_mpi = choice_.must_use_mpi,
                                          .never_mpi_alone = choice_.else_slurm_step,
                                          .host = here.host_name},
                                .timeout = job.bootstrap_timeout,
                                .pmi = pmi_descriptor(env),
                                .scheduler = around.launched_by,
                                .error = show_error,
                                .waiting =
                                    [tells](const std::string& text) {
                                      if (tells) say_on_stderr("paddle-launch: " + text + "\n");
                                    },
                                .note = tells ? notes_of(job) : nullptr});
}

void Company::gather() {
  if (way_ == Way::Tasks) gather_through_plugins();
  if (way_ == Way::SlurmStep) read_step();
  party_.group.share.own_cards |= around_.cards_per_task;
}

void Company::gather_through_plugins() {
  const std::optional<TaskNumber> number = meeting_->open();
  if (number) {
    party_ = gather_tasks(*meeting_, number->task, own_facts(env_, here_));
    return;
  }
  if (choice_.else_slurm_step) {
    way_ = Way::SlurmStep;
    meeting_.reset();
    return;
  }
  const std::string text = fmt::format(
      "{} started {} launchers together, and on {} none of the plugins that join them can be "
      "used:\n{}\n"
      "Install paddle-launch with its plugins and the MPI or PMIx library on every node, say with "
      "PADDLE_LAUNCH_PLUGIN_DIR where the plugins are, or name the nodes with --bootstrap=tcp and "
      "--ips.",
      around_.launched_by.empty() ? "somebody" : around_.launched_by,
      around_.tasks == 0 ? "perhaps several" : std::to_string(around_.tasks), here_.host_name,
      meeting_->reasons());
  if (around_.task.value_or(0) != 0) let_the_first_task_speak();
  throw LaunchError(text);
}

std::vector<std::string> Company::contradictions(const JobSpec& job, const Roster& roster) const {
  if (!is_scheduled()) return {};
  std::vector<std::string> hosts;
  std::vector<std::string> names;
  for (std::size_t pod = 0; pod < roster.pods.size(); ++pod) {
    if (pod > 0 && roster.node_of.at(pod) == roster.node_of[pod - 1]) continue;
    hosts.push_back(roster.pods[pod].host);
    names.push_back(party_.group.hosts.at(pod));
  }
  const std::string truth = fmt::format("{} started this job on {} ({})", around_.launched_by,
                                        fmt::join(names, ","), fmt::join(hosts, ","));
  bool fits = job.ips.size() == hosts.size();
  for (std::size_t node = 0; fits && node < hosts.size(); ++node) {
    fits = job.ips[node] == hosts[node] || job.ips[node] == names[node];
  }
  if (job.ips_given && !fits) {
    return {fmt::format("{}={} is not what counts: {}", job.ips_source, fmt::join(job.ips, ","),
                        truth)};
  }
  const bool has_master = job.master && job.nnodes != group().nodes;
  if (!has_master) return {};
  return {fmt::format("--master={}:{} with --nnodes={} is not what counts: {}", job.master->host,
                      job.master->port, job.nnodes, truth)};
}

// What hinders us hinders the first task as well, as a rule: it says so, ends, and whoever started
// us ends us with it. Only where it does not, the trouble is this node's own.
void Company::let_the_first_task_speak() {
  run_until(loop_, kForTheFirstTask, [] { return false; });
}

void Company::read_step() {
  const SlurmStep& step = *around_.step;
  party_.group = group_by_counts(step.tasks_per_node, step.nodes, step.node, step.local);
}

}  // namespace paddle_launch
