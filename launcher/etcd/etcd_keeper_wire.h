// SPDX-License-Identifier: Apache-2.0
// What the launcher and its etcd keeper say to each other. A frame is one letter and the fields.
//
//   keeper     Connection, Entries   once at the start, and whenever they change
//   launcher   Change                keeper: one Answer to each, in their order
//   launcher   Adopt                 from now on the job's lease is another one
//   keeper     Leases                which it holds, for the keeper after it
//   launcher   Close, or its death   keeper: finishes changes, gives leases back, ends
//
// docs/decisions/0026.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "launcher/etcd/etcd.h"

namespace paddle_launch {

enum class EtcdWord : char {
  // Of the launcher.
  Change = 'c',
  Adopt = 'a',
  Close = 'x',
  // Of the keeper.
  Connection = 'p',
  Entries = 'e',
  Answer = 'd',
  Leases = 'l',
};

struct CloseOrder {
  bool job_too = false;
  std::chrono::milliseconds budget{};  // for all that is still to be done
};

std::string pack_change(const EtcdChange& change);
std::string pack_adoption(std::int64_t lease);
std::string pack_close(const CloseOrder& order);
std::string pack_connection(const EtcdProblem& problem);
std::string pack_entries(const std::vector<EtcdEntry>& entries);
std::string pack_answer(const EtcdAnswer& answer);
std::string pack_leases(const HeldLeases& leases);

// Of a frame without its letter. Nothing: it cannot be read.
std::optional<EtcdChange> unpack_change(std::string_view fields);
std::optional<std::int64_t> unpack_adoption(std::string_view fields);
std::optional<CloseOrder> unpack_close(std::string_view fields);
std::optional<EtcdProblem> unpack_connection(std::string_view fields);
std::optional<std::vector<EtcdEntry>> unpack_entries(std::string_view fields);
std::optional<EtcdAnswer> unpack_answer(std::string_view fields);
std::optional<HeldLeases> unpack_leases(std::string_view fields);

}  // namespace paddle_launch
