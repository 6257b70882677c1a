#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Saves when it is told to stop (SIGTERM), while worker processes load its data, and goes on from there the next time.

    paddle-launch --nproc_per_node=2 --grace=60 checkpoint.py --save model.ckpt
    kill PID_OF_PADDLE_LAUNCH                                                 # saves, and ends with 143
    paddle-launch --nproc_per_node=2 --grace=60 checkpoint.py --save model.ckpt --steps 500   # goes on from there
    srun -N2 --ntasks-per-node=1 --time=10 paddle-launch --nproc_per_node=2 checkpoint.py --save model.ckpt

SIGTERM comes to the ranks at different moments. After each step they ask each other, and all stop after the same one.
The file must be where all nodes see it.
"""
import os
import signal

import paddle
import paddle.distributed as dist

from data_parallel import model
from digits import Digits, fail_if_asked, options, record

told_to_stop = False


def note(*_):
    global told_to_stop
    told_to_stop = True


def anyone_told_to_stop():
    votes = paddle.to_tensor([1 if told_to_stop else 0])
    dist.all_reduce(votes)  # the sum
    return votes.item() > 0


def save(path, step, mnist, adam):
    """Whole or not at all."""
    paddle.save({"step": step, "model": mnist.state_dict(), "adam": adam.state_dict()}, path + ".new")
    os.replace(path + ".new", path)


def batches(data, sampler, first):
    """For ever, from that step on; a run that goes on sees the batches that the first one did not."""
    epoch, skip = divmod(first, len(sampler))
    while True:
        sampler.set_epoch(epoch)
        for number, batch in enumerate(paddle.io.DataLoader(data, batch_sampler=sampler, num_workers=2)):
            if number >= skip:
                yield batch
        epoch, skip = epoch + 1, 0


def main():
    parser = options(__doc__)
    parser.add_argument("--save", default="checkpoint.ckpt", help="the file; all ranks must see it")
    parser.add_argument("--steps", type=int, default=100000)
    args = parser.parse_args()
    dist.init_parallel_env()
    signal.signal(signal.SIGTERM, note)  # after "import paddle", which has a handler of its own: it tells, and ends
    rank = dist.get_rank()
    paddle.seed(7 + rank)
    mnist = model()
    adam = paddle.optimizer.Adam(parameters=mnist.parameters())
    step = 0
    if os.path.exists(args.save):
        saved = paddle.load(args.save)
        step = saved["step"]
        mnist.set_state_dict(saved["model"])
        adam.set_state_dict(saved["adam"])
        print(f"rank {rank} goes on after step {step}", flush=True)
    mnist = paddle.DataParallel(mnist)

    data, losses = Digits(), []
    sampler = paddle.io.DistributedBatchSampler(data, args.batch_size, shuffle=True, drop_last=True)
    for images, labels in batches(data, sampler, step):
        fail_if_asked(args, rank, step)
        loss = paddle.nn.functional.cross_entropy(mnist(images), labels)
        loss.backward()
        adam.step()
        adam.clear_grad()
        losses.append(loss.item())
        step += 1
        if rank == 0 and step % 10 == 1:
            print(f"step {step:3}  loss {losses[-1]:.6f}", flush=True)
        stop = anyone_told_to_stop()
        if stop or step >= args.steps:
            break
    if rank == 0:
        save(args.save, step, mnist, adam)
        print(f"saved after step {step}{', told to stop' if stop else ''}", flush=True)
    record(args, rank, losses, mnist.parameters())


if __name__ == "__main__":
    main()
