# SPDX-License-Identifier: Apache-2.0
"""Distributed PaddlePaddle training out of Python: spawn() here, the launcher as `python -m paddle_launch`, and after
install() also as `python -m paddle.distributed.launch`."""

from ._context import SpawnContext
from ._errors import CardsError, SpawnError
from ._spawn import spawn
from ._takeover import install, uninstall

__all__ = ["CardsError", "SpawnContext", "SpawnError", "install", "spawn", "uninstall"]
