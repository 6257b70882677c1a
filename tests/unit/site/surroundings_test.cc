// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/surroundings.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

TEST(Surroundings, APersonsShellIsNothing) {
  EXPECT_EQ(surroundings({}), Surroundings{});
  EXPECT_EQ(surroundings({{"PATH", "/bin"}}), Surroundings{});
}

TEST(Surroundings, MpirunWithPmixTellsItsSize) {
  EXPECT_EQ(
      surroundings(
          {{"PMIX_NAMESPACE", "prterun-n1@1"}, {"PMIX_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "8"}}),
      (Surroundings{"mpirun", 8}));
}

TEST(Surroundings, MpirunInsideSlurmIsMpirunAndNotItsDaemonsStep) {
  EXPECT_EQ(surroundings({{"PMIX_NAMESPACE", "1234"},
                          {"PMIX_RANK", "0"},
                          {"OMPI_COMM_WORLD_SIZE", "8"},
                          {"SLURM_PROCID", "1"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_STEP_NUM_TASKS", "2"}}),
            (Surroundings{"mpirun", 8}));
}

TEST(Surroundings, SrunWithPmixIsKnownByItsNamespace) {
  EXPECT_EQ(surroundings({{"PMIX_NAMESPACE", "slurm.pmix.42.0"},
                          {"PMIX_RANK", "0"},
                          {"SLURM_STEP_NUM_TASKS", "4"}}),
            (Surroundings{"srun", 4}));
  EXPECT_EQ(surroundings(
                {{"PMIX_NAMESPACE", "slurm.pmix.42.0"}, {"PMIX_RANK", "0"}, {"SLURM_NTASKS", "6"}}),
            (Surroundings{"srun", 6}));
}

TEST(Surroundings, PmixWithoutASizeIsPossiblySeveral) {
  EXPECT_EQ(surroundings({{"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "0"}}),
            (Surroundings{"mpirun", 0}));
  EXPECT_EQ(surroundings({{"OMPI_COMM_WORLD_SIZE", "many"}}), (Surroundings{"mpirun", 0}));
}

TEST(Surroundings, MpirunAndMpiexecWithoutPmix) {
  EXPECT_EQ(surroundings({{"OMPI_COMM_WORLD_SIZE", "2"}}), (Surroundings{"mpirun", 2}));
  EXPECT_EQ(surroundings({{"PMI_SIZE", "16"}}), (Surroundings{"mpirun", 16}));
}

TEST(Surroundings, OnlyAStepOfSeveralTasksIsSrun) {
  Environment env{{"SLURM_JOB_ID", "42"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}};
  EXPECT_EQ(surroundings(env), Surroundings{}) << "a batch shell";
  env["SLURM_STEP_ID"] = "0";
  env["SLURM_STEP_NUM_TASKS"] = "1";
  EXPECT_EQ(surroundings(env), Surroundings{}) << "a step of one task";
  env["SLURM_STEP_NUM_TASKS"] = "8";
  EXPECT_EQ(surroundings(env), (Surroundings{"srun", 8}));
}

}  // namespace
}  // namespace paddle_launch
