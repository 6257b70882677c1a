/* SPDX-License-Identifier: Apache-2.0
 * Brings the tasks together by PMIx: under srun --mpi=pmix, mpirun of Open MPI, and other PMIx
 * hosts. */
#define _DEFAULT_SOURCE /* pmix.h calls strdup and setenv, which plain C11 does not declare */
#include <pmix.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/bootstrap_abi.h"

/* A task may come to the fence and yet have put nothing, if its own put failed. */
static const int kSecondsForOneGet = 60;

static pmix_proc_t me;
static uint32_t task_count;
static unsigned next_exchange; /* the same in all tasks, since all make the same calls */
static bool is_open;

__attribute__((format(printf, 2, 3))) static int fail(paddle_launch_reason* why, const char* format,
                                                      ...) {
  if (why == NULL || why->size == 0) return 1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, why->size, format, arguments);
  va_end(arguments);
  return 1;
}

static int check(pmix_status_t status, const char* call, paddle_launch_reason* why) {
  if (status == PMIX_SUCCESS) return 0;
  return fail(why, "%s: %s (%d)", call, PMIx_Error_string(status), (int)status);
}

/* Hosts disagree on the width. */
static bool as_number(const pmix_value_t* value, uint64_t* number) {
  int64_t number_with_sign = 0;
  switch (value->type) {
    case PMIX_SIZE:
      *number = value->data.size;
      return true;
    case PMIX_UINT:
      *number = value->data.uint;
      return true;
    case PMIX_UINT8:
      *number = value->data.uint8;
      return true;
    case PMIX_UINT16:
      *number = value->data.uint16;
      return true;
    case PMIX_UINT32:
      *number = value->data.uint32;
      return true;
    case PMIX_UINT64:
      *number = value->data.uint64;
      return true;
    case PMIX_INT:
      number_with_sign = value->data.integer;
      break;
    case PMIX_INT8:
      number_with_sign = value->data.int8;
      break;
    case PMIX_INT16:
      number_with_sign = value->data.int16;
      break;
    case PMIX_INT32:
      number_with_sign = value->data.int32;
      break;
    case PMIX_INT64:
      number_with_sign = value->data.int64;
      break;
    default:
      return false;
  }
  *number = (uint64_t)number_with_sign;
  return number_with_sign >= 0;
}

static int read_task_count(paddle_launch_reason* why) {
  pmix_proc_t whole_job;
  PMIX_LOAD_PROCID(&whole_job, me.nspace, PMIX_RANK_WILDCARD);
  /* The host gives this to every task at the start: no need to ask anyone, nor to wait. */
  bool yes = true;
  pmix_info_t local_only;
  PMIX_INFO_CONSTRUCT(&local_only);
  PMIX_INFO_LOAD(&local_only, PMIX_OPTIONAL, &yes, PMIX_BOOL);
  pmix_value_t* value = NULL;
  const pmix_status_t status = PMIx_Get(&whole_job, PMIX_JOB_SIZE, &local_only, 1, &value);
  PMIX_INFO_DESTRUCT(&local_only);
  if (check(status, "PMIx_Get(PMIX_JOB_SIZE)", why)) return 1;
  uint64_t count = 0;
  const bool understood = as_number(value, &count);
  PMIX_VALUE_RELEASE(value);
  if (!understood || count == 0 || count > UINT32_MAX || me.rank >= count) {
    return fail(why, "the PMIx server says that this is rank %u of %llu tasks", me.rank,
                (unsigned long long)count);
  }
  task_count = (uint32_t)count;
  return 0;
}

static int close_pmix(paddle_launch_reason* why) {
  if (!is_open) return fail(why, "PMIx is not open");
  is_open = false;
  return check(PMIx_Finalize(NULL, 0), "PMIx_Finalize", why);
}

static int open_pmix(paddle_launch_reason* why) {
  const pmix_status_t status = PMIx_Init(&me, NULL, 0);
  /* The return value alone decides: without a server PMIx_Initialized() is true all the same, and
   * PMIx_Finalize() may crash (4.2.2, when PMIX_RANK of another job is still set). */
  if (status == PMIX_ERR_UNREACH) {
    return fail(why, "no PMIx server answers; start the tasks with srun --mpi=pmix or with mpirun");
  }
  if (check(status, "PMIx_Init", why)) return 1;
  is_open = true;
  if (read_task_count(why) == 0) return 0;
  close_pmix(NULL); /* an open that failed is not closed by the caller */
  return 1;
}

static int identity(uint32_t* rank, uint32_t* size, paddle_launch_reason* why) {
  if (!is_open) return fail(why, "PMIx is not open");
  *rank = me.rank;
  *size = task_count;
  return 0;
}

/* With one byte more than given: after an empty value, PMIx 4.2.2 now and then loses the next one
 * of the same task (its store in shared memory; one run in twenty). */
static int put(const char* key, const void* bytes, size_t size, paddle_launch_reason* why) {
  char* longer = calloc(1, size + 1);
  if (longer == NULL) return fail(why, "no memory for %zu bytes", size);
  if (size > 0) memcpy(longer, bytes, size);
  pmix_value_t value;
  PMIX_VALUE_CONSTRUCT(&value);
  value.type = PMIX_BYTE_OBJECT;
  value.data.bo.bytes = longer;
  value.data.bo.size = size + 1;
  const pmix_status_t status = PMIx_Put(PMIX_GLOBAL, key, &value); /* makes a copy */
  free(longer);
  return check(status, "PMIx_Put", why) || check(PMIx_Commit(), "PMIx_Commit", why);
}

/* Waits for all tasks and brings what they have put to every node. */
static int fence(paddle_launch_reason* why) {
  bool yes = true;
  pmix_info_t collect;
  PMIX_INFO_CONSTRUCT(&collect);
  PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
  const pmix_status_t status = PMIx_Fence(NULL, 0, &collect, 1);
  PMIX_INFO_DESTRUCT(&collect);
  return check(status, "PMIx_Fence", why);
}

static int get(uint32_t rank, const char* key, paddle_launch_take take, void* user,
               paddle_launch_reason* why) {
  pmix_proc_t task;
  PMIX_LOAD_PROCID(&task, me.nspace, rank);
  /* Not PMIX_OPTIONAL: the fence brought the bytes to the node's server, not into this process. */
  int seconds = kSecondsForOneGet;
  pmix_info_t limit;
  PMIX_INFO_CONSTRUCT(&limit);
  PMIX_INFO_LOAD(&limit, PMIX_TIMEOUT, &seconds, PMIX_INT);
  pmix_value_t* value = NULL;
  const pmix_status_t status = PMIx_Get(&task, key, &limit, 1, &value);
  PMIX_INFO_DESTRUCT(&limit);
  if (status != PMIX_SUCCESS) {
    return fail(why, "PMIx_Get of task %u: %s (%d)", rank, PMIx_Error_string(status), (int)status);
  }
  const bool understood = value->type == PMIX_BYTE_OBJECT && value->data.bo.size > 0;
  if (understood) {
    take(user, rank, value->data.bo.bytes, value->data.bo.size - 1);
  } else {
    fail(why, "PMIx_Get of task %u: a value of type %d", rank, (int)value->type);
  }
  PMIX_VALUE_RELEASE(value);
  return !understood;
}

/* A key is never used twice: the old value might be the one that comes back. */
static void name_exchange(pmix_key_t key) {
  snprintf(key, sizeof(pmix_key_t), "pdl.%u", next_exchange++);
}

static int allgather(const void* mine, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  if (!is_open) return fail(why, "PMIx is not open");
  pmix_key_t key;
  name_exchange(key);
  if (put(key, mine, size, why) || fence(why)) return 1;
  for (uint32_t rank = 0; rank < task_count; ++rank) {
    if (rank == me.rank) {
      take(user, rank, mine, size);
    } else if (get(rank, key, take, user, why) != 0) {
      return 1;
    }
  }
  return 0;
}

static int broadcast(const void* bytes, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  if (!is_open) return fail(why, "PMIx is not open");
  pmix_key_t key;
  name_exchange(key);
  if (me.rank == 0 && put(key, bytes, size, why) != 0) return 1;
  if (fence(why) != 0) return 1;
  if (me.rank != 0) return get(0, key, take, user, why);
  take(user, 0, bytes, size);
  return 0;
}

static void abort_pmix(int status, const char* message) {
  if (is_open) PMIx_Abort(status, message, NULL, 0);
}

/* "OpenPMIx 4.2.2rc2 (PMIx Standard: …)" is OpenPMIx 4.2.2rc2. */
__attribute__((visibility("default"))) const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(
    void) {
  static char name[64];
  static const paddle_launch_bootstrap_v1 plugin = {.abi = PADDLE_LAUNCH_BOOTSTRAP_ABI,
                                                    .name = name,
                                                    .open = open_pmix,
                                                    .identity = identity,
                                                    .allgather = allgather,
                                                    .broadcast = broadcast,
                                                    .abort = abort_pmix,
                                                    .close = close_pmix};
  snprintf(name, sizeof name, "%s", PMIx_Get_version());
  name[strcspn(name, ",(")] = '\0';
  for (size_t end = strlen(name); end > 0 && name[end - 1] == ' '; --end) name[end - 1] = '\0';
  return &plugin;
}
