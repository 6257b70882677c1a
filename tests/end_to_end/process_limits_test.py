# SPDX-License-Identifier: Apache-2.0
"""A machine that lets no more processes start: the launch fails with its reason, and nothing is left."""

import contextlib
import os
import re
import resource
import signal
import unittest

from harness import SH, LauncherCase, all_pids, wait_until


class NoMoreProcessesTest(LauncherCase):
    def tasks_of(self, uid):
        count = 0
        for pid in all_pids():
            with contextlib.suppress(OSError):
                if os.stat(f"/proc/{pid}").st_uid == uid:
                    count += len(os.listdir(f"/proc/{pid}/task"))
        return count

    def test_fork_fails_at_the_users_process_limit(self):
        other = self.as_other_user()
        limit = self.tasks_of(other.get("user", os.getuid())) + 14
        run = self.start("--nproc_per_node=32", "/bin/sleep", "1000",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit)), **other)
        run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, re.compile(r"rank \d+"), "RLIMIT_NPROC")
        self.assert_nothing_left()

    def test_too_few_open_files_are_told_with_the_limit(self):
        few = 8  # those that a launcher has before it looks for ports, and two: UBSan looks at objects through a pipe
        run = self.start("/bin/true", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (few, few)))
        run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, "Too many open files", "raise the limit", "ulimit -n")
        self.assert_nothing_left()

    def test_console_and_report_that_may_not_grow_do_not_end_the_job(self):
        smallest = 64  # banner and report are longer
        run = self.start("--nproc_per_node=2", "--report=report.json", "/bin/true",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (smallest, smallest)))
        run.wait()
        self.assert_status(run, 0)
        self.assert_nothing_left()

    def test_a_trainer_whose_file_grows_beyond_the_limit_dies_of_it_as_without_a_launcher(self):
        run = self.start("--nproc_per_node=1", SH, "-c", "exec dd if=/dev/zero of=big bs=64k count=4 2>/dev/null",
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
        run.wait()
        self.assert_status(run, 128 + signal.SIGXFSZ)
        self.assert_nothing_left()

    def pids_controller(self):
        with open("/proc/self/mountinfo") as file:
            mounts = [(line.split()[4], line.split(" - ")[1].split()) for line in file]
        for path, (kind, _, options) in mounts:
            if kind == "cgroup" and "pids" in options.split(","):
                return path
        for path, (kind, _, _) in mounts:
            if kind == "cgroup2":
                with contextlib.suppress(OSError), open(f"{path}/cgroup.subtree_control") as file:
                    if "pids" in file.read().split():
                        return path
        return None

    def test_fork_fails_at_the_cgroups_pids_max(self):
        root = self.pids_controller()
        if root is None:
            self.skipTest("no cgroup mount with the pids controller")
        group = os.path.join(root, self.base.name)
        try:
            os.mkdir(group)
        except OSError as error:
            self.skipTest(f"no cgroup can be made: {error}")
        self.addCleanup(lambda: wait_until(lambda: not os.path.isdir(group) or not self.remove(group),
                                           "the cgroup to empty", 20))
        with open(f"{group}/pids.max", "w") as file:
            file.write("14")

        def join():
            with open(f"{group}/cgroup.procs", "w") as file:
                file.write("0")

        run = self.start("--nproc_per_node=32", "/bin/sleep", "1000", preexec_fn=join)
        run.wait()
        self.assert_status(run, 1)
        self.assert_told(run, re.compile(r"rank \d+"), "pids.max")
        self.assert_nothing_left()

    @staticmethod
    def remove(group):
        with contextlib.suppress(OSError):
            os.rmdir(group)
        return os.path.isdir(group)


if __name__ == "__main__":
    unittest.main()
