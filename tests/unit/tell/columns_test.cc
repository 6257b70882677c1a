// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/columns.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(Columns, CountWideCharactersTwice) {
  EXPECT_EQ(columns(""), 0U);
  EXPECT_EQ(columns("node1"), 5U);
  EXPECT_EQ(columns("Zürich …"), 8U);
  EXPECT_EQ(columns("训练"), 4U);
}

TEST(CutToColumns, LeavesWhatFitsAndMarksWhatDoesNot) {
  EXPECT_EQ(cut_to_columns("node1", 5), "node1");
  EXPECT_EQ(cut_to_columns("node12", 5), "node…");
  EXPECT_EQ(cut_to_columns("node12", 1), "…");
  EXPECT_EQ(cut_to_columns("node12", 0), "");
}

TEST(CutToColumns, NeverCutsThroughACharacter) {
  EXPECT_EQ(cut_to_columns("训练节点", 6), "训练…");
  EXPECT_EQ(cut_to_columns("训练节点", 5), "训练…");
  EXPECT_EQ(cut_to_columns("训练节点", 4), "训…");
}

TEST(Padded, FillsByColumnsNotByBytes) {
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(padded("训练", 5), "训练 ");
  EXPECT_EQ(padded("long", 2), "long");
}

TEST(InColumns, AlignsAllCellsButFillsNoLineUp) {
  EXPECT_EQ(in_columns({{"round", "lasted", "why"}, {"0", "12.3 s", "done"}}),
            "round  lasted  why\n"
            "0      12.3 s  done\n");
  EXPECT_EQ(in_columns({}), "");
}

}  // namespace
}  // namespace paddle_launch
