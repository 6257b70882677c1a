#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same meeting over torch's TCPStore: every pod sets its endpoints, the hub joins them, every pod gets all.

store_meeting.py hub|members PODS
"""
import os
import signal
import sys
import time

from torch.distributed import TCPStore

ADDRESS, PORT = "127.78.0.3", 6060


def endpoints(place):
    host = f"10.1.{(place + 1) >> 8}.{(place + 1) & 255}"
    return ",".join(f"{host}:{6170 + i}" for i in range(8))


def say(key, value):
    print(key, value, flush=True)


def play_hub(pods):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    store = TCPStore(ADDRESS, PORT, is_master=True, wait_for_workers=False)
    say("ready", 1)
    keys = [f"pod{place}" for place in range(1, pods)]
    store.wait(keys)
    store.set("roster", b",".join([endpoints(0).encode(), *store.multi_get(keys)]))
    signal.pause()


def play_members(pods):
    began = time.monotonic()
    stores = [TCPStore(ADDRESS, PORT, is_master=False, wait_for_workers=False) for _ in range(1, pods)]
    for place, store in enumerate(stores, 1):
        store.set(f"pod{place}", endpoints(place))
    rosters = [store.get("roster") for store in stores]
    say("received", time.monotonic() - began)
    assert all(roster.count(b":") == 8 * pods for roster in rosters)
    say("roster", len(rosters[0]))


{"hub": play_hub, "members": play_members}[sys.argv[1]](int(sys.argv[2]))
