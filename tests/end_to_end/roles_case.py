# SPDX-License-Identifier: Apache-2.0
"""What tests of jobs with parameter servers have in common, on one node and on several: trainers/roles.py."""

from harness import DEADLINE, python_trainer, variables_in, wait_until

LISTS = {"server": "PADDLE_PSERVERS_IP_PORT_LIST", "worker": "PADDLE_TRAINER_ENDPOINTS",
         "heter": "PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST"}
WORDS = {"server": "server process with index", "worker": "trainer process with rank",
         "heter": "heter worker process with index"}


def roles(*wishes):
    """The command of the processes, with what some of them do otherwise: "server.0=deaf"."""
    return python_trainer("roles.py", *wishes)


def names(kind, count):
    return [f"{kind}.{i}" for i in range(count)]


class RolesMixin:
    """For a LauncherCase."""

    def seen(self, name):
        return variables_in(self.read(f"env.{name}"))

    def moment(self, what, name):
        return float(self.read(f"{what}.{name}"))

    def wait_roles(self, wanted, seconds=DEADLINE):
        """The pids of these processes once they are ready."""
        return {name: int(self.wait_file(f"ready.{name}", seconds)) for name in wanted}

    def was_stopped(self, name):
        return (self.dir / f"stopped.{name}").exists()

    def abort_line(self, trainers, kind, index):
        return f"ABORT!!! Out of all {trainers} trainers, the {WORDS[kind]}=[{index}] was aborted. Please check its log."

    def assert_lists(self, servers, workers, heter=0):
        """All saw the same lists, and themselves at their place in them."""
        counts = {"server": servers, "worker": workers, "heter": heter}
        some = self.seen("server.0")
        for kind, count in counts.items():
            for place, name in enumerate(names(kind, count)):
                env = self.seen(name)
                for variable in LISTS.values():
                    self.assertEqual(env.get(variable), some.get(variable), name)
                self.assertEqual(f"{env['POD_IP']}:{env['PADDLE_PORT']}", env[LISTS[kind]].split(",")[place])
                self.assertEqual(env["PADDLE_TRAINERS_NUM"], str(workers))
                self.assertEqual(env.get("PADDLE_TRAINER_ID"), str(place) if kind == "worker" else None)

    def wait_stopped(self, *wanted):
        wait_until(lambda: all(map(self.was_stopped, wanted)), f"{wanted} stopped")
