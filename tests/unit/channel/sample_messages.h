// SPDX-License-Identifier: Apache-2.0
// One message of every kind with every field set, for the tests and as seeds of the fuzzer.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "launcher/channel/message.h"
#include "launcher/channel/packed_pods.h"

namespace paddle_launch {

inline SteadyTime sample_time(long ns) { return SteadyTime(std::chrono::nanoseconds(ns)); }

inline std::vector<ProcessName> names_of(Role role, const std::vector<int>& indices) {
  std::vector<ProcessName> names;
  for (const int index : indices) names.push_back({role, index});
  return names;
}

inline PodOffer sample_offer() {
  return {.name = "qwerty",
          .host = "192.168.0.7",
          .card_kind = CardKind::Npu,
          .trainers = {{.cards = {{.name = "5", .index = "0", .pci_bus = {}},
                                  {.name = "GPU-8f", .index = "1", .pci_bus = {}}},
                        .port = 6071},
                       {.cards = {{.name = "7", .index = "2", .pci_bus = {}}}, .port = 6171}},
          .roles = {{.role = Role::Server, .stage = 1, .index = 3, .port = 6200},
                    {.role = Role::HeterWorker, .stage = 2, .index = -1, .port = 65'535}},
          .master_port = 45'123};
}

inline StopCause sample_cause() {
  return {.kind = StopCause::Kind::PodLost,
          .node = 4095,
          .status = 75,
          .text = "rank 5 on 192.168.0.2 failed: exit code 7",
          .at = sample_time(-123'456'789)};
}

inline FailureRecord sample_failure() {
  return {.exit = {.worker = 3,
                   .pid = 4'194'303,
                   .code = 0,
                   .signal = 11,
                   .core_dumped = true,
                   .was_told_to_stop = true,
                   .had_failed = true,
                   .started = sample_time(86'400'000'000'000),
                   .ended = sample_time(86'461'000'000'001)},
          .role = Role::Server,
          .rank = 32'767,
          .local_rank = 7,
          .node = "machine-7 (192.168.0.7)",
          .cards = "card 3",
          .when = "2026-07-01 12:34:56",
          .log_path = "log/workerlog.7",
          .log_excerpt = "Traceback\n  …\nValueError: 灯\n",
          .error = "ValueError: 灯",
          .log_readable = false,
          .oom_kills = 2};
}

inline RootCauseHint sample_hint() {
  return {.role = Role::HeterWorker,
          .rank = 80'000,
          .node = "machine-8",
          .log_path = "log/workerlog.0",
          .log_excerpt = "OutOfMemory\n"};
}

inline std::vector<LinkTry> sample_tries() {
  return {{.from = 0, .to = 1, .port = 6070, .ms = 0.25, .problem = {}},
          {.from = 4095, .to = 2, .port = 65'535, .ms = 5000, .problem = "connection refused"}};
}

inline LinkCheck sample_check() {
  const CheckedNode node{.host = "10.0.0.1",
                         .machine = "machine-1",
                         .trainers = 8,
                         .processes = 3,
                         .cards = 16,
                         .wall_clock = {.ms = -3.5, .error_ms = 0.125}};
  return {.nodes = {node, {}}, .tries = sample_tries(), .silent = {2, 3, 9}};
}

inline OfferMessage sample_offer_message() {
  const JobTerms terms{.version = "0.1.0",
                       .machine = "machine-1",
                       .pid = 4711,
                       .ips = {"192.168.0.6", "192.168.0.7", "192.168.0.6"},
                       .nodes = 3,
                       .place = 1,
                       .round = 6,
                       .sort_ip = true,
                       .check = true,
                       .layout = "--server_num 2 --worker_num 3",
                       .name = "PADDLE_TRAINER_ID=1",
                       .command = "train.py --epochs 3",
                       .problem = "no card is visible",
                       .problem_status = 2};
  return {.terms = terms, .offer = sample_offer(), .ips_digest = "0123456789abcdef"};
}

inline std::vector<Message> sample_messages() {
  const RoundState round{.number = 7, .restarts = 2, .quick_failures = 1};
  const PodEnding ending{.own = sample_cause(),
                         .failures = {sample_failure(), FailureRecord{}},
                         .stopped = names_of(Role::Trainer, {8, 9, 10, 3, 3, 2, 10'000'000, 0}),
                         .own_error = sample_hint(),
                         .first_is_secondary = true,
                         .all_are_secondary = true,
                         .asked_to_end = true};
  const JobVerdict verdict{.first = sample_cause(),
                           .doubt = "the clocks differ by more than the failures",
                           .aborted = {{Role::Server, 1}, {Role::Trainer, 5}, {Role::Server, 2}},
                           .stopped = names_of(Role::HeterWorker, {0, 1, 2, 3, 4, 6, 7}),
                           .failures = {sample_failure()},
                           .hint = sample_hint(),
                           .silent = {"10.0.0.3", "10.0.0.4"},
                           .asked_to_end = 3,
                           .next = NextRound{round, std::chrono::milliseconds(60'000), true}};
  const PodOffer pod{
      .name = {},
      .host = "10.0.0.1",
      .card_kind = CardKind::Gpu,
      .trainers = {{.cards = {{.name = "0", .index = "0", .pci_bus = {}}}, .port = 6170}},
      .master_port = 0};
  return {
      sample_offer_message(),
      WaitingMessage{.missing = 3, .nodes = 4096, .names = {"10.0.0.3", "node 17"}},
      RosterMessage{.mine = 2,
                    .hub = 1,
                    .packed_pods = pack_pods({pod, pod}, {}),
                    .warnings = {"hm", ""},
                    .payload = "an id",
                    .round = round,
                    .ticket = {.member = 70'000, .key = "thirty-two random bytes"}},
      RefusalMessage{.status = 2, .node = 17, .text = "10.0.0.3 says --sort_ip, others do not"},
      StopMessage{sample_cause()},
      KillMessage{},
      ClockMessage{.steady = sample_time(77'000'000'001), .wall_ns = 1'800'000'000'123'456'789},
      EndingMessage{ending},
      VerdictMessage{verdict},
      CheckReadyMessage{"machine-1"},
      CheckGoMessage{},
      CheckRowMessage{sample_tries()},
      CheckDoneMessage{sample_check()},
      ServersListenMessage{{0, 1, 5}, true},
      StartWorkersMessage{},
      WorkersDoneMessage{},
      StopServersMessage{},
      ReturnMessage{{.member = 3, .key = "thirty-two random bytes"}},
  };
}

}  // namespace paddle_launch
