// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/simulated_pods.h"

#include "benchmarks/process_facts.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/star.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr int kTrainersEach = 8;
constexpr int kFirstPort = 6060;
constexpr int kPortsByList = 10;  // as many as the launcher tries
constexpr int kTrainerPort = 6170;
constexpr const char* kHubAddress = "127.78.0.1";  // nobody else's
constexpr std::uint32_t kFirstHost = 0x0a010001;   // 10.1.0.1

std::string host_of(int place) { return format_ipv4(kFirstHost + static_cast<unsigned>(place)); }

}  // namespace

TcpSettings settings_of(const SimulatedJob& job) {
  TcpSettings settings;
  settings.identity = {.secret = job_secret("token of the benchmark", job.name),
                       .greeting = {PADDLE_LAUNCH_VERSION, "ann", "train.py", "node"},
                       .keep_alive = keep_alive_for(std::chrono::seconds(10))};
  settings.hub_host = kHubAddress;
  const int ports = job.by_list ? kPortsByList : 1;
  for (int i = 0; i < ports; ++i) settings.ports.push_back(kFirstPort + i);
  settings.listen_on = parse_ipv4(kHubAddress);
  settings.timeout = std::chrono::minutes(1);
  return settings;
}

JobTerms terms_of(const SimulatedJob& job, int place) {
  JobTerms terms{.version = PADDLE_LAUNCH_VERSION,
                 .machine = "node",
                 .pid = 1,
                 .nodes = job.pods,
                 .place = place,
                 .command = "train.py --epochs 3"};
  if (!job.by_list) return terms;
  for (int pod = 0; pod < job.pods; ++pod) terms.ips.push_back(host_of(pod));
  return terms;
}

PodOffer offer_of(int place) {
  PodOffer offer;
  offer.name = "abcdef";
  offer.host = host_of(place);
  offer.card_kind = CardKind::Gpu;
  offer.master_port = kTrainerPort - 1;
  for (int i = 0; i < kTrainersEach; ++i) {
    const std::string card = std::to_string(i);
    offer.trainers.push_back({{{card, card, std::nullopt}}, kTrainerPort + i});
  }
  return offer;
}

void play_hub(const SimulatedJob& job) {
  EventLoop loop;
  TcpSettings settings = settings_of(job);
  settings.is_hub = true;
  Costs before;
  // The loop runs for the first time when the hub listens.
  loop.after(std::chrono::milliseconds(0), [&before] {
    before = costs_now();
    say("ready", 1);
  });
  Narrator nobody;
  Star star(loop, settings, nobody);
  star.gather({}, offer_message(terms_of(job, 0), offer_of(0)), {});
  // Not close(): its patience is meant for a last word, and here the whole roster is on its way.
  const UniqueFd told_to_end = blocked_sigterm();
  bool is_over = false;
  loop.on_readable(told_to_end.get(), [&is_over] { is_over = true; });
  loop.run_until([&is_over] { return is_over; });
  say_costs_since(before);
}

}  // namespace paddle_launch
