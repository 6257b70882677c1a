# SPDX-License-Identifier: Apache-2.0
"""The bootstrap plugins under the runtimes they are for, four tasks at a time.

PADDLE_LAUNCH_PLUGIN_DIR holds the plugins and BOOTSTRAP_PLUGIN_CHECK names the program that tries them; see
bootstrap_plugin_check.c for what it does."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = SOURCE / "examples" / "plugins" / "shared_directory.c"
PLUGIN_DIR = pathlib.Path(os.environ["PADDLE_LAUNCH_PLUGIN_DIR"])
CHECK = os.environ["BOOTSTRAP_PLUGIN_CHECK"]
REQUIRED = "PADDLE_LAUNCH_REQUIRE_TEST_HOSTS"  # 1: nothing may be skipped, as in CI
PLUGINS = ("mpi-openmpi", "mpi-mpich", "pmix")
SECONDS = 120
TASKS = 4
ABORT_STATUS = 7
# What a surrounding job has set; a runtime or a plugin would take it for its own.
FOREIGN = re.compile(r"(PMIX?|OMPI|PRTE|ORTE|SLURM|HYDRA|MPIR|SITE)_")


def missing(what):
    """Skips, and says why; fails instead where everything must be there."""
    if os.environ.get(REQUIRED) == "1":
        raise AssertionError(f"{REQUIRED}=1, but {what}")
    raise unittest.SkipTest(what)


def plugin(name):
    path = PLUGIN_DIR / f"{name}.so"
    if not path.exists():
        missing(f"{path.name} was not built: its library was not found at configure time")
    return str(path)


def tool(name):
    return shutil.which(name) or missing(f"there is no {name}")


def clean_environment(**more):
    kept = {name: value for name, value in os.environ.items() if not FOREIGN.match(name)}
    return kept | more


def run(command, **more):
    """Its exit status and what it said."""
    process = subprocess.Popen(command, env=clean_environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    try:
        out, err = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.terminate()  # a runtime then ends its tasks
        try:
            out, err = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        raise AssertionError(f"no end after {SECONDS} s: {command}\n{out}\n{err}") from None
    return process.returncode, out, err


def under_openmpi(*arguments):
    return run([tool("mpirun.openmpi"), "-np", str(TASKS), "--oversubscribe", CHECK, *arguments],
               OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def under_mpich(*arguments):
    return run([tool("mpiexec.hydra"), "-np", str(TASKS), CHECK, *arguments])


class Tasks(unittest.TestCase):
    def assert_all_ok(self, ended, name, tasks=TASKS):
        status, out, err = ended
        self.assertEqual(status, 0, out + err)
        lines = sorted(out.splitlines())
        self.assertEqual(len(lines), tasks, out + err)
        for rank, line in enumerate(lines):
            self.assertRegex(line, f"^ok {rank}/{tasks} {name}$")

    def assert_aborted(self, ended):
        status, out, err = ended
        self.assertEqual(status, ABORT_STATUS, out + err)
        self.assertNotIn("still here", out)

    def assert_refused(self, ended, reason):
        status, out, err = ended
        self.assertEqual(status, 1, out + err)  # by itself, not by a signal
        self.assertRegex(out, f"^failed 0/1 open: .*{reason}")
        self.assertEqual(len(out.splitlines()), 1, "nobody else may write to standard output")


class UnderOpenMpi(Tasks):
    def test_mpi_brings_four_tasks_together(self):
        self.assert_all_ok(under_openmpi(plugin("mpi-openmpi")), r"Open MPI \d+\.\d+\.\S+")

    def test_pmix_brings_four_tasks_together(self):
        self.assert_all_ok(under_openmpi(plugin("pmix")), r"OpenPMIx \d+\.\d+\.\S+")

    def test_mpi_works_inside_pmix(self):
        self.assert_all_ok(under_openmpi(plugin("pmix"), plugin("mpi-openmpi")), "Open MPI .* in OpenPMIx .*")

    def test_abort_ends_all_tasks_with_its_status(self):
        for name in ("mpi-openmpi", "pmix"):
            with self.subTest(name):
                self.assert_aborted(under_openmpi("--abort", plugin(name)))


class UnderMpich(Tasks):
    def test_mpi_brings_four_tasks_together(self):
        self.assert_all_ok(under_mpich(plugin("mpi-mpich")), r"MPICH \d+\.\d+\S*")

    def test_abort_ends_all_tasks_with_its_status(self):
        self.assert_aborted(under_mpich("--abort", plugin("mpi-mpich")))


class WithoutServer(Tasks):
    def test_pmix_gives_a_reason(self):
        self.assert_refused(run([CHECK, plugin("pmix")]), "no PMIx server answers")

    def test_pmix_gives_a_reason_when_the_variables_of_a_dead_server_are_left(self):
        left = {"PMIX_NAMESPACE": "12345", "PMIX_RANK": "0", "PMIX_SERVER_URI4": "12345.0;tcp4://127.0.0.1:1"}
        self.assert_refused(run([CHECK, plugin("pmix")], **left), "no PMIx server answers")


class AsFiles(unittest.TestCase):
    def each(self):
        """The plugins that were built, each in a subtest; the others are skipped there."""
        for name in PLUGINS:
            with self.subTest(name):
                yield plugin(name)

    def test_they_export_one_function(self):
        for path in self.each():
            listed = subprocess.run([tool("nm"), "-D", "--defined-only", path], check=True, capture_output=True,
                                    text=True).stdout
            self.assertEqual([line.split()[-1] for line in listed.splitlines()], ["paddle_launch_bootstrap"])

    def test_they_need_their_library_and_libc(self):
        for path in self.each():
            dynamic = subprocess.run([tool("readelf"), "-d", path], check=True, capture_output=True, text=True).stdout
            needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
            others = [name for name in needed if not re.match(r"(libc|libdl|ld-linux)[-.]", name)]
            self.assertRegex(" ".join(others), r"^lib(mpi|mpich|pmix)\.so\.\d+$")

    def test_nothing_in_them_points_back_to_the_build(self):
        for path in self.each():
            dynamic = subprocess.run([tool("readelf"), "-d", path], check=True, capture_output=True, text=True).stdout
            for directories in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic):
                self.assertNotIn(str(PLUGIN_DIR.parents[1]), directories)
                self.assertNotIn(str(SOURCE), directories)


class Example(Tasks):
    TASKS = 3

    def setUp(self):
        self.base = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.plugin = self.base / "shared_directory.so"
        self.meeting = self.base / "meeting"
        self.meeting.mkdir()
        # As docs/writing-a-plugin.md says, and without a warning.
        subprocess.run([tool("cc"), "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wconversion",
                        "-Werror", "-I", SOURCE / "plugin", "-o", self.plugin, EXAMPLE], check=True)

    def start(self, rank):
        who = {"SITE_RANK": str(rank), "SITE_SIZE": str(self.TASKS), "SITE_DIRECTORY": str(self.meeting)}
        return subprocess.Popen([CHECK, self.plugin], env=clean_environment(**who), stdout=subprocess.PIPE, text=True)

    def test_three_processes_meet(self):
        tasks = [self.start(rank) for rank in range(self.TASKS)]
        try:
            out = "".join(task.communicate(timeout=SECONDS)[0] for task in tasks)
        finally:
            for task in tasks:
                task.kill()
                task.wait()
        self.assert_all_ok((max(abs(task.returncode) for task in tasks), out, ""), "shared directory", self.TASKS)

    def test_a_used_directory_is_refused(self):
        (self.meeting / "0.1").touch()
        with self.start(1) as task:
            out = task.communicate(timeout=SECONDS)[0]
        self.assertEqual(task.returncode, 1)
        self.assertIn("0.1: File exists", out)

    def test_it_says_what_it_misses(self):
        self.assert_refused(run([CHECK, str(self.plugin)]), "SITE_RANK and SITE_SIZE must be set")


if __name__ == "__main__":
    unittest.main()
