# SPDX-License-Identifier: Apache-2.0
"""What is wrong is said before anything starts, on every node: who is missing, what disagrees, who cannot take part."""

import time
import unittest

from cluster_case import ClusterCase

from harness import SH

TRAINER = (SH, "-c", "echo started >>started")
AT_ONCE = 8  # seconds: less than the 10 for which a hub with bad news waits for those who never come
LATE = 20
ON_THE_WAY = "; telling the other nodes"


class RefusalTest(ClusterCase):
    def tearDown(self):
        try:
            self.assertFalse((self.dir / "started").exists(), "a trainer was started")
        finally:
            super().tearDown()

    def test_who_never_came_and_what_was_tried_is_told_after_the_timeout(self):
        given = ("--bootstrap_timeout=3", *TRAINER)
        # Jobs of their own, each at its own ports, so that they do not meet.
        missing = self.start_nodes(*given, hosts=["n1", "n2", "n4"])
        without_hub = self.start_nodes("--bootstrap_port=7000", *given, hosts=["n2", "n3", "n4"])
        unknown = {"n2": self.start_node("n2", "--bootstrap_port=8000", *given, ips="no-such-host,n2")}
        for runs in (missing, without_hub, unknown):
            self.assert_all_end(runs, 75)
        self.assert_all_told(missing, "waiting for 1 of 4 nodes: 10.77.0.3",
                             "1 of 4 nodes did not come within 3 s: 10.77.0.3.", "10.77.0.3: connection refused (")
        self.assert_all_told(without_hub, "waiting for the first node, 10.77.0.1:7000-7009: connection refused (",
                             "the first node, 10.77.0.1:7000-7009, was not reached within 3 s.", ": connection refused (")
        self.assert_all_told(unknown, "the first node, no-such-host:8000-8009, was not reached within 3 s",
                             "its name is not known")

    def test_a_hub_without_a_route_is_told_so(self):
        ways = {"n2": (True, "no route to host"), "n3": (False, "no answer")}
        for host, (reject, _) in ways.items():
            self.hosts.block("n1", host, reject=reject)
            self.addCleanup(self.hosts.unblock, "n1", host)
        runs = self.start_nodes("--bootstrap_timeout=4", *TRAINER, hosts=list(ways))
        self.assert_all_end(runs, 75)
        for host, (_, text) in ways.items():
            self.assert_told(runs[host], f"The last try ended with: {text} (")

    def test_a_launcher_that_is_not_in_the_list(self):
        run = self.start_node("n4", *TRAINER, ips="10.77.0.1,10.77.0.2,10.77.0.3")
        run.wait()
        self.assert_status(run, 2)
        self.assert_told(run, "no entry of --ips (10.77.0.1, 10.77.0.2, 10.77.0.3) is this machine (n4, which has ",
                         "10.77.0.4")

    def test_127_0_0_1_in_a_list_of_several(self):
        run = self.start_node("n1", *TRAINER, ips="127.0.0.1,10.77.0.2")
        run.wait()
        self.assert_status(run, 2)
        self.assert_told(run, "127.0.0.1 names each node itself on every node")

    def test_an_ipv6_address_in_the_list(self):
        run = self.start_node("n1", *TRAINER, ips="fd00::1,10.77.0.2")
        run.wait()
        self.assert_status(run, 2)
        self.assert_told(run, "fd00::1")

    def assert_refused(self, runs, *texts, seconds=AT_ONCE):
        began = time.monotonic()
        self.assert_all_end(runs, 1)
        self.assertLess(time.monotonic() - began, seconds, self.all_told(runs))
        self.assert_all_told(runs, *texts)
        for run in runs.values():
            self.assertLessEqual(run.err.count(ON_THE_WAY), 1, run.told())

    def test_the_same_hub_and_another_order(self):
        other = "10.77.0.1,10.77.0.3,10.77.0.2,10.77.0.4"
        runs = {host: self.start_node(host, *TRAINER, ips=other if host == "n3" else self.ips) for host in self.names}
        self.assert_refused(runs, "the lists of nodes differ: 10.77.0.1 (n1) was given --ips=" + self.ips,
                            "10.77.0.3 (n3) was given --ips=" + other)

    def test_one_list_that_is_longer(self):
        runs = {host: self.start_node(host, *TRAINER, ips=self.ips if host == "n2" else "10.77.0.1,10.77.0.2,10.77.0.3")
                for host in ("n1", "n2", "n3")}
        self.assert_refused(runs, "10.77.0.1 (n1) was given --ips=10.77.0.1,10.77.0.2,10.77.0.3, 10.77.0.2 (n2) was "
                            "given --ips=" + self.ips)

    def test_lists_that_begin_with_different_hosts_are_found_by_knocking(self):
        lists = {"n1": "10.77.0.1,10.77.0.2", "n2": "10.77.0.2,10.77.0.1"}
        runs = {host: self.start_node(host, *TRAINER, ips=ips) for host, ips in lists.items()}
        self.assert_refused(runs, *(f"was given --ips={ips}" for ips in lists.values()))

    def test_a_hub_with_bad_news_waits_for_latecomers_and_tells_its_user_before(self):
        # Three jobs at once: for each, one hub stays the 10 s, since it cannot know that nobody else will come.
        other = "10.77.0.2,10.77.0.1,10.77.0.3,10.77.0.4"
        lists = {host: self.start_node(host, *TRAINER, ips=other if host == "n2" else self.ips) for host in self.names}
        twice = self.start_nodes("--bootstrap_port=7000", *TRAINER, hosts=["n1", "n2", "n3"])
        (self.dir / "log.alone").write_text("in the way")
        alone = self.start_node("n4", "--bootstrap_port=8000", "--log_dir=log.alone", *TRAINER)
        self.wait_told(twice["n1"], "waiting for 1 of 4 nodes: 10.77.0.4")
        twice["again"] = self.start_node("n1", "--bootstrap_port=7000", *TRAINER)
        self.wait_told(lists["n2"], ON_THE_WAY, AT_ONCE)
        self.wait_told(alone, "cannot be used: Not a directory; name a directory that you may write to"
                       + ON_THE_WAY, AT_ONCE)
        self.assert_refused(lists, f"was given --ips={other}", f"was given --ips={self.ips}", seconds=LATE)
        self.assert_refused(twice, *self.claimed_twice("n1"), seconds=LATE)
        alone.wait(LATE)
        self.assert_status(alone, 2)

    def test_unequal_numbers_of_cards(self):
        runs = {host: self.start_on(host, f"--ips={self.ips}", f"--nproc_per_node={3 if host == 'n2' else 2}", *TRAINER)
                for host in self.names}
        self.assert_refused(runs, "the numbers of cards differ: 10.77.0.1 (n1) starts 2, 10.77.0.2 (n2) starts 3 trainers")

    def test_different_kinds_of_cards(self):
        runs = {host: self.start_on(host, f"--ips={self.ips}", "--xpus=0" if host == "n4" else "--gpus=0", *TRAINER,
                                    env={"PADDLE_LAUNCH_ASSUME_GPUS": "1"}) for host in self.names}
        self.assert_refused(runs, "the kinds of cards differ: 10.77.0.1 (n1) trains on gpus, 10.77.0.4 (n4) on xpus; "
                            "choose the same kind on all nodes")

    def assert_pod_refused(self, runs, host, text):
        began = time.monotonic()
        ended = self.wait_all(runs)
        self.assertLess(time.monotonic() - began, AT_ONCE, self.all_told(runs))
        self.assertEqual(ended.pop(host), 2, runs[host].told())
        self.assertEqual(set(ended.values()), {1}, self.all_told(runs))
        self.assert_told(runs.pop(host), text)
        self.assert_all_told(runs, f"{self.hosts.address(host)} ({host}): ", text)

    def test_a_node_without_the_named_cards_ends_all_at_once(self):
        for host in ("n1", "n3"):
            with self.subTest(host=host):
                runs = {name: self.start_on(name, f"--ips={self.ips}", "--gpus=0,1", f"--log_dir=log.{name}", *TRAINER,
                                            env={"PADDLE_LAUNCH_ASSUME_GPUS": None if name == host else "1"})
                        for name in self.names}
                self.assert_pod_refused(runs, host, "--gpus")

    def test_a_node_with_an_unwritable_log_directory_ends_all_at_once(self):
        for host in ("n1", "n4"):
            with self.subTest(host=host):
                (self.dir / f"file.{host}").write_text("in the way")
                runs = {name: self.start_node(name, f"--log_dir=file.{host}" if name == host else "--quiet", *TRAINER)
                        for name in self.names}
                self.assert_pod_refused(runs, host, "Not a directory")

    def claimed_twice(self, host):
        return f"two launchers claim node {self.hosts.address(host)}: process ", f" on {host}", \
               "give each its own --job_id"

    def test_two_launchers_for_one_node(self):
        runs = self.start_nodes(*TRAINER, hosts=["n1", "n2", "n3"])
        self.wait_told(runs["n1"], "waiting for 1 of 4 nodes: 10.77.0.4 (")
        runs["again"] = self.start_node("n2", *TRAINER)
        self.assert_refused(runs, *self.claimed_twice("n2"))

    def test_check_on_one_node_only(self):
        runs = {host: self.start_node(host, *(["--check"] if host == "n2" else []), *TRAINER) for host in self.names}
        self.assert_refused(runs, "--check was given on 10.77.0.2 (n2) and not on 10.77.0.1 (n1)")


if __name__ == "__main__":
    unittest.main()
