// SPDX-License-Identifier: Apache-2.0
// Preloaded into the launcher: a file system without locks.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

int fcntl(int fd, int command, ...) {
  va_list rest;
  va_start(rest, command);
  const long argument = va_arg(rest, long);
  va_end(rest);
  if (command != F_SETLK) return (int)syscall(SYS_fcntl, fd, command, argument);
  errno = ENOLCK;
  return -1;
}

int fcntl64(int fd, int command, ...) __attribute__((alias("fcntl")));
