/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of this library share. */
#ifndef PADDLE_LAUNCH_NCCL_HAND_OVER_H
#define PADDLE_LAUNCH_NCCL_HAND_OVER_H

#include "plugin/nccl/paddle_launch_nccl.h"

#define EXPORTED __attribute__((visibility("default")))

/* Sets the last error and returns PADDLE_LAUNCH_NCCL_FAILED. */
int fail(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* A function of the process's libnccl; null: the last error is set. */
typedef void (*nccl_function)(void);
nccl_function find_nccl_function(const char* name);

/* A number of the environment that is at least `least`; or PADDLE_LAUNCH_NCCL_FAILED. */
int number_from(const char* variable, int least);

#endif
