# SPDX-License-Identifier: Apache-2.0
"""Jobs with parameter servers that srun or mpirun started on four hosts: one server and two workers on each, unless a
test says otherwise."""

import os
import re

from surroundings_case import SurroundingsCase

from roles_case import RolesMixin, names

NODES = 4
USUAL = ("--server_num=1", "--worker_num=2")
SERVERS, WORKERS = names("server", NODES), names("worker", 2 * NODES)
OF_JOB = re.compile(r"(PADDLE|FLAGS)_|POD_IP$|TRAINING_ROLE$|(STAGE|HETER)_|\w+_VISIBLE_DEVICES$")
OF_NODE = re.compile(r"PADDLE_(GLOO_FS_PATH|LOG_DIR|LAUNCH_.*)$")  # or of one run
SUCCESS = "Local processes completed."


class ServersCase(RolesMixin, SurroundingsCase):
    def new_folder(self):
        """Each job of a test has one of its own: self.dir from now on."""
        self.dir = self.base / f"job{next(self.numbers)}"
        self.dir.mkdir()

    def run_job(self, starter, *words, status=0, env=()):
        self.new_folder()
        run = self.start_under(starter, *words, env=env)
        run.wait()
        self.assert_status(run, status)
        return run

    def per_node(self, launchers, *options):
        return ["srun", *options, f"-N{NODES}", f"--ntasks-per-node={launchers}"]

    def mpirun(self, per_host, *options):
        return self.mpi.openmpi([], per_host=per_host, options=options)

    def logs(self, *lists):
        return sorted(["endpoints.log", *(name.replace(".", "log.") for all_names in lists for name in all_names)])

    def assert_whole(self, run, servers, workers):
        """All ran, in their order, with logs of the whole job, and one launcher spoke."""
        self.assert_lists(len(servers), len(workers))
        first_worker = min(self.moment("started", name) for name in workers)
        last_worker = max(self.moment("ended", name) for name in workers)
        for name in servers:
            self.assertLess(self.moment("listens", name), first_worker)
            self.assertGreater(self.moment("stopped", name), last_worker)
        for name in workers:
            self.assertEqual(self.read(f"reached.{name}"), f"{len(servers)}\n")
        self.assertEqual(sorted(os.listdir(self.dir / "log")), self.logs(servers, workers))
        spoke = run.out.decode() + run.err
        self.assertEqual(re.findall(r"\w+\.\d+ of \d+ on n\d", spoke), [f"worker.0 of {len(workers)} on n1"])
        for once in ("Configuration Arguments", "Local server start ", SUCCESS):
            self.assertEqual(spoke.count(once), 1, f"{once!r} in\n{run.told()}")
        self.assertNotIn("ABORT", run.err)

    def world(self, all_names):
        return {name: {key: value for key, value in self.seen(name).items()
                       if OF_JOB.match(key) and not OF_NODE.match(key)} for name in all_names}
