# SPDX-License-Identifier: Apache-2.0
"""Jobs with parameter servers under srun and mpirun: numbers count for each node, and however many launchers share a
node, the job is the same. It ends everywhere, and with one verdict."""

import os
import re
import shutil
import signal
import unittest

from scheduler_case import ERROR, MUNGE
from scheduler_servers_case import NODES, SERVERS, SUCCESS, USUAL, WORKERS, ServersCase
from test_hosts import HERE

from harness import binary, comm, launcher_of
from roles_case import LISTS, names, roles

ALIKE = (*USUAL, "--start_port=6170")
HELD = [f"{worker}=hold" for worker in WORKERS]
STOPPED, KILLED = 128 + signal.SIGTERM, 128 + signal.SIGKILL


class StartTest(ServersCase):
    _reference = None  # one launcher a node

    def reference(self):
        if StartTest._reference is None:
            run = self.run_job(self.per_node(1), *ALIKE, *roles())
            self.assert_whole(run, SERVERS, WORKERS)
            StartTest._reference = self.world(SERVERS + WORKERS)
        return StartTest._reference

    def test_lists_are_made_node_by_node(self):
        servers = [f"{address}:6170" for address in self.addresses]
        workers = [f"{address}:{port}" for address in self.addresses for port in (6171, 6172)]
        for name, env in self.reference().items():
            role, place = name.split(".")
            expected = {LISTS["server"]: ",".join(servers), LISTS["worker"]: ",".join(workers),
                        "PADDLE_NNODES": str(NODES), "PADDLE_TRAINERS_NUM": str(len(workers)),
                        "TRAINING_ROLE": "PSERVER" if role == "server" else "TRAINER",
                        "PADDLE_GLOO_HTTP_ENDPOINT": f"{self.addresses[0]}:6173"}
            self.assertEqual({key: env.get(key) for key in expected}, expected)
            self.assertEqual(env.get("PADDLE_TRAINER_ID"), place if role == "worker" else None)

    def test_the_job_is_the_same_however_many_launchers_a_node_has(self):
        shapes = {"two": self.per_node(2), "cyclic": self.per_node(2, "--distribution=cyclic"),
                  "more than workers": self.per_node(4), "step": self.per_node(2, "--mpi=none"),
                  "mpirun": self.mpirun(2, "--map-by", "node")}
        for shape, starter in shapes.items():
            with self.subTest(shape):
                run = self.run_job(starter, *ALIKE, *roles(), env=MUNGE)
                self.assert_whole(run, SERVERS, WORKERS)
                self.assertEqual(self.world(SERVERS + WORKERS), self.reference())

    def test_workers_need_neither_be_shared_evenly_nor_have_named_ports(self):
        servers, workers = names("server", 2 * NODES), names("worker", 3 * NODES)
        for launchers in (1, 2):
            run = self.run_job(self.per_node(launchers), "--server_num=2", "--worker_num=3", *roles("server.7=late:1"))
            self.assert_whole(run, servers, workers)
            for kind, count in (("server", 2), ("worker", 3)):
                hosts = [endpoint.split(":")[0] for endpoint in self.seen("worker.0")[LISTS[kind]].split(",")]
                self.assertEqual(hosts, [address for address in self.addresses for _ in range(count)])

    def test_a_server_elsewhere_that_does_not_listen_is_told(self):
        run = self.run_job(self.per_node(2), *USUAL, "--server_wait=0.5", *roles("server.2=deaf", "server.3=deaf"))
        silent = re.compile(r"server 2 \(10\.77\.0\.3:\d+\), server 3 \(10\.77\.0\.4:\d+\) do not listen after 0\.5 s")
        self.assert_told(run, silent)
        self.assertEqual(self.read("reached.worker.0"), "2\n")

    def test_heterogeneous_workers_are_listed_stage_by_stage(self):
        heter = names("heter", 2 * NODES)
        worlds = []
        for launchers in (1, 2):
            self.new_folder()
            gate = self.gate()
            run = self.start_under(self.per_node(launchers), *ALIKE, "--heter_worker_num=1;1", *roles("worker.0=hold"))
            self.wait_roles((*SERVERS, *WORKERS, *heter))
            gate.open()
            run.wait()
            self.assert_status(run, 0)
            self.assertEqual(run.err.count(SUCCESS), 1, run.told())
            self.assert_lists(NODES, 2 * NODES, 2 * NODES)
            self.wait_stopped(*heter, *SERVERS)
            worlds.append(self.world((*SERVERS, *WORKERS, *heter)))
            self.assertEqual(sorted(os.listdir(self.dir / "log")), self.logs(SERVERS, WORKERS, heter))
        self.assertEqual(worlds[0], worlds[1])
        second, third = ([f"{address}:{port}" for address in self.addresses] for port in (6173, 6174))
        self.assertEqual(worlds[0]["worker.0"][LISTS["heter"]], ",".join(second + third))
        self.assertEqual(worlds[0]["heter.5"]["STAGE_ID"], "3")
        self.assertEqual(worlds[0]["heter.5"]["PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST"], ",".join(second))

    def test_the_batch_file_runs_as_it_is(self):
        self.new_folder()
        for name in ("slurm/parameter-server.sbatch", "examples/parameter_server.py"):
            (self.dir / name).parent.mkdir()
            shutil.copy(HERE.parent.parent / name, self.dir / name)
        env = {"PATH": f"{os.path.dirname(binary())}:{self.python_on_path()}"}
        for more in ((), ("--ntasks-per-node=2",)):
            told = self.run_slurm(["sbatch", *more, "slurm/parameter-server.sbatch"], check=True, env=env).stdout
            self.slurm.wait_idle()
            job = told.split()[-1]
            out = self.read(f"servers-{job}.out")
            self.assertEqual(out.count("worker 0 found [+3.0, -2.0, +0.5, +1.0]"), 1, out)
            self.assertIn(SUCCESS, out)
            logs = self.logs(names("server", 2), names("worker", 4))
            self.assertEqual(sorted(os.listdir(self.dir / f"log-{job}")), logs)


class EndTest(ServersCase):
    def start_held(self, starter, *options):
        """(run, {name: pid}) with all workers at a gate that stays shut."""
        self.new_folder()
        self.gate()
        run = self.start_under(starter, *USUAL, *options, *roles(*HELD))
        return run, self.wait_roles(SERVERS + WORKERS)

    def assert_ends(self, run, status, *texts, without=()):
        """And all but these had their SIGTERM, and are gone."""
        run.wait()
        self.assertIn(run.status, status if isinstance(status, list) else [status], run.told())
        self.assert_told(run, *texts)
        self.wait_stopped(*(name for name in SERVERS + WORKERS if name not in without))
        self.wait_none_left()

    def test_a_failing_worker_is_the_jobs_end(self):
        for starter in (self.per_node(2), self.mpirun(1)):
            self.new_folder()
            self.gate()
            run = self.start_under(starter, *USUAL, *roles(*HELD, "worker.5=exit:7"))
            run.wait()
            self.assert_status(run, 7)
            self.assertEqual(re.findall("ABORT!!!.*", run.err), [self.abort_line(8, "worker", 5)], run.told())
            self.wait_stopped(*SERVERS)

    def test_a_killed_server_is_the_jobs_end(self):
        for starter in (self.per_node(1), self.per_node(4)):
            run, pids = self.start_held(starter)
            os.kill(pids["server.2"], signal.SIGKILL)
            self.assert_ends(run, KILLED, "server 2 on 10.77.0.3 failed: killed by SIGKILL", without=["server.2"])
            self.assertEqual(re.findall("ABORT!!!.*", run.err), [self.abort_line(8, "server", 2)], run.told())

    def test_a_killed_launcher_is_the_jobs_end(self):
        for starter, name in ((self.per_node(1), "server.2"), (self.per_node(2), "worker.3"),
                              (self.per_node(2), "server.0"), (self.mpirun(2), "worker.3")):
            with self.subTest(name=name, starter=starter[0]):
                run, pids = self.start_held(starter)
                os.kill(launcher_of(pids[name]), signal.SIGKILL)
                # mpirun may hear first of a launcher on another host that noticed, and ended with 75.
                self.assert_ends(run, [KILLED] if starter[0] == "srun" else [KILLED, 75])
                if starter[0] == "srun":  # mpirun kills the others too, at a moment of its own
                    self.assert_told(run, "was lost: its launcher ended without a word")

    def test_a_killed_launcher_without_processes_is_not_missed(self):
        run, pids = self.start_held(self.per_node(4))
        busy = set(map(launcher_of, pids.values()))
        idle = [pid for host, pid, _ in self.hosts.leftovers() if host == "n2" and comm(pid) == "paddle-launch"
                and pid not in busy]
        self.assertEqual(len(idle), 2)
        os.kill(idle[-1], signal.SIGKILL)
        self.wait_told(run, "task 7: Killed")
        self._gates[-1].open()
        run.wait()
        self.assert_status(run, KILLED)  # srun's own opinion
        self.assert_told(run, SUCCESS)
        self.assertNotIn("ABORT", run.err, run.told())

    def test_a_cancelled_job_blames_nobody(self):
        # Slurm with proctrack/linuxproc sends its SIGTERM to servers and workers too.
        for launchers in (1, 2):
            run, _ = self.start_held(self.per_node(launchers))
            self.scancel(self.slurm_job())
            self.assert_ends(run, STOPPED, "was stopped by SIGTERM")
            self.assertNotIn("ABORT", run.err, run.told())
            self.slurm.wait_idle()

    def test_a_stopped_mpirun_stops_servers_and_workers(self):
        run, _ = self.start_held(self.mpirun(2))
        run.send(signal.SIGTERM)
        self.assert_ends(run, 1, "was stopped by SIGTERM")  # as mpirun always does then

    def test_a_job_cancelled_before_its_workers_start_starts_none(self):
        self.new_folder()
        run = self.start_under(self.per_node(2), *USUAL, "--server_wait=600", *roles("server.3=deaf"))
        self.wait_roles(SERVERS)
        self.wait_told(run, "waiting for servers to listen: server 3 (10.77.0.4:")
        self.scancel(self.slurm_job())
        run.wait()
        self.assert_status(run, STOPPED)
        self.wait_stopped(*SERVERS)
        self.assertFalse((self.dir / "ready.worker.0").exists())

    def test_what_names_every_process_is_not_for_a_scheduler(self):
        lists = ("--servers=10.77.0.1:6170", "--workers=10.77.0.1:6171,10.77.0.2:6172")
        numbers = "give --server_num and --worker_num, which count for each node"
        for starter, options, text in ((self.per_node(2), lists, numbers), (self.mpirun(1), lists, numbers),
                                       (self.per_node(1), (*lists, "--bootstrap=pmix"), numbers),
                                       (self.per_node(1), ("--server_num=0", "--worker_num=1"), "is one process")):
            with self.subTest(starter=starter, options=options):
                run = self.run_job(starter, *options, *roles(), status=2)
                self.assertEqual(run.err.count(ERROR), 1, run.told())
                self.assert_told(run, text)
                self.assertEqual(os.listdir(self.dir), [])


if __name__ == "__main__":
    unittest.main()
