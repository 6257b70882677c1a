// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/line_printer.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

const LinePrinter::Time kStart{};
constexpr std::chrono::milliseconds kSecond{1000};

std::string added(LinePrinter& printer, int rank, std::string_view bytes) {
  std::string out;
  printer.add({Role::Trainer, rank}, bytes, kStart, out);
  return out;
}

TEST(LinePrinter, PrefixesWholeLinesAndKeepsTheRest) {
  LinePrinter printer(false);
  EXPECT_EQ(added(printer, 0, "one\ntw"), "[0] one\n");
  EXPECT_EQ(added(printer, 1, "other\n"), "[1] other\n");
  EXPECT_EQ(added(printer, 0, "o\n"), "[0] two\n");
}

TEST(LinePrinter, NamesWhoIsNoTrainer) {
  LinePrinter printer(false);
  std::string out;
  printer.add({Role::Server, 1}, "up\n", kStart, out);
  printer.add({Role::HeterWorker, 0}, "here\n", kStart, out);
  printer.add({Role::Trainer, 1}, "too\n", kStart, out);
  EXPECT_EQ(out, "[server 1] up\n[heter 0] here\n[1] too\n");
}

TEST(LinePrinter, TakesACarriageReturnAsALineEnd) {
  LinePrinter printer(false);
  EXPECT_EQ(added(printer, 0, "\r10%\r20%\r"), "[0] 10%\n[0] 20%\n");
  EXPECT_EQ(added(printer, 0, "\n"), "");
  EXPECT_EQ(added(printer, 0, "windows\r\nnext\n"), "[0] windows\n[0] next\n");
}

TEST(LinePrinter, AReturnAndItsNewlineMayComeApart) {
  LinePrinter printer(false);
  EXPECT_EQ(added(printer, 0, "one\r"), "[0] one\n");
  EXPECT_EQ(added(printer, 0, "\ntwo\n"), "[0] two\n");
  EXPECT_EQ(added(printer, 0, "three\r"), "[0] three\n");
  EXPECT_EQ(added(printer, 0, "four\n"), "[0] four\n");
}

TEST(LinePrinter, KeepsEmptyLines) {
  LinePrinter printer(false);
  EXPECT_EQ(added(printer, 3, "a\n\nb\n"), "[3] a\n[3] \n[3] b\n");
}

TEST(LinePrinter, ShowsAnUnfinishedLineAfterASecondAndGoesOnWithIt) {
  LinePrinter printer(false);
  added(printer, 0, "loading");
  ASSERT_TRUE(printer.next_unfinished());
  EXPECT_EQ(*printer.next_unfinished(), kStart + kSecond);
  std::string out;
  printer.show_unfinished(kStart + kSecond / 2, false, out);
  EXPECT_EQ(out, "");
  printer.show_unfinished(kStart + kSecond, false, out);
  EXPECT_EQ(out, "[0] loading");
  EXPECT_FALSE(printer.next_unfinished());
  EXPECT_EQ(added(printer, 0, " done\n"), " done\n");
}

TEST(LinePrinter, EndsAnUnfinishedLineWhenAnotherRankSpeaks) {
  LinePrinter printer(false);
  added(printer, 0, "loading");
  std::string out;
  printer.show_unfinished(kStart + kSecond, false, out);
  EXPECT_EQ(added(printer, 1, "hello\n"), "\n[1] hello\n");
  EXPECT_EQ(added(printer, 0, " done\n"), "[0]  done\n");
}

TEST(LinePrinter, AtTheEndNothingIsKeptBack) {
  LinePrinter printer(false);
  added(printer, 0, "last words");
  std::string out;
  printer.show_unfinished(kStart, true, out);
  EXPECT_EQ(out, "[0] last words\n");
}

TEST(LinePrinter, ColoursThePrefixOnly) {
  LinePrinter printer(true);
  EXPECT_EQ(added(printer, 0, "x\n"), "\x1b[36m[0]\x1b[0m x\n");
}

TEST(LinePrinter, BoundsALineWithoutEnd) {
  LinePrinter printer(false);
  const std::string megabyte(1024 * 1024 + 1, 'x');
  EXPECT_EQ(added(printer, 0, megabyte), "[0] " + megabyte + "\n");
}

}  // namespace
}  // namespace paddle_launch
