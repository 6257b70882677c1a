# SPDX-License-Identifier: Apache-2.0
"""A job that saves its state and resumes goes through random kills of trainers, launchers and hosts, and ends with the
same result as one that nobody disturbed. A few kills here; `./soak --kills 20` for more."""

import json
import os
import random
import sys
import time
import unittest

from elastic_case import ElasticCase

from harness import HERE, kill_quietly, wait_until

KILLS = int(os.environ.get("PADDLE_LAUNCH_SOAK_KILLS", "4"))
SEED = int(os.environ.get("PADDLE_LAUNCH_SOAK_SEED", "1"))
SCRIPT = HERE.parent.parent / "examples" / "resume.py"
PER_NODE = 2
KINDS = ("trainer", "launcher", "host")


class SoakTest(ElasticCase):
    def start_training(self, hosts):
        return {host: self.start_on(host, *self.usual(host, per_node=PER_NODE), "--max_restart=1000", "--grace=2",
                                    sys.executable, "-ISu", SCRIPT, "--steps=wanted", "--step_seconds=0.02")
                for host in hosts}

    def step(self):
        try:
            return json.loads(self.read("resume.state.json"))["step"]
        except (FileNotFoundError, ValueError):
            return 0

    def wait_progress(self, runs, seconds=120):
        """Training goes on: some steps were made since now."""
        begin = self.step()
        wait_until(lambda: self.step() >= begin + 3, lambda: f"no step after {begin}\n{self.all_told(runs)}", seconds)

    def trainer_on(self, host):
        """One that lives; none while that node is between two rounds."""
        for where, pid, command in self.leftovers():
            if where == host and str(SCRIPT) in command and "--elastic_server" not in command:
                return pid
        return None

    def kill_a_trainer(self, host, runs):
        kill_quietly(wait_until(lambda: self.trainer_on(host), lambda: f"a trainer on {host}\n{self.all_told(runs)}"))

    def kill_a_launcher(self, host, runs):
        self.kill_launcher(runs.pop(host))

    def kill_a_host(self, host, runs):
        self.kill_host(host)
        runs.pop(host).wait()
        time.sleep(self.chance.choice((0, 4)))  # before and after the others have noticed
        self.hosts.restore(host)

    def result(self, wanted):
        """What the same number of steps gives without any harm."""
        (self.dir / "calm").mkdir()
        run = self.start_on("n1", "--nproc_per_node=3", "--log_dir=log.calm", sys.executable, "-ISu", SCRIPT,
                            f"--steps={wanted}", "--step_seconds=0", "--state=calm/state.json")
        run.wait()
        self.assert_status(run, 0)
        return json.loads(self.read("calm/state.json"))

    def test_the_result_is_that_of_an_undisturbed_run(self):
        self.chance = random.Random(SEED)
        runs = self.start_training(self.names)
        self.wait_progress(runs)
        did = {"trainer": self.kill_a_trainer, "launcher": self.kill_a_launcher, "host": self.kill_a_host}
        for number in range(KILLS):
            time.sleep(self.chance.uniform(0, 1.5))
            kind = KINDS[number % 3] if number < 3 else self.chance.choice(KINDS)
            host = self.chance.choice(sorted(runs))
            began, step = time.monotonic(), self.step()
            did[kind](host, runs)
            if host not in runs:
                runs.update(self.start_training([host]))
            self.wait_progress(runs)
            print(f"kill {number + 1:2d}: a {kind} on {host} at step {step}; "
                  f"training again after {time.monotonic() - began:.1f} s", file=sys.stderr)
        wanted = self.step() + 10
        (self.dir / "wanted.new").write_text(str(wanted))
        os.rename(self.dir / "wanted.new", self.dir / "wanted")
        self.assert_all_end(runs, 0, 120)
        ended = json.loads(self.read("resume.state.json"))
        self.assertEqual(ended, self.result(wanted))
        print(f"{KILLS} kills, {wanted} steps, seed {SEED}: the same parameters as undisturbed, "
              f"{ended['parameters']}", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
