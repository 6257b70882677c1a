#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for the fluid_dist.py of Paddle's documentation ("分布式训练快速开始"), without Paddle.

It reads the variables as that document says, trains a linear model over the parameter servers, and each
trainer prints `step 10, loss: [...]` as it ends. The document's own commands start it, with
`paddle-launch fluid_dist.py` in the place of `python fluid_dist.py`:

    PADDLE_TRAINING_ROLE=PSERVER PADDLE_CURRENT_IP=ps0.paddlepaddle.com \\
    PADDLE_PSERVER_IPS=ps0.paddlepaddle.com,ps1.paddlepaddle.com PADDLE_TRAINERS=2 PADDLE_PSERVER_PORT=6174 \\
    paddle-launch fluid_dist.py
"""
import os

from parameter_server import serve, train


def main():
    port = os.environ.get("PADDLE_PSERVER_PORT", "6174")
    servers = [f"{host}:{port}" for host in os.environ["PADDLE_PSERVER_IPS"].split(",")]
    role = os.environ["PADDLE_TRAINING_ROLE"]
    if role == "PSERVER":
        serve(os.environ["PADDLE_CURRENT_IP"], int(port))
    elif role == "TRAINER":
        train(servers, int(os.environ["PADDLE_TRAINER_ID"]), int(os.environ["PADDLE_TRAINERS"]), 10, {10})
    else:
        raise SystemExit(f"PADDLE_TRAINING_ROLE must be PSERVER or TRAINER, not {role}")


if __name__ == "__main__":
    main()
