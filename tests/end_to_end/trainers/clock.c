// SPDX-License-Identifier: Apache-2.0
// Preloaded into the launcher: a wall clock that jumps. CLOCK_OFFSET_FILE holds the seconds to add, 8 bytes, and may
// change at any time; monotonic clocks are left alone, as a real jump leaves them.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t* offset_of(void) {
  static const volatile int64_t* offset;
  static const int64_t none;
  if (offset) return offset;
  const char* name = getenv("CLOCK_OFFSET_FILE");
  const int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
  void* map = fd >= 0 ? mmap(NULL, sizeof none, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (fd >= 0) close(fd);
  offset = map == MAP_FAILED ? &none : map;
  return offset;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) now->tv_sec += *offset_of();
  return result;
}

int gettimeofday(struct timeval* now, void* zone) {
  (void)zone;
  struct timespec time;
  const int result = clock_gettime(CLOCK_REALTIME, &time);
  now->tv_sec = time.tv_sec;
  now->tv_usec = time.tv_nsec / 1000;
  return result;
}

time_t time(time_t* result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
