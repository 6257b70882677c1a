/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a communicator with the launcher's ids, and never waits longer than it was told to: a rank
 * that is missing leaves all others in NCCL's accept for good. */
#define _GNU_SOURCE
#include <nccl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "plugin/nccl/hand_over.h"

enum { kPauseMs = 2 };

struct nccl {
  ncclResult_t (*init_config)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*);
  ncclResult_t (*init_scalable)(ncclComm_t*, int, int, int, ncclUniqueId*, ncclConfig_t*);
  ncclResult_t (*async_error)(ncclComm_t, ncclResult_t*);
  ncclResult_t (*abort)(ncclComm_t);
  const char* (*error_string)(ncclResult_t);
  const char* (*last_error)(ncclComm_t);
};

struct world {
  int size;
  int rank;
  int id_count;
  ncclUniqueId* ids;
};

static atomic_flag used = ATOMIC_FLAG_INIT;

/* The functions that every world needs. False: the last error is set. */
static int find_functions(struct nccl* nccl, int id_count) {
  nccl->async_error =
      (ncclResult_t(*)(ncclComm_t, ncclResult_t*))find_nccl_function("ncclCommGetAsyncError");
  nccl->abort = (ncclResult_t(*)(ncclComm_t))find_nccl_function("ncclCommAbort");
  nccl->error_string = (const char* (*)(ncclResult_t))find_nccl_function("ncclGetErrorString");
  nccl->last_error = (const char* (*)(ncclComm_t))find_nccl_function("ncclGetLastError");
  if (id_count == 1) {
    nccl->init_config =
        (ncclResult_t(*)(ncclComm_t*, int, ncclUniqueId, int, ncclConfig_t*))find_nccl_function(
            "ncclCommInitRankConfig");
  } else {
    nccl->init_scalable =
        (ncclResult_t(*)(ncclComm_t*, int, int, int, ncclUniqueId*,
                         ncclConfig_t*))find_nccl_function("ncclCommInitRankScalable");
  }
  return nccl->async_error != NULL && nccl->abort != NULL && nccl->error_string != NULL &&
         nccl->last_error != NULL && (nccl->init_config != NULL || nccl->init_scalable != NULL);
}

/* False: the last error is set. The ids are the caller's to free. */
static int read_world(struct world* world) {
  world->size = number_from("PADDLE_TRAINERS_NUM", 1);
  if (world->size < 0) return 0;
  world->rank = number_from("PADDLE_TRAINER_ID", 0);
  if (world->rank < 0) return 0;
  if (world->rank >= world->size) {
    fail(
        "PADDLE_TRAINER_ID=%d is not below PADDLE_TRAINERS_NUM=%d; leave both as paddle-launch set "
        "them",
        world->rank, world->size);
    return 0;
  }
  world->id_count = paddle_launch_nccl_id_count();
  if (world->id_count < 0) return 0;
  world->ids = calloc((size_t)world->id_count, sizeof *world->ids);
  if (world->ids == NULL) {
    fail("no memory for %d ids", world->id_count);
    return 0;
  }
  for (int i = 0; i < world->id_count; ++i) {
    if (paddle_launch_nccl_id(i, &world->ids[i]) != 0) return 0;
  }
  return 1;
}

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static ncclResult_t begin(const struct nccl* nccl, const struct world* world, ncclComm_t* comm) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  if (world->id_count == 1) {
    return nccl->init_config(comm, world->size, world->ids[0], world->rank, &config);
  }
  return nccl->init_scalable(comm, world->size, world->rank, world->id_count, world->ids, &config);
}

/* ncclInProgress: it was not done at the deadline. */
static ncclResult_t await(const struct nccl* nccl, ncclComm_t comm, int deadline_ms) {
  const long long until = now_ms() + deadline_ms;
  const struct timespec pause = {0, kPauseMs * 1000000L};
  for (;;) {
    ncclResult_t state = ncclInProgress;
    const ncclResult_t asked = nccl->async_error(comm, &state);
    if (asked != ncclSuccess) return asked;
    if (state != ncclInProgress || now_ms() >= until) return state;
    nanosleep(&pause, NULL);
  }
}

static int explain(const struct nccl* nccl, const struct world* world, ncclResult_t result,
                   int deadline_ms) {
  if (result == ncclInProgress) {
    return fail(
        "rank %d of %d: NCCL was not up after %d ms; look for a trainer that never called"
        " this or ended early (workerlog.*), an interface that the others cannot reach"
        " (NCCL_SOCKET_IFNAME), a firewall; NCCL_DEBUG=INFO shows each step",
        world->rank, world->size, deadline_ms);
  }
  const char* words = nccl->last_error(NULL);
  return fail("rank %d of %d: NCCL did not come up: %s%s%s", world->rank, world->size,
              nccl->error_string(result), words != NULL && *words != '\0' ? ": " : "",
              words != NULL ? words : "");
}

static int open_communicator(const struct world* world, void** communicator, int deadline_ms) {
  struct nccl nccl = {0};
  if (!find_functions(&nccl, world->id_count)) return PADDLE_LAUNCH_NCCL_FAILED;
  if (atomic_flag_test_and_set(&used)) {
    return fail(
        "the launcher's ids were used already: an id serves one communicator, once; split"
        " the first one (ncclCommSplit) or make an id with ncclGetUniqueId");
  }
  ncclComm_t comm = NULL;
  ncclResult_t result = begin(&nccl, world, &comm);
  if (result == ncclInProgress || result == ncclSuccess) result = await(&nccl, comm, deadline_ms);
  if (result == ncclSuccess) {
    *communicator = comm;
    return 0;
  }
  explain(&nccl, world, result, deadline_ms); /* before the abort, which has words of its own */
  if (comm != NULL) nccl.abort(comm);
  return PADDLE_LAUNCH_NCCL_FAILED;
}

EXPORTED int paddle_launch_nccl_init(void** communicator, int deadline_ms) {
  struct world world = {0};
  int result = PADDLE_LAUNCH_NCCL_FAILED;
  *communicator = NULL;
  if (read_world(&world) && paddle_launch_nccl_check_version(NULL, 0) == 0) {
    result = open_communicator(&world, communicator, deadline_ms);
  }
  free(world.ids);
  return result;
}
