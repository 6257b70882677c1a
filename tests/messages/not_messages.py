# SPDX-License-Identifier: Apache-2.0
"""What has the look of a message and is none, and what is not in our hands: each with its reason. An entry that nothing
needs any more makes the test fail."""

NO_MESSAGES_IN = {
    "launcher/cli/option_table.cc": "--help, which has tests of its own",
    "launcher/cli/help_text.cc": "--help, which has tests of its own",
}

# Calls, by the end of their name.
_SEARCHED = "searched for in somebody else's text"
TAKES_NO_MESSAGE = {
    "find": _SEARCHED, "says": _SEARCHED, "field": _SEARCHED, "strncmp": _SEARCHED,
    "digest": "goes into a number",
    "add_header": "HTTP",
}

_SECRET = "goes into a secret or a digest, and is never shown"
_OTHERS = "how others write: found in a log"
_ADVICE = "a part of a reason, to which the advice belongs"
READ_BY_PROGRAMS = {
    **{("launcher/channel/handshake.cc", text): "said between launchers" for text in (
        "another job", "the hub knows the secret", "the member knows the secret", "frames to the member",
        "frames to the hub")},
    ("launcher/channel/secret.cc", "paddle-launch job secret 1"): _SECRET,
    **{("launcher/rendezvous/identity.cc", text): _SECRET for text in (
        "id {}", "module ", "script ", "token {}")},
    ("launcher/rendezvous/tasks.cc", "slurm {}"): "compared by other launchers",
    ("launcher/site/kernel_facts.cc", "\noom_kill "): "a line of the kernel's",
    ("launcher/tell/log_lines.h", "Traceback (most recent call last):"): _OTHERS,
    **{("launcher/tell/log_lines.cc", text): _OTHERS for text in (
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:")},
    **{("launcher/tell/probable_cause.cc", text): _OTHERS for text in (
        "terminate called after throwing an instance of", "C++ Traceback (most recent call last):",
        "FatalError: `Segmentation fault`", "FatalError: `Illegal instruction`",
        "FatalError: `Erroneous arithmetic operation`",
        "FatalError: `Access to an undefined portion of a memory object`",
        "onnection reset by peer", "onnection closed by peer", "remote process exited", "Broken pipe")},
    **{("launcher/tell/words.cc", text): _ADVICE for text in (
        "no route", "no answer", "timed out", "another job", "not a launcher")},
    ("python/paddle_launch/_context.py", "paddle_launch job"): "a thread's name",
    **{("python/paddle_launch/_takeover.py", text): "a program" for text in (
        "import sys; exec(\"try:\\n w = open('/proc/self/cmdline', 'rb').read()\\n if b'paddle.distributed' in w or "
        "b'fleetrun' in w: import paddle_launch._takeover as t; t.take_over()\\nexcept (ImportError, OSError): pass\")\n",
        "#!/bin/sh\n# written by paddle_launch.install()\nexec '{}' -m paddle_launch \"$@\"\n")},
}

# Parts of texts that users of Paddle know and programs look for: they stay as Paddle has them.
_DOCUMENTS = "prescribed by Paddle's documents"
_LAUNCHER = "the words of Paddle's launcher"
_SPAWN = "the words of paddle.distributed.spawn"
WORDS_OF_PADDLE = {
    "ABORT!!! Out of all": _DOCUMENTS,
    "Local processes completed.": _DOCUMENTS,
    "First process distributed environment info (Only For Debug)": _DOCUMENTS,
    "Configuration Arguments": _DOCUMENTS,
    "Distributed Envs": _DOCUMENTS,
    "Can't find your": _LAUNCHER,
    "mod nproc_per_node": _LAUNCHER,
    "The number of selected devices": _SPAWN,
    "the number of visible devices": _SPAWN,
    "The selected {} card": _SPAWN,
    "The config option": _SPAWN,
    "Your model will be trained under CPUONLY mode": _SPAWN,
    "CPUONLY spawn": _SPAWN,
    "terminated with the following error": _SPAWN,
    "terminated with signal": _SPAWN,
    "terminated with exit code": _SPAWN,
    "raised an error as well": "follows Paddle's words in one text",
}

# Errors that leave nothing to do, or whose reason says it.
_ENDING = "somebody ends the launcher, and knows why"
NO_REMEDY = {
    "interrupted again: killing what is left": _ENDING,
    "stopped by {} {}": _ENDING,
    "{} did not end within 30 s of SIGKILL; it is left to the kernel": "nothing is stronger than SIGKILL",
    "{} could not meet the others: {}": "the reason is the plugin's",
    "the launcher process of spawn was killed; its guard stops the processes": "who killed it is not known",
    "this process ended without a result; join() of the job tells why": "the other error has it",
    "the processes were stopped: {}": "the reason is the launcher's",
}
