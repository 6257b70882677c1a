// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md says what is compared, and when.
#include "launcher/rendezvous/agreement.h"

#include <unistd.h>

#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/channel/secret.h"
#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/site/log_place.h"
#include "launcher/tell/log_lines.h"
#include "launcher/text/bytes_as_text.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {

namespace {

// A list of 4096 nodes from each of 4096 nodes would be most of what the hub hears.
constexpr std::size_t kLongestSentList = 1024;
constexpr std::size_t kShownOfLayout = 256;
constexpr std::size_t kMostOddities = 4;
constexpr std::size_t kShownOfDigest = 14;

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
    if (texts.size() == kMostOddities) break;
    if (one.terms.command != other.terms.command) {
      texts.push_back(fmt::format("the nodes run different commands: {} runs `{}`, {} runs `{}`",
                                  node_name(one), one_line(one.terms.command), node_name(other),
                                  one_line(other.terms.command)));
    }
    if (one.terms.script_digest != other.terms.script_digest) {
      texts.push_back(
          fmt::format("the script on {} is not the one on {}: what is in the two files differs",
                      node_name(other), node_name(one)));
    }
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

namespace {

std::optional<RefusalMessage> first_problem(const std::vector<OfferMessage>& pods) {
  for (const OfferMessage& pod : pods) {
    if (pod.terms.problem.empty()) continue;
    return RefusalMessage{.status = pod.terms.problem_status,
                          .node = pod.terms.place.value_or(-1),
                          .text = fmt::format("{}: {}", pod.terms.machine, pod.terms.problem)};
  }
  return std::nullopt;
}

std::optional<RefusalMessage> refusal(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return RefusalMessage{.status = kLaunchErrorStatus, .node = -1, .text = *text};
}

// rank = M_id * N + N_id asks for one N.
std::optional<std::string> different_counts(const std::vector<OfferMessage>& pods,
                                            const std::vector<int>& node_of) {
  std::map<int, std::size_t> trainers;
  std::map<int, const OfferMessage*> someone;
  for (std::size_t pod = 0; pod < pods.size(); ++pod) {
    trainers[node_of[pod]] += pods[pod].offer.trainers.size();
    someone.emplace(node_of[pod], &pods[pod]);
  }
  const auto& [first, expected] = *trainers.begin();
  for (const auto& [node, count] : trainers) {
    if (count == expected) continue;
    return fmt::format(
        "the numbers of trainers differ: {} has {} and {} has {}; all nodes of a job need the same "
        "number of cards: ask the scheduler for equal nodes, name as many cards on each with "
        "--gpus, or give --nproc_per_node",
        someone.at(first)->terms.machine, expected, someone.at(node)->terms.machine, count);
  }
  return std::nullopt;
}

}  // namespace

std::optional<RefusalMessage> task_disagreement(const std::vector<OfferMessage>& pods,
                                                const std::vector<int>& node_of) {
  if (auto problem = first_problem(pods)) return problem;
  for (const OfferMessage& pod : pods) {
    if (const auto difference = disagreement(pods.front(), pod)) return refusal(difference);
  }
  return refusal(different_counts(pods, node_of));
}

std::vector<std::string> contradictions(const Launch& launch, const TaskGroup& group,
                                        const Roster& roster) {
  const JobSpec& job = launch.job;
  std::vector<std::string> hosts;
  std::vector<std::string> names;
  for (std::size_t pod = 0; pod < roster.pods.size(); ++pod) {
    if (pod > 0 && roster.node_of.at(pod) == roster.node_of[pod - 1]) continue;
    hosts.push_back(roster.pods[pod].host);
    names.push_back(group.hosts.at(pod));
  }
  const std::string truth = fmt::format("{} started this job on {} ({})", launch.around.launched_by,
                                        fmt::join(names, ","), fmt::join(hosts, ","));
  bool fits = job.ips.size() == hosts.size();
  for (std::size_t node = 0; fits && node < hosts.size(); ++node) {
    fits = job.ips[node] == hosts[node] || job.ips[node] == names[node];
  }
  if (job.ips_given && !fits) {
    return {fmt::format("{}={} is not what counts: {}", job.ips_source, fmt::join(job.ips, ","),
                        truth)};
  }
  const bool has_master = job.master && job.nnodes != group.nodes;
  if (!has_master) return {};
  return {fmt::format("--master={}:{} with --nnodes={} is not what counts: {}", job.master->host,
                      job.master->port, job.nnodes, truth)};
}

namespace {

// The servers and workers that were asked for, the same text on nodes that agree.
std::string layout_of(const JobSpec& job) {
  if (!job.servers) return job.mode == Mode::Rpc ? std::string(kRpcLayout) : "";
  return job.servers->layout;
}

// Of a script that people edit, and forget to copy to one of the nodes.
std::string script_digest(const Script& script) {
  const bool is_file = !script.is_module && script.function == nullptr;
  if (!is_file || !script.name.ends_with(".py")) return "";
  const auto asked = ask_disk([&script]() -> std::string {
    const std::optional<std::string> text = read_file(script.name);
    return text ? in_hex(digest(*text)).substr(0, kShownOfDigest) : "";
  });
  return asked.value_or("");
}

}  // namespace

JobTerms terms_of(const JobSpec& job, const Machine& here, const Offer& offer,
                  const TaskGroup* tasks) {
  JobTerms terms{.version = PADDLE_LAUNCH_VERSION,
                 .machine = here.host_name,
                 .pid = getpid(),
                 .sort_ip = job.sort_ip,
                 .check = job.check,
                 .layout = layout_of(job),
                 .command = command_text(job.script),
                 .script_digest = script_digest(job.script),
                 .problem = offer.problem_text,
                 .problem_status = offer.problem_status};
  if (job.elastic) {
    terms.nodes = 0;  // etcd knows how many there may be
  } else if (tasks != nullptr) {
    terms.nodes = tasks->pods();
    terms.place = tasks->mine;
    terms.sort_ip = false;
  } else if (job.master || (job.servers && job.servers->single)) {
    terms.nodes = job.nnodes;
    terms.place = job.node_rank;
    if (!job.master) terms.name = job.servers->single->called;
  } else {
    terms.ips = job.ips;
    terms.nodes = static_cast<int>(job.ips.size());
    terms.place = static_cast<int>(offer.me.place);
  }
  return terms;
}

}  // namespace paddle_launch
