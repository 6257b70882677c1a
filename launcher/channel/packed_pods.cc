// SPDX-License-Identifier: Apache-2.0
// On the wire: number of pods, the first one's master port, then the pods (pod_wire.h).
#include "launcher/channel/packed_pods.h"

#include <algorithm>
#include <utility>

#include "launcher/channel/pod_wire.h"
#include "launcher/job/pod.h"
#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

// Pods, trainers and cards each; above any job. Repeated pods are so short that the number of bytes
// alone would allow gigabytes. Roles are never repeated: each pays for itself.
constexpr std::size_t kMost = 1'000'000;

const std::string* host_at(const std::vector<std::string>& known_hosts, std::size_t place) {
  return place < known_hosts.size() ? &known_hosts[place] : nullptr;
}

}  // namespace

std::string pack_pods(const std::vector<PodOffer>& pods,
                      const std::vector<std::string>& known_hosts) {
  WireWriter writer;
  writer.varint(pods.size());
  if (!pods.empty()) {
    const int master_port = std::clamp(pods.front().master_port, 0, kLastPort);
    writer.fixed16(static_cast<std::uint16_t>(master_port));
  }
  const PodOffer nothing_before;
  for (std::size_t i = 0; i < pods.size(); ++i)
    write_pod(writer, pods[i], i > 0 ? pods[i - 1] : nothing_before, host_at(known_hosts, i));
  return writer.take();
}

std::optional<std::vector<PodOffer>> unpack_pods(std::string_view bytes,
                                                 const std::vector<std::string>& known_hosts) {
  WireReader reader(bytes);
  const std::size_t count = reader.count(kLeastBytesOfPod);
  const int master_port = count > 0 ? reader.fixed16() : 0;
  std::vector<PodOffer> pods;
  const PodOffer nothing_before;
  std::size_t trainers = 0;
  std::size_t cards = 0;
  while (pods.size() < count) {
    PodOffer pod = read_pod(reader, pods.empty() ? nothing_before : pods.back(),
                            host_at(known_hosts, pods.size()));
    trainers += pod.trainers.size();
    for (const TrainerOffer& trainer : pod.trainers) cards += trainer.cards.size();
    if (reader.failed() || std::max({count, trainers, cards}) > kMost) return std::nullopt;
    pods.push_back(std::move(pod));
  }
  if (!reader.finished_well()) return std::nullopt;
  if (!pods.empty()) pods.front().master_port = master_port;
  return pods;
}

}  // namespace paddle_launch
