#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Data-parallel training: init_parallel_env() and paddle.DataParallel.

    python3 data_parallel.py                                        # one process, no launcher
    paddle-launch --nproc_per_node=2 data_parallel.py               # two processes on the CPU
    paddle-launch --gpus=0,1 data_parallel.py                       # or on two cards
    paddle-launch --ips=192.168.0.1,192.168.0.2 --nproc_per_node=2 data_parallel.py   # typed on both nodes
    mpirun -np 2 -H n1,n2 --bind-to none paddle-launch --nproc_per_node=2 data_parallel.py
    srun -N2 --ntasks-per-node=1 paddle-launch --nproc_per_node=2 data_parallel.py    # one launcher a node
    srun -N2 --ntasks-per-node=2 paddle-launch --nproc_per_node=2 data_parallel.py    # one launcher a rank

The model is that of Paddle's documentation ("单机多卡训练"), on data that is made up (digits.py).
"""
import paddle
import paddle.distributed as dist

from digits import Digits, fail_if_asked, options, record


def model():
    return paddle.nn.Sequential(
        paddle.nn.Flatten(1, -1),
        paddle.nn.Linear(784, 512),
        paddle.nn.ReLU(),
        paddle.nn.Dropout(0.2),
        paddle.nn.Linear(512, 10),
    )


def main():
    parser = options(__doc__)
    parser.add_argument("--alone", action="store_true", help="in a world of one: no init_parallel_env, no DataParallel")
    args = parser.parse_args()

    if not args.alone:
        dist.init_parallel_env()
    rank = dist.get_rank()
    paddle.seed(7 + rank)  # weights are rank 0's; what Dropout leaves out is each rank's own choice
    mnist = model()
    if not args.alone:
        mnist = paddle.DataParallel(mnist)
    mnist.train()

    data = Digits()
    mine = paddle.io.DistributedBatchSampler(data, args.batch_size, shuffle=True, drop_last=True)
    adam = paddle.optimizer.Adam(parameters=mnist.parameters())
    losses = []
    for epoch in range(args.epochs):
        mine.set_epoch(epoch)  # another order in each
        for images, labels in paddle.io.DataLoader(data, batch_sampler=mine):
            fail_if_asked(args, rank, len(losses))
            predicted = mnist(images)
            loss = paddle.nn.functional.cross_entropy(predicted, labels)
            loss.backward()
            adam.step()
            adam.clear_grad()
            losses.append(loss.item())
            if len(losses) % 10 == 1 and rank == 0:
                print(f"step {len(losses):3}  loss {losses[-1]:.6f}", flush=True)
    print(f"rank {rank} of {dist.get_world_size()} ends after step {len(losses)}, loss {losses[-1]:.6f}", flush=True)
    record(args, rank, losses, mnist.parameters())


if __name__ == "__main__":
    main()
