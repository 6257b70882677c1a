// SPDX-License-Identifier: Apache-2.0
// Bytes of anybody's choice for all that reads bytes from the network. Run by tests/fuzz/run.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/channel/handshake.h"
#include "launcher/channel/message.h"
#include "launcher/channel/packed_pods.h"
#include "launcher/etcd/gateway.h"
#include "launcher/os/frames.h"
#include "launcher/rendezvous/job_book.h"

namespace paddle_launch {
namespace {

// Not even 33 failures or a text of 1 KiB, the least that encode() cuts, fit into so few bytes.
constexpr std::size_t kTooShortToCut = 512;

void require(bool condition) {
  if (!condition) std::abort();
}

void try_pods(std::string_view bytes, const std::vector<std::string>& known_hosts) {
  const auto pods = unpack_pods(bytes, known_hosts);
  if (!pods) return;
  const std::string packed = pack_pods(*pods, known_hosts);
  require(packed.size() <= bytes.size());  // ours is the shortest way to say it
  require(unpack_pods(packed, known_hosts) == pods);
}

void try_message(std::string_view bytes) {
  const auto message = decode(bytes);
  if (!message) return;
  const std::string encoded = encode(*message);
  require(encoded.size() <= bytes.size());
  const auto again = decode(encoded);
  require(again.has_value());
  const bool was_cut = encoded.size() < bytes.size() && bytes.size() > kTooShortToCut;
  if (was_cut) {
    require(encode(*again) == encoded);  // nothing is cut twice
  } else {
    require(*again == *message);
  }
  if (const auto* roster = std::get_if<RosterMessage>(&*message)) try_pods(roster->packed_pods, {});
}

// As a stranger would talk to a hub, or a false hub to a member: in frames, or in one.
void try_handshake(Handshake::Role role, std::string_view bytes) {
  static const Key secret = random_key();
  Handshake whole(role, secret, {});
  whole.take(bytes);
  require(whole.state() != Handshake::State::Proved);
  Handshake pieces(role, secret, {});
  IncomingFrames frames(kLongestGreeting);
  frames.add(bytes);
  while (const auto frame = frames.next()) pieces.take(*frame);
  require(pieces.state() != Handshake::State::Proved);
}

// As a false etcd would answer; and what anybody may have written into a true one.
void try_etcd(std::string_view bytes) {
  constexpr std::string_view kPrefix = "/paddle/j/";
  for (const int status : {200, 400, 401, 404, 503}) judge(status, bytes);
  read_watch(bytes, kPrefix);
  read_txn(bytes);
  read_grant(bytes);
  read_keep_alive(bytes);
  read_token(bytes);
  if (const auto range = read_range(bytes, kPrefix)) read_book(range->entries);
  std::vector<EtcdEntry> entries;
  for (const char* key : {"job", "pods/abcdef", "round", "orders/scale", "orders/stop", ""}) {
    entries.push_back({.key = key, .value = std::string(bytes)});
  }
  const JobBook book = read_book(entries);
  require(!book.wanted() || book.wanted()->min <= book.wanted()->max);
  if (book.job) require(read_book({{.key = "job", .value = write_job(*book.job)}}).job == book.job);
}

}  // namespace
}  // namespace paddle_launch

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for it by this name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::string> known_hosts = {"10.0.0.1", "node-2", "", "10.0.0.1"};
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  paddle_launch::try_message(bytes);
  paddle_launch::try_etcd(bytes);
  paddle_launch::try_pods(bytes, {});
  paddle_launch::try_pods(bytes, known_hosts);
  paddle_launch::try_handshake(paddle_launch::Handshake::Role::Hub, bytes);
  paddle_launch::try_handshake(paddle_launch::Handshake::Role::Member, bytes);
  return 0;
}
