/* SPDX-License-Identifier: Apache-2.0
 * The part of PMIx that plugin/pmix.c uses, under its names: the binary interface that versions 3
 * to 7 have in common. Their own headers would tie the plugin to one version, as the macros of 5
 * call functions that 4 lacks. A test compares this with the pmix.h of the machine. */
#ifndef PADDLE_LAUNCH_PMIX_ABI_H
#define PADDLE_LAUNCH_PMIX_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PMIX_SUCCESS 0
#define PMIX_ERR_UNREACH (-25)
#define PMIX_RANK_WILDCARD (UINT32_MAX - 1)
#define PMIX_GLOBAL 3

#define PMIX_JOB_SIZE "pmix.job.size"
#define PMIX_OPTIONAL "pmix.optional"
#define PMIX_COLLECT_DATA "pmix.collect"
#define PMIX_TIMEOUT "pmix.timeout"

enum {
  PMIX_BOOL = 1,
  PMIX_SIZE = 4,
  PMIX_INT = 6,
  PMIX_INT8,
  PMIX_INT16,
  PMIX_INT32,
  PMIX_INT64,
  PMIX_UINT,
  PMIX_UINT8,
  PMIX_UINT16,
  PMIX_UINT32,
  PMIX_UINT64,
  PMIX_BYTE_OBJECT = 27
};

typedef int pmix_status_t;
typedef uint8_t pmix_scope_t;
typedef char pmix_key_t[512];

typedef struct {
  char nspace[256];
  uint32_t rank;
} pmix_proc_t;

typedef struct {
  uint16_t type;
  union {
    bool flag;
    size_t size;
    int integer;
    int8_t int8;
    int16_t int16;
    int32_t int32;
    int64_t int64;
    unsigned uint;
    uint8_t uint8;
    uint16_t uint16;
    uint32_t uint32;
    uint64_t uint64;
    struct {
      char* bytes;
      size_t size;
    } bo;
    struct {
      char* texts[2];
      char separator;
    } envar; /* the largest one; not used */
  } data;
} pmix_value_t;

typedef struct {
  pmix_key_t key;
  uint32_t flags;
  pmix_value_t value;
} pmix_info_t;

#endif
