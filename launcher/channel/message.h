// SPDX-License-Identifier: Apache-2.0
// Everything that pods say to each other once both sides have proved the job's secret. Bounded and
// versioned by the handshake; nothing of it is executed or used as a path.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/job/ending.h"
#include "launcher/job/link_check.h"
#include "launcher/job/nccl_ids.h"
#include "launcher/job/pod.h"

namespace paddle_launch {

// Member to hub: who I am and what I bring.
struct OfferMessage {
  JobTerms terms{};
  PodOffer offer{};
  std::string ips_digest{};  // of the whole list; terms.ips travels only when it is short
  bool operator==(const OfferMessage&) const = default;
};

// Hub to member, at most once a second: who has not come yet.
struct WaitingMessage {
  int missing = 0;
  int nodes = 0;
  std::vector<std::string> names{};  // the first few of the missing
  bool operator==(const WaitingMessage&) const = default;
};

// With it a member that lost its connection is let in again as the same member.
struct Ticket {
  int member = 0;     // the hub's number for it
  std::string key{};  // random bytes that nobody else has
  bool operator==(const Ticket&) const = default;
};

// Hub to member: all pods in their order (pack_pods), and which of them the member is.
struct RosterMessage {
  int mine = 0;
  int hub = 0;  // the hub's own place
  std::string packed_pods{};
  std::vector<std::string> warnings{};
  std::string payload{};  // what the first pod has for everyone
  RoundState round{};
  Ticket ticket{};
  bool operator==(const RosterMessage&) const = default;
};

// Hub to member: there will be no job, and why. `node`: whose fault it is, -1: nobody's.
struct RefusalMessage {
  int status = 1;
  int node = -1;
  std::string text{};
  bool operator==(const RefusalMessage&) const = default;
};

// Either way: the job stops because of this.
struct StopMessage {
  StopCause cause{};
  bool operator==(const StopMessage&) const = default;
};

// Either way: the user is impatient, what is left is to be killed.
struct KillMessage {
  bool operator==(const KillMessage&) const = default;
};

// Member to hub, at once when a StopMessage or a CheckGoMessage comes: what my clocks say.
struct ClockMessage {
  SteadyTime steady{};
  std::int64_t wall_ns = 0;
  bool operator==(const ClockMessage&) const = default;
};

// Member to hub: my processes are gone.
struct EndingMessage {
  PodEnding ending{};
  bool operator==(const EndingMessage&) const = default;
};

// Hub to member: the end of the job.
struct VerdictMessage {
  JobVerdict verdict{};
  bool operator==(const VerdictMessage&) const = default;
};

// --check: member to hub, my ports are open; hub to members, now try; member to hub, what I found;
// hub to members, the whole.
struct CheckReadyMessage {
  std::string machine{};  // the node's host name
  bool operator==(const CheckReadyMessage&) const = default;
};
struct CheckGoMessage {
  bool operator==(const CheckGoMessage&) const = default;
};
struct CheckRowMessage {
  std::vector<LinkTry> tries{};
  bool operator==(const CheckRowMessage&) const = default;
};
struct CheckDoneMessage {
  LinkCheck check{};
  bool operator==(const CheckDoneMessage&) const = default;
};

// A job with parameter servers. Member to hub: these servers of mine listen, or are waited for no
// longer.
struct ServersListenMessage {
  std::vector<int> servers{};  // their places in the list of servers
  bool are_silent = false;     // they live and were waited for in vain
  bool operator==(const ServersListenMessage&) const = default;
};
// Hub to members: all servers are there, workers may start.
struct StartWorkersMessage {
  bool operator==(const StartWorkersMessage&) const = default;
};
// Member to hub: all workers of mine have ended well.
struct WorkersDoneMessage {
  bool operator==(const WorkersDoneMessage&) const = default;
};
// Hub to members: all workers of the job have ended well, servers are needed no longer.
struct StopServersMessage {
  bool operator==(const StopServersMessage&) const = default;
};

// Member to hub, first of all over a new connection: I was here before.
struct ReturnMessage {
  Ticket ticket{};
  bool operator==(const ReturnMessage&) const = default;
};

using Message =
    std::variant<OfferMessage, WaitingMessage, RosterMessage, RefusalMessage, StopMessage,
                 KillMessage, ClockMessage, EndingMessage, VerdictMessage, CheckReadyMessage,
                 CheckGoMessage, CheckRowMessage, CheckDoneMessage, ServersListenMessage,
                 StartWorkersMessage, WorkersDoneMessage, StopServersMessage, ReturnMessage>;

std::string encode(const Message& message);

// Nothing: malformed, too large or of an unknown kind.
std::optional<Message> decode(std::string_view bytes);

// What this machine's clocks say now, as one pod tells another.
inline ClockMessage clocks_now() {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {.steady = std::chrono::steady_clock::now(),
          .wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count()};
}

// What the first pod has for all pods of a round, and what travels to them beside the roster.
struct JobPayload {
  std::string log_name{};  // of the directory that --log_dir=auto makes
  NcclIds nccl{};

  bool operator==(const JobPayload&) const = default;
};

// Empty where there is nothing.
std::string pack_payload(const JobPayload& payload);
// Nothing where it cannot be read.
JobPayload unpack_payload(std::string_view bytes);

}  // namespace paddle_launch
