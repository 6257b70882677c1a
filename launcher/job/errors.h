// SPDX-License-Identifier: Apache-2.0
// The ways in which the launcher itself fails. A worker's failure is an Outcome, never one of
// these.
#pragma once

#include <stdexcept>
#include <string>

namespace paddle_launch {

// Wrong use: the text names the input, the reason and the remedy. Exit status 2, nothing was
// started.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr int kWrongUseStatus = 2;
// Plus the signal: the status of whoever was ended by it.
constexpr int kSignalBase = 128;

constexpr int kLaunchErrorStatus = 1;

// The machine or the network refused, or the nodes do not agree. Exit status 1.
struct LaunchError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr int kNodeMissingStatus = 75;  // EX_TEMPFAIL

// A node never came, or went: trying again may help. Exit status 75.
struct NodeMissing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The user, or whoever runs us, ended the launcher before anything was started. Exit status 128+S.
struct StoppedBySignal : std::runtime_error {
  StoppedBySignal(int number, const std::string& what) : std::runtime_error(what), signal(number) {}
  int signal;
};

// The job goes on without this node, as somebody wished. Exit status 0.
struct NoLongerNeeded : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The launcher ends with this status, and the reason stands on the console already: said by the
// first of several launchers for all, or said before something that may end this process.
struct AlreadyTold {
  int status = kLaunchErrorStatus;
};

}  // namespace paddle_launch
