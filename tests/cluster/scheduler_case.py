# SPDX-License-Identifier: Apache-2.0
"""Launchers that srun, mpirun or mpiexec.hydra started together on four hosts, and what their trainers were told. Each
job of a test has a folder of its own, which all hosts see: its logs, and what its trainers wrote down."""

import collections
import os
import pathlib
import re
import shlex
import shutil

from surroundings_case import SurroundingsCase

from harness import SH, binary, variables_in

NODES, PER_NODE = 4, 4
WORLD = NODES * PER_NODE
SINGLE = ("-N4", "--ntasks-per-node=1")
MESH = ("-N4", "--ntasks-per-node=4")
MUNGE = {"PADDLE_LAUNCH_MUNGE_SOCKET": "/tmp/slurm/munge.socket"}
PLUGINS = pathlib.Path(binary()).parent.parent / "lib" / "paddle-launch"
NOT_PROTECTED = "the job channel is not protected"
ERROR = "paddle-launch: error: "

# sh -c RECORD sh FOLDER
RECORD = ('{ env; echo TEST_HOST=$(hostname); } >"$1/env.$PADDLE_TRAINER_ID"; '
          'echo rank $PADDLE_TRAINER_ID of $PADDLE_TRAINERS_NUM on $(hostname)')
OF_NODE = ("POD_NAME", "PADDLE_GLOO_FS_PATH")
SETTINGS = re.compile(r"PADDLE_LAUNCH_(?!JOB$)")  # of the launcher, and the NCCL id

World = collections.namedtuple("World", "environments logs endpoints")


class SchedulerCase(SurroundingsCase):
    # command lines

    def command(self, job, *options, program=None):
        """A launcher whose trainers RECORD into the folder of that job."""
        (self.dir / job).mkdir()
        return [program or binary(), *options, f"--log_dir={job}/log", SH, "-c", RECORD, "sh", job]

    def wrapper(self, name, text):
        """A program that does this first and then becomes the launcher."""
        return str(self.write(name, f'#!/bin/sh\n{text}\nexec {shlex.quote(binary())} "$@"\n', 0o755))

    def only_on(self, host, text):
        """A wrapper that does it there, and nothing elsewhere."""
        return self.wrapper(f"on_{host}", f'if [ "$(hostname)" = {host} ]; then {text}; fi')

    def plugins(self, name, *files):
        """A directory with just these plugins."""
        folder = self.dir / name
        folder.mkdir()
        for file in files:
            shutil.copy(PLUGINS / file, folder)
        return str(folder)

    # what trainers saw

    def environments(self, job):
        """{rank: environment}, of those that ran."""
        names = [name for name in os.listdir(self.dir / job) if name.startswith("env.")]
        return {int(name.removeprefix("env.")): variables_in(self.read(f"{job}/{name}")) for name in names}

    def world(self, job):
        """What two jobs of the same shape have in common. Claims what holds for every job: a node is one pod, however
        many launchers it has."""
        environments = self.environments(job)
        self.assertEqual(sorted(environments), list(range(WORLD)))
        for name in OF_NODE:
            values = {(env["TEST_HOST"], env[name]) for env in environments.values()}
            self.assertEqual(len(values), NODES, f"{name}: {values}")
        masters = [environments[rank]["PADDLE_MASTER"] for rank in range(WORLD)]
        self.assertEqual(len(set(masters[1:])), 1, masters)  # before rank 0's store there is a relay
        self.assertEqual({master.split(":")[0] for master in masters}, {self.addresses[0]})
        self.assertEqual({env["PADDLE_LOG_DIR"] for env in environments.values()}, {str(self.dir / job / "log")})
        left_out = (*OF_NODE, "PADDLE_MASTER", "PADDLE_LOG_DIR")
        told = {rank: {name: value for name, value in env.items()
                       if name.startswith(("PADDLE_", "FLAGS_", "TEST_HOST"))
                       and name not in left_out and not SETTINGS.match(name)}
                for rank, env in environments.items()}
        return World(told, sorted(os.listdir(self.dir / job / "log")), self.read(f"{job}/log/endpoints.log"))

    # claims

    def assert_ended(self, done, status=0):
        self.assertEqual(done.returncode, status, f"{done.args}\n{done.stdout}\n{done.stderr}")

    def assert_ran(self, done, job):
        """All trainers did; the World that they saw."""
        self.assert_ended(done)
        return self.world(job)

    def assert_once(self, done, *texts):
        for text in texts:
            self.assertEqual((done.stdout or "").count(text) + (done.stderr or "").count(text), 1,
                             f"{text!r} in\n{done.stdout}\n{done.stderr}")

    def assert_refused(self, done, job, status, *texts):
        """One error, with these texts, and no trainer."""
        self.assert_ended(done, status)
        self.assert_once(done, ERROR)
        error = done.stderr[done.stderr.index(ERROR):]
        for text in texts:
            self.assertIn(text, error)
        self.assertEqual(self.environments(job), {})
        logs = self.dir / job / "log"
        self.assertEqual([name for name in os.listdir(logs) if "workerlog" in name] if logs.exists() else [], [])
