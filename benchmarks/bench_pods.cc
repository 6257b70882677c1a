// SPDX-License-Identifier: Apache-2.0
// One of the two processes of a simulated meeting, or of its yardstick.
//   bench_pods hub|members PODS list|master JOB
//   bench_pods accept|connect CONNECTIONS
#include <sys/prctl.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "benchmarks/bare_connects.h"
#include "benchmarks/process_facts.h"
#include "benchmarks/simulated_pods.h"

namespace {

bool play(int argc, char** argv) {
  using std::string_view_literals::operator""sv;
  using namespace paddle_launch;
  const std::string_view role = argc > 2 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  if (count < 1) return false;
  allow_descriptors(count);
  if (role == "accept"sv) return play_acceptor(count), true;
  if (role == "connect"sv) return play_connector(count), true;
  if (argc != 5 || count < 2 || (role != "hub"sv && role != "members"sv)) return false;
  const SimulatedJob job{.pods = count, .by_list = argv[3] == "list"sv, .name = argv[4]};
  return role == "hub"sv ? play_hub(job) : play_members(job), true;
}

}  // namespace

int main(int argc, char** argv) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  try {
    paddle_launch::block_sigterm();
    if (play(argc, argv)) return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_pods: %s\n", error.what());
    return 1;
  }
  std::fputs("usage: bench_pods hub|members PODS list|master JOB | accept|connect CONNECTIONS\n",
             stderr);
  return 2;
}
