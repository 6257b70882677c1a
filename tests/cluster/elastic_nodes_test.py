# SPDX-License-Identifier: Apache-2.0
"""Nodes of an elastic job that are lost, replaced, and come to help: by --np, a number or a range."""

import json
import os
import signal
import unittest

from elastic_case import ElasticCase

from harness import alive


class FixedNumberTest(ElasticCase):
    def test_a_lost_node_is_replaced_by_another(self):
        runs = self.start_elastic(["n1", "n2"], np="2")
        before = self.wait_round(0, 2, runs)
        place = self.hosts_of(before).index("n1")
        self.kill_launcher(runs.pop("n2"))
        self.wait_told(runs["n1"], "waiting for 1 of 2 nodes")
        self.assert_gone(self.pids_of(before).values())
        runs.update(self.start_elastic(["n3"], np="2"))
        ranks = self.wait_round(1, 2, runs)
        self.assertEqual(sorted(self.hosts_of(ranks)), ["n1", "n3"])
        self.assertEqual(self.hosts_of(ranks)[place], "n1", "whoever stays keeps its rank")
        self.assertEqual({env["PADDLE_RESTART_COUNT"] for env in ranks.values()}, {"0"})
        self.assert_completes(runs)
        self.assert_told(runs["n1"], "was lost", "Rounds of this job")

    def test_the_first_node_may_be_the_lost_one(self):
        runs = self.start_elastic(["n1"], np="3")
        self.wait_told(runs["n1"], "waiting for 2 of 3 nodes")
        runs.update(self.start_elastic(["n2", "n3"], np="3"))
        self.wait_round(0, 3, runs)
        self.kill_launcher(runs.pop("n1"))
        self.wait_all_told(runs, "waiting for 1 of 3 nodes")
        runs.update(self.start_elastic(["n4"], np="3"))
        ranks = self.wait_round(1, 3, runs)
        self.assertEqual(sorted(self.hosts_of(ranks)), ["n2", "n3", "n4"])
        self.assert_completes(runs)

    def test_nobody_comes_and_the_job_ends_with_the_reason(self):
        runs = self.start_elastic(["n1", "n2"], "--elastic_timeout=3", np="2")
        self.wait_round(0, 2, runs)
        self.kill_launcher(runs.pop("n2"))
        self.assert_all_end(runs, 75)
        self.assert_told(runs["n1"], "1 of at least 2 nodes came within --elastic_timeout (3 s)")

    def test_one_node_too_many_waits_for_a_place(self):
        runs = self.start_elastic(["n1", "n2"], np="2")
        self.wait_round(0, 2, runs)
        spare = self.start_elastic(["n3"], np="2")
        self.wait_told(spare["n3"], "this node waits for a place")
        self.kill_launcher(runs.pop("n2"))
        runs.update(spare)
        ranks = self.wait_round(1, 2, runs)
        self.assertEqual(sorted(self.hosts_of(ranks)), ["n1", "n3"])
        self.assert_completes(runs)

    def test_a_spare_node_ends_with_the_job(self):
        runs = self.start_elastic(["n1", "n2"], np="2")
        self.wait_round(0, 2, runs)
        runs.update(self.start_elastic(["n3"], np="2"))
        self.wait_told(runs["n3"], "this node waits for a place")
        self.assert_completes(runs)
        self.assert_told(runs["n3"], "the job has ended; this node was not needed")


class RangeTest(ElasticCase):
    def test_nodes_go_until_too_few_are_left(self):
        runs = self.start_elastic(self.names, "--elastic_timeout=4", per_node=2)
        _, ranks = self.wait_round_or_later(0, 8, runs)
        number = int(ranks[0]["PADDLE_LAUNCH_ROUND"])
        for left in (3, 2):
            gone = self.hosts_of(ranks)[-1]
            kept = [host for host in self.hosts_of(ranks) if host != gone]
            self.kill_launcher(runs.pop(gone))
            number, ranks = self.wait_round_or_later(number + 1, 2 * left, runs)
            self.assertEqual(self.hosts_of(ranks), kept, "ranks stay when the last node goes")
        gone = self.hosts_of(ranks)[0]
        pids = self.pids_of(ranks)
        self.kill_launcher(runs.pop(gone))
        self.assert_gone(pids.values())
        self.assert_all_end(runs, 75)
        self.assert_all_told(runs, "1 of at least 2 nodes came within --elastic_timeout (4 s)")

    def test_nodes_that_come_are_used(self):
        runs = self.start_elastic(["n1", "n2"])
        number, ranks = self.wait_round_or_later(0, 2, runs)
        first = self.hosts_of(ranks)
        runs.update(self.start_elastic(["n3"]))
        number, ranks = self.wait_round_or_later(number + 1, 3, runs)
        self.assertEqual(self.hosts_of(ranks), [*first, "n3"], "whoever was there keeps its rank")
        runs.update(self.start_elastic(["n4"]))
        number, ranks = self.wait_round_or_later(number + 1, 4, runs)
        self.assertEqual(self.hosts_of(ranks), [*first, "n3", "n4"])
        self.assertEqual({env["PADDLE_RESTART_COUNT"] for env in ranks.values()}, {"0"}, "a change is no failure")
        self.assert_completes(runs)
        self.assert_told(runs[first[0]], "joined: going from 2 to 3 nodes", "joined: going from 3 to 4 nodes")

    def test_a_host_that_dies_is_lost_and_the_first_one_too(self):
        runs = self.start_elastic(self.names)
        number, ranks = self.wait_round_or_later(0, 4, runs)
        order = self.hosts_of(ranks)
        for victim in (order[2], order[0]):
            self.kill_host(victim)
            runs.pop(victim).wait()
            number, ranks = self.wait_round_or_later(number + 1, len(runs), runs)
            self.assertNotIn(victim, self.hosts_of(ranks))
        self.assert_completes(runs)

    def test_a_node_whose_link_is_cut_comes_back_when_it_is_mended(self):
        runs = self.start_elastic(["n1", "n2", "n3"])
        number, ranks = self.wait_round_or_later(0, 3, runs)
        victim = self.hosts_of(ranks)[1]
        self.hosts.cut(victim)
        self.addCleanup(self.hosts.restore, victim)
        number, ranks = self.wait_round_or_later(number + 1, 2, runs)
        self.assertNotIn(victim, self.hosts_of(ranks))
        self.assertTrue(runs[victim].running(), runs[victim].told())
        self.hosts.restore(victim)
        number, ranks = self.wait_round_or_later(number + 1, 3, runs)
        self.assertIn(victim, self.hosts_of(ranks))
        self.assert_completes(runs)

    def test_a_short_break_of_a_link_disturbs_nobody(self):
        runs = self.start_elastic(["n1", "n2"], "--heartbeat=30")
        number, ranks = self.wait_round_or_later(0, 2, runs)
        self.hosts.cut("n2")
        self.addCleanup(self.hosts.restore, "n2")
        runs.update(self.start_elastic(["n3"]))  # its arrival needs n2 stopped, which hears of it when it is back
        self.hosts.restore("n2")
        number, ranks = self.wait_round_or_later(number + 1, 3, runs)
        self.assert_completes(runs)
        for run in runs.values():
            self.assertNotIn("was lost", run.err, run.told())

    def test_two_nodes_that_lose_each_other_alone_do_not_hold_up_the_job(self):
        runs = self.start_elastic(["n1", "n2", "n3"], "--grace=1")
        number, ranks = self.wait_round_or_later(0, 3, runs)
        hub, other = self.hub_and_a_member(ranks)
        self.hosts.block(hub, other)
        self.addCleanup(self.hosts.unblock, hub, other)
        # The two may strike each other out; then the third, which reaches both, gathers all three.
        number, ranks = self.wait_round_or_later(number + 1, (2, 3), runs)
        self.hosts.unblock(hub, other)
        if len(ranks) == 2:
            self.wait_round_or_later(number + 1, 3, runs)
        self.assert_completes(runs)

    def hub_and_a_member(self, ranks):
        status = json.loads(self.order("--status=json", host="n4").out)
        hub = self.names[self.addresses.index(status["hub"])]
        return hub, next(host for host in self.hosts_of(ranks) if host != hub)

    def test_a_failed_trainer_is_started_again_everywhere(self):
        runs = self.start_elastic(["n1", "n2"], per_node=2)
        number, ranks = self.wait_round_or_later(0, 4, runs)
        os.kill(self.pids_of(ranks)[3], signal.SIGSEGV)
        number, ranks = self.wait_round_or_later(number + 1, 4, runs)
        self.assertEqual({env["PADDLE_RESTART_COUNT"] for env in ranks.values()}, {"1"})
        self.assert_completes(runs)
        self.assert_told(runs["n1"], "killed by SIGSEGV", "(restart 1 of 3)")

    def test_a_job_whose_restarts_run_out_ends_everywhere_with_one_status(self):
        runs = self.start_elastic(["n1", "n2"], "--max_restart=1", trainer="sleep 0.2; exit $((7 + PADDLE_TRAINER_ID))")
        ended = self.wait_all(runs)
        self.assertEqual(len(set(ended.values())), 1, self.all_told(runs))
        self.assertIn(ended["n1"], (7, 8))
        self.assert_all_told(runs, "not started again: no restart is left (--max_restart=1)", "Rounds of this job")

    def test_a_node_whose_user_interrupts_it_leaves_and_the_others_go_on(self):
        runs = self.start_elastic(["n1", "n2", "n3"])
        number, ranks = self.wait_round_or_later(0, 3, runs)
        victim = self.hosts_of(ranks)[0]
        leaving = runs.pop(victim)
        leaving.send(signal.SIGTERM)
        leaving.wait()
        self.assert_status(leaving, 128 + signal.SIGTERM)
        self.assert_told(leaving, "this node leaves the job, which goes on without it")
        _, ranks = self.wait_round_or_later(number + 1, 2, runs)
        self.assertNotIn(victim, self.hosts_of(ranks))
        self.assert_completes(runs)

    def test_all_nodes_interrupted_at_once_end_the_job(self):
        runs = self.start_elastic(["n1", "n2", "n3"])
        number, ranks = self.wait_round_or_later(0, 3, runs)
        for run in runs.values():
            run.send(signal.SIGTERM)
        self.assert_all_end(runs, 128 + signal.SIGTERM)
        self.assertFalse(any(map(alive, self.pids_of(ranks).values())))


if __name__ == "__main__":
    unittest.main()
