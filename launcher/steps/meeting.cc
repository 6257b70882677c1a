// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/meeting.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

#include <fmt/format.h>

#include "launcher/channel/secret.h"
#include "launcher/job/pod.h"
#include "launcher/rendezvous/identity.h"
#include "launcher/rendezvous/scheduler.h"
#include "launcher/rendezvous/solo.h"
#include "launcher/rendezvous/tcp.h"
#include "launcher/run/announcer.h"
#include "launcher/run/own_words.h"
#include "launcher/tell/waiting.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

// Below the ports that the kernel gives away by itself.
constexpr int kFirstStepPort = 10'000;
constexpr std::size_t kStepPortBlocks = 2'000;
// A node that cannot take part tells the others so, but keeps its own user waiting no longer.
constexpr std::chrono::seconds kToTellAProblem{10};

std::vector<int> hub_ports(const JobSpec& job) {
  if (job.master) return {job.master->port};
  std::vector<int> ports(kHubPorts);
  std::iota(ports.begin(), ports.end(), job.bootstrap_port);
  return ports;
}

TcpSettings typed_settings(const JobSpec& job, const OwnNode& me) {
  TcpSettings settings;
  settings.hub_host = job.master ? job.master->host : job.ips.front();
  settings.ports = hub_ports(job);
  settings.is_hub = job.master ? me.is_meeting_point : me.place == 0;
  settings.may_join_instead = job.master.has_value();
  settings.listen_on = job.master ? parse_ipv4(job.master->host) : me.address;
  // Several pods on one machine, to try things out: each comes from its own address.
  if (me.address && is_loopback(*me.address)) settings.from = me.address;
  if (job.servers && job.servers->single) settings.names = job.servers->single->pods;
  return settings;
}

// Every task of the step comes to the same numbers, and steps that run at once seldom do.
TcpSettings step_settings(const SlurmStep& step, const TaskGroup& group) {
  const std::string bytes = digest(fmt::format("ports of {}.{}", step.job_id, step.step_id));
  const unsigned number =
      static_cast<unsigned char>(bytes[0]) * 256U + static_cast<unsigned char>(bytes[1]);
  TcpSettings settings;
  settings.hub_host = step.nodes.front();
  settings.ports.resize(kHubPorts);
  std::iota(settings.ports.begin(), settings.ports.end(),
            kFirstStepPort + static_cast<int>(number % kStepPortBlocks) * kHubPorts);
  settings.is_hub = group.mine == 0;
  settings.node_of = group.node_of;
  settings.names = group.hosts;
  settings.hub_tells_for_all = true;
  return settings;
}

// Pods of one node show their trainers one name. Over TCP names do not travel: all come to the same
// six letters by themselves.
void name_pods_of_step(Roster& roster, const SlurmStep& step) {
  for (std::size_t pod = 0; pod < roster.pods.size(); ++pod) {
    const std::string bytes = digest(
        fmt::format("pod of {}.{} on node {}", step.job_id, step.step_id, roster.node_of.at(pod)));
    std::string name = bytes.substr(0, kPodNameLetters);
    for (char& c : name) c = static_cast<char>('a' + static_cast<unsigned char>(c) % 26);
    roster.pods[pod].name = name;
  }
}

TcpSettings settings_for(const JobSpec& job, const Environment& env, const Machine& here,
                         const OwnNode& me, const Company& company,
                         std::vector<std::string>& notices) {
  TcpSettings settings;
  if (company.way() == Way::Tasks) {
    settings.identity = scheduled_identity(job, here);
    settings.hub_tells_for_all = true;
  } else if (company.way() == Way::SlurmStep) {
    const SlurmStep& step = *company.surroundings().step;
    settings = step_settings(step, company.group());
    settings.identity = step_identity(job, env, here, step, notices);
  } else {
    settings = typed_settings(job, me);
    settings.identity = typed_identity(job, env, here, notices);
  }
  settings.timeout = job.bootstrap_timeout;
  return settings;
}

}  // namespace

Met meet_the_others(EventLoop& loop, const JobSpec& job, const Environment& env,
                    const Machine& here, const OwnNode& me, Company& company, const JobTerms& terms,
                    const PodOffer& offer, const PayloadMaker& payload,
                    std::vector<std::string>& notices) {
  if (company.way() == Way::Solo) return Solo().meet(terms, offer, payload);
  Announcer announcer(job, company.speaks());
  TcpSettings settings = settings_for(job, env, here, me, company, notices);
  if (!terms.problem.empty()) {
    settings.timeout = std::min<std::chrono::milliseconds>(settings.timeout, kToTellAProblem);
  }
  settings.waiting = [&announcer](const WaitingFacts& facts) { announcer.waiting(facts); };
  settings.never_came = never_came;
  settings.problem = [&announcer](const std::string& text) { announcer.problem(text); };
  settings.refusal = [](const std::string& text) {
    say_patiently("paddle-launch: error: " + text + "\n", std::chrono::seconds(1));
  };
  settings.remark = [&announcer](const std::string& text) { announcer.remark(text); };
  if (company.way() == Way::Tasks) {
    return Scheduler(loop, company.meeting(), company.party(), std::move(settings))
        .meet(terms, offer, payload);
  }
  Met met = Tcp(loop, std::move(settings)).meet(terms, offer, payload);
  if (company.way() == Way::SlurmStep) {
    name_pods_of_step(met.roster, *company.surroundings().step);
  }
  return met;
}

}  // namespace paddle_launch
