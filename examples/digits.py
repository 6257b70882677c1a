# SPDX-License-Identifier: Apache-2.0
"""What the examples with real Paddle share: data, options, a failure on demand, and a record of how a rank ended.

The data has the shape of MNIST and is made up here, the same on every rank and in every run: ten patterns, and samples
that are one of them under noise. So the examples need no download, and two runs can be compared.
"""
import argparse
import ctypes
import hashlib
import json
import os
import pathlib
import signal

import numpy as np
import paddle

CLASSES, SIDE = 10, 28


class Digits(paddle.io.Dataset):
    def __init__(self, samples=2048, seed=1):
        source = np.random.RandomState(seed)
        patterns = source.uniform(0, 1, (CLASSES, SIDE, SIDE))
        self.labels = source.randint(0, CLASSES, (samples, 1)).astype("int64")
        noise = source.normal(0, 2, (samples, SIDE, SIDE))
        self.images = (patterns[self.labels[:, 0]] + noise).astype("float32")

    def __getitem__(self, index):
        return self.images[index], self.labels[index]

    def __len__(self):
        return len(self.labels)


def options(description):
    """The options of all examples; each may add its own."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch_size", type=int, default=32, help="of each rank")
    parser.add_argument("--out", type=pathlib.Path, help="each rank writes its losses and parameters into this folder")
    parser.add_argument("--fail_rank", type=int, default=-1, help="this rank fails …")
    parser.add_argument("--fail_step", type=int, default=10, help="… at this step …")
    ways = ("exception", "segfault", "kill")
    parser.add_argument("--fail_how", choices=ways, default=ways[0], help="… in this way")
    return parser


def fail_if_asked(args, rank, step):
    if rank != args.fail_rank or step != args.fail_step:
        return
    if args.fail_how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if args.fail_how == "segfault":
        ctypes.string_at(0)
    raise ValueError(f"sample {step} of rank {rank} is broken")


def record(args, rank, losses, parameters):
    """What to compare with other ranks and other runs: all losses, a digest of all parameters, and sums of each."""
    if args.out is None:
        return
    values = [np.asarray(value.numpy() if hasattr(value, "numpy") else value) for value in parameters]
    digest = hashlib.sha256(b"".join(value.tobytes() for value in values)).hexdigest()
    sums = [[float(value.sum()), float(np.abs(value).sum())] for value in values]
    args.out.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"rank": rank, "losses": [float(loss) for loss in losses], "digest": digest, "sums": sums})
    (args.out / f"rank.{rank}.json").write_text(text + "\n")
