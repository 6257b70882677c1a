// SPDX-License-Identifier: Apache-2.0
// The person at the terminal while nodes are missing.
#pragma once

#include <string>

#include "launcher/job/job_spec.h"
#include "launcher/job/waiting_facts.h"
#include "launcher/tell/narrator.h"
#include "launcher/tell/voice.h"
#include "launcher/tell/waiting.h"

namespace paddle_launch {

class Announcer final : public Narrator {
 public:
  explicit Announcer(const JobSpec& job);
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;
  ~Announcer() override { clear(); }

  // Another launcher has the console that they share.
  void be_silent() { speaks_ = false; }
  // As long as it lives nodes are waited for. Nothing is said of a wait in its first second.
  class Wait {
   public:
    explicit Wait(Announcer& announcer) : announcer_(announcer) { announcer_.begin_waiting(); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;
    ~Wait() { announcer_.clear(); }

   private:
    Announcer& announcer_;
  };

  void waiting(const WaitingFacts& facts) override;
  void remark(const std::string& text) override;
  void warning(const std::string& text) override;
  void problem(const std::string& text) override;
  void error(const std::string& text) override;
  void plain(const std::string& text) override;
  void note(const std::string& text) override;

 private:
  void begin_waiting();
  void clear();
  void show_notice(const std::string& text) const;

  bool terminal_;
  bool shows_notice_;
  bool is_dry_run_;
  bool speaks_ = true;
  Voice voice_;
  Voice of_all_;  // also of who is silent
  WaitingNotice notice_;
  std::string told_problem_;
};

}  // namespace paddle_launch
