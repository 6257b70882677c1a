/* SPDX-License-Identifier: Apache-2.0
 * What our own plugins have in common: reasons, and libraries that are found when the job starts.
 * None of them is linked to what it uses, so one build serves every site. */
#ifndef PADDLE_LAUNCH_PLUGIN_H
#define PADDLE_LAUNCH_PLUGIN_H

#include <dlfcn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "plugin/bootstrap_abi.h"

__attribute__((format(printf, 2, 3))) static inline int fail(paddle_launch_reason* why,
                                                             const char* format, ...) {
  if (why == NULL || why->size == 0) return 1;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why->text, why->size, format, arguments);
  va_end(arguments);
  return 1;
}

/* A function of a library and where its address belongs. */
typedef struct {
  const char* name;
  void* pointer; /* to a pointer to that function */
} library_call;

static inline int find_calls(void* library, const library_call* calls, paddle_launch_reason* why) {
  for (; calls->name != NULL; ++calls) {
    void* address = dlsym(library, calls->name);
    if (address == NULL) return fail(why, "there is no %s in it", calls->name);
    memcpy(calls->pointer, &address, sizeof address); /* C has no cast from object to function */
  }
  return 0;
}

/* The first file of the list (up to NULL) that can be loaded. NULL: `why` has a reason for each. */
static inline void* open_library(const char* const* files, int flags, paddle_launch_reason* why) {
  size_t used = 0;
  for (; *files != NULL; ++files) {
    void* library = dlopen(*files, flags);
    if (library != NULL) return library;
    const char* words = dlerror();
    if (used >= why->size) continue;
    used += (size_t)snprintf(why->text + used, why->size - used, "%s%s", used > 0 ? "; " : "",
                             words != NULL ? words : *files);
  }
  return NULL;
}

/* The file that a function is in. */
static inline const char* file_of(const void* pointer_to_function) {
  void* address = NULL;
  Dl_info info;
  memcpy(&address, pointer_to_function, sizeof address);
  return dladdr(address, &info) != 0 && info.dli_fname != NULL ? info.dli_fname : "";
}

#endif
