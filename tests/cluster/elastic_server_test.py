# SPDX-License-Identifier: Apache-2.0
"""What etcd does to a job: nothing while it runs. Restarted, gone, shared with other jobs, with users and passwords."""

import contextlib
import os
import signal
import unittest

from elastic_case import ElasticCase
from etcd_server import PASSWORD, EtcdServer

from harness import SH, alive, wait_until

TTL = 2


class ServerTest(ElasticCase):
    def assert_undisturbed(self, ranks):
        for rank, pid in self.pids_of(ranks).items():
            self.assertTrue(alive(pid), f"rank {rank}")

    def test_a_restart_of_etcd_disturbs_nobody(self):
        runs = self.start_elastic(["n1", "n2"], f"--elastic_ttl={10 * TTL}")
        number, ranks = self.wait_round_or_later(0, 2, runs)
        self.etcd.stop()
        self.etcd.start()
        self.assert_undisturbed(ranks)
        runs.update(self.start_elastic(["n3"], f"--elastic_ttl={10 * TTL}"))  # the job is as open as before
        number, ranks = self.wait_round_or_later(number + 1, 3, runs)
        self.assert_completes(runs)
        for run in runs.values():
            self.assertNotIn("has not answered", run.err)

    def test_without_etcd_what_runs_goes_on(self):
        runs = self.start_elastic(["n1", "n2"], f"--elastic_ttl={TTL}")
        _, ranks = self.wait_round_or_later(0, 2, runs)
        self.etcd.stop()
        try:
            self.wait_all_told(runs, f"etcd has not answered for {TTL} s")
            self.assert_undisturbed(ranks)
            self.assert_completes(runs)
        finally:
            self.etcd.start()

    def test_without_etcd_a_failed_trainer_is_started_again_by_those_who_are_there(self):
        runs = self.start_elastic(["n1", "n2"], f"--elastic_ttl={TTL}")
        number, ranks = self.wait_round_or_later(0, 2, runs)
        self.etcd.stop()
        try:
            self.wait_all_told(runs, f"etcd has not answered for {TTL} s")
            os.kill(self.pids_of(ranks)[1], signal.SIGKILL)
            self.wait_round_or_later(number + 1, 2, runs)
            self.assert_completes(runs)
        finally:
            self.etcd.start()

    def test_without_etcd_a_change_of_the_nodes_waits_for_it(self):
        runs = self.start_elastic(["n1", "n2", "n3"], f"--elastic_ttl={TTL}")
        number, ranks = self.wait_round_or_later(0, 3, runs)
        self.etcd.stop()
        try:
            self.wait_all_told(runs, f"etcd has not answered for {TTL} s")
            victim = self.hosts_of(ranks)[2]
            self.kill_launcher(runs.pop(victim))
            self.wait_all_told(runs, "gathering the nodes of the next round")
        finally:
            self.etcd.start()
        self.wait_round_or_later(number + 1, 2, runs)
        self.assert_completes(runs)

    def test_etcd_that_comes_back_finds_the_job_again(self):
        runs = self.start_elastic(["n1", "n2"], f"--elastic_ttl={TTL}")
        number, ranks = self.wait_round_or_later(0, 2, runs)
        self.etcd.stop()
        self.wait_all_told(runs, f"etcd has not answered for {TTL} s")
        self.etcd.start()
        self.wait_all_told(runs, "etcd answers again")
        self.assert_undisturbed(ranks)
        runs.update(self.start_elastic(["n3"], f"--elastic_ttl={TTL}"))
        number, ranks = self.wait_round_or_later(number + 1, 3, runs)
        self.assert_completes(runs)

    def test_keys_that_vanish_are_no_loss(self):
        runs = self.start_elastic(["n1", "n2"])
        number, ranks = self.wait_round_or_later(0, 2, runs)
        self.etcd.ctl("del", "--prefix", f"/paddle/{self.job_id}/")
        wait_until(lambda: len([key for key in self.etcd.keys() if "/pods/" in key]) == 2, "both nodes in etcd again")
        self.assert_undisturbed(ranks)
        self.assert_completes(runs)

    def test_a_job_that_ends_just_after_its_keepers_were_killed_leaves_no_keys(self):
        runs = self.start_elastic(["n1", "n2"], "--elastic_ttl=600")
        self.wait_round_or_later(0, 2, runs)
        keepers = [run.part("etcd keeper") for run in runs.values()]
        self.finish()
        for keeper in keepers:
            os.kill(keeper, signal.SIGKILL)
        self.assert_completes(runs)
        self.assert_etcd_is_empty()

    def test_two_jobs_do_not_meet(self):
        base, both = self.dir, []
        for name in ("one", "two"):
            self.dir = base / name
            self.dir.mkdir()
            runs = self.start_elastic(["n1", "n2"], job_id=f"{self.job_id}-{name}")
            both.append((self.dir, runs))
        for self.dir, runs in both:
            self.wait_round_or_later(0, 2, runs)
        self.dir, runs = both[0]
        self.assert_completes(runs)
        self.dir, runs = both[1]
        self.assertTrue(all(run.running() for run in runs.values()), self.all_told(runs))
        self.assert_completes(runs)
        self.dir = base

    def test_what_a_killed_job_left_vanishes_with_its_lease(self):
        runs = self.start_elastic(["n1", "n2"], f"--elastic_ttl={TTL}")
        self.wait_round_or_later(0, 2, runs)
        for host in list(runs):
            self.kill_host(host)  # nobody is left who could tidy up
            runs.pop(host).wait()
        for host in ("n1", "n2"):
            self.hosts.restore(host)
        self.assert_etcd_is_empty()

    def test_the_launcher_of_a_job_that_was_killed_may_be_typed_again_at_once(self):
        runs = self.start_elastic(["n1", "n2"], np="2")
        self.wait_round(0, 2, runs)
        for host in list(runs):
            self.kill_host(host)
            runs.pop(host).wait()
            self.hosts.restore(host)
        self.forget_rounds()
        runs = self.start_elastic(["n1", "n2"], np="2")
        self.wait_round_or_later(0, 2, runs)
        self.assert_completes(runs)

    def test_stopping_a_launcher_that_waits_takes_it_out_of_etcd(self):
        runs = self.start_elastic(["n1"], np="2")
        self.wait_told(runs["n1"], "waiting for 1 of 2 nodes")
        runs["n1"].send(signal.SIGINT)
        self.assert_all_end(runs, 130)
        self.assert_etcd_is_empty()


class GuardedServerTest(ElasticCase):
    def setUp(self):
        super().setUp()
        self.etcd = EtcdServer(self.hosts, "n5", f"guarded-{self.job_id}", 2479).start()
        self.addCleanup(self.etcd.stop)
        self.etcd.switch_authentication_on()

    def test_a_job_with_a_user_and_a_password(self):
        known = {"PADDLE_ETCD_USER": "trainer", "PADDLE_ETCD_PASSWORD": PASSWORD}
        runs = self.start_elastic(["n1"], env=known)
        runs.update(self.start_elastic(["n2"], f"--etcd_user=trainer:{PASSWORD}"))
        _, ranks = self.wait_round_or_later(0, 2, runs)
        for env in ranks.values():
            self.assertNotIn(PASSWORD, " ".join(env.values()))
        self.etcd.stop()
        self.etcd.start()  # tokens of before are no longer known to it
        runs.update(self.start_elastic(["n3"], env=known))
        self.wait_round_or_later(1, 3, runs)
        self.assert_completes(runs)
        for run in runs.values():
            self.assertNotIn(PASSWORD, run.err + run.out.decode())

    def test_a_password_is_seen_in_no_environment_and_no_command_line(self):
        hook = "--elastic_pre_hook=env >hook.$(hostname)"
        runs = self.start_elastic(["n1"], hook, env={"PADDLE_ETCD_USER": f"trainer:{PASSWORD}"})
        runs.update(self.start_elastic(["n2"], hook, f"--etcd_user=trainer:{PASSWORD}"))
        runs.update(self.start_elastic(["n3"], hook, "--etcd_user", f"trainer:{PASSWORD}"))
        _, ranks = self.wait_round_or_later(0, 3, runs)
        shown = {f"rank {rank}": " ".join(env.values()) for rank, env in ranks.items()}
        shown.update({name: self.read(name) for name in ("hook.n1", "hook.n2", "hook.n3")})
        pids = [pid for _, pid, _ in self.leftovers()]  # launchers, guards, consoles, keepers, trainers
        self.assertGreaterEqual(len(pids), 3 * 4)
        for pid in pids:
            for name in ("environ", "cmdline"):
                # Whoever ended meanwhile shows nothing: opening its file finds none, or no process behind it.
                gone = contextlib.suppress(FileNotFoundError, ProcessLookupError)
                with gone, open(f"/proc/{pid}/{name}", "rb") as file:
                    shown[f"{name} of {pid}"] = file.read().replace(b"\0", b" ").decode(errors="replace")
        for where, text in shown.items():
            self.assertNotIn(PASSWORD, text, where)
        self.assertIn("trainer", {env.get("PADDLE_ETCD_USER") for env in ranks.values()})
        self.assert_completes(runs)
        for host in ("n2", "n3"):
            self.assert_told(runs[host], "--etcd_user=trainer: every user of this machine", "PADDLE_ETCD_PASSWORD")
        self.assertNotIn("every user of this machine", runs["n1"].err)
        for run in runs.values():
            self.assertNotIn(PASSWORD, run.err + run.out.decode())

    def test_an_etcd_that_cannot_be_used_is_an_error_with_the_reason(self):
        """All at once, since each is tried for ten seconds."""
        wrong = {"PADDLE_ETCD_USER": "trainer", "PADDLE_ETCD_PASSWORD": "not this one"}
        runs = {**self.start_elastic(["n1"], env=wrong), **self.start_elastic(["n2"])}
        unreachable = {"10.77.0.5:1": "connection refused", "10.77.0.99:2379": "10.77.0.99:2379: "}
        others = {address: self.start_on("n3", f"--elastic_server={address}", "--job_id=x", "--np=2", SH, "-c", ":")
                  for address in unreachable}
        self.assert_all_end({**runs, **others}, 75)
        self.assert_told(runs["n1"], "wrong user or password")
        self.assert_told(runs["n2"], "--etcd_user")
        self.assertNotIn("not this one", runs["n1"].err)
        for address, reason in unreachable.items():
            self.assert_told(others[address], f"--elastic_server: {address}", reason, "check the address")


if __name__ == "__main__":
    unittest.main()
