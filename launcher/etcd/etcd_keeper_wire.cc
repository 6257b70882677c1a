// SPDX-License-Identifier: Apache-2.0
#include "launcher/etcd/etcd_keeper_wire.h"

#include <cstddef>
#include <cstring>
#include <utility>

namespace paddle_launch {
namespace {

class KeeperFieldWriter {
 public:
  explicit KeeperFieldWriter(EtcdWord word) : frame_(1, static_cast<char>(word)) {}

  KeeperFieldWriter& number(std::int64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    frame_.append(bytes, sizeof value);
    return *this;
  }
  KeeperFieldWriter& count(std::size_t value) { return number(static_cast<std::int64_t>(value)); }
  KeeperFieldWriter& text(std::string_view value) {
    count(value.size());
    frame_.append(value);
    return *this;
  }
  std::string take() { return std::move(frame_); }

 private:
  std::string frame_;
};

// Past the end, or after a field that makes no sense, everything is 0 and empty.
class KeeperFieldReader {
 public:
  explicit KeeperFieldReader(std::string_view fields) : rest_(fields) {}

  std::int64_t number() {
    std::int64_t value = 0;
    if (rest_.size() < sizeof value) {
      fail();
      return 0;
    }
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
    return value;
  }
  bool flag() { return number() != 0; }
  // Of things that take a byte at least.
  std::size_t count() {
    const std::int64_t value = number();
    if (value < 0 || static_cast<std::size_t>(value) > rest_.size()) {
      fail();
      return 0;
    }
    return static_cast<std::size_t>(value);
  }
  std::string text() {
    const std::size_t size = count();
    std::string value(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return value;
  }
  template <class Value>
  std::optional<Value> whole(Value value) const {
    if (!is_good_ || !rest_.empty()) return std::nullopt;
    return value;
  }

 private:
  void fail() {
    is_good_ = false;
    rest_ = {};
  }

  std::string_view rest_;
  bool is_good_ = true;
};

}  // namespace

std::string pack_change(const EtcdChange& change) {
  KeeperFieldWriter fields(EtcdWord::Change);
  fields.count(change.only_if.size());
  for (const EtcdCompare& compare : change.only_if) {
    fields.text(compare.key)
        .number(static_cast<std::int64_t>(compare.what))
        .number(compare.revision);
  }
  fields.count(change.puts.size());
  for (const EtcdPut& put : change.puts) {
    fields.text(put.key).text(put.value).number(static_cast<std::int64_t>(put.lease));
  }
  fields.count(change.deletes.size());
  for (const std::string& key : change.deletes) fields.text(key);
  return fields.number(change.delete_all ? 1 : 0).take();
}

std::optional<EtcdChange> unpack_change(std::string_view frame) {
  KeeperFieldReader fields(frame);
  EtcdChange change;
  for (std::size_t left = fields.count(); left > 0; --left) {
    EtcdCompare compare{.key = fields.text()};
    compare.what = static_cast<EtcdCompare::What>(fields.number());
    compare.revision = fields.number();
    change.only_if.push_back(std::move(compare));
  }
  for (std::size_t left = fields.count(); left > 0; --left) {
    EtcdPut put{.key = fields.text()};
    put.value = fields.text();
    put.lease = static_cast<EtcdLease>(fields.number());
    change.puts.push_back(std::move(put));
  }
  for (std::size_t left = fields.count(); left > 0; --left) change.deletes.push_back(fields.text());
  change.delete_all = fields.flag();
  return fields.whole(std::move(change));
}

std::string pack_adoption(std::int64_t lease) {
  return KeeperFieldWriter(EtcdWord::Adopt).number(lease).take();
}

std::optional<std::int64_t> unpack_adoption(std::string_view frame) {
  KeeperFieldReader fields(frame);
  const std::int64_t lease = fields.number();
  return fields.whole(lease);
}

std::string pack_close(const CloseOrder& order) {
  return KeeperFieldWriter(EtcdWord::Close)
      .number(order.job_too ? 1 : 0)
      .number(order.budget.count())
      .take();
}

std::optional<CloseOrder> unpack_close(std::string_view frame) {
  KeeperFieldReader fields(frame);
  CloseOrder order{.job_too = fields.flag()};
  order.budget = std::chrono::milliseconds(fields.number());
  return fields.whole(order);
}

std::string pack_connection(const EtcdProblem& problem) {
  return KeeperFieldWriter(EtcdWord::Connection)
      .number(static_cast<std::int64_t>(problem.kind))
      .text(problem.text)
      .take();
}

std::optional<EtcdProblem> unpack_connection(std::string_view frame) {
  KeeperFieldReader fields(frame);
  EtcdProblem problem{.kind = static_cast<EtcdProblem::Kind>(fields.number())};
  problem.text = fields.text();
  return fields.whole(std::move(problem));
}

std::string pack_entries(const std::vector<EtcdEntry>& entries) {
  KeeperFieldWriter fields(EtcdWord::Entries);
  fields.count(entries.size());
  for (const EtcdEntry& entry : entries) {
    fields.text(entry.key).text(entry.value);
    fields.number(entry.created).number(entry.modified).number(entry.lease);
  }
  return fields.take();
}

std::optional<std::vector<EtcdEntry>> unpack_entries(std::string_view frame) {
  KeeperFieldReader fields(frame);
  std::vector<EtcdEntry> entries;
  for (std::size_t left = fields.count(); left > 0; --left) {
    EtcdEntry entry{.key = fields.text()};
    entry.value = fields.text();
    entry.created = fields.number();
    entry.modified = fields.number();
    entry.lease = fields.number();
    entries.push_back(std::move(entry));
  }
  return fields.whole(std::move(entries));
}

std::string pack_answer(const EtcdAnswer& answer) {
  return KeeperFieldWriter(EtcdWord::Answer)
      .number(answer.done ? 1 : 0)
      .text(answer.problem)
      .take();
}

std::optional<EtcdAnswer> unpack_answer(std::string_view frame) {
  KeeperFieldReader fields(frame);
  EtcdAnswer answer{.done = fields.flag()};
  answer.problem = fields.text();
  return fields.whole(std::move(answer));
}

std::string pack_leases(const HeldLeases& leases) {
  return KeeperFieldWriter(EtcdWord::Leases)
      .number(leases.pod)
      .number(leases.job)
      .number(leases.job_is_ours ? 1 : 0)
      .take();
}

std::optional<HeldLeases> unpack_leases(std::string_view frame) {
  KeeperFieldReader fields(frame);
  HeldLeases leases{.pod = fields.number()};
  leases.job = fields.number();
  leases.job_is_ours = fields.flag();
  return fields.whole(leases);
}

}  // namespace paddle_launch
