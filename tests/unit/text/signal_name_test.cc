// SPDX-License-Identifier: Apache-2.0
#include "launcher/text/signal_name.h"

#include <csignal>

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(SignalName, KnowsOrdinaryRealTimeAndUnknownSignals) {
  EXPECT_EQ(signal_name(SIGTERM), "SIGTERM");
  EXPECT_EQ(signal_name(SIGSEGV), "SIGSEGV");
  EXPECT_EQ(signal_name(SIGRTMIN), "SIGRTMIN");
  EXPECT_EQ(signal_name(SIGRTMIN + 3), "SIGRTMIN+3");
  EXPECT_EQ(signal_name(99), "signal 99");
}

TEST(SignalName, HasANameForEverySignalBelowTheRealTimeOnes) {
  for (int signal = 1; signal <= SIGSYS; ++signal) {
    EXPECT_EQ(signal_name(signal).substr(0, 3), "SIG") << signal;
  }
}

}  // namespace
}  // namespace paddle_launch
