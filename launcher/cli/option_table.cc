// SPDX-License-Identifier: Apache-2.0
// See option_table.h. The order within a group is the order of the help text.
#include "launcher/cli/option_table.h"

#include <algorithm>
#include <variant>

#include "launcher/text/split.h"

namespace paddle_launch {
namespace {

using Group = OptionGroup;

constexpr int kMany = 1'000'000;
constexpr WholeNumber kPort{1, kHighestPort};
constexpr WholeNumber kCount{0, kMany};
constexpr WholeNumber kOnANode{0, kMostOnANode};
constexpr std::string_view kBackends = "auto|nccl|gloo|bkcl|hccl|cncl|xccl|heter|flagcx";

constexpr Option kOptions[] = {
    {"-h,--help", Group::Base, "", ActsAtOnce(), "", "", "Show this text and exit."},
    {"--version", Group::Base, "", ActsAtOnce(), "", "", "Show the version and exit."},
    {"--log_dir", Group::Base, "DIR", AnyText(), "log", "PADDLE_LOG_DIR",
     "Directory of workerlog.<rank> and endpoints.log."},
    {"--log_level", Group::Base, "LEVEL", LogLevelWord(), "INFO", "PADDLE_LOG_LEVEL",
     "How much the launcher itself tells: DEBUG, INFO, WARNING or ERROR."},
    {"--log_overwrite", Group::Base, "BOOL", Boolean(), "False", "PADDLE_LOG_OVERWRITE",
     "Empty the worker logs at the start instead of appending to them."},
    {"--run_mode", Group::Base, "MODE", OneOf{"collective|ps|ps-heter|rpc"},
     "from the other options", "PADDLE_RUN_MODE",
     "Mode of the job: collective, ps, ps-heter or rpc."},
    {"--gpus,--selected_gpus", Group::Base, "CARDS", AnyText(), "all cards", "",
     "GPUs of this node with commas, by physical number or UUID, for example --gpus=4,5,6,7; one "
     "trainer for each. \"cpu\" means none."},
    {"--xpus,--selected_xpus", Group::Base, "CARDS", AnyText(), "all cards", "",
     "The same for XPUs."},
    {"--npus,--selected_npus", Group::Base, "CARDS", AnyText(), "all cards", "",
     "The same for NPUs."},
    {"--mlus,--selected_mlus", Group::Base, "CARDS", AnyText(), "all cards", "",
     "The same for MLUs."},
    {"--devices", Group::Base, "CARDS", AnyText(), "all cards", "PADDLE_DEVICES",
     "The same for whichever kind of card the node has."},
    {"--nproc_per_node", Group::Base, "N", WholeNumber{1, kMostOnANode}, "one for each card",
     "PADDLE_NPROC_PER_NODE", "Trainers on each node; the cards are shared out evenly."},
    {"--backend", Group::Base, "NAME", OneOf{kBackends}, "auto", "PADDLE_DISTRI_BACKEND",
     "Communication library of the trainers: auto, nccl, gloo (CPU), bkcl, hccl, cncl, xccl, heter "
     "or flagcx."},
    {"--nnodes", Group::Base, "N[:MAX]", NodeCount(), "1", "PADDLE_NNODES",
     "Number of nodes, with --master. A list in --ips says it too; a range MIN:MAX needs etcd in "
     "--master."},
    {"--master", Group::Base, "HOST:PORT", HostAndPort{true}, "", "PADDLE_MASTER",
     "Where the nodes meet: HOST:PORT of the first node, with --nnodes. One node needs none. "
     "etcd://HOST:PORT makes the job elastic."},
    {"--rank", Group::Base, "R", WholeNumber{-1, kMostNodes - 1}, "-1, as they come", "PADDLE_RANK",
     "Place of this node (with --master)."},
    {"--job_id", Group::Base, "ID", AnyText(), "default", "PADDLE_JOB_ID",
     "Name of the job; tells apart two jobs on the same hosts, and joins launchers whose script "
     "arguments differ. In elastic jobs PADDLE_ELASTIC_JOB_ID says it too."},
    {"--host", Group::Base, "ADDRESS", AnyText(), "", "POD_IP",
     "This node's address in the endpoints; among several --ips, the entry that is this node."},
    {"--start_port", Group::Base, "PORT", kPort, "free ports", "PADDLE_START_PORT,FLAGS_START_PORT",
     "Port of this node's first trainer; the rest follow."},
    {"--sort_ip", Group::Base, "BOOL", Boolean(), "False", "PADDLE_SORT_IP",
     "Order the nodes by address (with --master)."},
    {"--enable_gpu_log", Group::Base, "BOOL", Boolean(), "False", "",
     "Accepted for Paddle's sake: this launcher does not sample the GPUs."},
    {"--legacy", Group::Base, "BOOL", Boolean(), "False", "",
     "Accepted for Paddle's sake: there is only one launcher here."},
    {"-m", Group::Base, "MODULE", ActsAtOnce(), "", "",
     "Run a Python module instead of a script; what follows are its arguments."},

    {"--ips", Group::Collective, "IPS", AddressList(), "127.0.0.1", "PADDLE_IPS",
     "Addresses of all nodes with commas, the same list in the same order on each, for example "
     "192.168.0.16,192.168.0.17."},
    {"--cluster_topo_path", Group::Collective, "FILE", AnyText(), "", "",
     "Refused: see --auto_tuner_json."},
    {"--rank_mapping_path", Group::Collective, "FILE", AnyText(), "", "",
     "Refused: see --auto_tuner_json."},
    {"--enable_auto_mapping", Group::Collective, "BOOL", Boolean(), "False", "",
     "True is refused: see --auto_tuner_json."},
    {"--auto_parallel_config", Group::Collective, "FILE", AnyText(), "",
     "PADDLE_AUTO_PARALLEL_CONFIG", "Refused: see --auto_tuner_json."},
    {"--auto_cluster_config", Group::Collective, "N", WholeNumber{0, kMany}, "0",
     "PADDLE_AUTO_CLUSTER", "Refused unless 0: see --auto_tuner_json."},
    {"--auto_tuner_json", Group::Collective, "FILE", AnyText(), "", "",
     "Refused: automatic tuning and mapping belong to python -m paddle.distributed.launch."},

    {"--servers", Group::ParameterServer, "ENDPOINTS", EndpointList(), "",
     "PADDLE_SERVERS_ENDPOINTS",
     "Endpoints of all servers, the same list on each node, for example "
     "192.168.0.16:6170,192.168.0.17:6170."},
    {"--workers", Group::ParameterServer, "ENDPOINTS", EndpointList{true}, "", "",
     "Endpoints of all workers, or their addresses alone: these get the ports from 6170 plus the "
     "number of servers on."},
    {"--heter_workers", Group::ParameterServer, "ENDPOINTS", EndpointList{false, true}, "", "",
     "Endpoints of all heterogeneous workers, a semicolon between stages."},
    {"--heter_devices", Group::ParameterServer, "DEVICES", StageDevices(), "cpu for each stage", "",
     "Device of each stage of heterogeneous workers: cpu, gpu or xpu, for example cpu;gpu;cpu."},
    {"--server_num", Group::ParameterServer, "N", kOnANode, "", "PADDLE_SERVER_NUM",
     "Servers on each node, in place of --servers."},
    {"--worker_num", Group::ParameterServer, "N", kOnANode, "", "",
     "Workers on each node, in place of --workers."},
    {"--heter_worker_num", Group::ParameterServer, "N[;N]", StageNumbers(), "", "",
     "Heterogeneous workers on each node in each stage, for example 1;2;3."},
    {"--trainers", Group::ParameterServer, "ENDPOINTS", EndpointList{true}, "",
     "PADDLE_TRAINERS_ENDPOINTS", "The newer name of --workers."},
    {"--trainer_num", Group::ParameterServer, "N", kOnANode, "", "PADDLE_TRAINER_NUM",
     "The newer name of --worker_num."},
    {"--http_port", Group::ParameterServer, "PORT", kPort, "a free port", "",
     "Port where Gloo's peers meet, on the node of the first server."},
    {"--gloo_port", Group::ParameterServer, "PORT", kPort, "a free port", "PADDLE_GLOO_PORT",
     "The newer name of --http_port."},
    {"--with_gloo", Group::ParameterServer, "N", WholeNumber{0, 3},
     "1 with --trainers, --trainer_num or --gloo_port, else 0", "PADDLE_WITH_GLOO",
     "Whether Gloo is used: 0 no, 1 workers, 2 servers too."},
    {"--server_wait", Group::ParameterServer, "SECONDS", Seconds(), "10", "",
     "How long a server that lives and does not listen is waited for before the workers start."},
    {"--legacy_env", Group::ParameterServer, "", Flag(), "", "",
     "Set the variables of Paddle's first cluster documents as well (PADDLE_TRAINING_ROLE and its "
     "relatives)."},
    {"--coordinators", Group::ParameterServer, "ENDPOINTS", TextOrNothing(), "", "",
     "Refused: federated learning belongs to python -m paddle.distributed.launch."},
    {"--coordinator_num", Group::ParameterServer, "N", kCount, "", "",
     "Refused: see --coordinators."},

    {"--elastic_server", Group::Elastic, "HOST:PORT", EtcdServers(), "", "PADDLE_ELASTIC_SERVER",
     "The etcd server where the nodes of an elastic job meet; several with commas. https:// before "
     "it means TLS."},
    {"--np", Group::Elastic, "N[:MAX]", NodeCount(), "", "PADDLE_ELASTIC_NP",
     "Number of nodes of an elastic job, or a range MIN:MAX."},
    {"--max_restart", Group::Elastic, "N", kCount, "0, in elastic jobs 3", "PADDLE_MAX_RESTART",
     "How often a failed job is started again, elastic or not."},
    {"--restart_pause", Group::Elastic, "SECONDS", Seconds(), "1", "",
     "Pause before a failed job is started again; doubles with each quick failure, up to 60."},
    {"--restart_on", Group::Elastic, "CAUSES", RestartOn(), "any", "",
     "Failures after which a job is started again, with commas: any, code, signal, lost_node, exit "
     "codes (1-255), names of signals (SIGKILL)."},
    {"--elastic_timeout", Group::Elastic, "SECONDS", Seconds(), "120", "PADDLE_ELASTIC_TIMEOUT",
     "How long an elastic job with too few nodes waits for more."},
    {"--elastic_settle", Group::Elastic, "SECONDS", Seconds(), "3", "",
     "How long a changed number of nodes must hold before it counts."},
    {"--elastic_ttl", Group::Elastic, "SECONDS", WholeNumber{1, 3600}, "60", "PADDLE_ELASTIC_TTL",
     "How long etcd keeps what a dead node left there."},
    {"--elastic_level", Group::Elastic, "N", WholeNumber{-1, 1}, "1", "PADDLE_ELASTIC_LEVEL",
     "When a trainer of an elastic job fails: 1 all start again, 0 its node leaves and the others "
     "go on or wait, -1 the job ends. PADDLE_ELASTIC_FAULT_TOLERANC_LEVEL says it too."},
    {"--force", Group::Elastic, "BOOL", Boolean(), "False", "PADDLE_ELASTIC_FORCE",
     "Let --np of this launch replace that of the running job."},
    {"--elastic_pre_hook", Group::Elastic, "COMMAND", AnyText(), "", "",
     "Shell command that runs on each node before each round of an elastic job."},
    {"--etcd_user", Group::Elastic, "NAME[:PASSWORD]", UserAndPassword(), "", "PADDLE_ETCD_USER",
     "User of etcd. The variable PADDLE_ETCD_PASSWORD can hold the password."},
    {"--etcd_cacert", Group::Elastic, "FILE", AnyText(), "the system's", "",
     "Certificates of the authorities by which etcd is known; means TLS."},
    {"--etcd_cert", Group::Elastic, "FILE", AnyText(), "", "",
     "Certificate that this launcher shows to etcd, with --etcd_key; means TLS."},
    {"--etcd_key", Group::Elastic, "FILE", AnyText(), "", "", "The key of --etcd_cert."},
    {"--status", Group::Elastic, "", OneOf{"text|json", "text"}, "", "",
     "Without a script: print nodes, ranks, round and uptime of a running elastic job; "
     "--status=json for programs."},
    {"--scale", Group::Elastic, "N", WholeNumber{0, kMostNodes}, "0", "",
     "Without a script: set the number of nodes of a running elastic job."},
    {"--stop", Group::Elastic, "", Flag(), "", "", "Without a script: end a running elastic job."},

    {"--python", Group::Launcher, "PATH", AnyText(), "python on PATH", "",
     "The Python interpreter that runs the script or module. A launcher in a virtual environment "
     "takes that one's."},
    {"--assume_gpus", Group::Launcher, "", Flag(), "", "PADDLE_LAUNCH_ASSUME_GPUS",
     "Take the named cards to be there without looking: to try a job on a machine without cards."},
    {"--bind", Group::Launcher, "HOW", OneOf{"none|numa"}, "none", "",
     "numa: bind each trainer to the CPUs next to its card."},
    {"--nccl_lib", Group::Launcher, "PATH", AnyText(), "looked for", "PADDLE_LAUNCH_NCCL_LIB",
     "The NCCL library that the trainers use."},
    {"--nccl_ids", Group::Launcher, "on|off", OneOf{"on|off"}, "on", "",
     "Make NCCL's ids in the launcher and hand them to the trainers."},
    {"--store_door", Group::Launcher, "on|off", OneOf{"on|off"}, "on", "",
     "Let ranks in at PADDLE_MASTER before rank 0's store is open, so that none has to come "
     "again."},
    {"--port_range", Group::Launcher, "LOW:HIGH", PortRange(), "", "",
     "Take the trainers' ports from this range only."},
    {"--bootstrap", Group::Launcher, "NAME", PluginName(), "auto", "PADDLE_LAUNCH_BOOTSTRAP",
     "How the launchers meet: auto, solo, tcp, mpi, pmix, or a plugin of the site by its name."},
    {"--bootstrap_port", Group::Launcher, "PORT", WholeNumber{1, kHighestPort - 9}, "6060",
     "PADDLE_LAUNCH_PORT",
     "Port where the first node of --ips waits for the others; when it is taken, the next nine."},
    {"--bootstrap_timeout", Group::Launcher, "SECONDS", Seconds(), "900", "",
     "How long the nodes wait for each other."},
    {"--heartbeat", Group::Launcher, "SECONDS", WholeNumber{2, 3600}, "10", "",
     "A node that is gone is noticed within this time."},
    {"--token_file", Group::Launcher, "FILE", AnyText(), "", "",
     "File with the secret that protects the channel between the nodes. The variable "
     "PADDLE_LAUNCH_TOKEN can hold the secret itself."},
    {"--check", Group::Launcher, "", Flag(), "", "",
     "Connect every pair of nodes, print a table, and start nothing."},
    {"--console", Group::Launcher, "WHAT", OneOf{"rank0|all|none|direct|0"}, "rank0", "",
     "Whose output is shown: rank0, all (each line with its rank) or none. direct: there are no "
     "logs, every process writes straight to the launcher's own output."},
    {"--quiet", Group::Launcher, "", Flag(), "", "",
     "Tell nothing but errors, the ABORT line and the failure report."},
    {"--stdin", Group::Launcher, "0", OneOf{"0"}, "/dev/null for all", "",
     "Give the launcher's standard input to rank 0."},
    {"--grace", Group::Launcher, "SECONDS", Seconds(), "10", "",
     "Time between SIGTERM and SIGKILL when trainers are stopped."},
    {"--report", Group::Launcher, "FILE", AnyText(), "", "",
     "When the job has ended, write how into this file, for programs: one JSON object."},
    {"--stop_with_parent", Group::Launcher, "", Flag(), "", "",
     "Stop the job, as SIGTERM does, when the process that started the launcher is gone."},
    {"--dry_run", Group::Launcher, "", OneOf{"text|json", "text"}, "", "",
     "Print the plan and start nothing; --dry_run=json for programs."},
};

}  // namespace

std::span<const Option> all_options() { return kOptions; }

std::string_view key_of(const Option& option) {
  const std::string_view first = option.names.substr(0, option.names.find(','));
  return first.substr(first.find_first_not_of('-'));
}

std::vector<std::string_view> names_of(const Option& option) { return split(option.names, ','); }

std::vector<std::string_view> variables_of(const Option& option) {
  return split(option.variables, ',');
}

const Option* find_option(std::string_view name) {
  for (const Option& option : kOptions) {
    const std::vector<std::string_view> names = names_of(option);
    if (std::find(names.begin(), names.end(), name) != names.end()) return &option;
  }
  return nullptr;
}

std::optional<std::string> value_when_bare(const Option& option) {
  if (std::holds_alternative<Flag>(option.rule)) return "True";
  const OneOf* const choice = std::get_if<OneOf>(&option.rule);
  if (choice == nullptr || choice->bare.empty()) return std::nullopt;
  return std::string(choice->bare);
}

}  // namespace paddle_launch
