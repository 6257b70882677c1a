// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/site/start_environment.h"

namespace paddle_launch {
namespace {

// The second task of `srun --nodes=2 --ntasks=3` on its first node.
const Environment kStep{{"SLURM_JOB_ID", "42"},
                        {"SLURM_STEP_ID", "3"},
                        {"SLURM_PROCID", "1"},
                        {"SLURM_NODEID", "0"},
                        {"SLURM_LOCALID", "1"},
                        {"SLURM_NTASKS", "3"},
                        {"SLURM_STEP_NUM_TASKS", "3"},
                        {"SLURM_STEP_NODELIST", "n[1-2]"},
                        {"SLURM_STEP_TASKS_PER_NODE", "2,1"},
                        {"SLURMD_NODENAME", "n1"}};

const SlurmStep kPlace{.job_id = "42",
                       .step_id = "3",
                       .node = 0,
                       .local = 1,
                       .nodes = {"n1", "n2"},
                       .tasks_per_node = {2, 1},
                       .node_name = "n1"};

Environment with(Environment env, const Environment& more) {
  for (const auto& [name, value] : more) env.insert_or_assign(name, value);
  return env;
}

TEST(Surroundings, APersonsShellIsNothing) {
  EXPECT_EQ(surroundings({}), Surroundings{});
  EXPECT_EQ(surroundings({{"PATH", "/bin"}}), Surroundings{});
}

TEST(Surroundings, MpirunWithPmixTellsItsSize) {
  const Surroundings expected{
      .launched_by = "mpirun", .tasks = 8, .task = 3, .has_pmix = true, .mpi = MpiFamily::OpenMpi};
  EXPECT_EQ(surroundings({{"PMIX_NAMESPACE", "prterun-n1-7@1"},
                          {"PMIX_RANK", "3"},
                          {"OMPI_COMM_WORLD_SIZE", "8"}}),
            expected);
}

TEST(Surroundings, MpirunInsideSlurmIsMpirunAndNotItsDaemonsStep) {
  const Environment slurm = with(kStep, {{"SLURM_GPUS_PER_TASK", "1"}});
  const Surroundings expected{
      .launched_by = "mpirun", .tasks = 8, .task = 5, .has_pmix = true, .mpi = MpiFamily::OpenMpi};
  EXPECT_EQ(
      surroundings(with(
          slurm, {{"PMIX_NAMESPACE", "1234"}, {"PMIX_RANK", "5"}, {"OMPI_COMM_WORLD_SIZE", "8"}})),
      expected);
}

TEST(Surroundings, SrunWithPmixIsKnownByItsNamespace) {
  const Environment pmix{{"PMIX_NAMESPACE", "slurm.pmix.42.3"}, {"PMIX_RANK", "1"}};
  Surroundings expected{.launched_by = "srun",
                        .tasks = 3,
                        .task = 1,
                        .has_pmix = true,
                        .mpi = MpiFamily::OpenMpi,
                        .step = kPlace};
  EXPECT_EQ(surroundings(with(kStep, pmix)), expected);
  expected.step.reset();
  expected.tasks = 6;
  EXPECT_EQ(surroundings(with(pmix, {{"SLURM_NTASKS", "6"}})), expected);
}

TEST(Surroundings, PmixOfSomebodyElseSaysNothingOfAnMpi) {
  const Surroundings expected{
      .launched_by = "mpirun", .tasks = 0, .task = 0, .has_pmix = true, .mpi = {}};
  EXPECT_EQ(surroundings({{"PMIX_NAMESPACE", "x"}, {"PMIX_RANK", "0"}}), expected);
}

TEST(Surroundings, ASizeThatIsNoNumberIsPossiblySeveral) {
  EXPECT_EQ(surroundings({{"OMPI_COMM_WORLD_SIZE", "many"}}).tasks, 0);
  EXPECT_TRUE(surroundings({{"OMPI_COMM_WORLD_SIZE", "many"}}).may_be_several());
  EXPECT_TRUE(surroundings({{"PMI_SIZE", ""}}).may_be_several());
}

TEST(Surroundings, MpirunWithoutPmixIsKnownByItsOwnVariables) {
  const Surroundings expected{
      .launched_by = "mpirun", .tasks = 2, .task = 1, .mpi = MpiFamily::OpenMpi};
  EXPECT_EQ(surroundings({{"OMPI_COMM_WORLD_SIZE", "2"}, {"OMPI_COMM_WORLD_RANK", "1"}}), expected);
}

TEST(Surroundings, HydraIsMpiexecAlsoInsideSlurm) {
  const Environment hydra{{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}, {"PMI_FD", "9"}};
  const Surroundings expected{
      .launched_by = "mpiexec", .tasks = 4, .task = 2, .mpi = MpiFamily::Mpich};
  EXPECT_EQ(surroundings(hydra), expected);
  EXPECT_EQ(surroundings(with(kStep, hydra)), expected) << "the numbers are not the step's";
  EXPECT_EQ(surroundings({{"PMI_SIZE", "4"}, {"PMI_RANK", "2"}}), expected);

  const Environment alike{{"PMI_SIZE", "3"}, {"PMI_RANK", "1"}, {"MPI_LOCALRANKID", "0"}};
  EXPECT_EQ(surroundings(with(kStep, alike)).launched_by, "mpiexec") << "chance";
}

// As recorded: salloc mpiexec.hydra where Slurm's default is PMIx. Four ranks share that PMIX_RANK.
TEST(Surroundings, HydraShowsThePmixOfItsDaemonsAndIsMpiexecNevertheless) {
  const Surroundings expected{
      .launched_by = "mpiexec", .tasks = 16, .task = 5, .mpi = MpiFamily::Mpich};
  EXPECT_EQ(surroundings({{"MPI_LOCALNRANKS", "4"},
                          {"MPI_LOCALRANKID", "1"},
                          {"PMIX_NAMESPACE", "slurm.pmix.10.0"},
                          {"PMIX_RANK", "1"},
                          {"PMI_FD", "6"},
                          {"PMI_RANK", "5"},
                          {"PMI_SIZE", "16"},
                          {"SLURM_JOB_ID", "10"},
                          {"SLURM_LOCALID", "0"},
                          {"SLURM_MPI_TYPE", "pmix"},
                          {"SLURM_NODEID", "1"},
                          {"SLURM_NTASKS", "16"},
                          {"SLURM_PROCID", "1"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_STEP_NODELIST", "n[1-4]"},
                          {"SLURM_STEP_NUM_TASKS", "4"},
                          {"SLURM_STEP_TASKS_PER_NODE", "1(x4)"}}),
            expected);
}

// As recorded: salloc mpirun, whose daemons on the other three nodes are a step of Slurm.
TEST(Surroundings, MpirunOverSrunIsMpirun) {
  const Surroundings expected{
      .launched_by = "mpirun", .tasks = 16, .task = 5, .has_pmix = true, .mpi = MpiFamily::OpenMpi};
  EXPECT_EQ(surroundings({{"OMPI_COMM_WORLD_RANK", "5"},
                          {"OMPI_COMM_WORLD_SIZE", "16"},
                          {"PMIX_NAMESPACE", "512622593"},
                          {"PMIX_RANK", "5"},
                          {"SLURM_JOB_ID", "8"},
                          {"SLURM_LOCALID", "0"},
                          {"SLURM_NODEID", "0"},
                          {"SLURM_NTASKS", "3"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_STEP_NODELIST", "n[2-4]"},
                          {"SLURM_STEP_NUM_TASKS", "3"},
                          {"SLURM_STEP_TASKS_PER_NODE", "1(x3)"}}),
            expected);
}

TEST(Surroundings, SrunWithPmi2IsAStepWithoutPmix) {
  const Environment pmi2{{"PMI_FD", "17"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "3"}};
  EXPECT_EQ(surroundings(with(kStep, pmi2)), surroundings(kStep));
}

TEST(Surroundings, SrunWithoutPmixTellsThePlaceInTheStep) {
  const Surroundings expected{
      .launched_by = "srun", .tasks = 3, .task = 1, .mpi = {}, .step = kPlace};
  EXPECT_EQ(surroundings(kStep), expected);
}

TEST(Surroundings, ABatchShellIsNoStep) {
  EXPECT_EQ(surroundings({{"SLURM_JOB_ID", "42"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_LOCALID", "0"},
                          {"SLURM_NODEID", "0"},
                          {"SLURM_NTASKS", "8"},
                          {"SLURM_TASKS_PER_NODE", "4(x2)"},
                          {"SLURM_NODELIST", "n[1-2]"},
                          {"SLURM_GPUS_PER_TASK", "1"}}),
            Surroundings{});
}

TEST(Surroundings, AStepOfOneTaskIsAlone) {
  const Surroundings around = surroundings(with(kStep, {{"SLURM_STEP_NUM_TASKS", "1"},
                                                        {"SLURM_STEP_NODELIST", "n1"},
                                                        {"SLURM_STEP_TASKS_PER_NODE", "1"},
                                                        {"SLURM_PROCID", "0"},
                                                        {"SLURM_LOCALID", "0"}}));
  EXPECT_EQ(around.launched_by, "srun");
  EXPECT_FALSE(around.may_be_several());
  ASSERT_TRUE(around.step);
  EXPECT_EQ(around.step->nodes, std::vector<std::string>{"n1"});
}

TEST(Surroundings, AStepThatContradictsItselfIsNotTaken) {
  for (const Environment& wrong : {Environment{{"SLURM_STEP_TASKS_PER_NODE", "2,2"}},
                                   {{"SLURM_STEP_TASKS_PER_NODE", "3"}},
                                   {{"SLURM_STEP_NODELIST", "n["}},
                                   {{"SLURM_NODEID", "2"}},
                                   {{"SLURM_LOCALID", "2"}},
                                   {{"SLURM_LOCALID", "-1"}}}) {
    const Surroundings around = surroundings(with(kStep, wrong));
    EXPECT_EQ(around.step, std::nullopt) << wrong.begin()->first;
    EXPECT_TRUE(around.may_be_several()) << wrong.begin()->first;
  }
}

TEST(Surroundings, CardsPerTaskAreSrunsWish) {
  EXPECT_TRUE(surroundings(with(kStep, {{"SLURM_GPUS_PER_TASK", "1"}})).cards_per_task);
  EXPECT_TRUE(
      surroundings(with(kStep, {{"SLURM_TRES_PER_TASK", "cpu:4,gres/gpu:1"}})).cards_per_task);
  EXPECT_FALSE(surroundings(with(kStep, {{"SLURM_TRES_PER_TASK", "cpu:4"}})).cards_per_task);
  EXPECT_FALSE(surroundings(with(kStep, {{"SLURM_GPUS_ON_NODE", "8"}})).cards_per_task);
  EXPECT_TRUE(surroundings(with(kStep, {{"SLURMD_TRES_BIND", "gpu:per_task:1"}})).cards_per_task)
      << "all that srun --gpus-per-task=1 of Slurm 22.05 sets";
  EXPECT_FALSE(
      surroundings(with(kStep, {{"SLURM_GPUS_PER_TASK", "1"}, {"SLURMD_TRES_BIND", "gpu:none"}}))
          .cards_per_task)
      << "srun --gpu-bind=none";
}

}  // namespace
}  // namespace paddle_launch
