# SPDX-License-Identifier: Apache-2.0
"""What somebody outside may ask of a running elastic job, and the options that change how it behaves."""

import json
import os
import signal
import unittest

from elastic_case import SETTLE, TRAINER, ElasticCase

from harness import SH


class OrdersTest(ElasticCase):
    def test_status_shows_nodes_ranks_and_round(self):
        runs = self.start_elastic(["n1", "n2"], per_node=2)
        number, ranks = self.wait_round_or_later(0, 4, runs)
        shown = self.order("--status", host="n4")
        self.assert_status(shown, 0)
        text = shown.out.decode()
        for word in (self.job_id, "10.77.0.1", "10.77.0.2", "0-1", "2-3", f"round   {number}, running"):
            self.assertIn(word, text)
        asked = self.order("--status=json", host="n4")
        status = json.loads(asked.out)
        self.assertEqual(status["job_id"], self.job_id)
        self.assertEqual(len(status["nodes"]), 2, status)
        self.assert_completes(runs)
        gone = self.order("--status")
        self.assert_status(gone, 1)
        self.assert_told(gone, f"--job_id={self.job_id}: no such job runs at {self.etcd.address}")

    def test_scale_changes_the_number_of_nodes(self):
        runs = self.start_elastic(["n1", "n2", "n3"])
        number, ranks = self.wait_round_or_later(0, 3, runs)
        out = self.hosts_of(ranks)[2]
        self.assert_status(self.order("--scale=2", host="n4"), 0)
        number, ranks = self.wait_round_or_later(number + 1, 2, runs)
        self.assertNotIn(out, self.hosts_of(ranks))
        leaving = runs.pop(out)
        leaving.wait()
        self.assert_status(leaving, 0)
        self.assert_told(leaving, "no longer needed")
        refused = self.order("--scale=1")
        self.assert_status(refused, 2)
        self.assert_told(refused, "needs at least 2 nodes")
        self.assert_completes(runs)

    def test_scale_lets_a_fixed_job_grow(self):
        runs = self.start_elastic(["n1", "n2"], np="2")
        self.wait_round(0, 2, runs)
        self.assert_status(self.order("--scale=3"), 0)
        runs.update(self.start_elastic(["n3"], np="3"))
        self.wait_round_or_later(1, 3, runs)
        self.assert_completes(runs)

    def test_stop_ends_the_job_everywhere(self):
        runs = self.start_elastic(["n1", "n2"])
        self.wait_round_or_later(0, 2, runs)
        stopped = self.order("--stop", host="n4")
        self.assert_status(stopped, 0)
        self.assert_all_end(runs, 128 + signal.SIGTERM)
        self.assert_all_told(runs, "the job was stopped by --stop from n4")

    def test_stop_ends_a_job_that_waits_for_nodes(self):
        runs = self.start_elastic(["n1"], np="2")
        self.wait_told(runs["n1"], "waiting for 1 of 2 nodes")
        self.assert_status(self.order("--stop", host="n4"), 0)
        self.assert_all_end(runs, 128 + signal.SIGTERM)


class OptionsTest(ElasticCase):
    def test_the_pre_hook_runs_before_each_round_on_each_node(self):
        hook = 'echo hook of round $PADDLE_LAUNCH_ROUND, $PADDLE_NNODES nodes; touch hook.$PADDLE_LAUNCH_ROUND.$(hostname)'
        runs = self.start_elastic(["n1", "n2"], f"--elastic_pre_hook={hook}")
        number, ranks = self.wait_round_or_later(0, 2, runs)
        os.kill(self.pids_of(ranks)[0], signal.SIGKILL)
        self.wait_round_or_later(number + 1, 2, runs)
        for host, run in runs.items():
            for at in (number, number + 1):
                self.assertTrue((self.dir / f"hook.{at}.{host}").exists())
                self.assert_told(run, f"pre_hook: hook of round {at}, 2 nodes")
        self.assert_completes(runs)

    def test_a_pre_hook_that_fails_is_told_and_does_no_harm(self):
        runs = self.start_elastic(["n1"], "--elastic_pre_hook=echo oh dear >&2; exit 3", np="1")
        self.wait_round(0, 1, runs)
        self.assert_completes(runs)
        self.assert_told(runs["n1"], "pre_hook: oh dear", "exit code 3; the round begins all the same")

    def test_a_signal_during_the_pre_hook_ends_the_launcher(self):
        runs = self.start_elastic(["n1"], "--elastic_pre_hook=touch begun; sleep 600", np="1")
        self.wait_file("begun")
        runs["n1"].send(signal.SIGTERM)
        self.assert_all_end(runs, 143)

    def test_at_level_zero_the_failing_node_leaves(self):
        runs = self.start_elastic(["n1", "n2", "n3"], "--elastic_level=0")
        number, ranks = self.wait_round_or_later(0, 3, runs)
        victim = self.hosts_of(ranks)[1]
        os.kill(self.pids_of(ranks)[1], signal.SIGKILL)
        leaving = runs.pop(victim)
        leaving.wait()
        self.assert_status(leaving, 137)
        number, ranks = self.wait_round_or_later(number + 1, 2, runs)
        self.assertNotIn(victim, self.hosts_of(ranks))
        self.assert_completes(runs)

    def test_at_level_minus_one_a_failure_ends_the_job(self):
        runs = self.start_elastic(["n1", "n2"], "--elastic_level=-1")
        _, ranks = self.wait_round_or_later(0, 2, runs)
        os.kill(self.pids_of(ranks)[1], signal.SIGKILL)
        self.assert_all_end(runs, 137)

    def test_another_number_of_nodes_is_refused_unless_forced(self):
        runs = self.start_elastic(["n1", "n2"], np="2")
        self.wait_round(0, 2, runs)
        refused = self.start_elastic(["n3"], np="3")
        self.assert_all_end(refused, 2)
        self.assert_told(refused["n3"], f"the running job {self.job_id} has 2 nodes", "--force")
        runs.update(self.start_elastic(["n3"], "--force=true", np="3"))
        self.wait_round_or_later(1, 3, runs)
        self.assert_completes(runs)

    def test_the_variables_of_the_reference_are_honoured(self):
        known = {"PADDLE_ELASTIC_SERVER": self.etcd.address, "PADDLE_ELASTIC_JOB_ID": self.job_id,
                 "PADDLE_ELASTIC_NP": "2:3", "PADDLE_ELASTIC_TIMEOUT": "30", "PADDLE_ELASTIC_TTL": "20"}
        runs = {host: self.start_on(host, "--nproc_per_node=1", f"--log_dir=log.{host}", f"--elastic_settle={SETTLE}",
                                    SH, "-c", TRAINER, env={**known, "POD_IP": self.hosts.address(host)})
                for host in ("n1", "n2")}
        _, ranks = self.wait_round_or_later(0, 2, runs)
        self.assertEqual({env["PADDLE_CURRENT_ENDPOINT"].split(":")[0] for env in ranks.values()},
                         {"10.77.0.1", "10.77.0.2"})
        self.assert_completes(runs)

    def test_the_newer_spelling_is_the_same(self):
        runs = {host: self.start_on(host, f"--master=etcd://{self.etcd.address}", "--nnodes=2:3",
                                    f"--job_id={self.job_id}", "--nproc_per_node=1", f"--log_dir=log.{host}",
                                    f"--elastic_settle={SETTLE}", SH, "-c", TRAINER) for host in ("n1", "n2")}
        self.wait_round_or_later(0, 2, runs)
        self.assert_completes(runs)

    def test_another_script_is_not_let_into_the_job(self):
        runs = self.start_elastic(["n1", "n2"])
        self.wait_round_or_later(0, 2, runs)
        other = {"n3": self.start_on("n3", *self.usual("n3"), "--run_mode=rpc", SH, "-c", ":")}
        self.assert_all_end(other, 1)
        self.assertTrue(all(run.running() for run in runs.values()), self.all_told(runs))
        self.assert_completes(runs)


if __name__ == "__main__":
    unittest.main()
