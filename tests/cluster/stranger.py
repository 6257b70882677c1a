# SPDX-License-Identifier: Apache-2.0
"""Somebody who has no business at a hub:  stranger.py HOW HOST PORT [WORD…]

  bytes HEX [COUNT]    COUNT times: connects, sends these bytes, waits for the end; prints how often the other closed
  reset COUNT          COUNT times: connects and resets the connection at once; prints how often it could
  silent COUNT         that many connections that say nothing; prints "there", and closes them at the end of stdin
  slow HEX             sends a byte each 0.2 s until the other closes, or stdin ends
  proxy PORT FILE      listens at PORT, passes everything on, and writes what callers say to FILE
  replay FILE          says what FILE holds, all at once; prints how many bytes were answered until the close
"""

import pathlib
import select
import socket
import struct
import sys
import threading

HOW, HOST, PORT, *WORDS = sys.argv[1:]
LONG = 60


def connect():
    return socket.create_connection((HOST, int(PORT)), LONG)


def until_closed(line):
    """Number of bytes that came until the other closed."""
    size = 0
    try:
        while True:
            data = line.recv(65536)
            if not data:
                return size
            size += len(data)
    except ConnectionError:
        return size


def say(line, data):
    try:
        line.sendall(data)
    except ConnectionError:
        pass


def throw(data, count=1):
    closed = 0
    for _ in range(int(count)):
        with connect() as line:
            say(line, bytes.fromhex(data))
            until_closed(line)
            closed += 1
    print(closed, flush=True)


def reset(count):
    done = 0
    for _ in range(int(count)):
        with connect() as line:
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            done += 1
    print(done, flush=True)


def silent(count):
    lines = [connect() for _ in range(int(count))]
    print("there", flush=True)
    sys.stdin.read()
    for line in lines:
        line.close()


def slow(data):
    with connect() as line:
        print("there", flush=True)
        for byte in bytes.fromhex(data):
            say(line, bytes([byte]))
            ready = select.select([line, sys.stdin], [], [], 0.2)[0]
            if sys.stdin in ready or (line in ready and not line.recv(100)):
                break
    print("done", flush=True)


def proxy(port, path):
    listener = socket.create_server(("", int(port)))
    print("there", flush=True)

    def pass_on(source, target, note):
        try:
            while data := source.recv(65536):
                if note:
                    note.write(data)
                    note.flush()
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    while True:
        caller = listener.accept()[0]
        try:
            hub = connect()
        except OSError:
            caller.close()
            continue
        hub.settimeout(None)
        note = open(path, "wb")
        threading.Thread(target=pass_on, args=(caller, hub, note), daemon=True).start()
        threading.Thread(target=pass_on, args=(hub, caller, None), daemon=True).start()


def replay(path):
    with connect() as line:
        say(line, pathlib.Path(path).read_bytes())
        print(until_closed(line), flush=True)


{"bytes": throw, "reset": reset, "silent": silent, "slow": slow, "proxy": proxy, "replay": replay}[HOW](*WORDS)
