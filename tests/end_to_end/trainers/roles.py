# SPDX-License-Identifier: Apache-2.0
"""A server, worker or heterogeneous worker of a job with parameter servers, as TRAINING_ROLE says.

It is called server.0, worker.2 or heter.1, by its place in the list of its role, and writes its environment to
env.NAME and, when it is ready, its pid to ready.NAME. A server then listens and serves until SIGTERM; a heterogeneous
worker waits for SIGTERM; a worker writes how many servers it reaches (reached.NAME) and ends with 0. On SIGTERM it
writes down who still lives (stopped.NAME) and ends with 143. Arguments change what one of them does:

  NAME=exit:CODE     ends with CODE as soon as it is ready
  NAME=hold          waits at the gate before it ends
  NAME=hold:CODE     the same, and ends with CODE
  NAME=until:FILE    waits until there is such a file before it ends
  NAME=deaf          a server that does not listen
  NAME=late:SECONDS  a server that listens after a while
  NAME=shy:FILE      a server that listens when there is such a file
  NAME=stubborn      does not end on SIGTERM
  NAME=done          a server that ends with 0 when the gate opens
"""

import os
import signal
import socket
import sys
import time

KINDS = {"PSERVER": ("server", "PADDLE_PSERVERS_IP_PORT_LIST"),
         "TRAINER": ("worker", "PADDLE_TRAINER_ENDPOINTS"),
         "HETER_TRAINER": ("heter", "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST")}
KIND, LIST = KINDS[os.environ["TRAINING_ROLE"]]
OWN = f"{os.environ['POD_IP']}:{os.environ['PADDLE_PORT']}"
NAME = f"{KIND}.{os.environ[LIST].split(',').index(OWN)}"
WISH, _, VALUE = dict(word.split("=", 1) for word in sys.argv[1:]).get(NAME, "").partition(":")
# Whoever comes when the gate is open already is not to wait for somebody who opens it.
GATE = os.open("gate", os.O_RDONLY | os.O_NONBLOCK) if os.path.exists("gate") else None
if GATE is not None:
    os.set_blocking(GATE, True)


def write_whole(name, text):
    with open(f".{name}.tmp", "w") as file:
        file.write(text)
    os.rename(f".{name}.tmp", name)


def on_term(*_):
    write_whole(f"stopped.{NAME}", f"{time.monotonic()}\n")
    print(NAME, "was stopped", flush=True)
    if WISH != "stubborn":
        os._exit(143)


def reaches(endpoint):
    host, port = endpoint.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), 30).close()
        return True
    except OSError:
        return False


def wait_at_gate():
    while os.read(GATE, 1):
        pass


def wait_for_file():
    while not os.path.exists(VALUE):
        time.sleep(0.02)


def forever():
    while True:
        signal.pause()


def serve():
    if WISH == "late":
        time.sleep(float(VALUE))
    if WISH == "shy":
        wait_for_file()
    if WISH != "deaf":
        moment = time.monotonic()  # afterwards it may be late: the launcher sees the socket as soon as we do
        listener = socket.create_server((os.environ["POD_IP"], int(os.environ["PADDLE_PORT"])), backlog=100)
        write_whole(f"listens.{NAME}", f"{moment}\n")
        assert listener
        if WISH == "done":
            wait_at_gate()
            os._exit(0)
        forever()
    forever()


signal.signal(signal.SIGTERM, on_term)
write_whole(f"env.{NAME}", "".join(f"{name}={value}\n" for name, value in sorted(os.environ.items())))
print(NAME, "of", os.environ["PADDLE_TRAINERS_NUM"], "on", os.uname().nodename, flush=True)
write_whole(f"started.{NAME}", f"{time.monotonic()}\n")
write_whole(f"ready.{NAME}", f"{os.getpid()}\n")
if WISH == "exit":
    os._exit(int(VALUE))
if WISH == "hold":
    wait_at_gate()
    write_whole(f"ended.{NAME}", f"{time.monotonic()}\n")
    os._exit(int(VALUE or 0))
if WISH == "until":
    wait_for_file()
if KIND == "server":
    serve()
if KIND == "heter" or WISH == "stubborn":
    forever()
write_whole(f"reached.{NAME}", f"{sum(map(reaches, os.environ['PADDLE_PSERVERS_IP_PORT_LIST'].split(',')))}\n")
write_whole(f"ended.{NAME}", f"{time.monotonic()}\n")
