// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/side_process.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "launcher/os/milliseconds_until.h"
#include "launcher/os/side_child.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::optional<std::string> read_to_end(int fd, steady_clock::time_point until) {
  std::string answer;
  std::array<char, 65536> chunk;
  for (;;) {
    if (steady_clock::now() >= until) return std::nullopt;
    pollfd waiting{fd, POLLIN, 0};
    const int ready = poll(&waiting, 1, milliseconds_until(until));
    if (ready < 0 && errno != EINTR) return std::nullopt;
    if (ready <= 0) continue;
    const ssize_t got = read(fd, chunk.data(), chunk.size());
    if (got == 0) return answer;
    if (got < 0 && errno != EINTR && errno != EAGAIN) return std::nullopt;
    if (got > 0) answer.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

std::optional<std::string> run_aside(milliseconds deadline,
                                     const std::function<std::string()>& work) {
  const auto until = steady_clock::now() + deadline;
  try {
    const SideChild child(work);
    const auto said = read_to_end(child.fd(), until);
    return said ? completed(*said) : std::nullopt;
  } catch (const std::system_error&) {
    return std::nullopt;
  }
}

}  // namespace paddle_launch
