/* SPDX-License-Identifier: Apache-2.0 */
/* Reads what paddle-launch put into the trainer's environment, and finds the trainer's libnccl. */
#define _GNU_SOURCE
#include "plugin/nccl/hand_over.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_VARIABLE "PADDLE_LAUNCH_NCCL_ID"
#define VERSION_VARIABLE "PADDLE_LAUNCH_NCCL_VERSION"
#define LIBRARY_VARIABLE "PADDLE_LAUNCH_NCCL_LIB"

enum { kIdBytes = PADDLE_LAUNCH_NCCL_ID_BYTES, kHexId = 2 * PADDLE_LAUNCH_NCCL_ID_BYTES };

static _Thread_local char last_error[1024];

int fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return PADDLE_LAUNCH_NCCL_FAILED;
}

EXPORTED const char* paddle_launch_nccl_last_error(void) { return last_error; }

int number_from(const char* variable, int least) {
  const char* text = getenv(variable);
  if (text == NULL) return fail("%s is not set; start the trainers with paddle-launch", variable);
  char* end = NULL;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || number < least || number > INT_MAX) {
    return fail("%s=%s is no number from %d on; start the trainers with paddle-launch", variable,
                text, least);
  }
  return (int)number;
}

/* The ids as hex, with commas between them; null: the last error is set. */
static const char* id_list(void) {
  const char* list = getenv(ID_VARIABLE);
  if (list == NULL || *list == '\0') {
    fail(ID_VARIABLE
         " is not set: paddle-launch found no libnccl on the first node, or the trainer"
         " was not started by it; let rank 0 call ncclGetUniqueId");
    return NULL;
  }
  if ((strlen(list) + 1) % (kHexId + 1) != 0) {
    fail(ID_VARIABLE
         " has %zu characters; each id has %d, with commas between them; leave it as paddle-launch "
         "set it",
         strlen(list), (int)kHexId);
    return NULL;
  }
  return list;
}

EXPORTED int paddle_launch_nccl_id_count(void) {
  const char* list = id_list();
  return list == NULL ? PADDLE_LAUNCH_NCCL_FAILED : (int)((strlen(list) + 1) / (kHexId + 1));
}

static int value_of_hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

EXPORTED int paddle_launch_nccl_id(int index, void* id) {
  const int count = paddle_launch_nccl_id_count();
  if (count < 0) return PADDLE_LAUNCH_NCCL_FAILED;
  if (index < 0 || index >= count)
    return fail("there is no id %d; ask for one from 0 to %d", index, count - 1);
  const char* hex = id_list() + (size_t)index * (kHexId + 1);
  unsigned char* bytes = id;
  for (int i = 0; i < kIdBytes; ++i) {
    const int high = value_of_hex(hex[2 * i]);
    const int low = value_of_hex(hex[2 * i + 1]);
    if (high < 0 || low < 0)
      return fail(ID_VARIABLE " has characters that are not hex; leave it as paddle-launch set it");
    bytes[i] = (unsigned char)(high * 16 + low);
  }
  return 0;
}

EXPORTED int paddle_launch_nccl_version(void) { return number_from(VERSION_VARIABLE, 1); }

/* Never closed: the process uses it. Two copies of NCCL in one process do not know each other's
 * communicators, so the one that is there already comes first. */
static void* nccl_library(void) {
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_NOLOAD);
  if (library != NULL) return library;
  const char* named = getenv(LIBRARY_VARIABLE);
  library = dlopen(named != NULL && *named != '\0' ? named : "libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fail("libnccl.so.2 cannot be loaded (%s); load it first, or name it in " LIBRARY_VARIABLE,
         dlerror());
  }
  return library;
}

nccl_function find_nccl_function(const char* name) {
  void* library = nccl_library();
  if (library == NULL) return NULL;
  void* address = dlsym(library, name);
  if (address == NULL) fail("this libnccl is too old and has no %s; load a newer one", name);
  nccl_function function = NULL;
  memcpy(&function, &address, sizeof function); /* ISO C has no cast for this */
  return function;
}

static int own_version(void) {
  typedef int (*get_version)(int*);
  const get_version call = (get_version)find_nccl_function("ncclGetVersion");
  int version = 0;
  if (call == NULL) return PADDLE_LAUNCH_NCCL_FAILED;
  return call(&version) == 0 ? version : fail("ncclGetVersion failed");
}

EXPORTED int paddle_launch_nccl_check_version(char* why, size_t size) {
  int result = 0;
  const int theirs = paddle_launch_nccl_version();
  const int ours = theirs < 0 ? PADDLE_LAUNCH_NCCL_FAILED : own_version();
  if (theirs < 0 || ours < 0) {
    result = PADDLE_LAUNCH_NCCL_FAILED;
  } else if (theirs != ours) {
    fail(
        "the launcher made the ids with NCCL %d, this process has %d, and ranks of another version"
        " cannot check in; name the trainers' libnccl.so.2 with paddle-launch --nccl_lib",
        theirs, ours);
    result = 1;
  }
  if (why != NULL && size > 0) snprintf(why, size, "%s", result == 0 ? "" : last_error);
  return result;
}
