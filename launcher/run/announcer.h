// SPDX-License-Identifier: Apache-2.0
// The person at the terminal while nodes are missing.
#pragma once

#include <string>

#include "launcher/job/job_spec.h"
#include "launcher/job/waiting_facts.h"
#include "launcher/tell/voice.h"
#include "launcher/tell/waiting.h"

namespace paddle_launch {

class Announcer {
 public:
  Announcer(const JobSpec& job, bool speaks);
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;
  ~Announcer() { clear(); }

  void waiting(const WaitingFacts& facts);
  void remark(const std::string& text);
  void warning(const std::string& text);
  void problem(const std::string& text);

 private:
  void clear();
  void show_notice(const std::string& text) const;

  bool terminal_;
  bool shows_notice_;
  Voice voice_;
  WaitingNotice notice_;
};

}  // namespace paddle_launch
