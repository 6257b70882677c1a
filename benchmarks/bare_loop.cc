// SPDX-License-Identifier: Apache-2.0
// The yardstick: starts a program N times with posix_spawn, waits for all, and does nothing else.
//   bare_loop N program [args…]        output goes where ours goes
//   bare_loop -o DIR N program [args…] each process writes into DIR/plain.<rank>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

bool start(const char* directory, int rank, char** argv) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (directory != nullptr) {
    const std::string file = std::string(directory) + "/plain." + std::to_string(rank);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, file.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    setenv("PADDLE_TRAINER_ID", std::to_string(rank).c_str(), 1);
  }
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, argv[0], &actions, nullptr, argv, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) std::fprintf(stderr, "bare_loop: %s: %s\n", argv[0], std::strerror(error));
  return error == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool to_files = argc > 2 && std::strcmp(argv[1], "-o") == 0;
  const char* directory = to_files ? argv[2] : nullptr;
  char** rest = argv + (to_files ? 3 : 1);
  if (argc < (to_files ? 5 : 3)) {
    std::fputs("usage: bare_loop [-o DIR] N program [args…]\n", stderr);
    return 2;
  }
  const int count = std::atoi(rest[0]);
  bool good = true;
  for (int rank = 0; rank < count && good; ++rank) good = start(directory, rank, rest + 1);
  int status = 0;
  while (wait(&status) > 0) good = good && status == 0;
  return good ? 0 : 1;
}
