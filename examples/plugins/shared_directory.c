/* SPDX-License-Identifier: Apache-2.0
 * A complete bootstrap plugin: tasks meet through files in a directory that all of them see.
 * SITE_RANK and SITE_SIZE say who a task is; SITE_DIRECTORY is new for each job. How to build and
 * use it is in docs/writing-a-plugin.md. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bootstrap_abi.h"

static const useconds_t kPause = 10 * 1000; /* between two looks for a file */

static uint32_t own_rank;
static uint32_t task_count;
static unsigned exchanges; /* the same in all tasks, since all make the same calls */
static const char* directory;

static int fail(paddle_launch_reason* why, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, why->size, format, arguments);
  va_end(arguments);
  return 1;
}

static int read_number(const char* variable, uint32_t* number) {
  const char* text = getenv(variable);
  char* end = NULL;
  if (text == NULL || *text < '0' || *text > '9') return 1;
  const unsigned long value = strtoul(text, &end, 10);
  *number = (uint32_t)value;
  return *end != '\0' || value > UINT32_MAX;
}

static int open_directory(paddle_launch_reason* why) {
  struct stat found;
  if (read_number("SITE_RANK", &own_rank) != 0 || read_number("SITE_SIZE", &task_count) != 0 ||
      own_rank >= task_count) {
    return fail(why, "SITE_RANK and SITE_SIZE must be set, with 0 <= rank < size");
  }
  directory = getenv("SITE_DIRECTORY");
  if (directory == NULL || stat(directory, &found) != 0 || !S_ISDIR(found.st_mode)) {
    return fail(why, "SITE_DIRECTORY must name a directory");
  }
  return 0;
}

static int identity(uint32_t* rank, uint32_t* size, paddle_launch_reason* why) {
  (void)why;
  *rank = own_rank;
  *size = task_count;
  return 0;
}

static int write_all(int fd, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(fd, bytes, size);
    if (written < 0 && errno != EINTR) return 1;
    if (written < 0) continue;
    bytes += written;
    size -= (size_t)written;
  }
  return 0;
}

/* Others must never see half a file: it gets its name when it is complete. Unlike rename(), link()
 * refuses a name that is taken: a directory of an earlier job, or two tasks with one rank. */
static int give(const void* bytes, size_t size, paddle_launch_reason* why) {
  char path[PATH_MAX];
  char unfinished[PATH_MAX];
  snprintf(path, sizeof path, "%s/%u.%u", directory, exchanges, own_rank);
  snprintf(unfinished, sizeof unfinished, "%s/unfinished.%u", directory, own_rank);
  const int fd = open(unfinished, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return fail(why, "%s: %s", unfinished, strerror(errno));
  int failed = write_all(fd, bytes, size) != 0;
  failed = close(fd) != 0 || failed; /* a full disk may show only now */
  failed = failed || link(unfinished, path) != 0;
  if (failed) fail(why, "%s: %s", path, strerror(errno));
  unlink(unfinished);
  return failed;
}

/* No limit on the wait: the launcher has one and ends this process. */
static int receive(uint32_t rank, paddle_launch_take take, void* user, paddle_launch_reason* why) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%u.%u", directory, exchanges, rank);
  int fd = -1;
  while ((fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
    if (errno != ENOENT && errno != EINTR) return fail(why, "%s: %s", path, strerror(errno));
    usleep(kPause);
  }
  struct stat file;
  char* bytes = fstat(fd, &file) == 0 ? malloc((size_t)file.st_size + 1) : NULL;
  size_t size = 0;
  ssize_t part = bytes != NULL ? 1 : -1;
  while (part > 0 && size < (size_t)file.st_size) {
    part = read(fd, bytes + size, (size_t)file.st_size - size);
    if (part > 0) size += (size_t)part;
  }
  if (part > 0) {
    take(user, rank, bytes, size);
  } else {
    fail(why, "%s: cannot be read", path);
  }
  free(bytes);
  close(fd);
  return part <= 0;
}

static int allgather(const void* mine, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  int failed = give(mine, size, why);
  for (uint32_t rank = 0; rank < task_count && !failed; ++rank) {
    failed = receive(rank, take, user, why);
  }
  ++exchanges;
  return failed;
}

static int broadcast(const void* bytes, size_t size, paddle_launch_take take, void* user,
                     paddle_launch_reason* why) {
  int failed = own_rank == 0 ? give(bytes, size, why) : 0;
  if (!failed) failed = receive(0, take, user, why);
  ++exchanges;
  return failed;
}

/* The files stay: another task may still read them. The job removes its directory. */
static int close_directory(paddle_launch_reason* why) {
  (void)why;
  return 0;
}

__attribute__((visibility("default"))) const paddle_launch_bootstrap_v1* paddle_launch_bootstrap(
    void) {
  static const paddle_launch_bootstrap_v1 plugin = {
      .abi = PADDLE_LAUNCH_BOOTSTRAP_ABI,
      .name = "shared directory",
      .open = open_directory,
      .identity = identity,
      .allgather = allgather,
      .broadcast = broadcast,
      .abort = NULL, /* nobody here can end the other tasks */
      .close = close_directory};
  return &plugin;
}
