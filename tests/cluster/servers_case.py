# SPDX-License-Identifier: Apache-2.0
"""A job with parameter servers on three hosts: n1 has servers alone, n2 workers alone, n3 both, and no role's places
follow the order of the hosts. Its processes are end_to_end/trainers/roles.py."""

from cluster_case import ClusterCase

from roles_case import RolesMixin, names, roles

SERVERS = ("10.77.0.1:6270", "10.77.0.3:6271", "10.77.0.1:6272")
WORKERS = ("10.77.0.2:6280", "10.77.0.3:6281", "10.77.0.2:6282", "10.77.0.3:6283")
NODES = ("n1", "n2", "n3")
HERE = {"n1": ["server.0", "server.2"], "n2": ["worker.0", "worker.2"], "n3": ["server.1", "worker.1", "worker.3"]}
ALL_SERVERS, ALL_WORKERS = names("server", 3), names("worker", 4)
KEPT = [f"{name}=until:go" for name in ALL_WORKERS]  # workers that work until let_go()


class ServersCase(RolesMixin, ClusterCase):
    def lists(self, servers=SERVERS, workers=WORKERS):
        return [f"--servers={','.join(servers)}", f"--workers={','.join(workers)}"]

    def start_there(self, host, *args, lists=None):
        return self.start_on(host, *(lists or self.lists()), f"--log_dir=log.{host}", *args)

    def start_job(self, *args, hosts=NODES, lists=None):
        """The same on all of these; {host: Launch}."""
        return {host: self.start_there(host, *args, lists=lists) for host in hosts}

    def start_kept(self, *wishes, options=(), lists=None):
        """A job whose workers do not end before let_go(). Returns (runs, pids by name)."""
        runs = self.start_job(*options, *roles(*KEPT, *wishes), lists=lists)
        return runs, self.wait_roles(ALL_SERVERS + ALL_WORKERS)

    def let_go(self):
        self.write("go", "")

    def again(self):
        """Another job in the same test."""
        for path in [*self.dir.glob("*.worker.*"), *self.dir.glob("*.server.*")]:
            path.unlink()

    def assert_none_started(self, kind="worker"):
        self.assertEqual([path.name for path in self.dir.glob(f"ready.{kind}.*")], [])
