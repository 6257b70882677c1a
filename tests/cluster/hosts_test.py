# SPDX-License-Identifier: Apache-2.0
"""The test hosts themselves: they are apart, they reach each other, they can be broken, and they never outlive their
maker."""

import ctypes
import itertools
import json
import os
import pathlib
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

import test_hosts
from test_hosts import HOSTS, TestHosts, require_test_hosts

from harness import DEADLINE, alive, describe, wait_until

PYTHON = [sys.executable, "-IS", "-c"]
NOT_AT_ONCE = 0.5  # an answer on this machine would come within a millisecond
STATES = pathlib.Path("/run/paddle-launch-test-hosts")

# Connects to HOST PORT [SECONDS] and prints the text that the other end says first, or the name of the error.
CONNECT = """
import errno, socket, sys
try:
    seconds = float(sys.argv[3]) if sys.argv[3:] else None
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), seconds) as line:
        print(line.recv(100).decode())
except TimeoutError as error:
    print("ETIMEDOUT" if error.errno else "silence")
except OSError as error:
    print(errno.errorcode[error.errno])
"""

# Tells every caller the host's name and the caller's address, for ever.
GREET = """
import socket
listener = socket.create_server(("", 0))
print(listener.getsockname()[1], flush=True)
while True:
    line, caller = listener.accept()
    line.sendall(f"{socket.gethostname()} to {caller[0]}".encode())
    line.close()
"""

# One end of a connection: a line "TEXT" on stdin is sent, what arrives is printed as "got TEXT", and "?" is answered
# by "info STATE RETRANSMITS" of the kernel.
END = """
import os, select, socket, sys
if sys.argv[1] == "listen":
    listener = socket.create_server(("", 0))
    print(listener.getsockname()[1], flush=True)
    line = listener.accept()[0]
else:
    line = socket.create_connection((sys.argv[1], int(sys.argv[2])))
while True:
    ready = select.select([0, line], [], [])[0]
    if line in ready:
        try:
            text = line.recv(100)
        except OSError as error:
            print("broken", error, flush=True)
            break
        print("got", text.decode(), flush=True)
        if not text:
            break
    if 0 in ready:
        told = os.read(0, 1000)
        if not told:
            break
        for text in told.splitlines():
            if text == b"?":
                info = line.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 8)
                print("info", info[0], info[2], flush=True)
            else:
                line.sendall(text)
"""
ESTABLISHED = "1"


def setUpModule():
    require_test_hosts()


def python(script, *args):
    return [*PYTHON, script, *map(str, args)]


class Talker:
    """A process on a host that is told lines and says lines."""

    def __init__(self, case, hosts, host, argv):
        self.process = hosts.run(host, argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.said = queue.Queue()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        case.addCleanup(self.close)

    def _read(self):
        for line in self.process.stdout:
            self.said.put(line.strip())

    def tell(self, text):
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def hear(self):
        return self.said.get(timeout=DEADLINE)

    def info(self):
        self.tell("?")
        word, state, retransmits = self.hear().split()
        assert word == "info", word
        return state, int(retransmits)

    def close(self):
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdin.close()
        self.process.stdout.close()


class Case(unittest.TestCase):
    def greeter(self, hosts, host):
        """The port where the host says who it is."""
        return int(Talker(self, hosts, host, python(GREET)).hear())

    def connect_all(self, hosts, *calls):
        """What each of (host, to, port[, seconds]) hears, all at the same time."""
        runs = [hosts.run(host, python(CONNECT, *to), stdout=subprocess.PIPE, text=True) for host, *to in calls]
        return [run.communicate()[0].strip() for run in runs]

    def connect(self, hosts, *call):
        return self.connect_all(hosts, call)[0]

    def greeting(self, hosts, host, to):
        return f"{to} to {hosts.address(host)}"

    def connection(self, hosts, first, second):
        one = Talker(self, hosts, first, python(END, "listen"))
        two = Talker(self, hosts, second, python(END, first, one.hear()))
        two.tell("hello")
        self.assertEqual(one.hear(), "got hello")
        return one, two

    def assert_gone(self, pids, name):
        wait_until(lambda: not any(map(alive, pids)), lambda: "still alive:\n" + describe(filter(alive, pids)))
        wait_until(lambda: not (STATES / name).exists(), f"the state of {name} is still there")


class OneSetTest(Case):
    @classmethod
    def setUpClass(cls):
        cls.links = subprocess.check_output(["ip", "-o", "link"])
        cls.names = pathlib.Path("/etc/hosts").read_text()
        cls.hosts = cls.enterClassContext(TestHosts())

    def tearDown(self):
        self.doCleanups()
        self.assertEqual(self.hosts.leftovers(), [])

    def test_hosts_reach_each_other_by_name(self):
        ports = {name: self.greeter(self.hosts, name) for name in self.hosts.names}
        self.assertEqual(list(ports), ["n1", "n2", "n3", "n4"])
        pairs = [("n1", "n1"), *itertools.combinations(ports, 2)]
        self.assertEqual(self.connect_all(self.hosts, *((here, there, ports[there]) for here, there in pairs)),
                         [self.greeting(self.hosts, here, there) for here, there in pairs])

    def test_a_host_has_its_own_name_and_files(self):
        machine = socket.gethostname()
        for name in self.hosts.names:
            self.hosts.output(name, ["sh", "-c", "hostname >/tmp/mine; hostname >/dev/shm/mine"])
        for name in self.hosts.names:
            for file in ("/tmp/mine", "/dev/shm/mine"):
                self.assertEqual(self.hosts.path(name, file).read_text(), f"{name}\n")
        self.assertEqual(socket.gethostname(), machine)
        self.assertFalse(os.path.exists("/tmp/mine"))
        self.assertEqual(pathlib.Path("/etc/hosts").read_text(), self.names)

    def test_a_host_sees_no_daemon_of_the_machine(self):
        """Their sockets are in /run."""
        self.assertEqual(self.hosts.output("n1", ["ls", "/run"]), f"{STATES.name}\n")
        self.hosts.output("n1", ["mkdir", "/run/munge"])
        self.assertEqual(self.hosts.output("n2", ["ls", "/run"]), f"{STATES.name}\n")

    def test_the_machine_keeps_its_network(self):
        self.assertEqual(subprocess.check_output(["ip", "-o", "link"]), self.links)

    def test_a_cut_host_is_silent_and_a_connection_outlives_it(self):
        one, two = self.connection(self.hosts, "n1", "n2")
        port, other = self.greeter(self.hosts, "n2"), self.greeter(self.hosts, "n3")
        self.hosts.cut("n2")
        self.addCleanup(self.hosts.restore, "n2")
        link = json.loads(self.hosts.output("n2", ["ip", "-j", "addr", "show", "eth0"]))[0]
        self.assertEqual(link["operstate"], "UP")
        self.assertIn("LOWER_UP", link["flags"])
        self.assertEqual(link["addr_info"][0]["local"], self.hosts.address("n2"))
        one.tell("from n1")
        two.tell("from n2")
        for end in (one, two):
            wait_until(lambda: end.info()[1] >= 1, "a retransmit")
        self.assertEqual(self.connect_all(self.hosts, ("n1", "n2", port, NOT_AT_ONCE), ("n1", "n3", other)),
                         ["silence", self.greeting(self.hosts, "n1", "n3")])
        for end in (one, two):
            self.assertEqual(end.info()[0], ESTABLISHED)
        self.hosts.restore("n2")
        self.assertEqual(one.hear(), "got from n2")
        self.assertEqual(two.hear(), "got from n1")
        self.assertEqual(self.connect(self.hosts, "n1", "n2", port), self.greeting(self.hosts, "n1", "n2"))

    def test_a_blocked_pair_is_silent_and_the_others_talk(self):
        ports = {name: self.greeter(self.hosts, name) for name in ("n1", "n2", "n3")}
        one, two = self.connection(self.hosts, "n2", "n3")
        self.hosts.block("n2", "n3")
        self.addCleanup(self.hosts.unblock, "n2", "n3")
        one.tell("late")
        wait_until(lambda: one.info()[1] >= 1, "a retransmit")
        blocked, others = (("n2", "n3"), ("n3", "n2")), (("n1", "n2"), ("n1", "n3"), ("n2", "n1"), ("n3", "n1"))
        self.assertEqual(self.connect_all(self.hosts, *((here, there, ports[there], NOT_AT_ONCE)
                                                        for here, there in blocked)), ["silence", "silence"])
        self.assertEqual(self.connect_all(self.hosts, *((here, there, ports[there]) for here, there in others)),
                         [self.greeting(self.hosts, here, there) for here, there in others])
        self.hosts.unblock("n2", "n3")
        self.assertEqual(two.hear(), "got late")
        self.assertEqual(self.connect_all(self.hosts, *((here, there, ports[there]) for here, there in blocked)),
                         [self.greeting(self.hosts, here, there) for here, there in blocked])

    def test_a_rejected_pair_is_told_at_once(self):
        port = self.greeter(self.hosts, "n3")
        for _ in range(2):  # again is no harm
            self.hosts.block("n2", "n3", reject=True)
            self.assertEqual(self.connect(self.hosts, "n2", "n3", port), "EHOSTUNREACH")
        self.assertEqual(self.connect(self.hosts, "n3", "n2", 1), "EHOSTUNREACH")
        for _ in range(2):
            self.hosts.unblock("n2", "n3")
            self.assertEqual(self.connect(self.hosts, "n2", "n3", port), self.greeting(self.hosts, "n2", "n3"))

    def test_run_passes_the_exit_status_and_the_streams(self):
        run = self.hosts.run("n2", ["sh", "-c", "cat; pwd; echo wrong >&2; exit 7"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/usr/bin")
        self.assertEqual(run.communicate("in\n"), ("in\n/usr/bin\n", "wrong\n"))
        self.assertEqual(run.returncode, 7)

    def test_run_passes_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGPIPE):
            with self.subTest(number=number):
                script = "trap 'exit 9' USR1; echo ready; while :; do read x; done"
                run = Talker(self, self.hosts, "n2", ["sh", "-c", script])
                self.assertEqual(run.hear(), "ready")
                run.process.send_signal(number)
                self.assertEqual(run.process.wait(DEADLINE), -number)

    def test_run_says_what_is_wrong(self):
        def run(*words, **how):
            done = subprocess.run([*HOSTS, "run", "--name", self.hosts.name, *words], capture_output=True, text=True,
                                  **how)
            return done.returncode, done.stderr
        self.assertEqual(run("n1", "no-such-program"), (127, "hosts: run on n1: no-such-program: No such file or "
                                                             "directory\n"))
        self.assertEqual(run("n1", "/etc/hosts")[0], 126)
        status, text = run("n9", "true")
        self.assertEqual(status, 125)
        self.assertIn("its hosts are n1 n2 n3 n4", text)
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            status, text = run("n1", "true", cwd=folder)
        self.assertEqual(status, 125)
        self.assertIn("Every host has its own /tmp", text)

    def test_a_process_on_a_host_can_use_the_others(self):
        self.assertEqual(self.hosts.output("n1", [*HOSTS, "run", "n3", "hostname"]), "n3\n")

    def test_leftovers_are_seen(self):
        run = self.hosts.run("n4", ["sleep", "1000"])
        wait_until(lambda: ("n4", run.pid, "sleep 1000") in self.hosts.leftovers(), "the leftover")
        run.kill()
        run.wait()


class SetsTest(Case):
    def test_two_sets_do_not_see_each_other(self):
        with TestHosts(count=2) as first, TestHosts(count=2) as second:
            self.assertEqual(first.address("n2"), second.address("n2"))
            port = self.greeter(second, "n2")
            self.assertEqual(self.connect(second, "n1", "n2", port), self.greeting(second, "n1", "n2"))
            self.assertEqual(self.connect(first, "n1", "n2", port), "ECONNREFUSED")
            first.cut("n2")
            self.assertEqual(self.connect(second, "n1", "n2", port), self.greeting(second, "n1", "n2"))
            first.down()
            self.assertEqual(self.connect(second, "n1", "n2", port), self.greeting(second, "n1", "n2"))
            self.doCleanups()

    def test_with_debian_names_a_hosts_own_name_is_127_0_1_1_to_itself(self):
        with TestHosts(count=2, debian_names=True) as hosts:
            ask = python("import socket, sys; print(*map(socket.gethostbyname, sys.argv[1:]))", "n1", "n2")
            self.assertEqual(hosts.output("n1", ask).split(), ["127.0.1.1", hosts.address("n2")])
            self.assertEqual(hosts.output("n2", ask).split(), [hosts.address("n1"), "127.0.1.1"])

    def test_a_host_may_have_more_names_and_all_know_them(self):
        with TestHosts(count=2, aliases=("n2=ps0.example.com", "n2=db.example.com")) as hosts:
            ask = python("import socket, sys; print(*map(socket.gethostbyname, sys.argv[1:]))", "n2", "ps0.example.com",
                         "db.example.com")
            for host in hosts.names:
                self.assertEqual(hosts.output(host, ask).split(), [hosts.address("n2")] * 3)
        with self.assertRaisesRegex(RuntimeError, "--alias n9=x: use HOST=NAME, where HOST is one of n1 n2"):
            TestHosts(count=2, aliases=("n9=x",)).__enter__()

    def test_a_shared_directory_is_the_same_on_all(self):
        with tempfile.TemporaryDirectory() as folder, TestHosts(count=2, share=[folder]) as hosts:
            hosts.output("n1", ["sh", "-c", "echo written >file"], cwd=folder)
            self.assertEqual(hosts.output("n2", ["cat", "file"], cwd=folder), "written\n")
            self.assertEqual(pathlib.Path(folder, "file").read_text(), "written\n")

    def test_the_repository_is_on_all_even_where_it_is_below_tmp(self):
        with tempfile.TemporaryDirectory(dir="/tmp", prefix="söme where ") as folder:
            here = pathlib.Path(folder, "tests", "cluster")
            here.mkdir(parents=True)
            for name in ("hosts", "host_set.py", "keeper.py"):
                shutil.copy(test_hosts.HERE / name, here)
            with mock.patch.object(test_hosts, "HOSTS", [*HOSTS[:-1], str(here / "hosts")]), TestHosts(count=2) as hosts:
                self.assertEqual(hosts.output("n2", ["pwd"], cwd=here), f"{here}\n")
                again = hosts.output("n1", [here / "hosts", "run", "n2", "hostname"], cwd=here)
                self.assertEqual(again, "n2\n")

    def test_hosts_may_have_the_files_of_another_root_and_write_over_them(self):
        with tempfile.TemporaryDirectory(dir="/var/tmp") as shared, TestHosts(count=2, root="/", share=[shared]) as hosts:
            name = f"/etc/{hosts.name}"
            hosts.output("n1", ["sh", "-c", f"rm /etc/os-release; touch {name} {shared}/seen"], cwd="/")
            self.assertEqual(hosts.output("n1", ["sh", "-c", f"cd /etc; ls os-release {name} 2>/dev/null || :"], cwd="/"), f"{name}\n")
            for place in (pathlib.Path("/"), hosts.path("n2", "/")):
                self.assertTrue((place / "etc/os-release").exists())
                self.assertFalse((place / name[1:]).exists())
            self.assertTrue(pathlib.Path(shared, "seen").exists())

    def test_down_kills_what_is_left_and_says_what(self):
        with TestHosts(count=2) as hosts:
            script = "trap '' TERM HUP; echo $$; while :; do sleep 9; done"
            pid = int(Talker(self, hosts, "n2", ["setsid", "sh", "-c", script]).hear())
            self.assertIn(f"killed {pid} on n2: sh -c trap", hosts.down())
            self.assert_gone([pid, *hosts.keepers()], hosts.name)
            self.assertEqual(hosts.down(), "")

    def started(self, script):
        """Another process that makes hosts by itself; its pid and that of every process of the set."""
        creator = subprocess.Popen(python(script, test_hosts.HERE), stdout=subprocess.PIPE, stdin=subprocess.PIPE,
                                   text=True)
        self.addCleanup(creator.stdout.close)
        self.addCleanup(creator.stdin.close)
        self.addCleanup(creator.wait)
        self.addCleanup(creator.kill)
        told = json.loads(creator.stdout.readline())
        self.assertTrue(all(map(alive, told["pids"])))
        return creator, told

    CREATOR = """
import json, subprocess, sys
sys.path.insert(0, sys.argv[1])
from test_hosts import TestHosts
with TestHosts(count=2) as hosts:
    script = "echo $$; trap '' TERM HUP; while :; do sleep 1000; done"
    runs = [hosts.run(host, ["setsid", "sh", "-c", script], stdout=subprocess.PIPE) for host in hosts.names]
    pids = [int(run.stdout.readline()) for run in runs]
    print(json.dumps({"name": hosts.name, "pids": pids + hosts.keepers()}), flush=True)
    sys.stdin.read()
"""

    def test_everything_vanishes_when_the_creator_is_killed(self):
        creator, told = self.started(self.CREATOR)
        creator.kill()
        creator.wait()
        self.assert_gone(told["pids"], told["name"])

    def test_everything_vanishes_when_a_keeper_is_killed(self):
        for which in (-3, -1):  # the switch's, the last host's
            with self.subTest(which=which):
                _, told = self.started(self.CREATOR)
                os.kill(told["pids"][which], signal.SIGKILL)
                self.assert_gone(told["pids"], told["name"])

    def test_what_dead_keepers_left_is_found_by_the_next_up(self):
        _, told = self.started(self.CREATOR)
        keepers = told["pids"][-3:]
        for number in (signal.SIGSTOP, signal.SIGKILL):  # so that none of them notices the death of another
            for pid in keepers:
                os.kill(pid, number)
        wait_until(lambda: not any(map(alive, keepers)), "the keepers to die")
        self.assertTrue(all(map(alive, told["pids"][:-3])))
        with TestHosts(count=1):
            self.assert_gone(told["pids"], told["name"])

    def test_hold_lasts_until_stdin_ends(self):
        name = f"hold-{os.getpid()}"
        hold = subprocess.Popen([*HOSTS, "hold", "--count", "1", "--name", name, "--json"], stdin=subprocess.PIPE,
                                stdout=subprocess.PIPE, text=True)
        state = json.loads(hold.stdout.readline())
        pids = [state["switch"]["pid"], state["hosts"]["n1"]["pid"]]
        self.assertTrue(all(map(alive, pids)))
        hold.communicate()
        self.assertEqual(hold.returncode, 0)
        self.assert_gone(pids, name)

    def test_a_name_is_given_once(self):
        with TestHosts(count=1) as hosts:
            again = subprocess.run([*HOSTS, "up", "--name", hosts.name], capture_output=True, text=True)
            self.assertEqual(again.returncode, 1)
            self.assertIn("are up already", again.stderr)
            self.assertEqual(hosts.output("n1", ["hostname"]), "n1\n")


class RefusedTest(unittest.TestCase):
    def test_a_machine_that_refuses_namespaces_is_told_by_77_and_one_line(self):
        drop_bounding, sys_admin = 24, 21
        libc = ctypes.CDLL(None)
        made = subprocess.run([*HOSTS, "up"], capture_output=True, text=True,
                              preexec_fn=lambda: libc.prctl(drop_bounding, sys_admin, 0, 0, 0))
        self.assertEqual((made.returncode, made.stdout), (77, ""))
        self.assertEqual(made.stderr, "hosts: unshare: Operation not permitted\n")

    def test_tests_are_skipped_there_and_fail_where_hosts_are_required(self):
        with mock.patch.object(test_hosts, "_refusal", lambda: "no namespaces"):
            with mock.patch.dict(os.environ, {test_hosts.REQUIRED: ""}):
                with self.assertRaisesRegex(unittest.SkipTest, "no namespaces"):
                    require_test_hosts()
            with mock.patch.dict(os.environ, {test_hosts.REQUIRED: "1"}):
                with self.assertRaisesRegex(AssertionError, "no namespaces"):
                    require_test_hosts()


if __name__ == "__main__":
    unittest.main()
