/* SPDX-License-Identifier: Apache-2.0 */
/* For trainers: the NCCL ids that paddle-launch made for this round, and a communicator out of
 * them. A C interface for C, C++ and Python's ctypes; link with -lpaddle_launch_nccl. Neither CUDA
 * nor NCCL is linked: the libnccl that the process already has is used. docs/nccl.md tells more. */
#ifndef PADDLE_LAUNCH_NCCL_H
#define PADDLE_LAUNCH_NCCL_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PADDLE_LAUNCH_NCCL_ID_BYTES 128

/* Every function returns this when it did not work; the reason is in the last error. */
#define PADDLE_LAUNCH_NCCL_FAILED (-1)

/* How many ids the launcher made: one for each 256 ranks. Not one: it made none. */
int paddle_launch_nccl_id_count(void);

/* Copies id `index` to `id`, which has room for PADDLE_LAUNCH_NCCL_ID_BYTES. 0: done. */
int paddle_launch_nccl_id(int index, void* id);

/* ncclGetVersion of the libnccl that made the ids: 22809 is 2.28.9. */
int paddle_launch_nccl_version(void);

/* 0: this process has the same version of NCCL. 1: another one; ranks would hang, since how they
 * check in differs. PADDLE_LAUNCH_NCCL_FAILED: it cannot be told. `why` gets the words, cut at
 * `size`; it may be null. */
int paddle_launch_nccl_check_version(char* why, size_t size);

/* Opens the communicator of all trainers: *communicator becomes an ncclComm_t. Its size and this
 * rank are PADDLE_TRAINERS_NUM and PADDLE_TRAINER_ID. Choose the device (cudaSetDevice) before.
 * Ends at the deadline, with the communicator aborted and the last error set. 0: done.
 * Once a process: an id serves one communicator, once. */
int paddle_launch_nccl_init(void** communicator, int deadline_ms);

/* Why the last call on this thread failed; never null. */
const char* paddle_launch_nccl_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
