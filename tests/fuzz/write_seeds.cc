// SPDX-License-Identifier: Apache-2.0
// Writes what honest launchers send into a folder, one file each: where the fuzzer starts from.
//   write_seeds FOLDER
#include <fstream>
#include <string>
#include <vector>

#include "launcher/channel/handshake.h"
#include "launcher/channel/message.h"
#include "launcher/channel/packed_pods.h"
#include "launcher/os/frames.h"
#include "launcher/rendezvous/job_book.h"
#include "tests/unit/channel/sample_messages.h"

int main(int argc, char** argv) {
  using paddle_launch::PodOffer;
  if (argc != 2) return 2;
  std::vector<std::string> seeds;
  for (const auto& message : paddle_launch::sample_messages())
    seeds.push_back(paddle_launch::encode(message));

  PodOffer listed = paddle_launch::sample_offer();
  PodOffer counted = listed;
  counted.host = "node-2";
  counted.trainers = {{.cards = {{.name = "0", .index = "0", .pci_bus = {}}}, .port = 6070},
                      {.cards = {{.name = "1", .index = "1", .pci_bus = {}}}, .port = 6071}};
  PodOffer with_servers;
  with_servers.host = "10.0.0.1";
  with_servers.roles = listed.roles;
  const std::vector<PodOffer> pods = {listed, counted, counted, listed, with_servers};
  seeds.push_back(paddle_launch::pack_pods(pods, {}));
  seeds.push_back(paddle_launch::pack_pods(pods, {"10.0.0.1", "node-2", "", "10.0.0.1"}));

  paddle_launch::Handshake member(paddle_launch::Handshake::Role::Member,
                                  paddle_launch::random_key(),
                                  {"0.1.0", "ann", "train.py", "n1", 77, "x", "y"});
  seeds.push_back(member.begin());
  seeds.push_back(paddle_launch::framed(member.begin()) +
                  paddle_launch::framed(std::string(56, 'x')));

  // What etcd answers to a look, and what stands in the job's keys.
  seeds.emplace_back(
      R"({"header":{"revision":"7"},"kvs":[{"key":"L3BhZGRsZS9qL2pvYg==","value":"e30=",)"
      R"("create_revision":"5","mod_revision":"6","lease":"9"}],"count":"1"})");
  seeds.emplace_back(R"({"result":{"header":{"revision":"8"},"events":[{"type":"DELETE","kv":)"
                     R"({"key":"L3BhZGRsZS9qL2pvYg==","mod_revision":"8"}}]}})");
  seeds.emplace_back(R"({"error":"etcdserver: user name is empty","code":3})");
  seeds.push_back(paddle_launch::write_job(
      {.version = "0.1.0", .nodes = {2, 4}, .secret = "ab", .created = 5, .command = "train.py"}));
  seeds.push_back(paddle_launch::write_pod({.host = "10.0.0.1", .port = 6060, .machine = "n1"}));
  seeds.push_back(paddle_launch::write_round(
      {.started = 5, .is_running = true, .hub = "abcdef", .pods = {{"abcdef", "10.0.0.1", 0, 2}}}));
  seeds.push_back(paddle_launch::write_scale(3, "n1"));

  for (std::size_t i = 0; i < seeds.size(); ++i) {
    std::ofstream file(std::string(argv[1]) + "/seed" + std::to_string(i), std::ios::binary);
    if (!(file << seeds[i])) return 1;
  }
  return 0;
}
