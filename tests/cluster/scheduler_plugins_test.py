# SPDX-License-Identifier: Apache-2.0
"""Plugins that are missing, on all nodes or on one; --bootstrap; and trainers that are MPI programs themselves."""

import unittest

from scheduler_case import ERROR, MESH, MUNGE, NOT_PROTECTED, SINGLE, WORLD, SchedulerCase

from harness import SH, binary

FOUR = "--nproc_per_node=4"
EXPORT = ("-x", "PADDLE_LAUNCH_PLUGIN_DIR")

ALONE = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char** argv) {
  int size;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("trainer %s: a world of %d\n", getenv("PADDLE_TRAINER_ID"), size);
  MPI_Finalize();
  return 0;
}
"""


class MissingPluginsTest(SchedulerCase):
    def test_pmix_alone_is_enough(self):
        env = {"PADDLE_LAUNCH_PLUGIN_DIR": self.plugins("pmix", "pmix.so")}
        self.assert_ran(self.srun(*MESH, *self.command("srun", FOUR), env=env), "srun")
        done = self.openmpi(*self.command("mpirun", FOUR), per_host=2, options=EXPORT, env=env)
        self.assert_ran(done, "mpirun")
        self.assertNotIn("MPI is not used", done.stderr)  # nobody has it, so nobody misses it

    def test_mpi_alone_is_enough_under_mpirun_and_mpiexec(self):
        env = {"PADDLE_LAUNCH_PLUGIN_DIR": self.plugins("mpi", "mpi.so")}
        self.assert_ran(self.openmpi(*self.command("mpirun", FOUR), per_host=2, options=EXPORT, env=env), "mpirun")
        self.assert_ran(self.hydra(*self.command("mpiexec", FOUR), per_host=2, env=env), "mpiexec")

    def test_mpi_without_pmix_is_not_opened_in_a_step(self):
        env = {"PADDLE_LAUNCH_PLUGIN_DIR": self.plugins("mpi", "mpi.so"), **MUNGE}
        done = self.srun(*SINGLE, *self.command("srun", FOUR, "--log_level=DEBUG"), env=env)
        self.assert_ran(done, "srun")
        self.assertNotIn("met through", done.stderr)

    def assert_none_can_be_used(self, done, job, starter, tasks, reasons):
        self.assertNotEqual(done.returncode, 0)
        self.assert_once(done, f"{ERROR}{starter} started {tasks} launchers together, and on n1 none of the plugins that "
                         "join them can be used:\n" + "\n".join(reasons) + "\nInstall paddle-launch with its plugins")
        self.assertEqual(self.environments(job), {})

    def test_no_plugin_under_mpirun_is_an_error_with_every_path_and_reason(self):
        folder = self.plugins("broken")
        self.write("broken/mpi.so", "this is no library\n")
        done = self.openmpi(*self.command("job", FOUR), options=EXPORT, env={"PADDLE_LAUNCH_PLUGIN_DIR": folder})
        self.assert_none_can_be_used(done, "job", "mpirun", 4, [
            f"{folder}/mpi.so: {folder}/mpi.so: file too short", f"{folder}/pmix.so: no such file"])

    def test_no_plugin_on_one_node_is_told_by_that_node(self):
        folder = self.plugins("empty")
        program = self.only_on("n3", f"export PADDLE_LAUNCH_PLUGIN_DIR={folder}")
        done = self.openmpi(*self.command("job", FOUR, program=program))
        self.assertNotEqual(done.returncode, 0)
        self.assert_once(done, f"{ERROR}mpirun started 4 launchers together, and on n3 none of the plugins", "pmix.so")
        self.assertEqual(self.environments("job"), {})

    def test_no_plugin_under_hydra_is_an_error(self):
        folder = self.plugins("empty")
        done = self.hydra(*self.command("job", FOUR), env={"PADDLE_LAUNCH_PLUGIN_DIR": folder})
        self.assert_none_can_be_used(done, "job", "mpiexec", 4, [f"{folder}/mpi.so: no such file",
                                                                f"{folder}/pmi.so: no such file"])

    def test_no_plugin_under_srun_leaves_the_step_over_tcp(self):
        env = {"PADDLE_LAUNCH_PLUGIN_DIR": self.plugins("empty")}
        done = self.srun(*MESH, *self.command("open", FOUR), env=env)
        self.assert_ran(done, "open")
        self.assert_once(done, NOT_PROTECTED)
        done = self.srun(*MESH, *self.command("sealed", FOUR), env={**env, **MUNGE})
        self.assert_ran(done, "sealed")
        self.assertNotIn(NOT_PROTECTED, done.stderr)

    def test_a_node_without_mpi_is_named_and_the_others_carry_the_ids_without_it(self):
        """On the CPU nobody misses it."""
        folder = self.plugins("broken", "pmix.so", "pmi.so")
        self.write("broken/mpi.so", "this is no library\n")
        program = self.only_on("n4", f"export PADDLE_LAUNCH_PLUGIN_DIR={folder}")
        for starter, start in (("srun", lambda words: self.srun(*MESH, *words)),
                               ("mpirun", lambda words: self.openmpi(*words, per_host=4)),
                               ("mpiexec", lambda words: self.hydra(*words, per_host=4))):
            with self.subTest(starter):
                name = f"{starter}.cards"
                done = start(self.command(name, "--gpus=0,1,2,3", "--assume_gpus", program=program))
                self.assert_ran(done, name)
                self.assert_once(done, "MPI is not used: 4 of the tasks cannot use it, the first on n4 "
                                 f"({folder}/mpi.so: ", "file too short")
                done = start(self.command(starter, FOUR, program=program))
                self.assert_ran(done, starter)
                self.assertNotIn("MPI is not used", done.stderr)

    def test_the_launcher_says_which_library_it_took(self):
        for starter, start, first, inner in (
                ("srun", lambda words: self.srun(*SINGLE, *words), "pmix.so is OpenPMIx", "mpi.so is Open MPI"),
                ("mpirun", lambda words: self.openmpi(*words), "pmix.so is OpenPMIx", "mpi.so is Open MPI"),
                ("mpiexec", lambda words: self.hydra(*words), "pmi.so is PMI-1 of mpiexec", "mpi.so is MPICH")):
            with self.subTest(starter):
                done = start(self.command(starter, FOUR, "--log_level=DEBUG"))
                self.assert_ran(done, starter)
                self.assert_once(done, first, inner, "the tasks have met through ")
                done = start([binary(), FOUR, "--dry_run", "--log_dir=log", "/bin/true"])
                self.assert_once(done, first, inner, "the tasks have met through ")
                name = f"{starter}.cards"
                done = start(self.command(name, "--gpus=0,1,2,3", "--assume_gpus", "--log_level=DEBUG"))
                self.assert_ran(done, name)
                self.assert_once(done, "the tasks have met through " + inner.removeprefix("mpi.so is "))


class BootstrapTest(SchedulerCase):
    def test_each_way_that_is_asked_for_works_under_srun(self):
        for way in ("pmix", "mpi", "tcp"):
            with self.subTest(way):
                done = self.srun(*MESH, *self.command(way, FOUR, f"--bootstrap={way}"))
                self.assert_ran(done, way)
                self.assertEqual(NOT_PROTECTED in done.stderr, way == "tcp", done.stderr)

    def test_what_is_not_there_is_wrong_use(self):
        for way, reason in (("pmix", "there is no PMIx server"), ("mpi", "nothing says that an MPI launcher"),
                            ("tcp", "nothing says where the nodes meet")):
            with self.subTest(way):
                run = self.run_launcher(f"--bootstrap={way}", SH, "-c", "echo >started")
                self.assert_status(run, 2)
                self.assert_told(run, f"--bootstrap={way}: {reason}")
        done = self.srun("--mpi=none", *MESH, *self.command("step", FOUR, "--bootstrap=pmix"))
        self.assert_refused(done, "step", 2, "--bootstrap=pmix: there is no PMIx server")
        self.assertFalse((self.dir / "started").exists())


class MpiTrainersTest(SchedulerCase):
    def assert_each_alone(self, done, job):
        self.assert_ended(done)
        for rank in range(WORLD):
            # Not the whole log: now and then some process of a trainer's MPI says after this line that it got SIGSEGV,
            # and the trainer still ends with 0. Why is not known.
            said = [line for line in self.trainer_bytes(rank, f"{job}/log").decode().splitlines() if "world" in line]
            self.assertEqual(said, [f"trainer {rank}: a world of 1"])

    def test_a_trainer_that_starts_mpi_is_a_world_of_its_own(self):
        alone = self.compile_mpi("mpicc.openmpi", "alone", ALONE)
        words = [binary(), FOUR, "--log_dir=srun/log", alone]
        self.assert_each_alone(self.srun(*MESH, *words), "srun")
        words = [binary(), FOUR, "--log_dir=mpirun/log", alone]
        self.assert_each_alone(self.openmpi(*words), "mpirun")

    def assert_clean(self, job, *kept):
        """Nothing of the launchers' meeting is in sight, and what the user set is."""
        for rank, env in self.environments(job).items():
            strange = [name for name in env if name.startswith(("PMIX_", "PMI_", "OMPI_COMM_WORLD_", "HYDI_", "HYDRA_"))
                       or name in ("SLURM_NODELIST", "SLURM_STEP_NUM_TASKS", "MPI_LOCALRANKID")]
            self.assertEqual(strange, [], f"rank {rank}")
            self.assertEqual([name for name in kept if name not in env], [], f"rank {rank}")

    def test_the_environment_of_trainers_has_nothing_of_the_launchers_meeting(self):
        env = {"OMPI_MCA_btl_base_verbose": "0"}
        self.assert_ran(self.srun(*SINGLE, *self.command("srun", FOUR), env=env), "srun")
        self.assert_clean("srun", "OMPI_MCA_btl_base_verbose", "SLURM_JOB_NODELIST", "SLURM_JOB_ID")
        self.assert_ran(self.openmpi(*self.command("mpirun", FOUR), env=env), "mpirun")
        self.assert_clean("mpirun", "OMPI_MCA_btl_base_verbose")
        self.assert_ran(self.hydra(*self.command("hydra", FOUR), env=env), "hydra")
        self.assert_clean("hydra", "OMPI_MCA_btl_base_verbose")


if __name__ == "__main__":
    unittest.main()
