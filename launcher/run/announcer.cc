// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/announcer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "launcher/os/files.h"
#include "launcher/run/own_words.h"

namespace paddle_launch {
namespace {

// A terminal or pipe that does not take our lines must not hold up the meeting.
constexpr std::chrono::milliseconds kAtOnce{0};

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

Announcer::Announcer(const JobSpec& job)
    : terminal_(isatty(STDERR_FILENO) == 1),
      shows_notice_(!job.quiet && job.log_level <= LogLevel::Info),
      is_dry_run_(job.dry_run != DryRun::No),
      voice_(job.quiet ? LogLevel::Error : job.log_level,
             [this](std::string_view text) {
               if (speaks_) say_patiently(text, kAtOnce);
             }),
      of_all_(job.log_level, say_on_stderr),
      notice_(terminal_, terminal_ ? terminal_width() : 0) {}

void Announcer::begin_waiting() {
  notice_ = WaitingNotice(terminal_, terminal_ ? terminal_width() : 0);
  notice_.update({}, std::chrono::steady_clock::now());
}

void Announcer::waiting(const WaitingFacts& facts) {
  const std::string text = notice_.update(facts, std::chrono::steady_clock::now());
  if (text.empty()) return;
  if (terminal_) {
    show_notice(text);
  } else {
    voice_.info(text);
  }
}

// It moves the cursor, so it goes out as it is: its foreign words are printable already.
void Announcer::show_notice(const std::string& text) const {
  if (shows_notice_ && speaks_) write_to_stderr_patiently(text, kAtOnce);
}

void Announcer::remark(const std::string& text) {
  clear();
  voice_.info(text);
}

void Announcer::warning(const std::string& text) {
  clear();
  voice_.warning(text);
}

void Announcer::problem(const std::string& text) {
  if (std::exchange(told_problem_, text) == text) return;
  clear();
  const std::string sentence = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
  voice_.error(sentence + "; telling the other nodes");
}

void Announcer::error(const std::string& text) {
  say_patiently("paddle-launch: error: " + text + "\n", std::chrono::seconds(1));
}

void Announcer::plain(const std::string& text) { say_on_stderr("paddle-launch: " + text + "\n"); }

// Also for who wants to see the plan.
void Announcer::note(const std::string& text) { is_dry_run_ ? plain(text) : of_all_.debug(text); }

void Announcer::clear() {
  const std::string text = notice_.end();
  if (!text.empty()) show_notice(text);
}

}  // namespace paddle_launch
