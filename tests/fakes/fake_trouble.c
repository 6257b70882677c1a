/* SPDX-License-Identifier: Apache-2.0
 * A fake of trouble, loaded into a launcher with LD_PRELOAD: while the file of FAKE_TROUBLE is there, epoll_wait() fails
 * after it has waited, as no kernel does. For what is to happen when the launcher itself has a bug. With
 * FAKE_TROUBLE_ONCE it fails once and removes the file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

typedef int wait_call(int, struct epoll_event*, int, int);

__attribute__((visibility("default"))) int epoll_wait(int epoll, struct epoll_event* events,
                                                      int most, int timeout) {
  wait_call* real = NULL;
  *(void**)&real = dlsym(RTLD_NEXT, "epoll_wait");
  const int count = real(epoll, events, most, timeout);
  const char* trouble = getenv("FAKE_TROUBLE");
  if (trouble == NULL || access(trouble, F_OK) != 0) return count;
  if (getenv("FAKE_TROUBLE_ONCE") != NULL) unlink(trouble);
  errno = ENOTRECOVERABLE;
  return -1;
}
