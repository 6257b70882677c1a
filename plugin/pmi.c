/* SPDX-License-Identifier: Apache-2.0
 * Brings the tasks together by PMI-1, spoken directly: a few lines of text over the descriptor that
 * Hydra (mpiexec of MPICH, of Intel MPI and of their relatives) gives each task. No library is
 * needed, and an MPI that is started afterwards in the same process goes on with the same
 * connection. */
#define _GNU_SOURCE /* dladdr, in plugin.h */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "plugin/plugin.h"

/* Hydra's clients keep lines below 1024 bytes, names and all. */
enum { kLongestLine = 4096, kLongestValue = 700, kHexSize = 17 };

static int connection = -1;
static uint32_t own_rank;
static uint32_t task_count;
static size_t bytes_per_value;
static unsigned next_exchange; /* the same in all tasks, since all make the same calls */
static char space[512];        /* the name of this job's keys and values */
static char heard[kLongestLine];
static size_t heard_size;

static int number_of(const char* text, uint32_t* number) {
  char* end = NULL;
  const unsigned long value = text != NULL ? strtoul(text, &end, 10) : 0;
  *number = (uint32_t)value;
  return end != NULL && end != text && *end == '\0' && value <= UINT32_MAX;
}

static int say(const char* line, paddle_launch_reason* why) {
  for (size_t left = strlen(line); left > 0;) {
    const ssize_t count = write(connection, line, left);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return fail(why, "mpiexec does not listen: %s", strerror(errno));
    line += count;
    left -= (size_t)count;
  }
  return 0;
}

/* One line, without its end. */
static int hear(char* line, paddle_launch_reason* why) {
  const char* end = NULL;
  while ((end = memchr(heard, '\n', heard_size)) == NULL) {
    if (heard_size == sizeof heard) return fail(why, "mpiexec says more than a line can hold");
    const ssize_t count = read(connection, heard + heard_size, sizeof heard - heard_size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(why, "mpiexec does not speak: %s", strerror(errno));
    if (count == 0) return fail(why, "mpiexec has closed the connection");
    heard_size += (size_t)count;
  }
  const size_t length = (size_t)(end - heard);
  memcpy(line, heard, length);
  line[length] = '\0';
  heard_size -= length + 1;
  memmove(heard, end + 1, heard_size);
  return 0;
}

/* The value of "name=value" in a line, up to the next space; 0: it is not there. */
static int field(const char* line, const char* name, char* value, size_t size) {
  const size_t length = strlen(name);
  for (const char* word = line; word != NULL; word = strchr(word, ' ')) {
    word += strspn(word, " ");
    if (strncmp(word, name, length) != 0 || word[length] != '=') continue;
    word += length + 1;
    return snprintf(value, size, "%.*s", (int)strcspn(word, " "), word) < (int)size;
  }
  return 0;
}

/* Says it and hears the answer, which must be the one that is expected. */
static int ask(const char* question, const char* expected, char* answer,
               paddle_launch_reason* why) {
  char text[64];
  if (say(question, why) || hear(answer, why)) return 1;
  const int is_it = field(answer, "cmd", text, sizeof text) && strcmp(text, expected) == 0;
  if (!is_it) return fail(why, "mpiexec answers '%s' and not %s", answer, expected);
  if (!field(answer, "rc", text, sizeof text) || strcmp(text, "0") == 0) return 0;
  return fail(why, "mpiexec refuses: %s", answer);
}

static int open_pmi(paddle_launch_reason* why) {
  char answer[kLongestLine];
  char number[32] = "";
  uint32_t longest = 0;
  uint32_t descriptor = 0;
  if (!number_of(getenv("PMI_FD"), &descriptor) || !number_of(getenv("PMI_RANK"), &own_rank) ||
      !number_of(getenv("PMI_SIZE"), &task_count)) {
    return fail(why, "PMI_FD, PMI_RANK and PMI_SIZE must be set");
  }
  connection = (int)descriptor;
  if (ask("cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init", answer, why) ||
      ask("cmd=get_maxes\n", "maxes", answer, why)) {
    return 1;
  }
  if (!field(answer, "vallen_max", number, sizeof number) || !number_of(number, &longest) ||
      longest < 64) {
    return fail(why, "mpiexec does not say how long a value may be: %s", answer);
  }
  bytes_per_value = ((longest < kLongestValue ? longest : kLongestValue) - kHexSize - 2) / 2;
  if (ask("cmd=get_my_kvsname\n", "my_kvsname", answer, why)) return 1;
  if (field(answer, "kvsname", space, sizeof space)) return 0;
  return fail(why, "mpiexec does not name the job's values: %s", answer);
}

static int identity(uint32_t* rank, uint32_t* size, paddle_launch_reason* why) {
  (void)why;
  *rank = own_rank;
  *size = task_count;
  return 0;
}

static int fence(paddle_launch_reason* why) {
  char answer[kLongestLine];
  return ask("cmd=barrier_in\n", "barrier_out", answer, why);
}

/* In parts, as hex: a value has no spaces and no line ends. The first part begins with the size of
 * the whole. */
static int put(const void* bytes, size_t size, paddle_launch_reason* why) {
  char line[kLongestLine];
  char answer[kLongestLine];
  const unsigned char* at = bytes;
  size_t left = size;
  for (unsigned part = 0; part == 0 || left > 0; ++part) {
    int used = snprintf(line, sizeof line, "cmd=put kvsname=%s key=pdl-%u-%u-%u value=", space,
                        next_exchange, own_rank, part);
    if (part == 0) used += snprintf(line + used, sizeof line - (size_t)used, "%zx:", size);
    size_t count = left < bytes_per_value ? left : bytes_per_value;
    for (left -= count; count > 0; --count) {
      used += snprintf(line + used, sizeof line - (size_t)used, "%02x", *at++);
    }
    snprintf(line + used, sizeof line - (size_t)used, "\n");
    if (ask(line, "put_result", answer, why)) return 1;
  }
  return 0;
}

static int get_part(uint32_t rank, unsigned part, char* value, paddle_launch_reason* why) {
  char line[kLongestLine];
  char answer[kLongestLine];
  snprintf(line, sizeof line, "cmd=get kvsname=%s key=pdl-%u-%u-%u\n", space, next_exchange, rank,
           part);
  if (ask(line, "get_result", answer, why)) return 1;
  if (field(answer, "value", value, kLongestLine)) return 0;
  return fail(why, "mpiexec gives no value of task %u: %s", rank, answer);
}

static int unhex(const char* hex, unsigned char* bytes, size_t room, size_t* used) {
  for (; *hex != '\0'; hex += 2) {
    unsigned byte = 0;
    if (*used == room || sscanf(hex, "%2x", &byte) != 1 || hex[1] == '\0') return 1;
    bytes[(*used)++] = (unsigned char)byte;
  }
  return 0;
}

static int get(uint32_t rank, paddle_launch_take take, void* user, paddle_launch_reason* why) {
  char value[kLongestLine];
  if (get_part(rank, 0, value, why)) return 1;
  char* hex = NULL;
  const size_t size = strtoul(value, &hex, 16);
  unsigned char* bytes = *hex++ == ':' ? malloc(size + 1) : NULL;
  size_t used = 0;
  int failed = bytes == NULL ? fail(why, "what task %u gave cannot be read", rank) : 0;
  for (unsigned part = 1; !failed; ++part) {
    const size_t before = used;
    failed = unhex(hex, bytes, size, &used) || (used == before && used < size)
                 ? fail(why, "what task %u gave cannot be read", rank)
                 : 0;
    if (failed || used == size) break;
    failed = get_part(rank, part, value, why);
    hex = value;
  }
  if (!failed) take(user, rank, bytes, size);
  free(bytes);
  return failed;
}

static int allgather(const void* mine, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  if (put(mine, size, why) || fence(why)) return 1;
  for (uint32_t rank = 0; rank < task_count; ++rank) {
    if (rank == own_rank) {
      take(user, rank, mine, size);
    } else if (get(rank, take, user, why)) {
      return 1;
    }
  }
  ++next_exchange;
  return 0;
}

static int broadcast(const void* bytes, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  if (own_rank == 0 && put(bytes, size, why)) return 1;
  if (fence(why)) return 1;
  if (own_rank == 0) {
    take(user, 0, bytes, size);
  } else if (get(0, take, user, why)) {
    return 1;
  }
  ++next_exchange;
  return 0;
}

static void abort_pmi(int status, const char* message) {
  char line[64];
  if (message != NULL && *message != '\0') fprintf(stderr, "%s\n", message);
  snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", status);
  say(line, NULL);
}

static int close_pmi(paddle_launch_reason* why) {
  char answer[kLongestLine];
  const int failed = ask("cmd=finalize\n", "finalize_ack", answer, why);
  close(connection);
  connection = -1;
  return failed;
}

__attribute__((visibility("default"))) const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(
    void) {
  static const paddle_launch_bootstrap_v1 plugin = {.abi = PADDLE_LAUNCH_BOOTSTRAP_ABI,
                                                    .flags = PADDLE_LAUNCH_INNER_TAKES_LEAVE,
                                                    .name = "PMI-1 of mpiexec",
                                                    .open = open_pmi,
                                                    .identity = identity,
                                                    .allgather = allgather,
                                                    .broadcast = broadcast,
                                                    .abort = abort_pmi,
                                                    .close = close_pmi};
  static const paddle_launch_bootstrap_v1 unusable = {
      .abi = PADDLE_LAUNCH_BOOTSTRAP_ABI, .name = "mpiexec gave no connection (PMI_FD)"};
  return getenv("PMI_FD") != NULL ? &plugin : &unusable;
}
