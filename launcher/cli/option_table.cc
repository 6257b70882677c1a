// SPDX-License-Identifier: Apache-2.0
// See option_table.h. The order within a group is the order of the help text.
#include "launcher/cli/option_table.h"

#include <algorithm>
#include <variant>

#include "launcher/cli/value_rule.h"
#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

using Group = OptionGroup;

constexpr int kMany = 1'000'000;
constexpr WholeNumber kPort{1, kHighestPort};
constexpr WholeNumber kCount{0, kMany};
constexpr WholeNumber kOnANode{0, kMostOnANode};
constexpr std::string_view kBackends = "auto|nccl|gloo|bkcl|hccl|cncl|xccl|heter|flagcx";

// Besides those of the launcher's own group.
constexpr std::string_view kOurs[] = {
    "version",        "m",           "server_wait", "legacy_env", "restart_pause",
    "restart_on",     "elastic_ttl", "etcd_user",   "etcd_key",   "etcd_cacert",
    "elastic_settle", "etcd_cert",   "status",      "stop"};

constexpr Option kOptions[] = {
    {"-h,--help", Group::Base, "", ActsAtOnce{"all"}, "", "",
     "Show the everyday options, with =all every option."},
    {"--version", Group::Base, "", ActsAtOnce(), "", "", "Show the version and exit."},
    {"--log_dir", Group::Base, "DIR", AnyText(), "log", "PADDLE_LOG_DIR",
     "Directory of workerlog.<rank> and endpoints.log. auto makes a new one for each job, below "
     "log.",
     Everyday::Console},
    {"--log_level", Group::Base, "LEVEL", LogLevelWord(), "INFO", "PADDLE_LOG_LEVEL",
     "How much the launcher itself tells: DEBUG, INFO, WARNING or ERROR."},
    {"--log_overwrite", Group::Base, "BOOL", Boolean(), "False", "PADDLE_LOG_OVERWRITE",
     "Empty the worker logs at the start instead of appending to them."},
    {"--run_mode", Group::Base, "MODE", OneOf{"collective|ps|ps-heter|rpc"},
     "from the other options", "PADDLE_RUN_MODE",
     "Mode of the job: collective, ps, ps-heter or rpc.", Everyday::Cards},
    {"--gpus,--selected_gpus", Group::Base, "CARDS", AnyText(), "all cards", "",
     "GPUs of this node with commas: one trainer each. By physical number or UUID, for "
     "example --gpus=4,5,6,7. \"cpu\" means none.",
     Everyday::Cards},
    {"--xpus,--selected_xpus", Group::Base, "CARDS", AnyText(), "all cards", "",
     "XPUs of this node, as with --gpus."},
    {"--npus,--selected_npus", Group::Base, "CARDS", AnyText(), "all cards", "",
     "NPUs of this node, as with --gpus."},
    {"--mlus,--selected_mlus", Group::Base, "CARDS", AnyText(), "all cards", "",
     "MLUs of this node, as with --gpus."},
    {"--devices", Group::Base, "CARDS", AnyText(), "all cards", "PADDLE_DEVICES",
     "Cards of this node, of whichever kind it has.", Everyday::Cards},
    {"--nproc_per_node", Group::Base, "N", WholeNumber{1, kMostOnANode}, "one for each card",
     "PADDLE_NPROC_PER_NODE", "Trainers on each node. The cards are shared out evenly.",
     Everyday::Cards},
    {"--backend", Group::Base, "NAME", OneOf{kBackends}, "auto", "PADDLE_DISTRI_BACKEND",
     "Communication library of the trainers. One of auto, nccl, gloo (CPU), bkcl, hccl, cncl, "
     "xccl, heter and flagcx.",
     Everyday::Cards},
    {"--nnodes", Group::Base, "N[:MAX]", NodeCount(), "1", "PADDLE_NNODES",
     "Number of nodes, with --master. A list in --ips says it too; a range MIN:MAX needs etcd in "
     "--master.",
     Everyday::Nodes},
    {"--master", Group::Base, "HOST:PORT", HostAndPort{true}, "", "PADDLE_MASTER",
     "Where the nodes meet: a port of the first node. Needs --nnodes; one node needs neither. "
     "etcd://HOST:PORT makes the job elastic.",
     Everyday::Nodes},
    {"--rank", Group::Base, "R", WholeNumber{-1, kMostNodes - 1}, "-1, as they come", "PADDLE_RANK",
     "Place of this node (with --master)."},
    {"--job_id", Group::Base, "ID", AnyText(), "default", "PADDLE_JOB_ID",
     "Name of the job. Tells apart two jobs on the same hosts, and joins launchers whose script "
     "arguments differ. In elastic jobs PADDLE_ELASTIC_JOB_ID says it too.",
     Everyday::Elastic},
    {"--host", Group::Base, "ADDRESS", AnyText(), "", "POD_IP",
     "This node's address in the endpoints. Among several --ips, the entry that is this node."},
    {"--start_port", Group::Base, "PORT", kPort, "free ports", "PADDLE_START_PORT,FLAGS_START_PORT",
     "Port of this node's first trainer. The rest follow."},
    {"--sort_ip", Group::Base, "BOOL", Boolean(), "False", "PADDLE_SORT_IP",
     "Order the nodes by address (with --master)."},
    {"--enable_gpu_log", Group::Base, "BOOL", Boolean(), "True, where there are GPUs", "",
     "Write what the GPUs of this node's trainers do into JOB_ID.gpu.log in --log_dir, every 5 "
     "seconds: load, memory, power, temperature, clocks."},
    {"--legacy", Group::Base, "BOOL", Boolean(), "False", "",
     "Accepted for Paddle's sake: there is only one launcher here."},
    {"-m", Group::Base, "MODULE", ActsAtOnce(), "", "",
     "Run a Python module instead of a script. What follows are its arguments.", Everyday::Cards},

    {"--ips", Group::Collective, "IPS", AddressList(), "127.0.0.1", "PADDLE_IPS",
     "Addresses of all nodes, the same list on each. With commas and in the same order, for "
     "example 192.168.0.16,192.168.0.17.",
     Everyday::Nodes},
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
     "Endpoints of all servers, the same on each node. For example "
     "192.168.0.16:6170,192.168.0.17:6170.",
     Everyday::Servers},
    {"--workers", Group::ParameterServer, "ENDPOINTS", EndpointList{true}, "", "",
     "Endpoints of all workers, or addresses alone. These get the ports from 6170 plus the number "
     "of servers on.",
     Everyday::Servers},
    {"--heter_workers", Group::ParameterServer, "ENDPOINTS", EndpointList{false, true}, "", "",
     "Endpoints of all heterogeneous workers, a semicolon between stages."},
    {"--heter_devices", Group::ParameterServer, "DEVICES", StageDevices(), "cpu for each stage", "",
     "Device of each stage of heterogeneous workers. One of cpu, gpu and xpu, for example "
     "cpu;gpu;cpu."},
    {"--server_num", Group::ParameterServer, "N", kOnANode, "1 where the job has servers",
     "PADDLE_SERVER_NUM", "Servers on each node, in place of --servers.", Everyday::Servers},
    {"--worker_num", Group::ParameterServer, "N", kOnANode, "1 where the job has servers", "",
     "Workers on each node, in place of --workers.", Everyday::Servers},
    {"--heter_worker_num", Group::ParameterServer, "N[;N]", StageNumbers(), "", "",
     "Heterogeneous workers on each node in each stage. For example 1;2;3."},
    {"--trainers", Group::ParameterServer, "ENDPOINTS", EndpointList{true}, "",
     "PADDLE_TRAINERS_ENDPOINTS", "The newer name of --workers."},
    {"--trainer_num", Group::ParameterServer, "N", kOnANode, "as of --worker_num",
     "PADDLE_TRAINER_NUM", "The newer name of --worker_num."},
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
     "Set the variables of Paddle's first cluster documents as well. That is PADDLE_TRAINING_ROLE "
     "and its relatives."},
    {"--coordinators", Group::ParameterServer, "ENDPOINTS", TextOrNothing(), "", "",
     "Refused: federated learning belongs to python -m paddle.distributed.launch."},
    {"--coordinator_num", Group::ParameterServer, "N", kCount, "", "",
     "Refused: see --coordinators."},

    {"--elastic_server", Group::Elastic, "HOST:PORT", EtcdServers(), "", "PADDLE_ELASTIC_SERVER",
     "The etcd server where the nodes of the job meet. Several with commas; https:// before it "
     "means TLS.",
     Everyday::Elastic},
    {"--np", Group::Elastic, "N[:MAX]", NodeCount(), "", "PADDLE_ELASTIC_NP",
     "Number of nodes of an elastic job, or MIN:MAX.", Everyday::Elastic},
    {"--max_restart", Group::Elastic, "N", kCount,
     "0, in elastic jobs 3 unless --elastic_level is -1", "PADDLE_MAX_RESTART",
     "How often a failed job is started again. Works in every mode.", Everyday::Elastic},
    {"--restart_pause", Group::Elastic, "SECONDS", Seconds(), "1", "",
     "Pause before a failed job is started again. Doubles with each quick failure, up to 60."},
    {"--restart_on", Group::Elastic, "CAUSES", RestartOn(), "any", "",
     "Failures after which a job is started again. With commas: any, code, signal, lost_node, "
     "exit codes (1-255), names of signals (SIGKILL)."},
    {"--elastic_timeout", Group::Elastic, "SECONDS", Seconds(), "120", "PADDLE_ELASTIC_TIMEOUT",
     "How long an elastic job with too few nodes waits for more."},
    {"--elastic_settle", Group::Elastic, "SECONDS", Seconds(), "3", "",
     "How long a changed number of nodes must hold before it counts."},
    {"--elastic_ttl", Group::Elastic, "SECONDS", WholeNumber{1, 3600}, "60", "PADDLE_ELASTIC_TTL",
     "How long etcd keeps what a dead node left there."},
    {"--elastic_level", Group::Elastic, "N", WholeNumber{-1, 1},
     "1, with one number in --nnodes -1", "PADDLE_ELASTIC_LEVEL",
     "What a failed trainer of an elastic job means. 1: all start again, 0: its node leaves and "
     "the others go on or wait, -1: the job ends. PADDLE_ELASTIC_FAULT_TOLERANC_LEVEL says it "
     "too."},
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
     "Show nodes, ranks and round of a running job. Without a script, for elastic jobs; "
     "--status=json is for programs.",
     Everyday::Elastic},
    {"--scale", Group::Elastic, "N", WholeNumber{0, kMostNodes}, "0", "",
     "Set the number of nodes of a running job. Without a script, for elastic jobs."},
    {"--stop", Group::Elastic, "", Flag(), "", "",
     "End a running job. Without a script, for elastic jobs."},

    {"--config", Group::Launcher, "FILE", AnyText(), "", "",
     "Options in a file, TOML or INI, one a line: log_dir = \"x\". What is typed beats a variable, "
     "which beats the file."},
    {"--python", Group::Launcher, "PATH", AnyText(), "python on PATH", "",
     "The Python interpreter that runs the script or module. A launcher in a virtual environment "
     "takes that one's."},
    {"--assume_gpus", Group::Launcher, "", Flag(), "", "PADDLE_LAUNCH_ASSUME_GPUS",
     "Take the named cards to be there without looking. To try a job on a machine without cards."},
    {"--bind", Group::Launcher, "HOW", OneOf{"none|numa"}, "none", "",
     "numa: bind each trainer to the CPUs next to its card."},
    {"--omp", Group::Launcher, "N|keep", WholeNumber{1, kMany, "keep"},
     "as it is set, else 1, and with --bind or Slurm's --cpus-per-task the cores of the process",
     "", "OMP_NUM_THREADS of each process. keep: it is not touched."},
    {"--proxy", Group::Launcher, "keep|drop", OneOf{"keep|drop"}, "keep", "",
     "Whether the processes have http_proxy and its like. keep: yes, and no_proxy names the hosts "
     "of the job. drop: they find them as http_proxy_original."},
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
     "How the launchers meet. One of auto, solo, tcp, mpi, pmix, or a plugin of the site by its "
     "name."},
    {"--bootstrap_port", Group::Launcher, "PORT", WholeNumber{1, kHighestPort - 9}, "6060",
     "PADDLE_LAUNCH_PORT",
     "Port where the first node of --ips waits for the others. When it is taken, the next nine."},
    {"--bootstrap_timeout", Group::Launcher, "SECONDS", Seconds(), "900", "",
     "How long the nodes wait for each other."},
    {"--heartbeat", Group::Launcher, "SECONDS", WholeNumber{2, 3600}, "10", "",
     "A node that is gone is noticed within this time."},
    {"--token_file", Group::Launcher, "FILE", AnyText(), "", "",
     "File with the secret that protects the channel between the nodes. The variable "
     "PADDLE_LAUNCH_TOKEN can hold the secret itself."},
    {"--make_token", Group::Launcher, "", Flag(), "", "",
     "Make a random token for all jobs of the user, or in --token_file, and say how to bring it to "
     "the other nodes. Starts nothing."},
    {"--check", Group::Launcher, "", Flag(), "", "",
     "Connect every pair of nodes, and start nothing. Prints a table.", Everyday::Look},
    {"--console", Group::Launcher, "WHAT", OneOf{"rank0|all|none|direct|0"}, "rank0", "",
     "Whose output is shown: rank0, all, none or direct. all: each line with its rank. direct: "
     "there are no logs, every process writes straight to the launcher's own output.",
     Everyday::Console},
    {"--log_names", Group::Launcher, "rank|local", OneOf{"rank|local"}, "rank", "",
     "What the numbers of the logs count. rank: the whole job. local: the processes of the node, "
     "and several nodes have a folder each, log/<address>/workerlog.0."},
    {"--quiet", Group::Launcher, "", Flag(), "", "",
     "Tell only errors, the ABORT line and the report.", Everyday::Console},
    {"--stdin", Group::Launcher, "0", OneOf{"0"}, "a lone trainer reads it, several read /dev/null",
     "", "Give the launcher's standard input to rank 0."},
    {"--grace", Group::Launcher, "SECONDS", Seconds(), "10", "",
     "Time between SIGTERM and SIGKILL at a stop.", Everyday::Console},
    {"--report", Group::Launcher, "FILE", AnyText(), "", "",
     "Write into this file how the job ended. For programs: one JSON object."},
    {"--stop_with_parent", Group::Launcher, "", Flag(), "", "",
     "Stop the job, as SIGTERM does, when the process that started the launcher is gone."},
    {"--dry_run", Group::Launcher, "", OneOf{"text|json", "text"}, "", "",
     "Print the plan and start nothing. --dry_run=json is for programs.", Everyday::Look},
};

constexpr OptionGroupTitle kGroups[] = {
    {OptionGroup::Base, "Base Parameters:"},
    {OptionGroup::Collective, "Collective Parameters:"},
    {OptionGroup::ParameterServer, "Parameter-Server Parameters:"},
    {OptionGroup::Elastic, "Elastic Parameters:"},
    {OptionGroup::Launcher, "Launcher Parameters:"},
};

}  // namespace

std::span<const Option> all_options() { return kOptions; }

std::span<const OptionGroupTitle> option_groups() { return kGroups; }

std::string_view key_of(const Option& option) {
  const std::string_view first = option.names.substr(0, option.names.find(','));
  return first.substr(first.find_first_not_of('-'));
}

std::vector<std::string_view> names_of(const Option& option) { return split(option.names, ','); }

std::vector<std::string_view> variables_of(const Option& option) {
  return split(option.variables, ',');
}

std::string_view summary_of(const Option& option) {
  const std::string_view sentence = option.help.substr(0, option.help.find(". "));
  return sentence.substr(0, sentence.size() - (sentence.ends_with('.') ? 1 : 0));
}

bool is_paddles(const Option& option) {
  return option.group != Group::Launcher && !is_among(key_of(option), kOurs);
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

std::vector<std::string> words_after_equals(const Option& option) {
  const bool acts = std::holds_alternative<ActsAtOnce>(option.rule);
  return acts || value_when_bare(option) ? words_of(option.rule) : std::vector<std::string>();
}

}  // namespace paddle_launch
