# SPDX-License-Identifier: Apache-2.0
"""The job control of an interactive shell, and nothing else: runs one command as the terminal's foreground group.

Usage: job_shell.py ORDERS EVENTS COMMAND… (descriptor numbers). Orders, one a line, are taken while the job is
stopped: fg, bg. Events: started PID, stopped SIGNAL, continued, exited CODE, killed SIGNAL."""

import fcntl
import os
import signal
import sys
import termios


def main():
    orders, events, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    os.set_inheritable(orders, False)
    os.set_inheritable(events, False)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    for number in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        for number in (signal.SIGTTOU, signal.SIGTTIN, signal.SIGTSTP, signal.SIGINT, signal.SIGQUIT, signal.SIGPIPE,
                       signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        os.execv(command[0], command)
    try:
        os.setpgid(pid, pid)
    except OSError:
        pass
    os.tcsetpgrp(0, pid)

    def tell(*words):
        os.write(events, (" ".join(map(str, words)) + "\n").encode())

    tell("started", pid)
    commands = os.fdopen(orders)
    while True:
        _, status = os.waitpid(pid, os.WUNTRACED | os.WCONTINUED)
        if os.WIFSTOPPED(status):
            os.tcsetpgrp(0, os.getpgrp())
            tell("stopped", os.WSTOPSIG(status))
            word = commands.readline().strip()
            if word == "fg":
                os.tcsetpgrp(0, pid)
            os.kill(-pid, signal.SIGCONT)
        elif os.WIFCONTINUED(status):
            tell("continued")
        else:
            os.tcsetpgrp(0, os.getpgrp())
            if os.WIFEXITED(status):
                tell("exited", os.WEXITSTATUS(status))
            else:
                tell("killed", os.WTERMSIG(status))
            return


main()
