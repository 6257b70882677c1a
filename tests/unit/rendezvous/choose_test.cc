// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/choose.h"

#include <gtest/gtest.h>

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

using Names = std::vector<std::string>;

const SlurmStep kPlace{.job_id = "42",
                       .step_id = "0",
                       .node = 0,
                       .local = 0,
                       .nodes = {"n1", "n2"},
                       .tasks_per_node = {1, 1},
                       .node_name = "n1"};

const Surroundings kPerson{};
const Surroundings kMpirun{
    .launched_by = "mpirun", .tasks = 8, .task = 0, .has_pmix = true, .mpi = MpiFamily::OpenMpi};
const Surroundings kMpirunOfOne{
    .launched_by = "mpirun", .tasks = 1, .task = 0, .has_pmix = true, .mpi = MpiFamily::OpenMpi};
const Surroundings kMpirunWithoutPmix{
    .launched_by = "mpirun", .tasks = 8, .task = 0, .mpi = MpiFamily::OpenMpi};
const Surroundings kOtherPmix{
    .launched_by = "mpirun", .tasks = 0, .task = 0, .has_pmix = true, .mpi = {}};
const Surroundings kHydra{.launched_by = "mpiexec", .tasks = 4, .task = 0, .mpi = MpiFamily::Mpich};
const Surroundings kSrunPmix{.launched_by = "srun",
                             .tasks = 2,
                             .task = 0,
                             .has_pmix = true,
                             .mpi = MpiFamily::OpenMpi,
                             .step = kPlace};
const Surroundings kSrun{.launched_by = "srun", .tasks = 2, .task = 0, .mpi = {}, .step = kPlace};
const Surroundings kSrunOfOne{
    .launched_by = "srun", .tasks = 1, .task = 0, .mpi = {}, .step = kPlace};
const Surroundings kSrunWithoutNodes{.launched_by = "srun", .tasks = 2, .task = 0, .mpi = {}};

JobSpec job_by(const std::string& bootstrap) {
  JobSpec job;
  job.bootstrap = bootstrap;
  return job;
}

JobSpec on_two_ips(const std::string& bootstrap = "auto") {
  JobSpec job = job_by(bootstrap);
  job.ips = {"10.0.0.1", "10.0.0.2"};
  job.ips_given = true;
  job.nnodes = 2;
  return job;
}

JobSpec at_a_master(const std::string& bootstrap = "auto") {
  JobSpec job = job_by(bootstrap);
  job.master = MeetingPoint{"10.0.0.1", 6768};
  job.nnodes = 2;
  return job;
}

JobSpec with_lists(JobSpec job) {
  job.servers = ServerSpec{};
  job.servers->servers = {"10.0.0.1:6170"};
  job.servers->workers = {"10.0.0.1:6171", "10.0.0.2:6171"};
  return job;
}

JobSpec as_it_is(JobSpec job) {
  job.servers = ServerSpec{};
  job.servers->as_it_is = ProcessName{Role::Trainer, 0};
  return job;
}

Choice tasks(Names plugins, bool by_srun = false) {
  return {.way = Way::Tasks, .plugins = std::move(plugins), .else_slurm_step = by_srun};
}

Choice with_mpi(Names plugins) {
  return {.way = Way::Tasks, .plugins = std::move(plugins), .must_use_mpi = true};
}

struct Row {
  const char* what;
  JobSpec job;
  Surroundings around;
  Choice choice;
};

void expect_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) EXPECT_EQ(choose_way(row.job, row.around), row.choice) << row.what;
}

TEST(ChooseWay, ByItselfGoesByWhatIsSeen) {
  const JobSpec job;
  expect_rows({
      {"a person", job, kPerson, {}},
      {"mpirun", job, kMpirun, tasks({"pmix", "mpi"})},
      {"mpirun without PMIx", job, kMpirunWithoutPmix, tasks({"mpi"})},
      {"somebody else's PMIx, size unknown", job, kOtherPmix, tasks({"pmix"})},
      {"Hydra", job, kHydra, tasks({"pmi", "mpi"})},
      {"srun with PMIx", job, kSrunPmix, tasks({"pmix", "mpi"}, true)},
      {"srun without PMIx", job, kSrun, {.way = Way::SlurmStep}},
  });
}

TEST(ChooseWay, ALauncherAloneIsAsIfTypedByHand) {
  expect_rows({
      {"a person, two addresses", on_two_ips(), kPerson, {.way = Way::Tcp}},
      {"a person, a master", at_a_master(), kPerson, {.way = Way::Tcp}},
      {"mpirun -np 1", {}, kMpirunOfOne, {}},
      {"mpirun -np 1, two addresses", on_two_ips(), kMpirunOfOne, {.way = Way::Tcp}},
      {"srun -n 1", {}, kSrunOfOne, {}},
      {"srun -n 1, a master", at_a_master(), kSrunOfOne, {.way = Way::Tcp}},
  });
}

TEST(ChooseWay, TasksWinOverNamedNodesUnlessToldOtherwise) {
  expect_rows({
      {"mpirun", on_two_ips(), kMpirun, tasks({"pmix", "mpi"})},
      {"srun", on_two_ips(), kSrun, {.way = Way::SlurmStep}},
      {"mpirun, tcp", on_two_ips("tcp"), kMpirun, {.way = Way::Tcp}},
      {"srun, tcp", on_two_ips("tcp"), kSrun, {.way = Way::Tcp}},
      {"srun, tcp, a master", at_a_master("tcp"), kSrunPmix, {.way = Way::Tcp}},
  });
}

TEST(ChooseWay, TakesTheOneThatIsNamed) {
  expect_rows({
      {"solo", job_by("solo"), kMpirun, {}},
      {"solo, two addresses", on_two_ips("solo"), kPerson, {}},
      {"tcp", on_two_ips("tcp"), kPerson, {.way = Way::Tcp}},
      {"tcp in a step", job_by("tcp"), kSrun, {.way = Way::SlurmStep}},
      {"tcp in a step with PMIx", job_by("tcp"), kSrunPmix, {.way = Way::SlurmStep}},
      {"pmix", job_by("pmix"), kMpirun, tasks({"pmix"})},
      {"pmix, one task", job_by("pmix"), kMpirunOfOne, tasks({"pmix"})},
      {"mpi", job_by("mpi"), kMpirun, with_mpi({"pmix", "mpi"})},
      {"mpi of Hydra", job_by("mpi"), kHydra, with_mpi({"pmi", "mpi"})},
      {"mpi alone", job_by("mpi"), kMpirunWithoutPmix, with_mpi({"mpi"})},
      {"mpi, and nothing in its place", job_by("mpi"), kSrunPmix, with_mpi({"pmix", "mpi"})},
      {"a site's own", job_by("our-flux_2"), kPerson, tasks({"our-flux_2"})},
  });
}

struct ErrorRow {
  const char* what;
  JobSpec job;
  Surroundings around;
  const char* says;
};

TEST(ChooseWay, RefusesWhatCannotWorkAndSaysWhatToGive) {
  for (const ErrorRow& row : {
           ErrorRow{"tcp without nodes", job_by("tcp"), kPerson, "--ips="},
           {"tcp under mpirun", job_by("tcp"), kMpirun, "--master="},
           {"tcp in a step of one task", job_by("tcp"), kSrunOfOne, "--ips="},
           {"pmix without a server", job_by("pmix"), kSrun, "srun --mpi=pmix"},
           {"mpi of a person", job_by("mpi"), kPerson, "mpirun"},
           {"mpi in a step without PMIx", job_by("mpi"), kSrun, "srun --mpi=pmix"},
           {"a step that does not tell its nodes", {}, kSrunWithoutNodes, "srun started 2"},
           {"lists under srun", with_lists(on_two_ips()), kSrun, "give --server_num"},
           {"lists with pmix", with_lists(on_two_ips("pmix")), kSrunPmix, "give --server_num"},
           {"lists with mpi", with_lists(on_two_ips("mpi")), kHydra, "--bootstrap=tcp"},
           {"lists with a plugin", with_lists(job_by("own")), kPerson, "somebody started"},
           {"a list of one node in a step", with_lists(job_by("tcp")), kSrun, "give --server_num"},
           {"lists of several nodes alone", with_lists(on_two_ips("solo")), kPerson,
            "several nodes"},
           {"one process of many", as_it_is({}), kSrun, "this job is one process"},
           {"one process of many with pmix", as_it_is(job_by("pmix")), kMpirun, "one process"},
       }) {
    try {
      choose_way(row.job, row.around);
      ADD_FAILURE() << row.what;
    } catch (const UsageError& error) {
      EXPECT_NE(std::string(error.what()).find(row.says), std::string::npos) << error.what();
    }
  }
}

TEST(ChooseWay, ListsMeetOverTcpAndOneProcessAlone) {
  EXPECT_EQ(choose_way(with_lists(on_two_ips("tcp")), kSrunPmix).way, Way::Tcp);
  EXPECT_EQ(choose_way(with_lists(on_two_ips()), kPerson).way, Way::Tcp);
  EXPECT_EQ(choose_way(with_lists(on_two_ips()), kSrunOfOne).way, Way::Tcp);
  EXPECT_EQ(choose_way(as_it_is({}), kSrunOfOne).way, Way::Solo);
  EXPECT_EQ(choose_way(as_it_is(job_by("solo")), kSrun).way, Way::Solo);
  EXPECT_EQ(choose_way(as_it_is(job_by("pmix")), kMpirunOfOne).way, Way::Tasks);
}

TEST(ChooseWay, NeverMakesSeveralLaunchersSolo) {
  for (const Surroundings& around :
       {kMpirun, kMpirunWithoutPmix, kOtherPmix, kHydra, kSrunPmix, kSrun}) {
    EXPECT_NE(choose_way({}, around).way, Way::Solo) << around.launched_by;
  }
}

}  // namespace
}  // namespace paddle_launch
