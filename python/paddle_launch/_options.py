# SPDX-License-Identifier: Apache-2.0
"""What spawn's arguments mean: Paddle's checks in Paddle's words, and the launcher's options that come of them."""

import operator
import os
import sys
import warnings
from multiprocessing import spawn as multiprocessing_spawn

from ._binary import plan
from ._errors import CardsError

SUPPORTED = ("start_method", "ips", "gpus", "xpus", "backend", "print_config", "log_dir", "grace")
DEPRECATED = ("selected_devices", "selected_gpus", "started_port", "cluster_node_ips", "node_ip", "use_paddlecloud")
VISIBLE = {"gpus": "CUDA_VISIBLE_DEVICES", "xpus": "XPU_VISIBLE_DEVICES"}
OPTIONS = ("gpus", "xpus", "npus", "mlus")  # of the launcher; it names other cards by --devices
SELECTED = "FLAGS_selected_"  # the kind of the cards follows, which the launcher knows; or "accelerators" of all kinds
CALLER = 3  # of spawn, for the warnings of functions that spawn calls


def interpreter():
    """multiprocessing's, so that its set_executable() counts here too."""
    path = os.fsdecode(multiprocessing_spawn.get_executable() or b"")
    if not path:
        raise RuntimeError("spawn needs a Python interpreter to start, and sys.executable names none; "
                           "name one with multiprocessing.set_executable()")
    return path


def check_names(options):
    for name in options:
        if name in DEPRECATED:
            warnings.warn(f"The config option ({name}) of `paddle.distributed.spawn` is deprecated. Please use the "
                          "latest config options stated in the `spawn` API documentation.", DeprecationWarning, CALLER)
        elif name not in SUPPORTED:
            raise ValueError(f"The config option ({name}) of `paddle.distributed.spawn` is not supported.")


def check_start_method(method):
    if method in ("fork", "forkserver"):
        warnings.warn(f"start_method={method!r}: processes are started anew here, as with 'spawn'. They see the "
                      "script's top level, but not what the parent has changed since.", RuntimeWarning, CALLER)
    elif method not in (None, "spawn"):
        raise ValueError(f"start_method={method!r}: there is none of this name; use 'spawn', or leave it out")


def check_nprocs(nprocs):
    try:
        number = operator.index(nprocs)
    except TypeError:
        raise TypeError(f"nprocs={nprocs!r}: not a whole number; give one, or -1 for all visible cards") from None
    if number < 1 and number != -1:
        raise ValueError(f"nprocs={number}: give 1 or more, or -1 for all visible cards")
    return number


def _words(option, value):
    if not isinstance(value, str):
        raise TypeError(f"{option}={value!r}: not a text; write {option}='…,…', with commas")
    return [word.strip() for word in value.split(",")]


def _named_cards(options):
    """("gpus", ["4", "5"]) of the option that names cards, or (None, None)."""
    if options.get("gpus") is not None and options.get("xpus") is not None:
        raise ValueError("gpus and xpus are both given: a job has one kind of card; leave one of them out")
    for option, kind in (("gpus", "gpus"), ("xpus", "xpus"), ("selected_devices", "gpus"), ("selected_gpus", "gpus")):
        if options.get(option) is not None:
            return kind, _words(option, options[option])
    return None, None


def _visible_cards():
    """The kind of this machine's cards and all that are visible; ("gpus", []) where there are none."""
    processes = plan(["--bootstrap=solo", interpreter()])["processes"]
    selected = [name[len(SELECTED):] for name in processes[0]["environment"] if name.startswith(SELECTED)]
    kind = next((kind for kind in selected if kind != "accelerators"), "gpus")
    return kind, [card for process in processes for card in process["cards"]]


def _paddle_is_on_cpu():
    """Where the program has loaded Paddle, its default device decides, as in Paddle; named cards change nothing."""
    paddle = sys.modules.get("paddle")
    return hasattr(paddle, "get_device") and paddle.get_device() == "cpu"


def _check_number(kind, cards, nprocs):
    if len(cards) != nprocs:
        raise CardsError(f"The number of selected devices({len(cards)}) is not equal to the number of spawn "
                         f"processes({nprocs}), please ensure that the correct `nprocs` and `{kind}` arguments are "
                         "passed.")


def _check_by_plan(arguments, kind, cards):
    """Nothing is started that the launcher would refuse; a card that is not there is told in Paddle's words."""
    try:
        plan([*arguments, interpreter()])
    except ValueError as refusal:
        visible = _visible_cards()[1] if cards else []
        for card in cards:
            if card not in visible:
                raise CardsError(f"The selected {kind[:-1]} card {card} cannot found in {VISIBLE.get(kind, kind)} "
                                 f"({','.join(visible)}).") from refusal
        raise


def _first_visible(nprocs, backend):
    """The kind and the cards of the first processes; no cards means CPU."""
    kind, visible = ("gpus", []) if backend == "gloo" else _visible_cards()
    if nprocs > len(visible) and (visible or backend in ("nccl", "bkcl")):
        raise CardsError(f"the number of visible devices({len(visible)}) is less than the number of spawn "
                         f"processes({nprocs}), please ensure that the correct `nprocs` argument is passed or the "
                         f"environment variable `{VISIBLE.get(kind, 'of the cards')}` is correctly configured.")
    return kind, visible if nprocs == -1 else visible[:nprocs]


def _check_cpu(nodes, options):
    warnings.warn("Your model will be trained under CPUONLY mode by using GLOO,because CPUPlace is specified manually "
                  "or your installed PaddlePaddle only support CPU Device.", stacklevel=CALLER + 1)
    if options.get("use_paddlecloud"):
        raise AssertionError("CPUONLY spawn doesn't support use paddle cloud")
    if len(nodes) > 1:
        raise AssertionError(f"CPUONLY spawn only support single trainer, that is len(ips)=1, but got "
                             f"{','.join(nodes)}. paddle-launch --ips starts a script on several nodes.")


def processes_and_arguments(nprocs, options):
    """How many processes, and the launcher's options for them."""
    backend = options.get("backend") or "auto"
    nodes = _words("ips", options.get("ips") or options.get("cluster_node_ips") or "127.0.0.1")
    kind, cards = _named_cards(options)
    if backend == "auto" and _paddle_is_on_cpu():
        backend = "gloo"
    if cards and backend != "gloo":
        nprocs = len(cards) if nprocs == -1 else nprocs
        _check_number(kind, cards, nprocs)
    else:
        kind, cards = _first_visible(nprocs, backend)
    if not cards:
        _check_cpu(nodes, options)
    if nprocs == -1:
        nprocs = len(cards) or os.cpu_count() or 1
    arguments = [f"--nproc_per_node={nprocs}"]
    if backend != "auto":
        arguments.append(f"--backend={backend}")
    if cards:
        arguments.append(f"--{kind if kind in OPTIONS else 'devices'}={','.join(cards)}")
    if len(nodes) > 1:
        arguments.append(f"--ips={','.join(nodes)}")
        if not os.environ.get("PADDLE_JOB_ID"):
            # Launchers know their job by its command, and these have a directory of their own in it.
            arguments.append(f"--job_id=spawn-{os.path.basename(sys.argv[0] or '')}")
    elif not options.get("use_paddlecloud"):
        arguments.append("--bootstrap=solo")  # whatever started this program: the job is its own
    for option, name in (("started_port", "--start_port"), ("node_ip", "--host"), ("grace", "--grace")):
        if options.get(option) is not None:
            arguments.append(f"{name}={options[option]}")
    _check_by_plan(arguments, kind, cards)
    return nprocs, arguments
