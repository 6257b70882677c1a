# SPDX-License-Identifier: Apache-2.0
"""A trainer that writes down every signal it gets, in signals.RANK, and ends with 0 when the gate opens.

  --save SECONDS       on TERM takes so long to save a checkpoint, saved.RANK, and ends with CODE
  --code CODE          what it ends with
  --loader             has a data-loader child in its group that writes down its own signals in signals.RANK.loader;
                       on TERM it looks, after a while, whether the child lives (loader.RANK) and ends
"""

import os
import signal
import sys
import time

RANK = os.environ["PADDLE_TRAINER_ID"]
NAMES = {"TERM": signal.SIGTERM, "INT": signal.SIGINT, "HUP": signal.SIGHUP, "QUIT": signal.SIGQUIT,
         "USR1": signal.SIGUSR1, "USR2": signal.SIGUSR2}


def option(name, default=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


def write_whole(name, text):
    with open(f".{name}.tmp", "w") as file:
        file.write(text)
    os.rename(f".{name}.tmp", name)


def record_into(path, then=None):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write_down(number, _frame):
        os.write(fd, signal.Signals(number).name[3:].encode() + b"\n")
        if then is not None:
            then(number)

    for number in NAMES.values():
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, write_down)


def main():
    save, code, loader = option("--save"), int(option("--code", "0")), None
    gate = os.open("gate", os.O_RDONLY)

    if "--loader" in sys.argv:
        told, tell = os.pipe()
        loader = os.fork()
        if loader == 0:
            record_into(f"signals.{RANK}.loader", lambda number: number == signal.SIGTERM and os._exit(0))
            os.write(tell, b".")
            while True:
                signal.pause()
        os.read(told, 1)

    def on_signal(number):
        if number != signal.SIGTERM:
            return
        if loader is not None:
            time.sleep(0.3)
            ended, _ = os.waitpid(loader, os.WNOHANG)
            got = os.stat(f"signals.{RANK}.loader").st_size
            write_whole(f"loader.{RANK}", "alive" if ended == 0 and got == 0 else f"ended={ended} signals={got}")
            os._exit(code)
        if save is not None:
            time.sleep(float(save))
            write_whole(f"saved.{RANK}", "checkpoint")
            os._exit(code)

    record_into(f"signals.{RANK}", on_signal)
    write_whole(f"ready.{RANK}", str(os.getpid()))
    while os.read(gate, 1):
        pass
    os._exit(code)


main()
