// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0015 says why a pod that cannot take part still meets the others, 0016 why a dry
// run asks no other node.
#include "launcher/site/offer.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/os/side_process.h"
#include "launcher/os/signals.h"
#include "launcher/site/choose_cards.h"
#include "launcher/site/find_program.h"
#include "launcher/site/log_place.h"
#include "launcher/site/named_files.h"
#include "launcher/site/server_offer.h"
#include "launcher/site/topology.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

// The address of a pod whose place is behind the list of nodes is known when the nodes have met.
OwnNode own_node(const JobSpec& job, const Machine& here) {
  if (job.elastic) return own_node_of_task(job, here, 0);
  const auto place = static_cast<std::size_t>(job.node_rank.value_or(0));
  const bool is_listed = job.master || place < job.ips.size();
  return is_listed ? find_own_node(job, here) : own_node_of_task(job, here, place);
}

// Without --rank the node where all meet becomes the first.
bool may_be_first(const JobSpec& job, const OwnNode& me) {
  if (!job.master || job.node_rank || !job.servers) return me.place == 0;
  return me.is_meeting_point;
}

// Without dots and without a slash at the end.
std::string absolute_directory(const std::string& path) {
  const std::filesystem::path whole = std::filesystem::absolute(path).lexically_normal();
  return whole.has_filename() || whole == whole.root_path() ? whole : whole.parent_path();
}

std::vector<std::string> cpu_warning(const Machine& here, std::size_t processes,
                                     std::string_view word) {
  if (here.cpus.size() >= processes) return {};
  return {fmt::format(
      "{0} {1} share {2} CPU{3}: the launcher was given no more; ask for more CPUs "
      "(--cpus-per-task under Slurm, --bind-to none under mpirun, taskset) or start fewer {1}",
      processes, word, here.cpus.size(), here.cpus.size() == 1 ? "" : "s")};
}

std::string own_cards_warning(CardKind kind) {
  return fmt::format(
      "each launcher sees only {} of its own, so trainers of one node cannot reach each other's "
      "cards directly (peer-to-peer, NVLink); give all launchers of a node the same list: srun "
      "--gpus-per-node=N instead of --gpus-per-task, or one launcher a node",
      words_of(kind).option);
}

// Under --gpu-bind=none Slurm does not say which cards are ours, and on a shared node all of them
// are found.
std::vector<std::string> more_cards_than_given(const Environment& env, const ChosenCards& chosen) {
  const auto given = parse_whole_number(lookup(env, "SLURM_GPUS_ON_NODE").value_or(""));
  if (!given || static_cast<long long>(chosen.cards.size()) <= *given) return {};
  return {fmt::format(
      "Slurm gave this job {} cards of this node (SLURM_GPUS_ON_NODE) and {} are used: some may "
      "belong to another job; leave out --gpu-bind=none, or name yours with --gpus",
      *given, chosen.cards.size())};
}

void add(std::vector<std::string> more, std::vector<std::string>& texts) {
  for (std::string& text : more) texts.push_back(std::move(text));
}

// Libraries that a trainer loads before Paddle would start a thread for each CPU of the node.
std::vector<int> threads_of_each(const OfferRequest& request,
                                 const std::vector<std::vector<Card>>& cards) {
  const JobSpec& job = request.job;
  const std::size_t processes = cards.size();
  if (processes == 0 || job.omp_threads == 0) return {};
  std::vector<int> threads(processes, job.omp_threads.value_or(1));
  if (job.omp_threads) return threads;
  if (!lookup(request.env, kThreadsVariable).value_or("").empty()) return {};
  const auto given = parse_whole_number(lookup(request.env, "SLURM_CPUS_PER_TASK").value_or(""));
  if (!given && (job.bind == Binding::None || job.servers)) return threads;
  const auto cpus = cpus_for_trainers(cards, request.here.cpus);
  // Where Slurm does not confine the task, the mask has more than was given.
  const long long most = given ? std::max(1LL, *given / static_cast<long long>(processes))
                               : std::numeric_limits<int>::max();
  std::transform(cpus.begin(), cpus.end(), threads.begin(), [most](const std::vector<int>& own) {
    return static_cast<int>(std::clamp<long long>(number_of_cores(own), 1, most));
  });
  return threads;
}

void offer_trainers(const OfferRequest& request, Offer& offer) {
  const JobSpec& job = request.job;
  const NodeShare& share = request.share;
  const ChosenCards chosen = choose_cards(job, request.env);
  std::vector<std::vector<Card>> cards = deal_cards(chosen, job.nproc_per_node, share);
  const int trainers = static_cast<int>(cards.size());
  add(cpu_warning(request.here, cards.size(), "trainers"), offer.warnings);
  add(more_cards_than_given(request.env, chosen), offer.warnings);
  if (share.own_cards && share.launchers > 1 && chosen.kind) {
    offer.warnings.push_back(own_cards_warning(*chosen.kind));
  }
  std::optional<int> start = job.start_port;
  if (start) *start += first_of_share(share, trainers);
  offer.means.omp_threads = threads_of_each(request, cards);
  if (job.bind == Binding::Numa) offer.means.cpus = cpus_for_trainers(cards, request.here.cpus);
  offer.ports = lease_ports({.count = trainers,
                             .start = start,
                             .start_source = job.start_port_source,
                             .range = job.port_range,
                             .given = job.given_ports,
                             .given_source = "DISTRIBUTED_TRAINER_ENDPOINTS",
                             .store = job.store_door},
                            offer.warnings);
  offer.pod.card_kind = chosen.kind;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    offer.pod.trainers.push_back(
        {.cards = std::move(cards[i]), .port = offer.ports.trainers.at(i)});
  }
  offer.pod.master_port = offer.ports.master;
  offer.means.store_port = offer.ports.store;
}

void look_at_log_directory(const std::string& directory) {
  const auto looked = ask_disk([&directory] {
    prepare_log_directory(directory);
    return std::string();
  });
  if (looked) return;
  throw LaunchError(
      fmt::format("--log_dir={}: could not be looked at within {} s; name a directory whose disk "
                  "answers",
                  directory, kPatienceWithDisk.count()));
}

Program program_of(const OfferRequest& request) {
  return find_program(request.job.script, request.env, own_directory().string());
}

// What is asked of a disk, once for all rounds.
void look_at_files(const OfferRequest& request, PodMeans& means) {
  const JobSpec& job = request.job;
  means.program = program_of(request);
  if (job.console != ConsoleMode::Direct) {
    const bool is_named = job.log_dir == kNamedLogs;
    means.log_dir = absolute_directory(is_named ? std::string(kParentOfNamedLogs) : job.log_dir);
  }
  if (job.report) check_report_file(*job.report);
  raise_open_files();
  if (request.has_others && job.dry_run == DryRun::No && !job.check && !means.log_dir.empty()) {
    look_at_log_directory(means.log_dir);
  }
}

// The rest, for each round.
void offer_round(const OfferRequest& request, Offer& offer) {
  offer.warnings.clear();
  offer.pod = {.name = random_pod_name(), .host = offer.me.host, .card_kind = {}, .trainers = {}};
  if (!request.job.servers) return offer_trainers(request, offer);
  offer_roles(request, may_be_first(request.job, offer.me), offer);
  const std::vector<std::vector<Card>> each(offer.pod.roles.size());
  offer.means.omp_threads = threads_of_each(request, each);
  add(cpu_warning(request.here, each.size(), "processes"), offer.warnings);
}

}  // namespace

Offer make_offer(const OfferRequest& request) {
  const JobSpec& job = request.job;
  Offer offer;
  // Who does not know which node it is cannot tell the others anything; a scheduler knows.
  if (!request.place) offer.me = own_node(job, request.here);
  try {
    if (request.place) offer.me = own_node_of_task(job, request.here, *request.place);
    look_at_files(request, offer.means);
    offer_round(request, offer);
  } catch (const std::exception& error) {
    // The others of an elastic job do not wait for this one.
    if (!request.has_others || job.elastic || (job.dry_run != DryRun::No && !request.place)) throw;
    offer.problem = std::current_exception();
    offer.problem_text = error.what();
    offer.pod = {.name = {}, .host = offer.me.host, .card_kind = {}, .trainers = {}};
  }
  return offer;
}

// A port that was named is given back first. That the program is still there is asked aside and for
// a limited time.
void renew_offer(const OfferRequest& request, Offer& offer) {
  const JobSpec& job = request.job;
  if (job.start_port || !job.given_ports.empty() || job.servers) offer.ports = {};
  ask_disk([&request] { return program_of(request).path; });
  offer_round(request, offer);
}

namespace {

// What the others would probably see us come from.
std::string likely_address(const Machine& here) {
  for (const std::string& address : here.addresses) {
    if (!is_loopback(parse_ipv4(address).value_or(0))) return address;
  }
  return here.host_name;
}

// What another node of the lists would offer; where numbers count, the same as this one.
void assume_roles(const JobSpec& job, std::size_t place, PodOffer& pod) {
  if (!job.servers || job.servers->as_it_is) return;
  ServerSpec spec = *job.servers;
  if (spec.single) {
    const int servers = static_cast<int>(spec.servers.size());
    const int index = static_cast<int>(place);
    spec.single->mine = index < servers ? ProcessName{Role::Server, index}
                                        : ProcessName{Role::Trainer, index - servers};
  } else if (spec.servers.empty() || spec.workers.empty()) {
    return;
  }
  pod.roles = roles_of_pod(spec, pod.host, {});
}

std::string assumed_host(const JobSpec& job, std::size_t place, const std::string& own) {
  if (!job.master && place < job.ips.size()) return job.ips[place];
  return own.empty() || job.master ? fmt::format("node-{}", place) : own;
}

}  // namespace

Roster assumed_roster(const JobSpec& job, const Machine& here, const Offer& offer) {
  Roster roster;
  roster.mine = offer.me.place;
  const auto nodes = job.nnodes > 1 ? static_cast<std::size_t>(job.nnodes)
                                    : std::max<std::size_t>(job.ips.size(), 1);
  for (std::size_t place = 0; place < nodes; ++place) {
    PodOffer pod = offer.pod;
    if (place != offer.me.place) {
      pod.host = assumed_host(job, place, offer.pod.host);
      assume_roles(job, place, pod);
    }
    if (pod.host.empty()) pod.host = likely_address(here);
    roster.pods.push_back(std::move(pod));
  }
  return roster;
}

}  // namespace paddle_launch
