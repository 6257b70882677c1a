# SPDX-License-Identifier: Apache-2.0
"""Jobs on four hosts that are started again, each in a folder and under a --job_id of its own, so that a test may hold
several at once. Their trainers write down in each round that they came, and what they saw."""

import os

from cluster_case import PER_NODE, ClusterCase

from harness import SH, variables_in, wait_until
from rounds_table import only_table

WORLD = 4 * PER_NODE
QUICK = 20.0  # seconds: far more than four launchers need to end, far less than the pauses below
LONG_PAUSE = "--restart_pause=600"
NO_PAUSE = "--restart_pause=0"

# A trainer writes down what it sees, and waits at the gate of its round if it has one.
ARRIVE = ("gate=gate.$PADDLE_LAUNCH_ROUND; [ -p $gate ] || gate=/dev/null; exec 3<$gate; "
          "me=$PADDLE_LAUNCH_ROUND.$PADDLE_TRAINER_ID; env >env.$me; echo $$ >.tmp.$me; mv .tmp.$me ready.$me; "
          "read _ <&3 || :; exec 3<&-; ")


def fails(*ranks, code=7, before=1):
    """These ranks fail in the rounds before that one, and the others of these rounds stay until they are stopped."""
    return (f"if [ $PADDLE_LAUNCH_ROUND -lt {before} ]; then case $PADDLE_TRAINER_ID in {'|'.join(map(str, ranks))}) "
            f"exit {code};; esac; exec sleep 1000; fi; ")


def saves(*ranks):
    """These ranks, when they are stopped, take their time: until there is a file "saved"."""
    return (f"case $PADDLE_TRAINER_ID in {'|'.join(map(str, ranks))}) trap ': >stopping.$PADDLE_TRAINER_ID; "
            "until [ -e saved ]; do sleep 0.05; done; exit 0' TERM; : >trapped.$PADDLE_TRAINER_ID; "
            "while :; do sleep 0.05; done;; esac; ")


class Rounds:
    """What the trainers of a job wrote down in its folder; the gate of the first round is shut."""

    def __init__(self, case, folder, world):
        self.case, self.folder, self.world = case, folder, world
        folder.mkdir()
        os.mkfifo(folder / "gate.0")
        self._gate = os.open(folder / "gate.0", os.O_RDWR | os.O_CLOEXEC)
        case.addCleanup(self.go)

    def go(self):
        if self._gate is not None:
            os.close(self._gate)
            self._gate = None

    def wait_round(self, number, is_going_on, told):
        """The pids of its trainers by rank."""
        ready = [self.folder / f"ready.{number}.{rank}" for rank in range(self.world)]

        def look():
            going_on = is_going_on()
            have_come = all(path.exists() for path in ready)
            self.case.assertTrue(going_on or have_come, f"the job ended before round {number}\n{told()}")
            return have_come
        wait_until(look, lambda: f"round {number} of {self.folder.name}\n{told()}")
        return {rank: int(path.read_text()) for rank, path in enumerate(ready)}

    def wait_files(self, name, ranks, told):
        wait_until(lambda: all((self.folder / f"{name}.{rank}").exists() for rank in ranks), told)

    def rounds(self):
        return sorted({int(name.split(".")[1]) for name in os.listdir(self.folder) if name.startswith("ready.")})

    def environment(self, number, rank):
        return variables_in((self.folder / f"env.{number}.{rank}").read_text(errors="replace"))

    def assert_world(self, number, restarts=None):
        """All trainers of a round saw the same; their endpoints."""
        environments = [self.environment(number, rank) for rank in range(self.world)]
        for name in ("PADDLE_TRAINER_ENDPOINTS", "PADDLE_NNODES"):
            self.case.assertEqual(len({env[name] for env in environments}), 1, name)
        self.case.assertEqual(len({env["PADDLE_MASTER"] for env in environments[1:]}), 1)
        told = {(env["PADDLE_LAUNCH_ROUND"], env["PADDLE_RESTART_COUNT"]) for env in environments}
        self.case.assertEqual(told, {(str(number), str(number if restarts is None else restarts))})
        endpoints = environments[0]["PADDLE_TRAINER_ENDPOINTS"].split(",")
        self.case.assertEqual([env["PADDLE_CURRENT_ENDPOINT"] for env in environments], endpoints)
        per_node = self.world // len(self.case.addresses)
        self.case.assertEqual([text.split(":")[0] for text in endpoints],
                              [address for address in self.case.addresses for _ in range(per_node)])
        return {*endpoints, environments[0]["PADDLE_MASTER"], environments[1]["PADDLE_MASTER"]}


class Job(Rounds):
    """Launchers of one job, in a folder and with a --job_id of its own."""

    def __init__(self, case, name, then, options, how):
        super().__init__(case, case.base / name, WORLD)
        self.words = [f"--job_id={name}", *options, SH, "-c", ARRIVE + then]
        self.how = how
        self.runs = {}
        self.start(*case.names)

    def start(self, *hosts):
        """What was typed there before, if anything was, is forgotten."""
        base, self.case.dir = self.case.dir, self.folder
        try:
            self.runs.update({host: self.case.start_node(host, *self.words, **self.how) for host in hosts})
        finally:
            self.case.dir = base

    def take(self, host):
        """Its launcher is no longer one of the job's."""
        return self.runs.pop(host)

    def wait_for(self, number):
        return self.wait_round(number, lambda: all(run.running() for run in self.runs.values()), self.told)

    def begin(self):
        pids = self.wait_for(0)
        self.go()
        return pids

    def told(self):
        return self.case.all_told(self.runs)

    def table(self, host):
        return only_table(self.case, self.runs[host])

    # claims

    def assert_ends(self, status, seconds=QUICK):
        self.case.assert_all_end(self.runs, status, seconds)

    def assert_told(self, *texts):
        self.case.assert_all_told(self.runs, *texts)

    def assert_tables(self, *causes, hosts=None):
        """All nodes tell of these rounds, the last of which completed."""
        expected = [(number, number, 4, WORLD, cause) for number, cause in enumerate((*causes, "completed"))]
        for host in hosts or self.runs:
            self.case.assertEqual(self.table(host), expected, host)


class RestartCase(ClusterCase):
    def start_job(self, name, then, *options, **how):
        return Job(self, name, then, ["--max_restart=3", *options], how)

    def text_of(self, rank, what="exit code 7"):
        return f"rank {rank} on {self.addresses[rank // PER_NODE]} failed: {what}"

    def kill(self, job, host):
        """The launcher there."""
        self.kill_launcher(job.take(host))
