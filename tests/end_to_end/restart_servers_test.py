# SPDX-License-Identifier: Apache-2.0
"""A job with parameter servers that is started again: servers and workers together."""

import os
import unittest

from harness import SH, free_port_run
from roles_case import RolesMixin, names, roles
from rounds_case import NO_PAUSE, RestartCase


class ServersTest(RolesMixin, RestartCase):
    def start_again(self, *args, **how):
        return self.start(*args, **how)

    def processes(self, *wishes):
        """roles.py, which does as `wishes` say in the first round only, with a copy of every environment."""
        program, *words = roles()
        text = ("echo $$ >>pids; env >env.$PADDLE_LAUNCH_ROUND.$TRAINING_ROLE.$PADDLE_PORT; "
                f"if [ $PADDLE_LAUNCH_ROUND = 0 ]; then exec \"$@\" {' '.join(wishes)}; fi; exec \"$@\"")
        return [SH, "-c", text, "sh", program, *words]

    def ports_of(self, number):
        prefix = f"env.{number}."
        return {name[len(prefix):] for name in os.listdir(self.dir) if name.startswith(prefix)}

    def test_a_worker_that_fails_once_restarts_servers_too(self):
        run = self.run_again("--server_num=1", "--worker_num=2", "--max_restart=1", NO_PAUSE,
                             *self.processes("worker.1=exit:7"))
        self.assert_status(run, 0)
        self.assertEqual([row[:2] for row in self.table(run)], [(0, 0), (1, 1)])
        self.assertEqual(len(self.ports_of(0)), 3)
        self.assertEqual(len(self.ports_of(1)), 3)
        self.assertEqual(self.ports_of(0) & self.ports_of(1), set())
        for name in ("server.0", *names("worker", 2)):
            self.assertEqual(self.seen(name)["PADDLE_LAUNCH_ROUND"], "1")
            self.assertEqual(self.seen(name)["PADDLE_RESTART_COUNT"], "1")
        self.assertEqual(self.read("reached.worker.1"), "1\n")
        self.assert_gone(map(int, self.read("pids").split()))
        self.assertEqual((self.dir / "log/serverlog.0").read_text().count("==== paddle-launch"), 4)

    def test_a_server_that_fails_once_restarts_workers_too(self):
        self.gate()  # stays shut: the workers of the first round never end by themselves
        run = self.run_again("--server_num=2", "--worker_num=1", "--max_restart=1", NO_PAUSE,
                             *self.processes("server.1=exit:9", "worker.0=hold"))
        self.assert_status(run, 0)
        self.assertRegex(self.table(run)[0][-1], "server 1 failed: exit code 9")

    def test_named_servers_keep_their_ports(self):
        first = free_port_run(3)
        lists = (f"--servers=127.0.0.1:{first}", f"--workers=127.0.0.1:{first + 1},127.0.0.1:{first + 2}")
        run = self.run_again(*lists, "--max_restart=1", NO_PAUSE, *self.processes("worker.0=exit:7"))
        self.assert_status(run, 0)
        self.assertEqual(self.ports_of(1), {f"PSERVER.{first}", f"TRAINER.{first + 1}", f"TRAINER.{first + 2}"})


if __name__ == "__main__":
    unittest.main()
