# SPDX-License-Identifier: Apache-2.0
"""What Paddle's own launchers set in recorded runs is there with the same value; more is allowed.

Each <version>.<case>.json holds the arguments of the recorded run, the variables it was started with, and
what its processes saw. Ports differ from run to run, and with them PADDLE_MASTER; so do temporary
folders and POD_NAME. OMP_NUM_THREADS is in those records whose launcher was run with all of Paddle, which sets it. PADDLE_BACKUP_ENV_PATH is set only when a list is too long (docs/compatibility.md).
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from harness import binary, free_port_run

HERE = pathlib.Path(__file__).parent
VARY = {"PADDLE_MASTER", "PADDLE_GLOO_FS_PATH", "POD_NAME", "PADDLE_BACKUP_ENV_PATH"}
# A worker waits until the servers have printed as well: they are stopped when it ends.
PRINT_ENVIRONMENT = """import os, time
for name in sorted(os.environ):
    print(f"{name}={os.environ[name]}", flush=True)
if "PADDLE_PSERVERS_IP_PORT_LIST" in os.environ:
    open("printed." + os.environ["PADDLE_PORT"], "w").close()
    all_lists = ("PADDLE_PSERVERS_IP_PORT_LIST", "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST")
    ports = [end.split(":")[1] for name in all_lists for end in os.environ.get(name, "").split(",") if end]
    while os.environ["TRAINING_ROLE"] == "TRAINER" and not all(os.path.exists("printed." + p) for p in ports):
        time.sleep(0.01)
"""
# Refused by a rule of ours: exit 2 and nothing started.
REFUSED = {"v2.2.2.both": "--ips"}
# Recorded on the second of two nodes. Its neighbour is started as well, since our nodes meet: with
# these options and variables instead. Logs are named by the rank in the whole job here.
NEIGHBOURS = {
    "v2.2.2.cloud": ([], {"POD_IP": "127.0.0.1", "PADDLE_TRAINER_ID": "0", "PADDLE_PORT": "8270"}),
    "v2.2.2.ips_host": (["--host=127.0.0.1"], {}),
    "develop.ips_host": (["--host=127.0.0.3"], {}),
}
BOOTSTRAP_PORT = str(free_port_run(10))


def cards_of(recorded):
    """The stand-in of the recorded runs had cards; without --gpus it used all of them. Jobs with servers were
    recorded without cards."""
    if "serverlog.0" in recorded["processes"]:
        return []
    ranks = [log for log in recorded["processes"] if log.startswith("workerlog")]
    has_cards = any("FLAGS_selected_gpus" in seen for seen in recorded["processes"].values())
    names_cards = any(re.match(r"--(gpus|devices)", argument) for argument in recorded["arguments"])
    if not has_cards or names_cards:
        return []
    return ["--gpus=" + ",".join(str(i) for i in range(len(ranks)))]


def command_and_env(recorded, options=(), variables=()):
    names = ("PADDLE_", "FLAGS_", "POD_", "TRAINER_", "TRAINING_", "CUDA_", "OMP_", "SLURM_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    env.update(recorded["environment"], PADDLE_LAUNCH_ASSUME_GPUS="1", PADDLE_LAUNCH_PORT=BOOTSTRAP_PORT)
    env.update(variables)
    keys = {option.split("=")[0] for option in options}
    kept = [word for word in recorded["arguments"] if word.split("=")[0] not in keys]
    command = [binary(), *cards_of(recorded), *options, *kept]
    return command, env


@contextlib.contextmanager
def neighbour_of(case, recorded, folder):
    if case not in NEIGHBOURS:
        yield
        return
    command, env = command_and_env(recorded, *NEIGHBOURS[case])
    beside = pathlib.Path(folder) / "neighbour"
    beside.mkdir()
    (beside / "env.py").write_text(PRINT_ENVIRONMENT)
    with subprocess.Popen(command, cwd=beside, env=env, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as other:
        yield
        other.wait(timeout=120)


def run(case, folder):
    recorded = json.loads((HERE / f"{case}.json").read_text())
    (pathlib.Path(folder) / "env.py").write_text(PRINT_ENVIRONMENT)
    command, env = command_and_env(recorded)
    with neighbour_of(case, recorded, folder):
        result = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    return recorded, result


def our_name(case, log):
    """The recorded launcher counts a node's logs from 0; the neighbour has the first two ranks."""
    if case not in NEIGHBOURS:
        return log
    name, number = log.split(".")
    return f"{name}.{int(number) + 2}"


def without_ports(text):
    return re.sub(r"(\d+\.\d+\.\d+\.\d+):\d+", r"\1:PORT", text)


def in_folder(text, folder):
    """Recorded paths are relative to the working folder, or begin with WORKDIR."""
    return re.sub(r"^(\.|WORKDIR)/", f"{folder}/", text)


# The list in which a process of this role looks for its own address.
LIST_OF = {"PSERVER": "PADDLE_PSERVERS_IP_PORT_LIST", "TRAINER": "PADDLE_TRAINER_ENDPOINTS",
           "HETER_TRAINER": "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"}


def names_its_port(seen):
    return f"{seen['POD_IP']}:{seen['PADDLE_PORT']}" in seen[LIST_OF[seen["TRAINING_ROLE"]]].split(",")


class GoldenTest(unittest.TestCase):
    maxDiff = None

    def check_same(self, case):
        with tempfile.TemporaryDirectory() as folder:
            folder = os.path.realpath(folder)
            recorded, result = run(case, folder)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(recorded["processes"])
            for log, expected in recorded["processes"].items():
                lines = (pathlib.Path(folder) / "log" / our_name(case, log)).read_text().splitlines()
                seen = dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("===="))
                for name, value in expected.items():
                    if name in VARY:
                        continue
                    if name == "PADDLE_PORT" and "TRAINING_ROLE" in expected:
                        self.assertTrue(names_its_port(seen), seen)
                        continue
                    if case == "develop.env_override" and name == "PADDLE_LOG_DIR":
                        value = "./log"  # the recorded launcher let the variable win over the option
                    with self.subTest(case=case, log=log, name=name):
                        self.assertEqual(without_ports(seen.get(name, "<not set>")),
                                         without_ports(in_folder(value, folder)))

    def check_refused(self, case):
        with tempfile.TemporaryDirectory() as folder:
            _, result = run(case, folder)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(REFUSED[case], result.stderr)
            self.assertFalse((pathlib.Path(folder) / "log").exists())

    def test_every_recorded_run_gives_the_same_or_is_refused(self):
        cases = sorted(path.stem for path in HERE.glob("*.json"))
        self.assertGreaterEqual(len(cases), 13)
        for case in cases:
            with self.subTest(case=case):
                self.check_refused(case) if case in REFUSED else self.check_same(case)


if __name__ == "__main__":
    unittest.main()
