#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The model of Paddle's document "单机多卡训练", started from the program itself.

    python3 spawn.py                 # two processes: on the first two visible cards, or on the CPU
    python3 spawn.py --gpus 4,5      # on cards 4 and 5

The package paddle_launch must be installed (docs/spawn.md).
"""

import argparse

import paddle
import paddle.distributed as dist
import paddle.nn as nn
import paddle.optimizer as opt

import paddle_launch


class LinearNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self._linear1 = nn.Linear(10, 10)
        self._linear2 = nn.Linear(10, 1)

    def forward(self, x):
        return self._linear2(self._linear1(x))


def train(steps):
    """Returns the first and the last loss."""
    dist.init_parallel_env()
    paddle.seed(dist.get_rank())
    layer = paddle.DataParallel(LinearNet())
    loss_fn = nn.MSELoss()
    adam = opt.Adam(learning_rate=0.01, parameters=layer.parameters())

    inputs = paddle.randn([64, 10], "float32")
    labels = inputs.sum(axis=1, keepdim=True)
    losses = []
    for _ in range(steps):
        loss = loss_fn(layer(inputs), labels)
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(float(loss))
    print(f"rank {dist.get_rank()} of {dist.get_world_size()} is done", flush=True)
    return losses[0], losses[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nprocs", type=int, default=2)
    parser.add_argument("--gpus", help="cards, with commas")
    parser.add_argument("--steps", type=int, default=30)
    options = parser.parse_args()
    context = paddle_launch.spawn(train, args=(options.steps,), nprocs=options.nprocs, gpus=options.gpus)
    for rank, queue in enumerate(context.return_queues):
        first, last = queue.get()
        print(f"rank {rank}: loss {first:.3f} at first, {last:.3f} at last")


if __name__ == "__main__":
    main()
