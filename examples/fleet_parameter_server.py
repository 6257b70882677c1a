#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A fleet job with parameter servers (Paddle 2.6; the wheels of 3.x have none).

    paddle-launch --server_num=1 --trainer_num=2 fleet_parameter_server.py       # all on one node
    paddle-launch --servers=192.168.0.1:6170 --trainers=192.168.0.1:6171,192.168.0.2:6171 \\
        fleet_parameter_server.py                                                # typed on both nodes
    srun -N2 --ntasks-per-node=1 paddle-launch --server_num=1 --trainer_num=2 fleet_parameter_server.py

Each worker computes gradients on its own part of the data and sends them to the servers, which hold the parameters.
A server never ends by itself: the launcher stops it when all workers are done. The workers wait for each other over
Gloo, which --trainer_num and --trainers turn on; with the older --worker_num and --workers say --with_gloo=1.
"""
import numpy as np
import paddle
from paddle.distributed import fleet

from digits import Digits, fail_if_asked, options, record


def network():
    images = paddle.static.data("images", [None, 28, 28], "float32")
    labels = paddle.static.data("labels", [None, 1], "int64")
    hidden = paddle.static.nn.fc(paddle.flatten(images, 1, -1), 64, activation="relu")
    loss = paddle.nn.functional.cross_entropy(paddle.static.nn.fc(hidden, 10), labels)
    return loss


def batches(data, size, worker, workers):
    numbers = np.arange(worker, len(data), workers)
    for first in range(0, len(numbers) - size + 1, size):
        chosen = numbers[first:first + size]
        yield {"images": data.images[chosen], "labels": data.labels[chosen]}


def train(args, loss):
    worker, data, losses = fleet.worker_index(), Digits(), []
    executor = paddle.static.Executor(paddle.CPUPlace())
    executor.run(paddle.static.default_startup_program())
    fleet.init_worker()
    for _ in range(args.epochs):
        for batch in batches(data, args.batch_size, worker, fleet.worker_num()):
            fail_if_asked(args, worker, len(losses))
            value, = executor.run(paddle.static.default_main_program(), feed=batch, fetch_list=[loss])
            losses.append(np.asarray(value).item())
            if len(losses) % 10 == 1 and fleet.is_first_worker():
                print(f"step {len(losses):3}  loss {losses[-1]:.6f}", flush=True)
    fleet.barrier_worker()  # no worker takes the servers away from the others
    scope = paddle.static.global_scope()
    names = [parameter.name for parameter in paddle.static.default_main_program().all_parameters()]
    record(args, worker, losses, [np.asarray(scope.find_var(name).get_tensor()) for name in names])
    fleet.stop_worker()
    print(f"worker {worker} of {fleet.worker_num()} ends after step {len(losses)}, loss {losses[-1]:.6f}", flush=True)


def main():
    args = options(__doc__).parse_args()
    paddle.enable_static()
    paddle.seed(7)
    fleet.init(is_collective=False)
    loss = network()
    strategy = fleet.DistributedStrategy()
    strategy.a_sync = True
    strategy.a_sync_configs = {"k_steps": 4}  # after so many steps a worker and the servers tell each other the news
    fleet.distributed_optimizer(paddle.optimizer.SGD(0.05), strategy).minimize(loss)
    if fleet.is_server():
        fleet.init_server()
        fleet.run_server()
    else:
        train(args, loss)


if __name__ == "__main__":
    main()
