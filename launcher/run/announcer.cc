// SPDX-License-Identifier: Apache-2.0
#include "launcher/run/announcer.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <string_view>

#include "launcher/os/files.h"
#include "launcher/run/own_words.h"

namespace paddle_launch {
namespace {

// A terminal or pipe that does not take our lines must not hold up the meeting.
constexpr std::chrono::milliseconds kAtOnce{0};
void say_if_it_takes(std::string_view text) { say_patiently(text, kAtOnce); }

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace

Announcer::Announcer(const JobSpec& job, bool speaks)
    : terminal_(isatty(STDERR_FILENO) == 1),
      shows_notice_(speaks && !job.quiet && job.log_level <= LogLevel::Info),
      voice_(
          job.quiet ? LogLevel::Error : job.log_level,
          speaks ? say_if_it_takes : [](std::string_view) {}),
      notice_(terminal_, terminal_ ? terminal_width() : 0) {
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
  if (shows_notice_) write_to_stderr_patiently(text, kAtOnce);
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
  clear();
  const std::string sentence = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
  voice_.error(sentence + "; telling the other nodes");
}

void Announcer::clear() {
  const std::string text = notice_.end();
  if (!text.empty()) show_notice(text);
}

}  // namespace paddle_launch
