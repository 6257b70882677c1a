# SPDX-License-Identifier: Apache-2.0
"""One run of the launcher, or of a program in its place, as a test sees it: status, output, processes."""

import os
import subprocess

from processes import belonging_to, children, comm, describe
from programs import binary
from waiting import DEADLINE, wait_until


class Launch:
    """A launcher that was started; its output goes to files unless a test wants something else."""

    def __init__(self, case, args, *, program=None, prefix=(), env=None, cwd=None, stdin=subprocess.DEVNULL,
                 stdout=None, stderr=None, **popen):
        number = next(case.numbers)
        self.case = case
        self.out_path = case.base / f"out.{number}"
        self.err_path = case.base / f"err.{number}"
        self.command = [*map(str, prefix), program or binary(), *map(str, args)]
        popen.setdefault("start_new_session", True)
        with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
            self.process = subprocess.Popen(
                self.command, env=case.environment(env), cwd=cwd or case.dir, stdin=stdin,
                stdout=out if stdout is None else stdout, stderr=err if stderr is None else stderr, **popen)
        case.launches.append(self)

    @property
    def pid(self):
        return self.process.pid

    @property
    def out(self):
        return self.out_path.read_bytes()

    @property
    def err(self):
        return self.err_path.read_text(errors="replace")

    @property
    def status(self):
        return self.process.returncode

    def running(self):
        return self.process.poll() is None

    def send(self, number):
        os.kill(self.pid, number)

    def wait(self, seconds=DEADLINE):
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            text = describe(belonging_to(self.case.base))
            raise AssertionError(f"the launcher did not end within {seconds:.0f} s\n{self.told()}\n{text}") from None

    def part(self, name):
        """The launcher's helper process of that name (pl-guard, pl-console); a guard that stops has a longer one."""
        def look():
            return next((pid for pid in children(self.pid) if (comm(pid) or "").startswith(name)), None)
        return wait_until(look, lambda: f"no {name} below {self.pid}:\n{describe(children(self.pid))}\n{self.told()}")

    def guard(self):
        return self.part("pl-guard")

    def trainers(self, count):
        """Pids of the trainers, once there are as many."""
        guard = self.guard()
        return wait_until(lambda: (lambda found: found if len(found) >= count else None)(children(guard)),
                          f"{count} trainers below the guard")

    def told(self):
        out = self.out
        shown = out if len(out) < 3000 else out[:1500] + b"\n[...]\n" + out[-1500:]
        err = self.err
        err = err if len(err) < 12000 else err[:6000] + "\n[...]\n" + err[-6000:]
        return (f"command: {self.command}\nstatus: {self.process.poll()}\n--- stdout\n"
                f"{shown.decode(errors='replace')}\n--- stderr\n{err}")
