/* SPDX-License-Identifier: Apache-2.0
 * Brings the tasks together by MPI. Built once for each implementation: their binaries do not mix.
 */
#define _GNU_SOURCE /* dladdr */
#include <dlfcn.h>
#include <ifaddrs.h>
#include <limits.h>
#include <mpi.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "plugin/bootstrap_abi.h"

static int own_rank;
static int task_count;
static int is_open;

__attribute__((format(printf, 2, 3))) static int fail(paddle_launch_reason* why, const char* format,
                                                      ...) {
  if (why == NULL || why->size == 0) return 1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, why->size, format, arguments);
  va_end(arguments);
  return 1;
}

/* 0, or a reason with MPI's own words on one line (MPICH's are a whole stack). */
static int check(int code, const char* call, paddle_launch_reason* why) {
  if (code == MPI_SUCCESS) return 0;
  char words[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, words, &length);
  for (char* at = words; *at != '\0'; ++at) {
    if (*at == '\n' || *at == '\r') *at = ' ';
  }
  for (size_t end = strlen(words); end > 0 && words[end - 1] == ' '; --end) words[end - 1] = '\0';
  return fail(why, "%s: %s", call, words);
}

#ifdef OPEN_MPI
/* The launcher loads plugins locally, but Open MPI's components are loaded by name at run time, and
 * those of some builds expect to find libmpi's symbols in the global scope. */
static int make_libmpi_global(paddle_launch_reason* why) {
  Dl_info libmpi;
  int (*const somewhere_in_it)(int*, char***) = MPI_Init;
  void* address = NULL;
  memcpy(&address, &somewhere_in_it, sizeof address); /* C has no cast from function to object */
  if (dladdr(address, &libmpi) == 0) return fail(why, "cannot tell which file libmpi is");
  if (dlopen(libmpi.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) != NULL) return 0;
  const char* words = dlerror();
  return fail(why, "cannot make libmpi global: %s", words != NULL ? words : libmpi.dli_fname);
}
#endif

static int close_mpi(paddle_launch_reason* why) {
  if (!is_open) return fail(why, "MPI is not open");
  is_open = 0;
  return check(MPI_Finalize(), "MPI_Finalize", why);
}

static int look_around(paddle_launch_reason* why) {
  /* Without this, a failing call ends the process and there is no reason to show. */
  return check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
               "MPI_Comm_set_errhandler", why) ||
         check(MPI_Comm_rank(MPI_COMM_WORLD, &own_rank), "MPI_Comm_rank", why) ||
         check(MPI_Comm_size(MPI_COMM_WORLD, &task_count), "MPI_Comm_size", why);
}

#ifdef OPEN_MPI
static int has_network(void) {
  struct ifaddrs* list = NULL;
  if (getifaddrs(&list) != 0) return 0;
  int found = 0;
  for (const struct ifaddrs* entry = list; entry != NULL; entry = entry->ifa_next) {
    const int is_ipv4 = entry->ifa_addr != NULL && entry->ifa_addr->sa_family == AF_INET;
    found |= is_ipv4 && (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_LOOPBACK) == 0;
  }
  freeifaddrs(list);
  return found;
}

/* A few hundred bytes need neither InfiniBand, whose set-up takes its time, nor memory in common,
 * which hangs in MPI_Init now and then where tasks are more than cores (open-mpi/ompi#7642). Open
 * MPI does not use loopback for this, so without a network its own choice stands; what the user
 * chose stands always. */
static void prefer_plain_sockets(void) {
  if (!has_network()) return;
  setenv("OMPI_MCA_pml", "ob1", 0);
  setenv("OMPI_MCA_btl", "tcp,self", 0);
}
#endif

static int open_mpi(paddle_launch_reason* why) {
  int before = 0;
  MPI_Initialized(&before);
  /* MPI would end the process. */
  if (before) return fail(why, "MPI was already started in this process");
#ifdef OPEN_MPI
  if (make_libmpi_global(why) != 0) return 1;
  prefer_plain_sockets();
#endif
  int level = 0;
  if (check(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level), "MPI_Init_thread", why)) {
    return 1;
  }
  is_open = 1;
  if (look_around(why) == 0) return 0;
  close_mpi(NULL); /* an open that failed is not closed by the caller */
  return 1;
}

static int identity(uint32_t* rank, uint32_t* size, paddle_launch_reason* why) {
  if (!is_open) return fail(why, "MPI is not open");
  *rank = (uint32_t)own_rank;
  *size = (uint32_t)task_count;
  return 0;
}

/* MPI counts bytes in ints. Everyone knows all sizes here, so all tasks refuse together. */
static int lay_out(const uint64_t* sizes, int* counts, int* offsets, size_t* total,
                   paddle_launch_reason* why) {
  uint64_t sum = 0;
  for (int rank = 0; rank < task_count; ++rank) {
    if (sizes[rank] > INT_MAX || sum + sizes[rank] > INT_MAX) {
      return fail(why, "the tasks give more than %d bytes together", INT_MAX);
    }
    counts[rank] = (int)sizes[rank];
    offsets[rank] = (int)sum;
    sum += sizes[rank];
  }
  *total = (size_t)sum;
  return 0;
}

static int gather_bytes(const void* mine, const uint64_t* sizes, int* counts, int* offsets,
                        paddle_launch_take take, void* user, paddle_launch_reason* why) {
  size_t total = 0;
  if (lay_out(sizes, counts, offsets, &total, why) != 0) return 1;
  char* all = malloc(total + 1);
  if (all == NULL) return fail(why, "no memory for %zu bytes", total);
  int failed = check(MPI_Gatherv(counts[own_rank] > 0 ? mine : "", counts[own_rank], MPI_BYTE, all,
                                 counts, offsets, MPI_BYTE, 0, MPI_COMM_WORLD),
                     "MPI_Gatherv", why) ||
               check(MPI_Bcast(all, (int)total, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast", why);
  for (int rank = 0; rank < task_count && !failed; ++rank) {
    take(user, (uint32_t)rank, all + offsets[rank], (size_t)counts[rank]);
  }
  free(all);
  return failed;
}

static int gather_sizes(uint64_t own, uint64_t* sizes, paddle_launch_reason* why) {
  return check(MPI_Gather(&own, 1, MPI_UINT64_T, sizes, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD),
               "MPI_Gather", why) ||
         check(MPI_Bcast(sizes, task_count, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast", why);
}

/* To task 0 and back, not MPI_Allgather: where two tasks connect to each other at the same moment,
 * Open MPI 4.1 over TCP loses a connection now and then and waits for ever. */
static int allgather(const void* mine, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  if (!is_open) return fail(why, "MPI is not open");
  const size_t tasks = (size_t)task_count;
  uint64_t* sizes = calloc(tasks, sizeof *sizes);
  int* counts = calloc(2 * tasks, sizeof *counts);
  int failed = sizes == NULL || counts == NULL
                   ? fail(why, "no memory for the sizes of %d tasks", task_count)
                   : gather_sizes(size, sizes, why);
  if (!failed) failed = gather_bytes(mine, sizes, counts, counts + tasks, take, user, why);
  free(counts);
  free(sizes);
  return failed;
}

static int broadcast(const void* bytes, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  if (!is_open) return fail(why, "MPI is not open");
  uint64_t agreed = size;
  if (check(MPI_Bcast(&agreed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast", why)) return 1;
  if (agreed > INT_MAX) return fail(why, "task 0 gives more than %d bytes", INT_MAX);
  char* buffer = malloc((size_t)agreed + 1);
  if (buffer == NULL) return fail(why, "no memory for %zu bytes", (size_t)agreed);
  if (own_rank == 0 && agreed > 0) memcpy(buffer, bytes, (size_t)agreed);
  const int failed =
      check(MPI_Bcast(buffer, (int)agreed, MPI_BYTE, 0, MPI_COMM_WORLD), "MPI_Bcast", why);
  if (!failed) take(user, 0, buffer, (size_t)agreed);
  free(buffer);
  return failed;
}

static void abort_mpi(int status, const char* message) {
  if (!is_open) return;
  /* MPI_Abort carries no words. */
  if (message != NULL && *message != '\0') fprintf(stderr, "%s\n", message);
  MPI_Abort(MPI_COMM_WORLD, status);
}

/* "Open MPI v4.1.4, package: Debian OpenMPI, …" is Open MPI 4.1.4,
 * "MPICH Version:      4.0.2\nMPICH Release date: …" is MPICH 4.0.2. */
static void shorten(const char* full, char* name, size_t size) {
  size_t used = 0;
  name[0] = '\0';
  for (const char* word = full; used < size;) {
    word += strspn(word, " \t:");
    size_t length = strcspn(word, " \t:,\r\n");
    if (length == 0) return;
    const char* next = word + length;
    if (length == strlen("version") && strncasecmp(word, "version", length) == 0) length = 0;
    if (length > 1 && word[0] == 'v' && word[1] >= '0' && word[1] <= '9') {
      ++word;
      --length;
    }
    if (length > 0) {
      used += (size_t)snprintf(name + used, size - used, "%s%.*s", used > 0 ? " " : "", (int)length,
                               word);
    }
    word = next;
  }
}

__attribute__((visibility("default"))) const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(
    void) {
  static char name[96];
  static paddle_launch_bootstrap_v1 plugin = {.abi = PADDLE_LAUNCH_BOOTSTRAP_ABI,
                                              .name = name,
                                              .open = open_mpi,
                                              .identity = identity,
                                              .allgather = allgather,
                                              .broadcast = broadcast,
                                              .abort = abort_mpi,
                                              .close = close_mpi};
  static char full[MPI_MAX_LIBRARY_VERSION_STRING + 1];
  int length = 0;
  if (MPI_Get_library_version(full, &length) != MPI_SUCCESS) return NULL;
  shorten(full, name, sizeof name);
  /* Asked at run time: versions 4 and 5 have the same soname, so one build meets both. */
  int major = 0;
  if (sscanf(name, "Open MPI %d", &major) == 1 && major >= 5) {
    plugin.flags = PADDLE_LAUNCH_OPENS_FIRST;
  }
  return &plugin;
}
