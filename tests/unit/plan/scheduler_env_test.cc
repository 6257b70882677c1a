// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "launcher/plan/paddle_env.h"

namespace paddle_launch {
namespace {

TEST(IsTheSchedulers, WhatMpirunSets) {
  for (const char* name : {"OMPI_APP_CTX_NUM_PROCS",
                           "OMPI_ARGV",
                           "OMPI_COMMAND",
                           "OMPI_COMM_WORLD_LOCAL_RANK",
                           "OMPI_COMM_WORLD_SIZE",
                           "OMPI_FILE_LOCATION",
                           "OMPI_FIRST_RANKS",
                           "OMPI_MCA_ess",
                           "OMPI_MCA_ess_base_vpid",
                           "OMPI_MCA_hwloc_base_binding_policy",
                           "OMPI_MCA_initial_wdir",
                           "OMPI_MCA_mpi_oversubscribe",
                           "OMPI_MCA_num_procs",
                           "OMPI_MCA_cpu_type",
                           "OMPI_MCA_orte_hnp_uri",
                           "OMPI_MCA_orte_precondition_transports",
                           "OMPI_MCA_pmix",
                           "OMPI_MCA_rmaps_base_oversubscribe",
                           "OMPI_MCA_routed",
                           "OMPI_MCA_shmem_RUNTIME_QUERY_hint",
                           "OMPI_NUM_APP_CTX",
                           "OMPI_UNIVERSE_SIZE",
                           "ORTE_SCHIZO_DETECTION",
                           "PRTE_LAUNCHED",
                           "PRTE_MCA_prte_ess_num_procs",
                           "PMIX_ID",
                           "PMIX_MCA_mca_base_component_show_load_errors",
                           "PMIX_NAMESPACE",
                           "PMIX_SERVER_URI41"}) {
    EXPECT_TRUE(is_the_schedulers(name)) << name;
  }
}

TEST(IsTheSchedulers, WhatHydraAndSrunSet) {
  for (const char* name :
       {"PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_JOBID", "HYDI_CONTROL_FD", "HYDRA_LAUNCHER",
        "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "SLURM_MPI_TYPE", "SLURM_NODELIST",
        "SLURM_STEP_NUM_TASKS", "SLURM_PMIXP_ABORT_AGENT_PORT", "SLURM_PMIX_MAPPING_SERV"}) {
    EXPECT_TRUE(is_the_schedulers(name)) << name;
  }
}

TEST(IsTheSchedulers, WhatTheUserSetStays) {
  for (const char* name :
       {"OMPI_MCA_btl_tcp_if_include", "OMPI_MCA_oob_tcp_if_include", "OMPI_MCA_pml",
        "OMPI_MCA_plm_rsh_agent", "OMPI_MCA_hwloc_base_verbose", "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "SLURM_JOB_ID", "SLURM_JOB_NODELIST", "SLURM_STEP_ID",
        "SLURM_PROCID", "CUDA_VISIBLE_DEVICES", "PATH", "MPIR_CVAR_NEMESIS_TCP_NETWORK_IFACE",
        "NCCL_DEBUG", "PMIX", "OMP_NUM_THREADS"}) {
    EXPECT_FALSE(is_the_schedulers(name)) << name;
  }
}

}  // namespace
}  // namespace paddle_launch
