// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/etcd_keeper_wire.h"

#include <cstddef>
#include <utility>

#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

WireWriter frame_of(EtcdWord word) {
  WireWriter frame;
  frame.byte(static_cast<std::uint8_t>(word));
  return frame;
}

void write_flag(WireWriter& frame, bool flag) { frame.byte(flag ? 1 : 0); }
bool read_flag(WireReader& fields) { return fields.byte() != 0; }

template <class Enum>
void write_enum(WireWriter& frame, Enum value) {
  frame.byte(static_cast<std::uint8_t>(value));
}

template <class Enum>
Enum read_enum(WireReader& fields) {
  return static_cast<Enum>(fields.byte());
}

std::string read_text(WireReader& fields) { return fields.text(fields.left()); }

template <class Value>
std::optional<Value> whole(const WireReader& fields, Value value) {
  if (!fields.finished_well()) return std::nullopt;
  return value;
}

}  // namespace

std::string pack_change(const EtcdChange& change) {
  WireWriter frame = frame_of(EtcdWord::Change);
  frame.varint(change.only_if.size());
  for (const EtcdCompare& compare : change.only_if) {
    frame.text(compare.key);
    write_enum(frame, compare.what);
    frame.signed_varint(compare.revision);
  }
  frame.varint(change.puts.size());
  for (const EtcdPut& put : change.puts) {
    frame.text(put.key);
    frame.text(put.value);
    write_enum(frame, put.lease);
  }
  frame.varint(change.deletes.size());
  for (const std::string& key : change.deletes) frame.text(key);
  write_flag(frame, change.delete_all);
  return frame.take();
}

std::optional<EtcdChange> unpack_change(std::string_view frame) {
  WireReader fields(frame);
  EtcdChange change;
  for (std::size_t left = fields.count(); left > 0; --left) {
    EtcdCompare compare{.key = read_text(fields)};
    compare.what = read_enum<EtcdCompare::What>(fields);
    compare.revision = fields.signed_varint();
    change.only_if.push_back(std::move(compare));
  }
  for (std::size_t left = fields.count(); left > 0; --left) {
    EtcdPut put{.key = read_text(fields)};
    put.value = read_text(fields);
    put.lease = read_enum<EtcdLease>(fields);
    change.puts.push_back(std::move(put));
  }
  for (std::size_t left = fields.count(); left > 0; --left) {
    change.deletes.push_back(read_text(fields));
  }
  change.delete_all = read_flag(fields);
  return whole(fields, std::move(change));
}

std::string pack_adoption(std::int64_t lease) {
  WireWriter frame = frame_of(EtcdWord::Adopt);
  frame.signed_varint(lease);
  return frame.take();
}

std::optional<std::int64_t> unpack_adoption(std::string_view frame) {
  WireReader fields(frame);
  const std::int64_t lease = fields.signed_varint();
  return whole(fields, lease);
}

std::string pack_close(const CloseOrder& order) {
  WireWriter frame = frame_of(EtcdWord::Close);
  write_flag(frame, order.job_too);
  frame.signed_varint(order.budget.count());
  return frame.take();
}

std::optional<CloseOrder> unpack_close(std::string_view frame) {
  WireReader fields(frame);
  CloseOrder order{.job_too = read_flag(fields)};
  order.budget = std::chrono::milliseconds(fields.signed_varint());
  return whole(fields, order);
}

std::string pack_connection(const EtcdProblem& problem) {
  WireWriter frame = frame_of(EtcdWord::Connection);
  write_enum(frame, problem.kind);
  frame.text(problem.text);
  return frame.take();
}

std::optional<EtcdProblem> unpack_connection(std::string_view frame) {
  WireReader fields(frame);
  EtcdProblem problem{.kind = read_enum<EtcdProblem::Kind>(fields)};
  problem.text = read_text(fields);
  return whole(fields, std::move(problem));
}

std::string pack_entries(const std::vector<EtcdEntry>& entries) {
  WireWriter frame = frame_of(EtcdWord::Entries);
  frame.varint(entries.size());
  for (const EtcdEntry& entry : entries) {
    frame.text(entry.key);
    frame.text(entry.value);
    frame.signed_varint(entry.created);
    frame.signed_varint(entry.modified);
    frame.signed_varint(entry.lease);
  }
  return frame.take();
}

std::optional<std::vector<EtcdEntry>> unpack_entries(std::string_view frame) {
  WireReader fields(frame);
  std::vector<EtcdEntry> entries;
  for (std::size_t left = fields.count(); left > 0; --left) {
    EtcdEntry entry{.key = read_text(fields)};
    entry.value = read_text(fields);
    entry.created = fields.signed_varint();
    entry.modified = fields.signed_varint();
    entry.lease = fields.signed_varint();
    entries.push_back(std::move(entry));
  }
  return whole(fields, std::move(entries));
}

std::string pack_answer(const EtcdAnswer& answer) {
  WireWriter frame = frame_of(EtcdWord::Answer);
  write_flag(frame, answer.done);
  frame.text(answer.problem);
  return frame.take();
}

std::optional<EtcdAnswer> unpack_answer(std::string_view frame) {
  WireReader fields(frame);
  EtcdAnswer answer{.done = read_flag(fields)};
  answer.problem = read_text(fields);
  return whole(fields, std::move(answer));
}

std::string pack_leases(const HeldLeases& leases) {
  WireWriter frame = frame_of(EtcdWord::Leases);
  frame.signed_varint(leases.pod);
  frame.signed_varint(leases.job);
  write_flag(frame, leases.job_is_ours);
  return frame.take();
}

std::optional<HeldLeases> unpack_leases(std::string_view frame) {
  WireReader fields(frame);
  HeldLeases leases{.pod = fields.signed_varint()};
  leases.job = fields.signed_varint();
  leases.job_is_ours = read_flag(fields);
  return whole(fields, leases);
}

}  // namespace paddle_launch
