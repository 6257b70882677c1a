// SPDX-License-Identifier: Apache-2.0
// The sum over all ranks by NCCL, with the ids that paddle-launch made:
//   c++ -o all_reduce all_reduce.cc -lpaddle_launch_nccl -lnccl -lcudart
//   paddle-launch ./all_reduce
// Every trainer adds its rank plus one, and prints the sum. Exit status 77: there is no GPU.
#include <cuda_runtime.h>
#include <nccl.h>
#include <paddle_launch_nccl.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

constexpr int kNoGpu = 77;
constexpr int kDeadlineMs = 60'000;

int number_from(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

void must(cudaError_t result, const char* call) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, cudaGetErrorString(result));
  std::exit(1);
}

// The communicator does not block: a call may return while NCCL still works on it.
void must(ncclComm_t communicator, ncclResult_t result, const char* call) {
  while (result == ncclInProgress) {
    std::this_thread::yield();
    if (ncclCommGetAsyncError(communicator, &result) != ncclSuccess) break;
  }
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s\n", call, ncclGetErrorString(result));
  std::exit(1);
}

float sum_over_all_ranks(ncclComm_t communicator, float mine) {
  float* value = nullptr;
  cudaStream_t stream = nullptr;
  must(cudaMalloc(&value, sizeof mine), "cudaMalloc");
  must(cudaStreamCreate(&stream), "cudaStreamCreate");
  must(cudaMemcpy(value, &mine, sizeof mine, cudaMemcpyHostToDevice), "cudaMemcpy");
  must(communicator, ncclAllReduce(value, value, 1, ncclFloat, ncclSum, communicator, stream),
       "ncclAllReduce");
  must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  must(cudaMemcpy(&mine, value, sizeof mine, cudaMemcpyDeviceToHost), "cudaMemcpy");
  must(cudaStreamDestroy(stream), "cudaStreamDestroy");
  must(cudaFree(value), "cudaFree");
  return mine;
}

}  // namespace

int main() {
  int cards = 0;
  const cudaError_t seen = cudaGetDeviceCount(&cards);
  if (seen != cudaSuccess || cards == 0) {
    std::fprintf(stderr, "all_reduce: no GPU can be used here (%s); nothing was done\n",
                 seen == cudaSuccess ? "none is visible" : cudaGetErrorString(seen));
    return kNoGpu;
  }
  must(cudaSetDevice(number_from("FLAGS_selected_gpus", 0)), "cudaSetDevice");

  void* opened = nullptr;
  if (paddle_launch_nccl_init(&opened, kDeadlineMs) != 0) {
    std::fprintf(stderr, "all_reduce: %s\n", paddle_launch_nccl_last_error());
    return 1;
  }
  auto* const communicator = static_cast<ncclComm_t>(opened);
  const int rank = number_from("PADDLE_TRAINER_ID", 0);
  const int size = number_from("PADDLE_TRAINERS_NUM", 1);
  const float sum = sum_over_all_ranks(communicator, static_cast<float>(rank + 1));
  std::printf("rank %d of %d: the sum is %.0f\n", rank, size, static_cast<double>(sum));
  must(communicator, ncclCommFinalize(communicator), "ncclCommFinalize");
  ncclCommDestroy(communicator);
  return 0;
}
