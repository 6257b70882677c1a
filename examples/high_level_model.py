#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The high-level API, paddle.Model: nothing in the script is about several processes.

    python3 high_level_model.py                                     # one process, no launcher
    paddle-launch --nproc_per_node=2 high_level_model.py
    srun -N2 --ntasks-per-node=1 paddle-launch --nproc_per_node=2 high_level_model.py

prepare() finds the other ranks, and fit() deals the data out among them.
"""
import paddle
import paddle.distributed as dist

from data_parallel import model
from digits import Digits, fail_if_asked, options, record


class Watch(paddle.callbacks.Callback):
    """Keeps the losses, and fails where it is asked to."""

    def __init__(self, args):
        super().__init__()
        self.args, self.losses = args, []

    def on_train_batch_begin(self, step, logs=None):
        fail_if_asked(self.args, dist.get_rank(), len(self.losses))

    def on_train_batch_end(self, step, logs=None):
        self.losses.append(float(logs["loss"][0]))


def main():
    args = options(__doc__).parse_args()
    paddle.seed(7)  # the same weights on all ranks
    mnist = paddle.Model(model())
    mnist.prepare(paddle.optimizer.Adam(parameters=mnist.parameters()), paddle.nn.CrossEntropyLoss(),
                  paddle.metric.Accuracy())
    watch = Watch(args)
    mnist.fit(Digits(), batch_size=args.batch_size, epochs=args.epochs, shuffle=True, drop_last=True, log_freq=10,
              verbose=2, callbacks=[watch])
    rank, world = dist.get_rank(), dist.get_world_size()
    print(f"rank {rank} of {world} ends after step {len(watch.losses)}, loss {watch.losses[-1]:.6f}", flush=True)
    record(args, rank, watch.losses, mnist.parameters())


if __name__ == "__main__":
    main()
