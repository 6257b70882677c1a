#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sum over all ranks by NCCL from Python, with the ids that paddle-launch made:

    paddle-launch all_reduce.py

Needs nothing but ctypes, libpaddle_launch_nccl.so.1, libnccl.so.2 and libcudart.so on the loader's path. Every
trainer adds its rank plus one, and prints the sum. Exit status 77: there is no GPU.
"""
import ctypes
import os
import sys

NO_GPU = 77
DEADLINE_MS = 60_000
IN_PROGRESS = 7             # ncclInProgress
FLOAT, SUM = 7, 0           # ncclFloat, ncclSum
TO_DEVICE, TO_HOST = 1, 2   # cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost


def load(*names):
    for name in names:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            reason = error
    sys.exit(f"all_reduce.py: {reason}")


def must(result, call):
    if result != 0:
        sys.exit(f"all_reduce.py: {call} gave {result}")


def sum_over_all_ranks(cuda, nccl, communicator, mine):
    value = ctypes.c_float(mine)
    on_device, stream = ctypes.c_void_p(), ctypes.c_void_p()
    must(cuda.cudaMalloc(ctypes.byref(on_device), ctypes.c_size_t(4)), "cudaMalloc")
    must(cuda.cudaStreamCreate(ctypes.byref(stream)), "cudaStreamCreate")
    must(cuda.cudaMemcpy(on_device, ctypes.byref(value), ctypes.c_size_t(4), TO_DEVICE), "cudaMemcpy")
    result = ctypes.c_int(nccl.ncclAllReduce(on_device, on_device, ctypes.c_size_t(1), FLOAT, SUM, communicator,
                                             stream))
    while result.value == IN_PROGRESS:  # the communicator does not block
        must(nccl.ncclCommGetAsyncError(communicator, ctypes.byref(result)), "ncclCommGetAsyncError")
    must(result.value, "ncclAllReduce")
    must(cuda.cudaStreamSynchronize(stream), "cudaStreamSynchronize")
    must(cuda.cudaMemcpy(ctypes.byref(value), on_device, ctypes.c_size_t(4), TO_HOST), "cudaMemcpy")
    return value.value


def main():
    cuda = load("libcudart.so", "libcudart.so.13", "libcudart.so.12")
    cards = ctypes.c_int(0)
    if cuda.cudaGetDeviceCount(ctypes.byref(cards)) != 0 or cards.value == 0:
        print("all_reduce.py: no GPU can be used here; nothing was done", file=sys.stderr)
        return NO_GPU
    must(cuda.cudaSetDevice(int(os.environ.get("FLAGS_selected_gpus", "0").split(",")[0])), "cudaSetDevice")

    nccl = load("libnccl.so.2")
    ids = load("libpaddle_launch_nccl.so.1")
    ids.paddle_launch_nccl_last_error.restype = ctypes.c_char_p
    communicator = ctypes.c_void_p()
    if ids.paddle_launch_nccl_init(ctypes.byref(communicator), DEADLINE_MS) != 0:
        sys.exit(f"all_reduce.py: {ids.paddle_launch_nccl_last_error().decode()}")
    rank, size = int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS_NUM"])
    print(f"rank {rank} of {size}: the sum is {sum_over_all_ranks(cuda, nccl, communicator, rank + 1):.0f}")
    nccl.ncclCommDestroy(communicator)
    return 0


if __name__ == "__main__":
    sys.exit(main())
