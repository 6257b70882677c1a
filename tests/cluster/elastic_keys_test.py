# SPDX-License-Identifier: Apache-2.0
"""Keys of a running job that somebody changes or deletes in etcd, by hand or by mistake: nothing ends, and what the job
needs is written again."""

import json
import os
import signal
import unittest

from elastic_case import ElasticCase

from harness import alive, wait_until

GARBAGE = ("hello", "", "{}", "[[[[", '{"version":1,"min":-3}', "\x1b[2J\x07")


class KeysTest(ElasticCase):
    def key(self, name):
        return f"/paddle/{self.job_id}/{name}"

    def value(self, name):
        """None where there is no such key, or nothing that can be read."""
        try:
            return json.loads(self.etcd.ctl("get", "--print-value-only", self.key(name)).stdout)
        except ValueError:
            return None

    def pods(self):
        return [key.rsplit("/", 1)[1] for key in self.etcd.keys() if "/pods/" in key]

    def put(self, name, value):
        self.etcd.ctl("put", self.key(name), "--", value)

    def wait_value(self, name, value, runs):
        wait_until(lambda: self.value(name) == value,
                   lambda: f"{name} to be {value}; it is {self.value(name)}\n{self.all_told(runs)}")

    def wait_readable(self, names, runs):
        wait_until(lambda: all((self.value(name) or {}).get("host") for name in names),
                   lambda: f"all pods to be booked again\n{self.all_told(runs)}")

    def assert_undisturbed(self, ranks, runs):
        self.assertTrue(all(run.running() for run in runs.values()), self.all_told(runs))
        for rank, pid in self.pids_of(ranks).items():
            self.assertTrue(alive(pid), f"rank {rank}\n{self.all_told(runs)}")

    def test_a_job_key_that_cannot_be_read_is_written_again(self):
        runs = self.start_elastic(["n1", "n2", "n3"])
        _, ranks = self.wait_round_or_later(0, 3, runs)
        job = self.value("job")
        for garbage in GARBAGE:
            self.put("job", garbage)
            self.wait_value("job", job, runs)
        self.etcd.ctl("del", self.key("job"))
        self.wait_value("job", job, runs)
        self.wait_all_told(runs, f"somebody else has written into the keys of this job in etcd (below {self.key('')})")
        self.assert_undisturbed(ranks, runs)
        self.assert_completes(runs)
        for run in runs.values():
            self.assertEqual(run.err.count("somebody else has written"), 1, run.err)

    def test_every_other_key_may_be_changed_and_deleted(self):
        runs = self.start_elastic(["n1", "n2", "n3"])
        number, ranks = self.wait_round_or_later(0, 3, runs)
        job, booked, pods = self.value("job"), self.value("round"), self.pods()
        self.assertEqual(len(pods), 3)
        for garbage in ("hello", "", "[]"):
            for name in ("round", "orders/scale", "orders/stop", "orders/what", "unknown", "pods/", "pods/x/y", "pods/x",
                         *(f"pods/{pod}" for pod in pods)):
                self.put(name, garbage)
            self.wait_value("round", booked, runs)
            self.wait_readable([f"pods/{pod}" for pod in pods], runs)
        for name in ("round", "orders/scale", "orders/stop", "pods/x", *(f"pods/{pod}" for pod in pods)):
            self.etcd.ctl("del", self.key(name))
        self.wait_value("round", booked, runs)
        self.wait_readable([f"pods/{pod}" for pod in pods], runs)
        self.assertEqual(self.value("job"), job)
        self.assert_undisturbed(ranks, runs)
        self.assert_completes(runs)

    def test_the_next_round_begins_over_keys_that_cannot_be_read(self):
        runs = self.start_elastic(["n1", "n2", "n3"])
        number, ranks = self.wait_round_or_later(0, 3, runs)
        for name in ("job", "round", "orders/scale", "orders/stop", *(f"pods/{pod}" for pod in self.pods())):
            self.put(name, "hello")
        os.kill(self.pids_of(ranks)[1], signal.SIGKILL)
        for name in ("job", "round"):
            self.put(name, "hello again")
        self.wait_round_or_later(number + 1, 3, runs)
        self.assert_completes(runs)

    def test_a_node_that_leads_no_more_after_force_is_no_wrong_use(self):
        runs = self.start_elastic(["n1"], np="4")  # two nodes are enough in no order of events
        self.wait_told(runs["n1"], "waiting for 3 of 4 nodes")
        [first] = self.pods()
        runs.update(self.start_elastic(["n2"], "--force=true", np="3"))
        wait_until(lambda: (self.value("job") or {}).get("max") == 3 and len(self.pods()) == 2,
                   lambda: f"3 nodes to be wanted\n{self.all_told(runs)}")
        self.etcd.ctl("del", self.key(f"pods/{first}"))
        self.wait_told(runs["n1"], "another node holds the job together now")
        runs.update(self.start_elastic(["n3"], np="3"))
        self.wait_round_or_later(0, 3, runs)
        self.assert_completes(runs)


if __name__ == "__main__":
    unittest.main()
