/* SPDX-License-Identifier: Apache-2.0
 * Brings the tasks together by MPI, whichever is there: the library is loaded when the job starts,
 * and a table says what the handles of its binary interface are. Nothing of MPI is needed to build
 * this. A test compares the table with the mpi.h of the machine. */
#define _GNU_SOURCE /* dladdr */
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>

#include "plugin/mpi_abi.h"
#include "plugin/plugin.h"

/* Those of MPICH are ints: the low half of a register, or of a place on the stack, that a pointer
 * fills as well, on all processors with 64 bits. */
typedef void* handle;

static struct {
  int (*init)(int* count, char*** words);
  int (*initialized)(int* is_it);
  int (*finalize)(void);
  int (*abort)(handle everybody, int status);
  int (*library_version)(char* text, int* length);
  int (*error_string)(int code, char* text, int* length);
  int (*set_errhandler)(handle everybody, handle handler);
  int (*rank)(handle everybody, int* rank);
  int (*size)(handle everybody, int* size);
  int (*bcast)(void* bytes, int count, handle type, int root, handle everybody);
  int (*gather)(const void* mine, int count, handle type, void* all, int count_of_each,
                handle type_of_each, int root, handle everybody);
  int (*gatherv)(const void* mine, int count, handle type, void* all, const int* counts,
                 const int* offsets, handle type_of_each, int root, handle everybody);
} mpi;

static const library_call kCalls[] = {{"MPI_Init", &mpi.init},
                                      {"MPI_Initialized", &mpi.initialized},
                                      {"MPI_Finalize", &mpi.finalize},
                                      {"MPI_Abort", &mpi.abort},
                                      {"MPI_Get_library_version", &mpi.library_version},
                                      {"MPI_Error_string", &mpi.error_string},
                                      {"MPI_Comm_set_errhandler", &mpi.set_errhandler},
                                      {"MPI_Comm_rank", &mpi.rank},
                                      {"MPI_Comm_size", &mpi.size},
                                      {"MPI_Bcast", &mpi.bcast},
                                      {"MPI_Gather", &mpi.gather},
                                      {"MPI_Gatherv", &mpi.gatherv},
                                      {NULL, NULL}};

static handle everybody;
static handle bytes_type;
static handle errors_return;
static int own_rank;
static int task_count;
static int is_open;

/* 0, or a reason with MPI's own words on one line (MPICH's are a whole stack). */
static int check(int code, const char* call, paddle_launch_reason* why) {
  if (code == 0) return 0;
  char words[1024] = ""; /* MPI writes up to 512 */
  int length = 0;
  mpi.error_string(code, words, &length);
  for (char* at = words; *at != '\0'; ++at) {
    if (*at == '\n' || *at == '\r') *at = ' ';
  }
  for (size_t end = strlen(words); end > 0 && words[end - 1] == ' '; --end) words[end - 1] = '\0';
  return fail(why, "%s: %s", call, words);
}

static int close_mpi(paddle_launch_reason* why) {
  if (!is_open) return fail(why, "MPI is not open");
  is_open = 0;
  return check(mpi.finalize(), "MPI_Finalize", why);
}

static int look_around(paddle_launch_reason* why) {
  /* Without this, a failing call ends the process and there is no reason to show. */
  return check(mpi.set_errhandler(everybody, errors_return), "MPI_Comm_set_errhandler", why) ||
         check(mpi.rank(everybody, &own_rank), "MPI_Comm_rank", why) ||
         check(mpi.size(everybody, &task_count), "MPI_Comm_size", why);
}

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
 * which hangs in MPI_Init now and then where tasks are more than cores (open-mpi/ompi#7642). Nor do
 * they need IPv6, which Open MPI 6.0 takes for a way to hosts where it is link-local. Open MPI does
 * not use loopback for this, so without a network its own choice stands; what the user chose stands
 * always. */
static void prefer_plain_sockets(void) {
  if (!has_network()) return;
  setenv("OMPI_MCA_pml", "ob1", 0);
  setenv("OMPI_MCA_btl", "tcp,self", 0);
  setenv("OMPI_MCA_btl_tcp_disable_family", "6", 0);
}

static int open_mpi(paddle_launch_reason* why) {
  int before = 0;
  mpi.initialized(&before);
  /* MPI would end the process. */
  if (before) return fail(why, "MPI was already started in this process");
  prefer_plain_sockets();
  if (check(mpi.init(NULL, NULL), "MPI_Init", why)) return 1;
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
  int failed = check(mpi.gatherv(counts[own_rank] > 0 ? mine : "", counts[own_rank], bytes_type,
                                 all, counts, offsets, bytes_type, 0, everybody),
                     "MPI_Gatherv", why) ||
               check(mpi.bcast(all, (int)total, bytes_type, 0, everybody), "MPI_Bcast", why);
  for (int rank = 0; rank < task_count && !failed; ++rank) {
    take(user, (uint32_t)rank, all + offsets[rank], (size_t)counts[rank]);
  }
  free(all);
  return failed;
}

static int gather_sizes(uint64_t own, uint64_t* sizes, paddle_launch_reason* why) {
  const int all = task_count * (int)sizeof own;
  return check(
             mpi.gather(&own, sizeof own, bytes_type, sizes, sizeof own, bytes_type, 0, everybody),
             "MPI_Gather", why) ||
         check(mpi.bcast(sizes, all, bytes_type, 0, everybody), "MPI_Bcast", why);
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
  if (check(mpi.bcast(&agreed, sizeof agreed, bytes_type, 0, everybody), "MPI_Bcast", why)) {
    return 1;
  }
  if (agreed > INT_MAX) return fail(why, "task 0 gives more than %d bytes", INT_MAX);
  char* buffer = malloc((size_t)agreed + 1);
  if (buffer == NULL) return fail(why, "no memory for %zu bytes", (size_t)agreed);
  if (own_rank == 0 && agreed > 0) memcpy(buffer, bytes, (size_t)agreed);
  const int failed =
      check(mpi.bcast(buffer, (int)agreed, bytes_type, 0, everybody), "MPI_Bcast", why);
  if (!failed) take(user, 0, buffer, (size_t)agreed);
  free(buffer);
  return failed;
}

static void abort_mpi(int status, const char* message) {
  if (!is_open) return;
  /* MPI_Abort carries no words. */
  if (message != NULL && *message != '\0') fprintf(stderr, "%s\n", message);
  mpi.abort(everybody, status);
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

/* Open MPI from 5 on calls PMIx_Init, which tells it who it is, only if this says that nobody has
 * yet, and would know nothing inside our PMIx. PMIx itself counts how often it was opened. */
__attribute__((visibility("default"))) int PMIx_Initialized(void) { return 0; }

/* The function above goes before that of PMIx only in the global scope. There libmpi has to be as
 * well: components of some builds of Open MPI look for its symbols by name. */
static int make_this_global(paddle_launch_reason* why) {
  int (*const own_function)(void) = PMIx_Initialized;
  if (dlopen(file_of(&own_function), RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD) != NULL) return 0;
  return fail(why, "the plugin cannot be made global");
}

static int find_handles(const mpi_abi* abi, void* library, paddle_launch_reason* why) {
  handle* const handles[] = {&everybody, &bytes_type, &errors_return};
  for (size_t i = 0; i < 3; ++i) {
    *handles[i] = abi->symbols[i] != NULL ? dlsym(library, abi->symbols[i])
                                          : (void*)(uintptr_t)abi->numbers[i]; /* NOLINT */
    if (*handles[i] == NULL) return fail(why, "there is no %s in it", abi->symbols[i]);
  }
  return 0;
}

/* Only the MPI of whoever started us understands its tasks. */
static int is_started_by_open_mpi(void) {
  return getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMI_SIZE") == NULL;
}

/* Into `name` the library's name and file, or why there is none. */
static int find_mpi(const mpi_abi* abi, char* name, size_t size) {
  paddle_launch_reason why = {name, size};
  static char full[8193]; /* as long as any library writes */
  int length = 0;
  void* library = open_library(abi->files, RTLD_NOW | RTLD_GLOBAL, &why);
  if (library == NULL || find_calls(library, kCalls, &why) != 0) return 1;
  if (find_handles(abi, library, &why) != 0) return 1;
  if (mpi.library_version(full, &length) != 0) return fail(&why, "MPI_Get_library_version fails");
  shorten(full, name, size);
  const size_t used = strlen(name);
  const int is_theirs = (strncmp(full, "Open MPI", 8) == 0) == is_started_by_open_mpi();
  snprintf(name + used, size - used, " (%s)%s", file_of(&mpi.init),
           is_theirs ? "" : " is not the MPI that started the tasks");
  return !is_theirs;
}

__attribute__((visibility("default"))) const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(
    void) {
  static char name[2048];
  static paddle_launch_bootstrap_v1 plugin = {.abi = PADDLE_LAUNCH_BOOTSTRAP_ABI,
                                              .name = name,
                                              .identity = identity,
                                              .allgather = allgather,
                                              .broadcast = broadcast,
                                              .abort = abort_mpi,
                                              .close = close_mpi};
  paddle_launch_reason why = {name, sizeof name};
  if (make_this_global(&why) != 0) return &plugin;
  const mpi_abi* const own = is_started_by_open_mpi() ? &kOpenMpi : &kMpich;
  char first[sizeof name / 2];
  if (find_mpi(own, first, sizeof first) == 0) {
    snprintf(name, sizeof name, "%s", first);
    plugin.open = open_mpi;
  } else if (find_mpi(&kStandard, name, sizeof name) == 0) {
    plugin.open = open_mpi;
  } else {
    snprintf(name, sizeof name, "%s", first);
  }
  return &plugin;
}
