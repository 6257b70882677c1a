/* SPDX-License-Identifier: Apache-2.0
 * The binary interfaces of MPI that plugin/mpi.c knows: the names of their libraries, and what they
 * mean by three handles. */
#ifndef PADDLE_LAUNCH_MPI_ABI_H
#define PADDLE_LAUNCH_MPI_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
  const char* files[5]; /* up to NULL; the first one that can be loaded is used */
  /* MPI_COMM_WORLD, MPI_BYTE, MPI_ERRORS_RETURN: where symbols are NULL, the numbers */
  const char* symbols[3];
  uintptr_t numbers[3];
} mpi_abi;

static const mpi_abi kOpenMpi = {
    .files = {"libmpi.so.40"},
    .symbols = {"ompi_mpi_comm_world", "ompi_mpi_byte", "ompi_mpi_errors_return"}};

/* MPICH, Intel MPI, MVAPICH, Cray: one interface since 2013. Debian alone calls it libmpich. */
static const mpi_abi kMpich = {.files = {"libmpi.so.12", "libmpich.so.12", "libmpi_cray.so.12"},
                               .numbers = {0x44000000, 0x4c00010d, 0x54000001}};

/* Of MPI 5.0 itself, whoever built it. */
static const mpi_abi kStandard = {.files = {"libmpi_abi.so.1", "libmpi_abi.so"},
                                  .numbers = {0x101, 0x247, 0x143}};

#endif
