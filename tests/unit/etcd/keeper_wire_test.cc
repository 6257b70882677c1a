// SPDX-License-Identifier: Apache-2.0
// What the launcher and its keeper say to each other.
#include <gtest/gtest.h>

#include "launcher/etcd/etcd_keeper_wire.h"

namespace paddle_launch {
namespace {

EtcdChange full_change() {
  EtcdChange change;
  change.only_if = {{"a", EtcdCompare::What::Modified, 7}};
  change.puts = {{std::string("b\0", 2), "value", EtcdLease::Job}};
  change.deletes = {"c", ""};
  change.delete_all = true;
  return change;
}

std::string_view fields_of(const std::string& frame) { return std::string_view(frame).substr(1); }

TEST(KeeperWire, GivesBackWhatWasPacked) {
  const auto change = unpack_change(fields_of(pack_change(full_change())));
  ASSERT_TRUE(change);
  EXPECT_EQ(change->only_if.at(0).key, "a");
  EXPECT_EQ(change->only_if.at(0).what, EtcdCompare::What::Modified);
  EXPECT_EQ(change->only_if.at(0).revision, 7);
  EXPECT_EQ(change->puts.at(0).key, std::string("b\0", 2));
  EXPECT_EQ(change->puts.at(0).value, "value");
  EXPECT_EQ(change->puts.at(0).lease, EtcdLease::Job);
  EXPECT_EQ(change->deletes, (std::vector<std::string>{"c", ""}));
  EXPECT_TRUE(change->delete_all);

  const std::vector<EtcdEntry> entries = {{"k", "v", 1, 2, 3}, {"", "", 4, 5, 0}};
  EXPECT_EQ(unpack_entries(fields_of(pack_entries(entries))), entries);
  const HeldLeases leases{.pod = -5, .job = 6, .job_is_ours = true};
  EXPECT_EQ(unpack_leases(fields_of(pack_leases(leases))), leases);
  EXPECT_EQ(unpack_adoption(fields_of(pack_adoption(77))), 77);
  const EtcdProblem down{EtcdProblem::Kind::Refusal, "down"};
  EXPECT_EQ(unpack_connection(fields_of(pack_connection(down))), down);
  EXPECT_EQ(unpack_answer(fields_of(pack_answer({.done = true})))->done, true);
  EXPECT_EQ(unpack_answer(fields_of(pack_answer({.problem = "no"})))->problem, "no");
  const auto close = unpack_close(
      fields_of(pack_close({.job_too = true, .budget = std::chrono::milliseconds(9)})));
  EXPECT_TRUE(close->job_too);
  EXPECT_EQ(close->budget.count(), 9);
}

TEST(KeeperWire, WhatIsCutOrTooLongIsNotRead) {
  const std::string frame = pack_change(full_change());
  for (std::size_t size = 1; size < frame.size(); ++size) {
    EXPECT_FALSE(unpack_change(fields_of(frame.substr(0, size)))) << size;
  }
  EXPECT_FALSE(unpack_change(fields_of(frame + "x")));
  EXPECT_FALSE(unpack_entries(std::string(8, '\xff')));
  EXPECT_FALSE(unpack_entries(std::string(7, '\x7f') + "\x01"));
}

}  // namespace
}  // namespace paddle_launch
