# SPDX-License-Identifier: Apache-2.0
"""plain_mpi.py LIBRARY: an MPI program without any launcher. Where it fails, no mend of paddle-launch can help.

It needs no compiler: what Open MPI and MPICH put behind the names of mpi.h is small enough to be said here."""

import ctypes
import sys

mpi = ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL)
if hasattr(mpi, "ompi_mpi_comm_world"):  # handles are addresses
    WORLD, BYTE = (ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, name)))
                   for name in ("ompi_mpi_comm_world", "ompi_mpi_byte"))
else:
    WORLD, BYTE = ctypes.c_int(0x44000000), ctypes.c_int(0x4C00010D)


def checked(result, what):
    if result != 0:
        sys.exit(f"{what}: {result}")


checked(mpi.MPI_Init(None, None), "MPI_Init")
rank, size = ctypes.c_int(), ctypes.c_int()
checked(mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank)), "MPI_Comm_rank")
checked(mpi.MPI_Comm_size(WORLD, ctypes.byref(size)), "MPI_Comm_size")
text = ctypes.create_string_buffer(b"from the first" if rank.value == 0 else b"", 128)
checked(mpi.MPI_Bcast(text, 128, BYTE, 0, WORLD), "MPI_Bcast")
checked(mpi.MPI_Barrier(WORLD), "MPI_Barrier")
checked(mpi.MPI_Finalize(), "MPI_Finalize")
sys.stdout.write(f"plain {rank.value} of {size.value} {text.value.decode()}\n")
