# SPDX-License-Identifier: Apache-2.0
"""A name server for test hosts:  name_server.py ADDRESS LOG NAME=ADDRESS…

Answers with what it was given and knows no other name. Each question is a line of LOG; "there" on stdout when it listens.
"""

import socket
import struct
import sys

HEADER = struct.Struct("!6H")
NO_SUCH_NAME = 0x8183
ANSWER = 0x8180
ADDRESS_RECORD = 1
HERE, LOG, *PAIRS = sys.argv[1:]
KNOWN = dict(pair.lower().split("=") for pair in PAIRS)


def name_in(question):
    labels, place = [], HEADER.size
    while question[place]:
        labels.append(question[place + 1 : place + 1 + question[place]].decode())
        place += 1 + question[place]
    kind = struct.unpack_from("!H", question, place + 1)[0]
    return ".".join(labels).lower(), kind, question[HEADER.size : place + 5]


def answer_to(question):
    name, kind, asked = name_in(question)
    with open(LOG, "a") as log:
        print(name, file=log)
    number = struct.unpack_from("!H", question)[0]
    if name not in KNOWN:
        return HEADER.pack(number, NO_SUCH_NAME, 1, 0, 0, 0) + asked
    if kind != ADDRESS_RECORD:
        return HEADER.pack(number, ANSWER, 1, 0, 0, 0) + asked
    record = struct.pack("!HHHIH", 0xC00C, ADDRESS_RECORD, 1, 0, 4) + socket.inet_aton(KNOWN[name])
    return HEADER.pack(number, ANSWER, 1, 1, 0, 0) + asked + record


with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
    server.bind((HERE, 53))
    print("there", flush=True)
    while True:
        question, sender = server.recvfrom(4096)
        server.sendto(answer_to(question), sender)
