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


def run_tests(names):
    """{module: {"ran", "bad": {id: line}, "skipped": {id: reason}}}."""
    told = {}
    for name in names:
        suite = unittest.defaultTestLoader.loadTestsFromName(name)
        result = unittest.TextTestRunner(verbosity=2, resultclass=Result, stream=sys.stdout).run(suite)
        told[name] = {"ran": result.testsRun, "bad": result.bad,
                      "skipped": {test.id(): reason for test, reason in result.skipped}}
    return told


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


def run_shapes(starts, shapes, times):
    """{shape: {"seen": {good: 3}, "told": …}}; of the plain programs as many as were bad, and no fewer than once."""
    told = {}
    for shape in shapes:
        starts.told = ""
        seen = starts.repeat(shape, times)
        told[shape.name] = {"seen": seen, "told": starts.told[-2000:]}
        print(f"{shape.name}: {dict(seen)}", flush=True)
        if set(seen) != {GOOD} and "none" not in " ".join(shape.options):
            told[shape.name]["plain"] = starts.plain(shape, times)
            print(f"{shape.plain}: {dict(told[shape.name]['plain'])}\n{starts.told[-3000:]}", flush=True)
    return told


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


def shapes_on_hosts(words, chosen):
    share = [pathlib.Path(libnccl()).parent] if libnccl() else []
    with tempfile.TemporaryDirectory(prefix="paddle-launch-site-", dir="/var/tmp") as folder, \
         TestHosts(share=share) as hosts, SlurmCluster(hosts) as slurm:
        work = pathlib.Path(folder, "work")
        work.mkdir()
        pathlib.Path(folder).chmod(0o755)
        made = versions(hosts)
        pypi = pypi_of_these() if any(shape.pypi for shape in chosen) else None
        told = run_shapes(Starts(slurm, work, pypi), chosen, words["times"])
    return made, told


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
    ran = run_tests(tests)
    made, told = shapes_on_hosts(words, shapes)
    file = pathlib.Path(words["keep"], f"{words['site']}.json")
    known = json.loads(file.read_text()) if file.exists() else {"tests": {}, "shapes": {}}
    known["versions"] = made
    known["tests"].update(ran)
    for shape, one in told.items():
        if words["add"]:
            for count in ("seen", "plain"):
                before = known["shapes"].get(shape, {}).get(count)
                if before:
                    one[count] = collections.Counter(before) + collections.Counter(one.get(count))
        known["shapes"][shape] = one
    known["date"] = datetime.date.today().isoformat()
    file.write_text(json.dumps(known, indent=1) + "\n")
    good = all(not one["bad"] for one in ran.values()) and all(set(one["seen"]) == {GOOD} for one in told.values())
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
