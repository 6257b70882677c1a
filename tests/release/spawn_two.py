# SPDX-License-Identifier: Apache-2.0
"""A function in two processes, by the package of the wheel."""

import os

import paddle_launch


def work(word):
    print(f"rank {os.environ['PADDLE_TRAINER_ID']} of {os.environ['PADDLE_TRAINERS_NUM']}, {word}", flush=True)
    return int(os.environ["PADDLE_TRAINER_ID"])


if __name__ == "__main__":
    context = paddle_launch.spawn(work, ("spawned",), nprocs=2)
    assert [queue.get() for queue in context.return_queues] == [0, 1]
