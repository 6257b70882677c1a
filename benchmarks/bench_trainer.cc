// SPDX-License-Identifier: Apache-2.0
// A trainer for measurements.
//   bench_trainer sleep SECONDS
//   bench_trainer fail DIR exit|segv obey|ignore [RANK]
// The second one says "rank pid" into the FIFO DIR/hello. The failing rank (3 unless told) then
// reads from the FIFO DIR/go how many milliseconds to live on, writes the moment of its death into
// DIR/death, and dies.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

namespace {

constexpr int kFailingRank = 3;
constexpr unsigned kLongestLife = 60;

int rank_of_this_process() {
  for (const char* name : {"PADDLE_TRAINER_ID", "PMI_RANK", "OMPI_COMM_WORLD_RANK"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return -1;
}

bool say_hello(const std::string& directory, int rank) {
  const std::string line = std::to_string(rank) + " " + std::to_string(getpid()) + "\n";
  const int fd = open((directory + "/hello").c_str(), O_WRONLY | O_CLOEXEC);
  const bool said = fd >= 0 && write(fd, line.data(), line.size()) > 0;
  if (fd >= 0) close(fd);
  return said;
}

// Everything that could take time is done before the moment is read.
[[noreturn]] void die(int death, bool by_signal) {
  signal(SIGSEGV, SIG_DFL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const long long moment = std::chrono::nanoseconds(now).count();
  if (write(death, &moment, sizeof moment) != sizeof moment) _exit(99);
  if (by_signal) raise(SIGSEGV);
  _exit(7);
}

int fail(const std::string& directory, bool by_signal, bool deaf, int failing_rank) {
  const int rank = rank_of_this_process();
  if (deaf) signal(SIGTERM, SIG_IGN);
  if (rank != failing_rank) {
    if (!say_hello(directory, rank)) return 98;
    for (;;) pause();
  }
  const int go = open((directory + "/go").c_str(), O_RDONLY | O_CLOEXEC);
  const int death =
      open((directory + "/death").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  char milliseconds[16] = {};
  if (go < 0 || death < 0 || !say_hello(directory, rank)) return 98;
  if (read(go, milliseconds, sizeof milliseconds - 1) <= 0) return 98;
  std::this_thread::sleep_for(std::chrono::milliseconds(std::atoi(milliseconds)));
  die(death, by_signal);
}

}  // namespace

int main(int argc, char** argv) {
  using std::string_view_literals::operator""sv;
  alarm(kLongestLife);
  if (argc == 3 && argv[1] == "sleep"sv) {
    std::this_thread::sleep_for(std::chrono::seconds(std::atoi(argv[2])));
    return 0;
  }
  if ((argc == 5 || argc == 6) && argv[1] == "fail"sv) {
    const int failing_rank = argc == 6 ? std::atoi(argv[5]) : kFailingRank;
    return fail(argv[2], argv[3] == "segv"sv, argv[4] == "ignore"sv, failing_rank);
  }
  std::fputs("usage: bench_trainer sleep SECONDS | fail DIR exit|segv obey|ignore [RANK]\n",
             stderr);
  return 2;
}
