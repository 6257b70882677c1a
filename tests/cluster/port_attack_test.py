# SPDX-License-Identifier: Apache-2.0
"""What tests that use PortAttack take for granted: it finds the ports of a program, and no others."""

import contextlib
import os
import shutil
import subprocess
import sys
import unittest

from cluster_case import ClusterCase
from port_attack import PortAttack
from visits import KINDS

from harness import wait_until

# Says where it listens, then of each visitor whether it was gone when it was let in.
LISTENER = """
import select, socket
listeners = [socket.create_server((host, 0)) for host in ("0.0.0.0", "127.0.0.1")]
print(*("%s:%d" % listener.getsockname() for listener in listeners), flush=True)
while True:
    for listener in select.select(listeners, [], [])[0]:
        visitor = listener.accept()[0]
        try:
            visitor.getpeername()
            print("there", flush=True)
        except OSError:
            print("gone", flush=True)
"""


class PortAttackTest(ClusterCase):
    @contextlib.contextmanager
    def listener(self, name, program, start):
        with open(self.dir / name, "w") as out:
            process = start([str(program), "-c", LISTENER], stdout=out, cwd=self.dir,
                            env={"PYTHONHOME": sys.base_prefix, **self.environment()})
        try:
            yield
        finally:
            process.kill()
            process.wait()

    def lines(self, name):
        return self.read(name).splitlines()

    def assert_attacked(self, start, place, **how):
        """The ports of our program are, by all kinds of visitors, those of another are not."""
        ours = shutil.copy(os.path.realpath(sys.executable), self.base / "ours")
        with (self.listener("theirs.out", sys.executable, start), PortAttack(program=ours, **how) as attack,
              self.listener("ours.out", ours, start)):
            wait_until(lambda: len(self.lines("ours.out")) > 250 and "gone" in self.lines("ours.out"),
                       lambda: self.read("ours.out"))
        visits = {name.split()[1]: kinds for name, kinds in attack.visits.items()}
        self.assertEqual({name.split()[0] for name in attack.visits}, {place})
        self.assertEqual(sorted(visits), sorted(self.lines("ours.out")[0].split()))
        for kinds in visits.values():
            self.assertGreater(len(kinds), len(KINDS) // 2, kinds)
        self.assertEqual(len(self.lines("theirs.out")), 1)

    def test_ports_on_a_host(self):
        self.assert_attacked(lambda words, **how: self.hosts.run("n1", words, **how), "n1", hosts=self.hosts.name)

    def test_ports_on_this_machine(self):
        self.assert_attacked(subprocess.Popen, "here", mark=self.base)


if __name__ == "__main__":
    unittest.main()
