# SPDX-License-Identifier: Apache-2.0
"""What tests/sites/run starts for each site, in the environment of that site: the tests, then the shapes. Results go
into one file a site, and what was not run this time stays there as it was."""

import collections
import datetime
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import unittest

from shapes import GOOD, SHAPES, SHORT, SHOWN, Starts, libnccl
from slurm_cluster import ONLY_V2, SlurmCluster
from test_hosts import TestHosts

from harness import binary

TESTS = ("start", "plugins", "nccl", "cards", "ending", "signals", "restart", "servers", "never_comes")
CGROUP_TESTS = ("cgroup", "start", "cards")
MODULES = {"cgroup": "cgroup_test"}  # the others are of tests/cluster
SHORT_TESTS = ("scheduler_start_test.SameWorldTest", "scheduler_nccl_test")
VERSIONS = {
    "glibc": ["ldd", "--version"], "Slurm": ["slurmd", "-V"], "Open MPI": ["mpirun.openmpi", "--version"],
    "MPICH": ["mpichversion"],
    "PMIx": ["sh", "-c", "basename $(readlink -f /usr/lib/*-linux-gnu/libpmix.so.2); dpkg-query -W 'libpmix2*'"],
}


class Result(unittest.TextTestResult):
    """Remembers what failed, with its last line, and what was skipped, with its reason."""

    def __init__(self, *args, **more):
        super().__init__(*args, **more)
        self.bad = {}

    def addFailure(self, test, error):
        self._note(test, error)
        super().addFailure(test, error)

    def addError(self, test, error):
        self._note(test, error)
        super().addError(test, error)

    def addSubTest(self, test, subtest, error):
        if error is not None:
            self._note(test, error)
        super().addSubTest(test, subtest, error)

    def _note(self, test, error):
        self.bad.setdefault(test.id(), str(error[1]).strip().splitlines()[:1])


def run_tests(name):
    """{"ran", "bad": {id: line}, "skipped": {id: reason}}."""
    suite = unittest.defaultTestLoader.loadTestsFromName(name)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Result, stream=sys.stdout).run(suite)
    return {"ran": result.testsRun, "bad": result.bad,
            "skipped": {test.id(): reason for test, reason in result.skipped}}


def versions(hosts):
    """As the programs say it; "-" where there is none."""
    told = {}
    for name, words in VERSIONS.items():
        try:
            said = hosts.output("n1", words, cwd="/")
        except Exception:
            said = ""
        found = re.search(r"\d+\.\d+[\w.+~-]*", said.partition("\t")[2] if name == "PMIx" else said)
        told[name] = found.group() if found else "-"
    told["kernel"] = ".".join(platform.release().split(".")[:2])
    return told


def run_shape(starts, shape, times):
    """{"seen": {good: 3}, "told": …}; of the plain program as many starts, where one was bad."""
    starts.told = ""
    seen = starts.repeat(shape, times)
    told = {"seen": seen, "told": starts.told[-2000:]}
    print(f"{shape.name}: {dict(seen)}", flush=True)
    if set(seen) != {GOOD} and "none" not in " ".join(shape.options):
        told["plain"] = starts.plain(shape, times)
        print(f"{shape.plain}: {dict(told['plain'])}\n{starts.told[-3000:]}", flush=True)
    return told


def added(before, told):
    """Counts of the same shape, of two runs."""
    sums = {kind: collections.Counter(before.get(kind)) + collections.Counter(told.get(kind)) for kind in ("seen", "plain")}
    return {**told, **{kind: count for kind, count in sums.items() if count}}


class Results:
    """Of this site, in a file that is written whenever there is something new: whoever stops a long run loses little."""

    def __init__(self, words):
        self.file = pathlib.Path(words["keep"], f"{words['site']}.json")
        self.known = json.loads(self.file.read_text()) if self.file.exists() else {"tests": {}, "shapes": {}}
        self.add = words["add"]
        self.good = True

    def ran(self, name, told):
        self.good = self.good and not told["bad"]
        self.known["tests"][name] = told
        self._write()

    def started(self, shape, told):
        self.good = self.good and set(told["seen"]) == {GOOD}
        self.known["shapes"][shape] = added(self.known["shapes"].get(shape, {}) if self.add else {}, told)
        self._write()

    def made_of(self, versions):
        self.known["versions"] = versions
        self._write()

    def _write(self):
        self.known["date"] = datetime.date.today().isoformat()
        self.file.write_text(json.dumps(self.known, indent=1) + "\n")


def pypi_of_these():
    made = subprocess.run([pathlib.Path(__file__).with_name("make_pypi")], check=True, text=True,
                          stdout=subprocess.PIPE)
    return pathlib.Path(made.stdout.strip())


def why_not():
    """What the launcher says on a host of this site if it does not even start there; else nothing."""
    with TestHosts(count=1, share=[pathlib.Path(binary()).parent]) as hosts:
        run = hosts.run("n1", [binary(), "--version"], cwd="/", text=True, stdout=subprocess.PIPE,
                        stderr=subprocess.STDOUT)
        said = run.communicate()[0]
    return said.strip().splitlines()[:1] if run.returncode else None


def shapes_on_hosts(times, chosen, results):
    share = [pathlib.Path(libnccl()).parent] if libnccl() else []
    with tempfile.TemporaryDirectory(prefix="paddle-launch-site-", dir="/var/tmp") as folder, \
         TestHosts(share=share) as hosts, SlurmCluster(hosts) as slurm:
        work = pathlib.Path(folder, "work")
        work.mkdir()
        pathlib.Path(folder).chmod(0o755)
        results.made_of(versions(hosts))
        pypi = pypi_of_these() if any(shape.pypi for shape in chosen) else None
        starts = Starts(slurm, work, pypi)
        for shape in chosen:
            results.started(shape.name, run_shape(starts, shape, times))


def main(words):
    names = words["tests"] or (CGROUP_TESTS if ONLY_V2 else TESTS)
    tests = [MODULES.get(name, f"scheduler_{name}_test") for name in names]
    shapes = [shape for shape in SHAPES if shape.name in (words["shapes"] or SHOWN) or words["shapes"] is None]
    if ONLY_V2:  # mpirun and mpiexec do not ask Slurm
        shapes = [shape for shape in shapes if shape.starter == "srun"]
    if words["short"]:
        tests, shapes = list(SHORT_TESTS), [shape for shape in SHAPES if shape.name in SHORT]
    elif words["shapes"] is not None:
        tests = []
    elif words["tests"]:
        shapes = []
    reason = why_not()
    if reason:
        print(f"tests/sites: this paddle-launch does not start on {words['site']}: {reason[0]}; --prefix names another")
        return 1
    results = Results(words)
    for name in tests:
        results.ran(name, run_tests(name))
    shapes_on_hosts(words["times"], shapes, results)
    return 0 if results.good else 1


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
