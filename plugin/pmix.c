/* SPDX-License-Identifier: Apache-2.0
 * Brings the tasks together by PMIx: under srun --mpi=pmix, mpirun of Open MPI, and other PMIx
 * hosts. */
#define _GNU_SOURCE /* dladdr, in plugin.h */
#include <stdlib.h>

#include "plugin/plugin.h"
#include "plugin/pmix_abi.h"

static struct {
  pmix_status_t (*init)(pmix_proc_t* me, pmix_info_t* info, size_t count);
  pmix_status_t (*finalize)(const pmix_info_t* info, size_t count);
  pmix_status_t (*get)(const pmix_proc_t* task, const char* key, const pmix_info_t* info,
                       size_t count, pmix_value_t** value);
  pmix_status_t (*put)(pmix_scope_t scope, const char* key, pmix_value_t* value);
  pmix_status_t (*commit)(void);
  pmix_status_t (*fence)(const pmix_proc_t* tasks, size_t tasks_count, const pmix_info_t* info,
                         size_t count);
  pmix_status_t (*abort)(int status, const char* message, pmix_proc_t* tasks, size_t count);
  const char* (*error_string)(pmix_status_t status);
  const char* (*version)(void);
} pmix;

static const library_call kCalls[] = {{"PMIx_Init", &pmix.init},
                                      {"PMIx_Finalize", &pmix.finalize},
                                      {"PMIx_Get", &pmix.get},
                                      {"PMIx_Put", &pmix.put},
                                      {"PMIx_Commit", &pmix.commit},
                                      {"PMIx_Fence", &pmix.fence},
                                      {"PMIx_Abort", &pmix.abort},
                                      {"PMIx_Error_string", &pmix.error_string},
                                      {"PMIx_Get_version", &pmix.version},
                                      {NULL, NULL}};

/* A task may come to the fence and yet have put nothing, if its own put failed. */
enum { kSecondsForOneGet = 60 };

static pmix_proc_t me;
static uint32_t task_count;
static unsigned next_exchange; /* the same in all tasks, since all make the same calls */
static bool is_open;

static int check(pmix_status_t status, const char* call, paddle_launch_reason* why) {
  if (status == PMIX_SUCCESS) return 0;
  return fail(why, "%s: %s (%d)", call, pmix.error_string(status), (int)status);
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

static pmix_info_t yes(const char* key) {
  pmix_info_t info = {.value = {.type = PMIX_BOOL, .data = {.flag = true}}};
  snprintf(info.key, sizeof info.key, "%s", key);
  return info;
}

static int read_task_count(paddle_launch_reason* why) {
  pmix_proc_t whole_job = me;
  whole_job.rank = PMIX_RANK_WILDCARD;
  /* The host gives this to every task at the start: no need to ask anyone, nor to wait. */
  const pmix_info_t local_only = yes(PMIX_OPTIONAL);
  pmix_value_t* value = NULL;
  const pmix_status_t status = pmix.get(&whole_job, PMIX_JOB_SIZE, &local_only, 1, &value);
  if (check(status, "PMIx_Get(PMIX_JOB_SIZE)", why)) return 1;
  uint64_t count = 0;
  const bool understood = as_number(value, &count);
  free(value);
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
  return check(pmix.finalize(NULL, 0), "PMIx_Finalize", why);
}

static int open_pmix(paddle_launch_reason* why) {
  const pmix_status_t status = pmix.init(&me, NULL, 0);
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
  pmix_value_t value = {.type = PMIX_BYTE_OBJECT, .data = {.bo = {longer, size + 1}}};
  const pmix_status_t status = pmix.put(PMIX_GLOBAL, key, &value); /* makes a copy */
  free(longer);
  return check(status, "PMIx_Put", why) || check(pmix.commit(), "PMIx_Commit", why);
}

/* Waits for all tasks and brings what they have put to every node. */
static int fence(paddle_launch_reason* why) {
  const pmix_info_t collect = yes(PMIX_COLLECT_DATA);
  return check(pmix.fence(NULL, 0, &collect, 1), "PMIx_Fence", why);
}

static int get(uint32_t rank, const char* key, paddle_launch_take take, void* user,
               paddle_launch_reason* why) {
  pmix_proc_t task = me;
  task.rank = rank;
  /* Not PMIX_OPTIONAL: the fence brought the bytes to the node's server, not into this process. */
  const pmix_info_t limit = {.key = PMIX_TIMEOUT,
                             .value = {.type = PMIX_INT, .data = {.integer = kSecondsForOneGet}}};
  pmix_value_t* value = NULL;
  const pmix_status_t status = pmix.get(&task, key, &limit, 1, &value);
  if (status != PMIX_SUCCESS) {
    return fail(why, "PMIx_Get of task %u: %s (%d)", rank, pmix.error_string(status), (int)status);
  }
  const bool understood = value->type == PMIX_BYTE_OBJECT && value->data.bo.size > 0;
  if (understood) {
    take(user, rank, value->data.bo.bytes, value->data.bo.size - 1);
    free(value->data.bo.bytes);
  } else {
    fail(why, "PMIx_Get of task %u: a value of type %d", rank, (int)value->type);
  }
  free(value);
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
  if (is_open) pmix.abort(status, message, NULL, 0);
}

/* "OpenPMIx 4.2.2rc2 (PMIx Standard: …)" is OpenPMIx 4.2.2rc2. */
__attribute__((visibility("default"))) const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(
    void) {
  static char name[1024];
  static paddle_launch_bootstrap_v1 plugin = {.abi = PADDLE_LAUNCH_BOOTSTRAP_ABI,
                                              .name = name,
                                              .identity = identity,
                                              .allgather = allgather,
                                              .broadcast = broadcast,
                                              .abort = abort_pmix,
                                              .close = close_pmix};
  static const char* const files[] = {"libpmix.so.2", "libpmix.so", NULL};
  paddle_launch_reason why = {name, sizeof name};
  void* library = open_library(files, RTLD_NOW | RTLD_LOCAL, &why);
  if (library == NULL || find_calls(library, kCalls, &why) != 0) return &plugin;
  const char* version = pmix.version();
  int length = (int)strcspn(version, ",(");
  while (length > 0 && version[length - 1] == ' ') --length;
  snprintf(name, sizeof name, "%.*s (%s)", length, version, file_of(&pmix.version));
  plugin.open = open_pmix;
  return &plugin;
}
