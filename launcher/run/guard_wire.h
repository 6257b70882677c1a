// SPDX-License-Identifier: Apache-2.0
// What launcher and guard say to each other: frames that hold a GuardOrder or a GuardReport, behind
// which there may be a text. Both are the same program on the same machine, forked from each other,
// so the bytes of a plain struct are its packed form.
//
//   guard      WaitsFor Warns …   while it opens and locks the logs
//   guard      LogBegins × n, Opened, then Started once the processes are; or Refused or Failed
//   launcher   StartRest          the processes that were held back
//   launcher   Signal Freeze Thaw …            guard: Frozen Suspended
//   guard      NotStarted Exited …             as it comes
//   launcher   Stop or Kill       guard: Obeys, then the rest of the Exited
//   guard      Survivor …, Drained             its last word
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace paddle_launch {

// Whoever is still there then is stuck in the kernel, and is reported as a survivor.
constexpr std::chrono::seconds kPatienceWithSigkill{30};
// A guard that takes longer for an answer, or for its end, hangs.
constexpr std::chrono::seconds kPatienceWithGuard{2};

struct GuardOrder {
  enum class Kind : std::uint8_t {
    Stop,       // SIGTERM to each trainer, the grace, SIGKILL to all that is left
    Kill,       // SIGKILL to everything now
    Signal,     // `signal` to each living trainer
    Freeze,     // SIGSTOP to the trainers' groups (Ctrl-Z)
    Thaw,       // SIGCONT to them; the trainer with the terminal gets it back
    StartRest,  // the processes that were held back; too late after Stop or Kill
  };
  Kind kind = Kind::Stop;
  std::int32_t signal = 0;
};

struct GuardReport {
  enum class Kind : std::uint8_t {
    LogBegins,  // the log of `worker` is open, and this run begins at `log_begins`
    Opened,     // all logs are; now the processes are started
    Started,    // all that are not held back
    Obeys,      // Stop or Kill is understood
    Exited,
    NotStarted,
    Frozen,     // the order Freeze is carried out: every trainer stands still
    Suspended,  // the trainer that has the terminal was stopped there
    Survivor,   // SIGKILL did not end this process within our patience
    Drained,    // wait() says that no child is left, or survivors were given up
    // With a text.
    Refused,   // nothing is started: wrong use
    Failed,    // nothing is started: the machine refused
    WaitsFor,  // another guard that has not let go of a log
    Warns,     // told with the first words of the round
  };
  Kind kind = Kind::Exited;
  bool core_dumped = false;
  bool was_told_to_stop = false;  // and had not been ending before
  bool exec = false;
  std::int32_t worker = -1;
  std::int32_t pid = 0;
  std::int32_t code = 0;
  std::int32_t signal = 0;
  std::int32_t error = 0;
  std::int64_t log_at_stop = -1;  // Exited: bytes in its log when it was told to stop
  std::int64_t started_ns = 0;    // CLOCK_MONOTONIC
  std::int64_t ended_ns = 0;
  std::int64_t log_begins = 0;  // in bytes
};

constexpr bool has_text(GuardReport::Kind kind) { return kind >= GuardReport::Kind::Refused; }

template <class Struct>
std::string guard_frame(const Struct& what, std::string_view text = {}) {
  return std::string(reinterpret_cast<const char*>(&what), sizeof what).append(text);
}

// The text is what is left of the frame.
template <class Struct>
Struct take_from(std::string_view& frame) {
  Struct what;
  std::memcpy(&what, frame.data(), sizeof what);
  frame.remove_prefix(sizeof what);
  return what;
}

}  // namespace paddle_launch
