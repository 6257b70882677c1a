# SPDX-License-Identifier: Apache-2.0
"""docs/several-nodes.md, running-under-slurm.md, running-under-mpi.md and parameter-server.md: every block of commands is
typed on the hosts that the page says. A block that is not in a page's table fails the test."""

import os
import re
import signal
import unittest

import markdown
from page_case import PageCase
from test_hosts import HERE

from page import Page
from readme_page import CHANGING, FOUND, ROOT

ALL = ("n1", "n2", "n3", "n4")
SERVED = "worker 0 found [+3.0, -2.0, +0.5, +1.0]"
# Tells its role and its neighbours; servers listen, and they and heterogeneous workers stay until they are stopped.
ROLES = """\
import os, signal, socket, time
role = os.environ.get("TRAINING_ROLE", "alone")
if role == "PSERVER":
    server = socket.create_server((os.environ["POD_IP"], int(os.environ["PADDLE_PORT"])))
    signal.pause()
if role == "HETER_TRAINER":
    seen = [os.environ[name] for name in ("STAGE_ID", "STAGE_NUM", "HETER_DEVICE_TYPE",
            "PADDLE_PREVIOUS_HETER_TRAINER_IP_PORT_LIST", "PADDLE_NEXT_HETER_TRAINER_IP_PORT_LIST")]
    print("HETER_TRAINER stage {} of {} on {} from {} to {}".format(*seen), flush=True)
    server = socket.create_server((os.environ["POD_IP"], int(os.environ["PADDLE_PORT"])))
    signal.pause()
for endpoint in filter(None, os.environ.get("PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST", "").split(",")):
    host, port = endpoint.split(":")
    while True:  # until it has said its line
        try:
            socket.create_connection((host, int(port)), 1).close()
            break
        except OSError:
            time.sleep(0.05)
print(role, os.environ.get("PADDLE_GLOO_HTTP_ENDPOINT"), os.environ.get("PADDLE_WORKER_ENDPOINT"), flush=True)
"""


def page_of(name, signs):
    return Page((ROOT / "docs" / name).read_text(encoding="utf-8"), ["sh"], signs)


SEVERAL = page_of("several-nodes.md", {
    "ips": "paddle-launch --ips=192.168.0.1,192.168.0.2 --nproc", "master": "--master=", "range": "--port_range=",
    "token": "--make_token", "cloud": "export PADDLE_TRAINERS=", "first": "--log_dir=log.2", "second": "--log_dir=log.3"})
SLURM = page_of("running-under-slurm.md", {
    "per node": "--ntasks-per-node=1", "per card": "--ntasks-per-node=4", "cpus": "export SRUN_CPUS_PER_TASK",
    "servers": "--server_num=1"})
MPI = page_of("running-under-mpi.md", {"ways": "mpiexec -np 16", "servers": "--server_num=1"})
SERVERS = page_of("parameter-server.md", {
    "numbers": "--server_num=2 --worker_num=4", "lists": "192.168.0.2:6172", "mixed": "192.168.0.3:6172",
    "master": "--master=", "heter": "--heter_worker_num=", "heter lists": "--heter_workers=", "gloo": "--with_gloo=1",
    "schedulers": "sbatch", "cloud": "export TRAINING_ROLE=", "ps0": "PADDLE_CURRENT_IP=ps0", "ps1": "PADDLE_CURRENT_IP=ps1",
    "trainer 0": "PADDLE_TRAINER_ID=0", "trainer 1": "PADDLE_TRAINER_ID=1", "old": "--legacy_env", "start": "--start_port",
    "newer": "--trainer_num=2", "newer lists": "--trainers=", "rpc": "--run_mode=rpc"})


class KnownTest(PageCase):
    def test_every_block_is_typed_by_a_test(self):
        for page in (SEVERAL, SLURM, MPI, SERVERS):
            page.assert_every_block_is_known(self)


class SeveralNodesTest(PageCase):
    def test_lists_of_nodes(self):
        runs = self.complete(SEVERAL.block("ips"), "n1", "n2", folder="ips")
        shown = markdown.recorded("\n".join(SEVERAL.recording_after("ips").splitlines()[-5:]) + "\n", CHANGING)
        self.assertRegex(runs["n2"].out.decode() + runs["n2"].err.splitlines(True)[-1], shown)
        self.assert_logs("ips", workers=4)
        self.complete(SEVERAL.block("range"), "n1", "n2", folder="range")
        ports = re.findall(r":(\d+)", self.read("range/log/endpoints.log"))
        self.assertTrue(all(30000 <= int(port) <= 30099 for port in ports), ports)

    def test_a_node_that_all_know(self):
        self.complete(SEVERAL.block("master"), *ALL, folder="master")
        shown = SEVERAL.recording_after("master").partition("\n")[2]
        self.assertRegex(self.read("master/log/endpoints.log"), markdown.recorded(shown, CHANGING))

    def test_the_token(self):
        home = self.dir / "home"
        home.mkdir()
        self.complete(SEVERAL.block("token"), "n1", HOME=str(home))
        self.assertEqual((home / ".config" / "paddle-launch" / "token").stat().st_mode & 0o777, 0o600)
        for run in self.complete(SEVERAL.block("ips"), "n1", "n2", folder="ips", HOME=str(home)).values():
            self.assertNotIn("the job channel is not protected", run.err)

    def test_paddle_cloud(self):
        block = SEVERAL.block("cloud")
        first = block.replace("POD_IP=192.168.0.2", "POD_IP=192.168.0.1").replace("TRAINER_ID=1", "TRAINER_ID=0")
        runs = {**self.type(first, "n1", folder="cloud"), **self.type(block, "n2", folder="cloud")}
        self.assert_all_end(runs, 0)
        self.assert_logs("cloud", workers=4)

    def test_on_one_machine(self):
        runs = {name: self.type(SEVERAL.block(name), "n1")["n1"] for name in ("first", "second")}
        self.assert_all_end(runs, 0)
        self.assertLessEqual({"endpoints.log", "workerlog.1"}, set(os.listdir(self.dir / "log.3")))


class SchedulersTest(PageCase):
    def setUp(self):
        super().setUp()
        self.have_cards(4)

    def assert_typed(self, command, number, workers, found, **others):
        """On n1, in a folder of its own; the launcher of rank 0 speaks alone."""
        folder = f"job{number}"
        run = self.complete(command, "n1", folder=folder)["n1"]
        self.assertIn(found.encode(), run.out, run.told())
        self.assertEqual(run.err.count("Local processes completed."), 1, run.told())
        self.assert_logs(folder, workers=workers, **others)

    def test_slurm(self):
        lines = [*markdown.commands(SLURM.block("per node")), *markdown.commands(SLURM.block("per card"))]
        for number, command in enumerate(lines):
            self.assert_typed(command, number, 16, "rank 0 of 16 at 192.168.0.1:")

    def test_mpi(self):
        for number, command in enumerate(markdown.commands(MPI.block("ways"))):
            self.assert_typed(command, number, 16, "rank 0 of 16 at 192.168.0.1:")

    def test_servers(self):
        lines = [*markdown.commands(SERVERS.block("schedulers")), *markdown.commands(MPI.block("servers")),
                 *markdown.commands(SLURM.block("servers"))]
        # scheduler_servers_test submits this very file.
        lines.remove("sbatch slurm/parameter-server.sbatch")
        self.assertIn('"slurm/parameter-server.sbatch"', (HERE / "scheduler_servers_test.py").read_text())
        for number, command in enumerate(dict.fromkeys(lines)):
            self.assert_typed(command, number, 4, SERVED, servers=2)

    def test_the_line_for_batch_files_is_in_ours(self):
        for path in (ROOT / "slurm").glob("*.sbatch"):
            self.assertIn(SLURM.block("cpus"), path.read_text(), path)


class ServersTest(PageCase):
    def test_on_one_node(self):
        for name, workers, servers in (("numbers", 4, 2), ("old", 2, 1), ("start", 2, 1), ("newer", 2, 1)):
            with self.subTest(name):
                run = self.complete(SERVERS.block(name), "n1", folder=name)["n1"]
                self.assertIn(b"step 10, loss" if name == "old" else SERVED.encode(), run.out, run.told())
                self.assert_logs(name, workers=workers, servers=servers)

    def test_on_several(self):
        for name, hosts, workers, servers in (("lists", ALL[:2], 4, 2), ("mixed", ALL[:3], 3, 2), ("master", ALL[:2], 4, 2)):
            with self.subTest(name):
                runs = self.complete(SERVERS.block(name), *hosts, folder=name)
                self.assertTrue(any(SERVED.encode() in run.out for run in runs.values()), self.all_told(runs))
                self.assert_logs(name, workers=workers, servers=servers)
        shown = SERVERS.recording_after("mixed").partition("\n")[2]
        self.assertEqual(self.read("mixed/log/endpoints.log").strip(), shown.strip())

    def test_with_a_script_that_tells_its_role(self):
        (self.dir / "train.py").write_text(ROLES)
        for name, hosts, counts in (
                ("heter", ALL[:1], {"workers": 2, "servers": 1, "heters": 3}),
                ("heter lists", ALL[:3], {"workers": 2, "servers": 1, "heters": 3}),
                ("gloo", ALL[:1], {"workers": 2, "servers": 1}), ("newer lists", ALL[:2], {"workers": 2, "servers": 1}),
                ("rpc", ALL[:1], {"workers": 2})):
            with self.subTest(name):
                self.complete(SERVERS.block(name), *hosts, folder=name)
                self.assert_logs(name, **counts)
        self.assertIn(":6800", self.read("gloo/log/workerlog.1"))
        told = [line for number in range(3) for line in self.read(f"heter/log/heterlog.{number}").splitlines()[1:]]
        shown = SERVERS.recording_after("heter").partition("\n")[2]
        self.assertRegex("".join(f"{line}\n" for line in told), markdown.recorded(shown, CHANGING))

    def test_paddle_cloud(self):
        server = self.type(SERVERS.block("cloud"), "n1", folder="server")["n1"]
        self.wait_told(server, "the script runs once, as server 0, in this environment")
        worker = (SERVERS.block("cloud").replace("TRAINING_ROLE=PSERVER", "TRAINING_ROLE=TRAINER")
                  .replace("PADDLE_PORT=6170", "PADDLE_PORT=6171 PADDLE_TRAINER_ID=0"))
        self.complete(worker, "n1", folder="worker")
        server.send(signal.SIGTERM)
        self.assert_all_end({"server": server}, 143)
        self.assertIn(b"server at 127.0.0.1:6170 is ready", server.out)

    def test_the_old_variables(self):
        names = ("ps0", "ps1", "trainer 0", "trainer 1")
        runs = {name: self.type(f"cd examples\n{SERVERS.block(name)}", host)[host] for name, host in zip(names, ALL)}
        self.assert_all_end(runs, 0)
        self.assertIn(b"step 10, loss: [", runs["trainer 0"].out)
        self.assertIn(b"server at ps0.paddlepaddle.com:6174 is ready", runs["ps0"].out)


if __name__ == "__main__":
    unittest.main()
