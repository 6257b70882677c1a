#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Collective training with fleet: fleet.init(is_collective=True).

    paddle-launch --nproc_per_node=2 fleet_collective.py
    paddle-launch --ips=192.168.0.1,192.168.0.2 --nproc_per_node=2 fleet_collective.py   # typed on both nodes
    srun -N2 --ntasks-per-node=1 paddle-launch --nproc_per_node=2 fleet_collective.py

The same model and data as data_parallel.py.
"""
import paddle
from paddle.distributed import fleet

from data_parallel import model
from digits import Digits, fail_if_asked, options, record


def main():
    args = options(__doc__).parse_args()
    fleet.init(is_collective=True)
    rank = fleet.worker_index()
    paddle.seed(7 + rank)
    mnist = model()
    adam = fleet.distributed_optimizer(paddle.optimizer.Adam(parameters=mnist.parameters()))
    mnist = fleet.distributed_model(mnist)
    mnist.train()

    data = Digits()
    mine = paddle.io.DistributedBatchSampler(data, args.batch_size, shuffle=True, drop_last=True)
    losses = []
    for epoch in range(args.epochs):
        mine.set_epoch(epoch)
        for images, labels in paddle.io.DataLoader(data, batch_sampler=mine):
            fail_if_asked(args, rank, len(losses))
            loss = paddle.nn.functional.cross_entropy(mnist(images), labels)
            loss.backward()
            adam.step()
            adam.clear_grad()
            losses.append(loss.item())
            if len(losses) % 10 == 1 and fleet.is_first_worker():
                print(f"step {len(losses):3}  loss {losses[-1]:.6f}", flush=True)
    print(f"rank {rank} of {fleet.worker_num()} ends after step {len(losses)}, loss {losses[-1]:.6f}", flush=True)
    record(args, rank, losses, mnist.parameters())


if __name__ == "__main__":
    main()
