# SPDX-License-Identifier: Apache-2.0
"""The walk-through of Paddle's documentation "分布式训练快速开始": its four commands, typed on four hosts of its names,
with `paddle-launch` in the place of `python` and a stand-in for its script."""

import os
import pathlib
import re
import signal
import unittest

from cluster_case import ClusterCase

from harness import SH, variables_in

FLUID_DIST = str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "fluid_dist.py")
SERVERS = "PADDLE_PSERVER_IPS=ps0.paddlepaddle.com,ps1.paddlepaddle.com PADDLE_TRAINERS=2"
# As the document has them, in its order, up to "python fluid_dist.py".
COMMANDS = {
    "ps0": f"PADDLE_TRAINING_ROLE=PSERVER PADDLE_CURRENT_IP=ps0.paddlepaddle.com {SERVERS} PADDLE_PSERVER_PORT=6174",
    "ps1": f"PADDLE_TRAINING_ROLE=PSERVER PADDLE_CURRENT_IP=ps1.paddlepaddle.com {SERVERS} PADDLE_PSERVER_PORT=6174",
    "trainer0": f"PADDLE_TRAINING_ROLE=TRAINER {SERVERS} PADDLE_TRAINER_ID=0 PADDLE_PSERVER_PORT=6174",
    "trainer1": f"PADDLE_TRAINING_ROLE=TRAINER {SERVERS} PADDLE_TRAINER_ID=1 PADDLE_PSERVER_PORT=6174"}
LOGS = {"ps0": "serverlog.0", "ps1": "serverlog.1", "trainer0": "workerlog.0", "trainer1": "workerlog.1"}
HOST_OF = dict(zip(COMMANDS, ("n1", "n2", "n3", "n4")))
READY = "server at {}.paddlepaddle.com:6174 is ready"
LOSS = re.compile(r"(?m)^step 10, loss: \[\d+\.\d+\]$")
# Writes its environment and its pid to files. A server serves; trainers wait for the file "go" and end with 0, or, if
# there is a $1, the trainer $1 with $2 and the others never.
STAND_IN = """
name=$PADDLE_TRAINING_ROLE.${PADDLE_TRAINER_ID:-$PADDLE_CURRENT_IP}
env >env.$name; echo $$ >.$name; mv .$name ready.$name
[ $PADDLE_TRAINING_ROLE = PSERVER ] && exec sleep 1000
while [ ! -e go ]; do sleep 0.05; done
[ $PADDLE_TRAINER_ID = "$1" ] && exit $2
[ -z "$1" ] && exit 0; exec sleep 1000
"""
NAMES = {"ps0": "PSERVER.ps0.paddlepaddle.com", "ps1": "PSERVER.ps1.paddlepaddle.com", "trainer0": "TRAINER.0",
         "trainer1": "TRAINER.1"}


class OldVariablesCase(ClusterCase):
    HOSTS = {"aliases": tuple(f"{host}={name}.paddlepaddle.com" for name, host in HOST_OF.items())}

    def type_on(self, name, *command, at=None, **change):
        """The document's command, where some variables may be others, or absent (None)."""
        env = dict(word.split("=", 1) for word in COMMANDS[name].split())
        return self.start_on(HOST_OF[at or name], *command, env={"PATH": self.python_on_path(), **env, **change})

    def type_all(self, *command, order=tuple(COMMANDS), **change):
        return {name: self.type_on(name, *command, **change) for name in order}

    def stand_in(self, *words, options=("--server_wait=0",)):
        return (*options, SH, "-c", STAND_IN, "sh", *words)

    def wait_started(self, names=tuple(COMMANDS)):
        """Their pids."""
        return {name: int(self.wait_file(f"ready.{NAMES[name]}")) for name in names}


class WalkThroughTest(OldVariablesCase):
    def assert_trained(self, runs):
        self.assert_all_end(runs, 0)
        self.assertEqual(sorted(os.listdir(self.dir / "log")), sorted(["endpoints.log", *LOGS.values()]))
        for name, run in runs.items():
            shown, log = run.out.decode(), self.read(f"log/{LOGS[name]}")
            for text in (shown, log):
                if name.startswith("trainer"):
                    self.assertEqual(len(LOSS.findall(text)), 1, run.told())
                else:
                    self.assertIn(READY.format(name), text, run.told())
                    self.assertNotIn("step 10", text)
            self.assertNotIn("ABORT!!!", run.err)
        self.assertEqual(self.read("log/endpoints.log").splitlines()[-3:],
                         ["PADDLE_PSERVERS_IP_PORT_LIST:", "ps0.paddlepaddle.com:6174", "ps1.paddlepaddle.com:6174"])

    def test_the_four_commands_work_in_the_documents_order(self):
        runs = {}
        for name in COMMANDS:
            runs[name] = self.type_on(name, FLUID_DIST)
            if name != "trainer1":
                self.wait_told(runs[name], "waiting for ")
        self.assert_trained(runs)

    def test_trainers_may_come_first(self):
        runs = {}
        for name in ("trainer1", "trainer0", "ps1"):
            runs[name] = self.type_on(name, FLUID_DIST)
            self.wait_told(runs[name], "waiting for the first node, ps0.paddlepaddle.com:6060-6069: connection refused")
        runs["ps0"] = self.type_on("ps0", FLUID_DIST)
        self.assert_trained(runs)

    def test_the_port_may_be_left_out(self):
        self.assert_trained(self.type_all(FLUID_DIST, PADDLE_PSERVER_PORT=None))

    def test_the_port_may_be_left_out_on_some(self):
        runs = self.type_all(FLUID_DIST, order=("ps0", "trainer0"), PADDLE_PSERVER_PORT=None)
        runs |= self.type_all(FLUID_DIST, order=("ps1", "trainer1"))
        self.assert_trained(runs)

    def test_the_variables_reach_the_script_and_todays_do_too(self):
        runs = self.type_all(*self.stand_in())
        self.wait_started()
        self.write("go", "")
        self.assert_all_end(runs, 0)
        for name, command in COMMANDS.items():
            env = variables_in(self.read(f"env.{NAMES[name]}"))
            for word in command.split():
                self.assertEqual(env[word.split("=")[0]], word.split("=", 1)[1], name)
            self.assertEqual(env["PADDLE_TRAINERS_NUM"], "2")
            self.assertEqual(env["PADDLE_PSERVERS_IP_PORT_LIST"],
                             "ps0.paddlepaddle.com:6174,ps1.paddlepaddle.com:6174")
            self.assertEqual(env["TRAINING_ROLE"], "TRAINER" if name.startswith("trainer") else "PSERVER")

    def test_the_trainers_may_be_addresses(self):
        runs = self.type_all(FLUID_DIST, order=("ps0", "trainer0"), PADDLE_TRAINERS="10.77.0.3,10.77.0.4")
        runs |= self.type_all(FLUID_DIST, order=("ps1", "trainer1"))
        self.assert_all_end(runs, 0)

    def test_a_trainer_may_be_on_a_servers_host(self):
        runs = self.type_all(FLUID_DIST, order=("ps0", "ps1", "trainer0"))
        runs["trainer1"] = self.type_on("trainer1", FLUID_DIST, at="ps0")
        self.assert_trained(runs)


class EndTest(OldVariablesCase):
    def test_a_trainers_exit_code_is_everyones(self):
        runs = self.type_all(*self.stand_in("1", "9"))
        pids = self.wait_started()
        self.write("go", "")
        self.assert_all_end(runs, 9)
        for run in runs.values():
            self.assert_abort_line(run, 2, [1])
        self.assert_gone(pids.values())

    def test_a_dead_server_stops_all(self):
        runs = self.type_all(*self.stand_in())
        pids = self.wait_started()
        os.kill(pids["ps1"], signal.SIGKILL)
        self.assert_all_end(runs, 137)
        self.assert_all_told(runs, "ABORT!!! Out of all 2 trainers, the server process with index=[1] was aborted.")
        self.assert_gone(pids.values())

    def test_a_killed_launcher_is_a_lost_node(self):
        for name, text in (("trainer0", "trainer process with rank=[0]"), ("ps0", "server process with index=[0]")):
            with self.subTest(name=name):
                runs = self.type_all(*self.stand_in())
                self.wait_started()
                self.kill_launcher(runs.pop(name))
                self.assert_all_end(runs, 75)
                self.assert_all_told(runs, f"ABORT!!! Out of all 2 trainers, the {text} was aborted.")
                self.wait_none_left()
                for path in self.dir.glob("ready.*"):
                    path.unlink()

    def test_an_interrupt_at_one_stops_all(self):
        runs = self.type_all(*self.stand_in())
        self.wait_started()
        runs["trainer1"].send(signal.SIGINT)
        self.assert_all_end(runs, 130)


class RefusalTest(OldVariablesCase):
    def assert_refused(self, runs, status, *texts):
        self.assert_all_end(runs, status)
        self.assert_all_told(runs, *texts)
        self.assertEqual(list(self.dir.glob("ready.*")), [])

    def test_a_missing_trainer_is_named(self):
        runs = self.type_all(*self.stand_in(options=["--bootstrap_timeout=3"]), order=("ps0", "ps1", "trainer0"))
        self.wait_all_told(runs, "waiting for 1 of 4 nodes: trainer 1 (")
        self.assert_refused(runs, 75, "1 of 4 nodes did not come within 3 s: trainer 1. ")

    def test_a_missing_server_is_named(self):
        runs = self.type_all(*self.stand_in(options=["--bootstrap_timeout=3"]), order=("ps0", "trainer1", "trainer0"))
        self.wait_all_told(runs, "waiting for 1 of 4 nodes: server ps1.paddlepaddle.com")
        self.assert_refused(runs, 75, "1 of 4 nodes did not come within 3 s: server ps1.paddlepaddle.com")

    def test_two_trainers_with_one_id_are_refused(self):
        runs = self.type_all(*self.stand_in(), order=("ps0", "ps1", "trainer0"))
        runs["trainer1"] = self.type_on("trainer1", *self.stand_in(), PADDLE_TRAINER_ID="0")
        self.assert_refused(runs, 1, "two launchers claim PADDLE_TRAINER_ID=0: process ", " on n3", " on n4")

    def test_one_server_twice_is_refused(self):
        runs = self.type_all(*self.stand_in(), order=("ps0", "ps1", "trainer0"))
        self.wait_told(runs["ps0"], "waiting for 1 of 4 nodes: trainer 1 (")
        runs["again"] = self.type_on("ps1", *self.stand_in())
        self.assert_refused(runs, 1, "port 6174 of server 1 (PADDLE_PSERVER_PORT) is reserved by another "
                            f"paddle-launch, process {runs['ps1'].pid} (")

    def test_variables_that_differ_are_refused_with_both(self):
        changes = {"PADDLE_TRAINERS": ("2", "3"), "PADDLE_PSERVER_PORT": ("6174", "6175"),
                   "PADDLE_PSERVER_IPS": ("ps0.paddlepaddle.com,ps1.paddlepaddle.com", "ps0.paddlepaddle.com")}
        for variable, (usual, other) in changes.items():
            with self.subTest(variable=variable):
                runs = self.type_all(*self.stand_in(), order=("ps0", "ps1", "trainer0"))
                runs["trainer1"] = self.type_on("trainer1", *self.stand_in(), **{variable: other})
                self.assert_refused(runs, 1, "the jobs differ: ", f"{variable}={usual}", f"{variable}={other}")

    def test_a_server_typed_on_another_host_is_refused(self):
        run = self.type_on("ps0", *self.stand_in(), at="trainer0")
        run.wait()
        self.assert_status(run, 2)
        self.assert_told(run, "PADDLE_CURRENT_IP", "ps0.paddlepaddle.com")


if __name__ == "__main__":
    unittest.main()
