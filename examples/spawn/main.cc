// SPDX-License-Identifier: Apache-2.0
// Fits a line to points in several processes, each on a part of them, and adds up what they found.
//   ./spawn_example [processes [rank that fails]]
#include <paddle_launch/spawn.h>
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Sums {
  double x, y, xx, xy;
  int points;
};

int number_from(const char* variable) { return std::atoi(std::getenv(variable)); }

// What every process of the job runs: its environment tells who it is.
void fit(const std::vector<double>& data, Sums* results, int failing_rank) {
  const int rank = number_from("PADDLE_TRAINER_ID");
  const int size = number_from("PADDLE_TRAINERS_NUM");
  if (rank == failing_rank) throw std::runtime_error("the data of this rank is broken");
  Sums sums{};
  for (int i = rank; i < static_cast<int>(data.size()); i += size) {
    const double x = i / 100.0;
    const double y = data[static_cast<std::size_t>(i)];
    sums = {sums.x + x, sums.y + y, sums.xx + x * x, sums.xy + x * y, sums.points + 1};
  }
  results[rank] = sums;
  std::printf("rank %d of %d at %s: %d points\n", rank, size,
              std::getenv("PADDLE_CURRENT_ENDPOINT"), sums.points);
}

// Memory that the forked processes share; other memory they have a copy of.
Sums* shared_results(int processes) {
  void* const memory = mmap(nullptr, sizeof(Sums) * static_cast<std::size_t>(processes),
                            PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<Sums*>(memory);
}

}  // namespace

int main(int argc, char** argv) {
  const int processes = argc > 1 ? std::atoi(argv[1]) : 2;
  const int failing_rank = argc > 2 ? std::atoi(argv[2]) : -1;
  std::vector<double> data;
  for (int i = 0; i < 1000; ++i) data.push_back(3.0 * (i / 100.0) + 0.5);
  Sums* const results = shared_results(processes);
  if (results == nullptr) return 1;

  try {
    paddle_launch::spawn([&] { fit(data, results, failing_rank); },
                         {.nprocs = processes, .gpus = "cpu"});
  } catch (const paddle_launch::SpawnError& error) {
    std::fprintf(stderr, "rank %d: %s\n", error.rank(), error.what());
    return error.status();
  }

  Sums all{};
  for (int rank = 0; rank < processes; ++rank) {
    const Sums& one = results[rank];
    all = {all.x + one.x, all.y + one.y, all.xx + one.xx, all.xy + one.xy, all.points + one.points};
  }
  const double n = all.points;
  const double slope = (n * all.xy - all.x * all.y) / (n * all.xx - all.x * all.x);
  std::printf("y = %.1f x + %.1f\n", slope, (all.y - slope * all.x) / n);
  return 0;
}
