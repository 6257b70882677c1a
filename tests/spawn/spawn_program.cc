// SPDX-License-Identifier: Apache-2.0
// A program that uses spawn() in the way that its first argument names; cpp_spawn_test.py looks at
// it from outside.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <thread>

#include "paddle_launch/spawn.h"

namespace {

using paddle_launch::spawn;
using paddle_launch::Spawned;
using paddle_launch::SpawnError;
using paddle_launch::SpawnOptions;
using namespace std::chrono_literals;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "(none)" : value;
}

int rank() { return std::atoi(variable("PADDLE_TRAINER_ID").c_str()); }

void wait_for_ever() {
  for (;;) pause();
}

// A file that says that this rank is ready.
void be_ready() {
  const std::string name = "ready." + variable("PADDLE_TRAINER_ID");
  std::ofstream("." + name) << getpid() << std::endl;
  std::rename(("." + name).c_str(), name.c_str());
}

void tell(const SpawnError& error) {
  std::cout << "SpawnError rank=" << error.rank() << " code=" << error.exit_code()
            << " signal=" << error.signal() << " status=" << error.status() << " message=["
            << error.message() << "] what=[" << error.what() << "]" << std::endl;
}

SpawnOptions options_of_variables() {
  SpawnOptions options;
  if (const char* text = std::getenv("TRY_NPROCS")) options.nprocs = std::atoi(text);
  if (const char* text = std::getenv("TRY_GPUS")) options.gpus = text;
  if (const char* text = std::getenv("TRY_LOG_DIR")) options.log_dir = text;
  if (const char* text = std::getenv("TRY_IPS")) options.ips = text;
  if (const char* text = std::getenv("TRY_GRACE"))
    options.grace = std::chrono::milliseconds(std::atoi(text));
  options.join = std::getenv("TRY_NO_JOIN") == nullptr;
  return options;
}

void print_environment() {
  std::ofstream out("env." + variable("PADDLE_TRAINER_ID"));
  for (char** entry = environ; *entry != nullptr; ++entry) out << *entry << '\0';
}

void print_rank() {
  std::cout << "rank " << rank() << " of " << variable("PADDLE_TRAINERS_NUM") << " cards "
            << variable("FLAGS_selected_gpus") << std::endl;
  std::fprintf(stderr, "error output of rank %d\n", rank());
}

// The last words stand in a buffer when the function returns.
void print_many_lines() {
  for (int i = 0; i < 5000; ++i) {
    std::printf("%d line %d\n", rank(), i);
    std::fflush(stdout);
  }
  std::printf("%d end\n", rank());
}

void fail_one(const std::function<void()>& how) {
  be_ready();
  if (rank() == 1) how();
  wait_for_ever();
}

int use(const std::function<void()>& function) {
  spawn(function, options_of_variables());
  std::cout << "completed" << std::endl;
  return 0;
}

int use_threads() {
  std::thread thread(wait_for_ever);
  thread.detach();
  return use(print_rank);
}

int use_join_for() {
  SpawnOptions options = options_of_variables();
  options.join = false;
  Spawned spawned = spawn(
      [] {
        be_ready();
        while (access("go", F_OK) != 0) usleep(1000);
      },
      options);
  std::cout << "join_for " << spawned.join_for(50ms) << std::endl;
  for (const pid_t pid : spawned.pids()) std::cout << "pid " << pid << std::endl;
  std::ofstream("go") << "go";
  std::cout << "join_for " << spawned.join_for(60s) << std::endl;
  spawned.join();
  std::cout << "again " << spawned.join_for(0ms) << std::endl;
  return 0;
}

int use_stop() {
  SpawnOptions options = options_of_variables();
  options.join = false;
  Spawned spawned = spawn(
      [] {
        be_ready();
        wait_for_ever();
      },
      options);
  spawned.pids();
  spawned.stop();
  spawned.join();
  std::cout << "stopped" << std::endl;
  {
    const Spawned left = spawn(wait_for_ever, options);
    for (const pid_t pid : left.pids()) std::cout << "left " << pid << std::endl;
  }
  std::cout << "destroyed" << std::endl;
  return 0;
}

int use_several() {
  int sum = 40;
  std::map<int, std::string> memory = {{0, "zero"}, {1, "one"}};
  for (int turn = 0; turn < 3; ++turn) {
    sum += turn;
    spawn(
        [&] {
          std::cout << turn << " " << rank() << " " << memory[rank()] << " " << sum << std::endl;
          memory.clear();
        },
        {.nprocs = 2});
  }
  SpawnOptions apart{.nprocs = 1, .join = false};
  Spawned first = spawn([] { std::cout << "first" << std::endl; }, apart);
  Spawned second = spawn([] { std::cout << "second" << std::endl; }, apart);
  first.join();
  second.join();
  std::cout << "memory " << memory.size() << std::endl;
  return 0;
}

int use_open_file() {
  const int file = open("written", O_WRONLY | O_CREAT | O_APPEND, 0666);
  spawn(
      [file] {
        if (write(file, "x", 1) != 1) throw std::runtime_error("closed");
      },
      {.nprocs = 3});
  return 0;
}

// What an executed trainer would find.
int use_signals() {
  signal(SIGUSR1, [](int) {});
  signal(SIGUSR2, SIG_IGN);
  signal(SIGTERM, [](int) { _exit(99); });
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGALRM);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  spawn(
      [] {
        for (const int number : {SIGUSR1, SIGUSR2, SIGTERM, SIGCHLD, SIGPIPE}) {
          struct sigaction action {};
          sigaction(number, nullptr, &action);
          std::cout << number
                    << (action.sa_handler == SIG_DFL   ? " default"
                        : action.sa_handler == SIG_IGN ? " ignored"
                                                       : " handled")
                    << std::endl;
        }
        sigset_t mask;
        sigprocmask(SIG_SETMASK, nullptr, &mask);
        for (int number = 1; number < NSIG; ++number) {
          if (sigismember(&mask, number) == 1) std::cout << "blocked " << number << std::endl;
        }
      },
      {.nprocs = 1});
  return 0;
}

int use_unflushed() {
  std::printf("before, once\n");
  spawn([] { std::printf("within\n"); }, {.nprocs = 1});
  std::printf("after\n");
  return 0;
}

// Leaves the processes to their own.
int use_exit() {
  static const Spawned spawned = spawn(
      [] {
        be_ready();
        wait_for_ever();
      },
      options_of_variables());
  spawned.pids();
  _exit(5);
}

// The only child that this program has.
pid_t launcher_process() {
  std::ifstream children("/proc/thread-self/children");
  pid_t child = -1;
  children >> child;
  return child;
}

// Says whether it was told to end before it was asked.
[[noreturn]] void be_the_stranger(int answer) {
  sigset_t asked;
  sigemptyset(&asked);
  sigaddset(&asked, SIGUSR1);
  int got = 0;
  sigwait(&asked, &got);
  sigset_t pending;
  sigpending(&pending);
  const char said = sigismember(&pending, SIGTERM) == 1 ? 'T' : '-';
  _exit(write(answer, &said, 1) == 1 ? 0 : 1);
}

// A child with this number. The kernel gives it back a moment after its owner is gone.
pid_t fork_as(pid_t number, const std::function<void()>& be) {
  for (int tries = 0; tries < 1000; ++tries) {
    std::ofstream("/proc/sys/kernel/ns_last_pid") << number - 1 << std::flush;
    const pid_t child = fork();
    if (child == 0) be();
    if (child == number) return child;
    kill(child, SIGKILL);
    usleep(5000);
  }
  return -1;
}

// Gives the number of the ended launcher process to another one, in a namespace of its own.
int use_stale_number() {
  signal(SIGCHLD, SIG_IGN);
  SpawnOptions options = options_of_variables();
  options.join = false;
  Spawned spawned = spawn([] {}, options);
  const pid_t launcher = launcher_process();
  while (kill(launcher, 0) == 0) usleep(1000);
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  sigaddset(&blocked, SIGUSR1);
  sigprocmask(SIG_BLOCK, &blocked, nullptr);
  int answer[2] = {-1, -1};
  if (pipe(answer) != 0) return 1;
  const pid_t stranger = fork_as(launcher, [&answer] { be_the_stranger(answer[1]); });
  if (stranger != launcher) return 1;
  spawned.stop();
  kill(stranger, SIGUSR1);
  char said = '?';
  if (read(answer[0], &said, 1) != 1) return 1;
  std::cout << (said == 'T' ? "the stranger was told to end" : "the stranger was left alone")
            << std::endl;
  return 0;
}

int use_wait() {
  return use([] {
    be_ready();
    wait_for_ever();
  });
}

using Uses = std::map<std::string, std::function<int()>>;

const Uses& uses() {
  static const Uses all = {
      {"environment", [] { return use(print_environment); }},
      {"rank", [] { return use(print_rank); }},
      {"lines", [] { return use(print_many_lines); }},
      {"throw",
       [] { return use([] { fail_one([] { throw std::runtime_error("no such loss: 42"); }); }); }},
      {"throw_int", [] { return use([] { fail_one([] { throw 42; }); }); }},
      {"exit", [] { return use([] { fail_one([] { std::exit(7); }); }); }},
      {"signal", [] { return use([] { fail_one([] { std::raise(SIGSEGV); }); }); }},
      {"threads", use_threads},
      {"join_for", use_join_for},
      {"stop", use_stop},
      {"several", use_several},
      {"open_file", use_open_file},
      {"signals", use_signals},
      {"unflushed", use_unflushed},
      {"exit_without_join", use_exit},
      {"stale_number", use_stale_number},
      {"wait", use_wait},
  };
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return uses().at(argc > 1 ? argv[1] : "")();
  } catch (const SpawnError& error) {
    tell(error);
    return 3;
  }
}
