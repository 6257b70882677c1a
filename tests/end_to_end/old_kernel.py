# SPDX-License-Identifier: Apache-2.0
"""old_kernel.py PROGRAM [ARGUMENT...]: runs it as if the kernel had none of the calls that came after RHEL 8's 4.18.

They answer ENOSYS, to the program and to everything that it starts. It needs no rights.
"""

import ctypes
import errno
import os
import struct
import sys

# They came after all processors had agreed on one numbering.
LATER_CALLS = {"pidfd_send_signal": 424, "pidfd_open": 434, "clone3": 435, "close_range": 436, "openat2": 437}

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS = 22, 38
SECCOMP_MODE_FILTER = 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ANSWER_ERROR, ALLOW = 0x00050000, 0x7FFF0000
NUMBER_OF_THE_CALL = 0  # where it stands in struct seccomp_data


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def rules():
    steps = [instruction(LOAD_WORD, NUMBER_OF_THE_CALL)]
    for left, number in zip(range(len(LATER_CALLS), 0, -1), LATER_CALLS.values()):
        steps.append(instruction(JUMP_IF_EQUAL, number, if_true=left))  # to the last
    steps.append(instruction(RETURN, ALLOW))
    steps.append(instruction(RETURN, ANSWER_ERROR | errno.ENOSYS))
    return steps


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_char_p)]


def forget_later_calls():
    """Raises OSError where the kernel does not allow it."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    steps = rules()
    program = Program(len(steps), b"".join(steps))
    nothing = ctypes.c_ulong(0)
    if (prctl(PR_SET_NO_NEW_PRIVS, ctypes.c_ulong(1), nothing, nothing, nothing) != 0
            or prctl(PR_SET_SECCOMP, ctypes.c_ulong(SECCOMP_MODE_FILTER), ctypes.byref(program)) != 0):
        raise OSError(ctypes.get_errno(), "seccomp")


if __name__ == "__main__":
    forget_later_calls()
    os.execvp(sys.argv[1], sys.argv[1:])
