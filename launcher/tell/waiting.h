// SPDX-License-Identifier: Apache-2.0
// What a person sees while the nodes of a job wait for each other: who is missing, which nodes are
// probed and what came of it; and what they read when somebody never came.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "launcher/job/waiting_facts.h"

namespace paddle_launch {

// "waiting for 2 of 4 nodes: 192.168.0.3, 192.168.0.4 (12 s)", with what was met appended.
std::string waiting_line(const WaitingFacts& facts);

// The error after --bootstrap_timeout, one paragraph: who, what was tried, what to do.
std::string never_came(const WaitingFacts& facts);

// When to say so: on a terminal one line that is renewed, elsewhere a line when something changed
// and now and then a sign of life. Has no clock and no timer of its own.
//
// What update() and end() return is for the caller to say, when it is not empty:
//   on a terminal   complete bytes, with carriage return and line ends, to be written as they are
//   elsewhere       voice.info(text): plain text, to which Voice adds date, level and line end
// Before anything else is written to the terminal, end() must be called; a later update() shows the
// line again.
class WaitingNotice {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // `width`: the terminal's columns; 0: not known.
  explicit WaitingNotice(bool terminal, int width = 0);

  // The first call is the beginning of the wait; nothing is said in its first second.
  std::string update(const WaitingFacts& facts, Time now);
  // Takes the renewed line off the terminal.
  std::string end();

 private:
  std::string renewed(const WaitingFacts& facts);
  std::string new_remarks(const WaitingFacts& facts);

  bool terminal_;
  std::size_t room_;
  bool shown_ = false;                // the renewed line is on the terminal
  std::vector<std::string> remarks_;  // that stand on the terminal
  std::optional<WaitingFacts> told_;  // last, without its age
  std::optional<Time> earliest_;      // of the next line; none: before the first update
  Time told_first_{};                 // when told_ was news
  Time sign_{};                       // of life, if there is no news
};

}  // namespace paddle_launch
