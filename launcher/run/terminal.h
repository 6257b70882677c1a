// SPDX-License-Identifier: Apache-2.0
// The terminal on stdin, when a trainer is to use it: who is its foreground group, and Ctrl-Z.
#pragma once

namespace paddle_launch {

class Terminal {
 public:
  // Lends the terminal only when it is ours to lend: stdin is a terminal and we are its foreground
  // group.
  static bool can_be_lent();

  explicit Terminal(bool lent) : lent_(lent) {}
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { take_back(); }

  bool is_lent() const { return lent_; }
  void take_back() const;
  // Stops this process as Ctrl-Z would; returns when it is continued.
  void suspend_launcher() const;

 private:
  bool lent_;
};

}  // namespace paddle_launch
