# SPDX-License-Identifier: Apache-2.0
"""Strangers at the hub: garbage, silence, replays and wrong secrets neither disturb a rendezvous nor a running job."""

import contextlib
import os
import re
import subprocess
import sys
import time
import unittest

from cluster_case import PER_NODE, ClusterCase
from test_hosts import HERE

from harness import HOLD, SH, wait_until

WORLD = 4 * PER_NODE
STRANGER = [sys.executable, "-IS", str(HERE / "stranger.py")]
PORT = 6060
TOKEN, OTHER_TOKEN = "0123456789abcdef-right", "0123456789abcdef-wrong"
TURNED_AWAY = re.compile(r"(?m)^INFO .* a stranger at 10\.77\.0\.\d+:\d+ was turned away: (.*?)(?:, and (\d+) more)?$")
NO_SECRET = "a launcher that does not know this job's secret"
SILENT, TIMES = 200, 5
MOST_STRANGERS = 128  # that a hub has at a time

GARBAGE = {
    "noise": bytes(range(1, 256)).hex(),
    "HTTP": b"GET / HTTP/1.1\r\nHost: 10.77.0.1\r\n\r\n".hex(),
    "TLS": "16030100" + bytes(200).hex(),
    "an oversize frame": (0xFFFFFFFF).to_bytes(4, "little").hex(),
    "a frame just too long": ((1 << 20) + 1).to_bytes(4, "little").hex() + b"x".hex() * 5000,
    "an empty frame": bytes(4).hex(),
    "another magic": (14).to_bytes(4, "little").hex() + b"PADDLE-LAUNCHX".hex(),
    "another protocol": (16).to_bytes(4, "little").hex() + (b"\x0dPADDLE-LAUNCH\x63\x00").hex(),
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n".hex(),
}


class AttackTest(ClusterCase):
    def setUp(self):
        super().setUp()
        self.strangers = []

    def stranger(self, host, how, *words, to="10.77.0.1", port=PORT):
        run = self.hosts.run(host, [*STRANGER, how, to, str(port), *map(str, words)], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True, cwd=self.dir)
        self.strangers.append(run)
        return run

    def dismiss(self, run):
        with contextlib.suppress(BrokenPipeError):
            run.stdin.close()
        if run.poll() is None:
            run.kill()
        run.wait()
        run.stdout.close()

    def doings(self, port=PORT):
        """Everything at once, from another host; some stay. Returns how many the hub must have turned away."""
        stay = [self.stranger("n4", "silent", SILENT, port=port),
                self.stranger("n4", "slow", (b"\x30\0\0\0" + b"\x0dPADDLE-LAUNCH\x01").hex() + "00" * 500, port=port)]
        for run in stay:
            self.assertEqual(run.stdout.readline(), "there\n")
        for what, data in GARBAGE.items():
            with self.subTest(what=what):
                run = self.stranger("n4", "bytes", data, TIMES, port=port)
                self.assertEqual(run.communicate(timeout=60)[0], f"{TIMES}\n")
        return len(GARBAGE) * TIMES + SILENT + len(stay) - 1 - MOST_STRANGERS

    def tearDown(self):
        for run in self.strangers:
            self.dismiss(run)
        super().tearDown()

    def wait_turned_away(self, run, count, began):
        """All of them are counted, in a line at once and then one a second."""
        def told():
            return TURNED_AWAY.findall(run.err)
        wait_until(lambda: sum(1 + int(more or 0) for _, more in told()) >= count, run.told)
        self.assertLessEqual(len(told()), time.monotonic() - began + 1, run.told())
        everyone = len(GARBAGE) * TIMES + SILENT + 1
        self.assertLessEqual(sum(1 + int(more or 0) for _, more in told()), everyone, run.told())

    def assert_few_strangers(self, members):
        """What the hub's kernel knows of, strangers and members."""
        lines = self.hosts.output("n1", ["ss", "-Htn", "state", "established", "sport", "=", f":{PORT}"]).splitlines()
        self.assertLessEqual(len(lines), MOST_STRANGERS + members, lines)

    def hold_job(self, *options, hosts=None, **how):
        return self.start_nodes(*options, SH, "-c", HOLD, hosts=hosts, **how)

    def test_a_rendezvous_succeeds_in_spite_of_strangers(self):
        gate = self.gate()
        runs = self.hold_job(hosts=["n1", "n2", "n3"])
        self.wait_told(runs["n1"], "waiting for 1 of 4 nodes: 10.77.0.4 (")
        began = time.monotonic()
        count = self.doings()
        self.assert_few_strangers(members=2)
        self.wait_turned_away(runs["n1"], count, began)
        runs["n4"] = self.start_node("n4", SH, "-c", HOLD)
        self.wait_all_ready(runs, WORLD)
        gate.open()
        self.assert_all_end(runs, 0)

    def test_a_running_job_is_not_disturbed_by_strangers(self):
        gate = self.gate()
        runs = self.hold_job()
        self.wait_all_ready(runs, WORLD)
        began = time.monotonic()
        count = self.doings()
        self.assert_few_strangers(members=3)
        self.wait_turned_away(runs["n1"], count, began)
        gate.open()
        self.assert_all_end(runs, 0)

    def test_a_failure_is_told_as_fast_among_strangers(self):
        self.gate()
        runs = self.hold_job("--grace=1")
        self.wait_all_ready(runs, WORLD)
        self.doings()
        os.kill(int(self.read("ready.5")), 9)
        self.assert_all_end(runs, 137, 5)

    def test_a_replayed_handshake_is_turned_away(self):
        gate = self.gate()
        proxy = self.stranger("n2", "proxy", 7001, self.dir / "heard", port=7000)
        self.assertEqual(proxy.stdout.readline(), "there\n")
        def start(host, master):
            return self.start_on(host, f"--master={master}", "--nnodes=3", "--nproc_per_node=1",
                                 f"--log_dir=log.{host}", SH, "-c", HOLD, env={"PADDLE_LAUNCH_TOKEN": TOKEN})
        runs = {"n1": start("n1", "10.77.0.1:7000"), "n3": start("n3", "10.77.0.2:7001")}
        self.wait_told(runs["n1"], "waiting for 1 of 3 nodes")
        def replay():
            """The hub answers the hello, as it does to everyone, then closes, and says why."""
            before = runs["n1"].err.count(NO_SECRET)
            answered = self.stranger("n4", "replay", heard, port=7000).communicate(timeout=60)[0]
            self.assertRegex(answered, r"^[1-9]\d*$")
            wait_until(lambda: runs["n1"].err.count(NO_SECRET) == before + 1, runs["n1"].told)
        heard = self.dir / "heard.before"
        heard.write_bytes((self.dir / "heard").read_bytes())
        replay()
        runs["n4"] = start("n4", "10.77.0.1:7000")
        self.wait_all_ready(runs, 3)
        heard = self.dir / "heard"  # now with all that the member has said since
        replay()
        self.assertTrue(all(run.running() for run in runs.values()), self.all_told(runs))
        self.assertEqual([why for why, _ in TURNED_AWAY.findall(runs["n1"].err)], [NO_SECRET] * 2)
        gate.open()
        self.assert_all_end(runs, 0)

    def test_a_wrong_secret_is_told_and_the_right_node_still_comes(self):
        gate = self.gate()
        runs = self.hold_job(hosts=["n1", "n2", "n3"], env={"PADDLE_LAUNCH_TOKEN": TOKEN})
        wrong = self.start_node("n4", "--bootstrap_timeout=4", SH, "-c", HOLD, env={"PADDLE_LAUNCH_TOKEN": OTHER_TOKEN})
        wrong.wait()
        self.assert_status(wrong, 75)
        def advice(address):
            return r"the launcher of sh of user root \(process \d+\) at " + re.escape(
                f"{address} has another token; give all nodes the same PADDLE_LAUNCH_TOKEN or --token_file")
        self.assertRegex(wrong.err, "waiting for the first node, .*; " + advice("10.77.0.1"))
        self.assertRegex(wrong.err, "error: .*" + advice("10.77.0.1"))
        self.assertRegex(runs["n1"].err, "waiting for 1 of .*; " + advice("10.77.0.4"))
        for run in (wrong, *runs.values()):
            self.assertNotIn("to make them one", run.err)
        runs["n4"] = self.start_node("n4", SH, "-c", HOLD, env={"PADDLE_LAUNCH_TOKEN": TOKEN})
        self.wait_all_ready(runs, WORLD)
        gate.open()
        self.assert_all_end(runs, 0)

    def test_a_launcher_that_comes_too_late_is_refused(self):
        ips = "10.77.0.1,10.77.0.2"
        gate = self.gate()
        runs = self.hold_job(hosts=["n1", "n2"], ips=ips)
        self.wait_all_ready(runs, 2 * PER_NODE)
        late = {"n2": self.start_node("n2", SH, "-c", HOLD, ips=ips)}
        late["n1"] = self.start_node("n1", SH, "-c", HOLD, ips=ips)
        self.assert_all_end(late, 1, 8)
        self.assert_all_told(late, "this job is running already with all its nodes", "--job_id")
        gate.open()
        self.assert_all_end(runs, 0)
        for run in runs.values():
            self.assertNotIn("stranger", run.err)


class TokenTest(ClusterCase):
    PRINT = "env; tr '\\0' '\\n' </proc/$PPID/environ; echo shown; "

    def assert_nowhere(self, runs, secret):
        for host, run in runs.items():
            for text in (run.err, run.out.decode(errors="replace")):
                self.assertNotIn(secret, text)
        for folder, _, names in os.walk(self.dir):
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    self.assertNotIn(secret.encode(), file.read(), name)

    def test_the_token_is_seen_nowhere(self):
        gate = self.gate()
        runs = self.start_nodes("--console=all", SH, "-c", self.PRINT + HOLD, env={"PADDLE_LAUNCH_TOKEN": TOKEN})
        self.wait_all_ready(runs, WORLD)
        for run in runs.values():
            for pid in (run.pid, run.guard(), run.part("pl-console"), *run.trainers(PER_NODE)):
                with open(f"/proc/{pid}/environ", "rb") as file:
                    self.assertNotIn(TOKEN.encode(), file.read(), pid)
        gate.open()
        self.assert_all_end(runs, 0)
        os.unlink(self.dir / "gate")
        self.assert_nowhere(runs, TOKEN)
        for run in runs.values():
            self.assertNotIn("not protected", run.err)
            self.assertEqual(run.out.decode().count("shown"), PER_NODE)

    def test_a_dry_run_does_not_show_the_token(self):
        for how in ("text", "json"):
            run = self.start_node("n1", f"--dry_run={how}", SH, "-c", "true", env={"PADDLE_LAUNCH_TOKEN": TOKEN})
            run.wait()
            self.assert_status(run, 0)
            self.assert_nowhere({"n1": run}, TOKEN)
            self.assertNotIn("PADDLE_LAUNCH_TOKEN", run.out.decode())

    def test_a_token_file_that_others_may_read_is_refused(self):
        path = self.write("token", TOKEN + "\n", 0o644)
        run = self.start_node("n1", f"--token_file={path}", SH, "-c", "true")
        run.wait()
        self.assert_status(run, 2)
        self.assert_told(run, f"--token_file={path}: its mode is 0644", f"chmod 600 {path}")
        self.assertNotIn(TOKEN, run.err)

    def test_a_token_file_and_the_variable_are_one_secret(self):
        path = self.write("token", TOKEN + "\n", 0o600)
        runs = {host: self.start_node(host, *([f"--token_file={path}"] if host in ("n1", "n3") else []), SH, "-c",
                                      "true", env={"PADDLE_LAUNCH_TOKEN": None if host in ("n1", "n3") else TOKEN})
                for host in self.names}
        self.assert_all_end(runs, 0)

    def test_without_a_token_one_line_says_so(self):
        runs = self.start_nodes(SH, "-c", "true")
        self.assert_all_end(runs, 0)
        for run in runs.values():
            self.assertEqual(run.err.count("the job channel is not protected"), 1, run.told())


if __name__ == "__main__":
    unittest.main()
