// SPDX-License-Identifier: Apache-2.0
// Loaded before Slurm's daemons: shows them nothing but version 2 of cgroups in /proc/PID/cgroup.
// Slurm refuses to use version 2 where a machine has version 1 mounted as well, in a place that
// these hosts do not see; what the kernel then does with a cgroup of version 2 is the same.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int is_list_of_cgroups(const char* path) {
  const size_t length = path ? strlen(path) : 0;
  return length > 13 && !strncmp(path, "/proc/", 6) && !strcmp(path + length - 7, "/cgroup");
}

// A descriptor from which the line of version 2 is read.
static int open_list(const char* path) {
  int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  const int file = real(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return file;
  char text[8192];
  const ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  const char* line = strstr(text, "\n0::");
  line = line ? line + 1 : text;
  const int memory = memfd_create("cgroup", MFD_CLOEXEC);
  if (write(memory, line, strlen(line)) < 0) return -1;
  lseek(memory, 0, SEEK_SET);
  return memory;
}

#define OPEN(name)                                                                                \
  int name(const char* path, int flags, ...) {                                                    \
    va_list more;                                                                                 \
    va_start(more, flags);                                                                        \
    const int mode = va_arg(more, int);                                                           \
    va_end(more);                                                                                 \
    if (is_list_of_cgroups(path)) return open_list(path);                                         \
    int (*real)(const char*, int, ...) = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, #name); \
    return real(path, flags, mode);                                                               \
  }
OPEN(open)
OPEN(open64)

#define FOPEN(name)                                                     \
  FILE* name(const char* path, const char* mode) {                      \
    if (is_list_of_cgroups(path)) return fdopen(open_list(path), "r");  \
    FILE* (*real)(const char*, const char*) =                           \
        (FILE * (*)(const char*, const char*)) dlsym(RTLD_NEXT, #name); \
    return real(path, mode);                                            \
  }
FOPEN(fopen)
FOPEN(fopen64)
