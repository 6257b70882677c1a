// SPDX-License-Identifier: Apache-2.0
// What the user asked for: options and their environment variables, parsed and checked for
// contradictions, before anything was asked of the machine.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/role.h"
#include "launcher/job/start_method.h"

namespace paddle_launch {

// --restart_on: which failures are worth another try.
struct RestartCauses {
  bool any_code = true;
  std::set<int> codes{};  // where not any
  bool any_signal = true;
  std::set<int> signals{};  // where not any
  bool lost_node = true;

  bool operator==(const RestartCauses&) const = default;
};

// How often, after what, and how soon a failed job is started again.
struct RestartSpec {
  int most = 0;                                 // --max_restart
  std::chrono::milliseconds first_pause{1000};  // --restart_pause; doubles with each quick failure
  RestartCauses on{};

  bool operator==(const RestartSpec&) const = default;
};

// A trainer that exits with it asks to be started again, as in Paddle.
constexpr int kStartMeAgain = 102;

// --log_dir: a directory of its own for each job, below kParentOfNamedLogs.
constexpr std::string_view kNamedLogs = "auto";

// The etcd server where the nodes of an elastic job meet.
struct EtcdSpec {
  std::vector<std::string> endpoints{};  // "host:port", tried in turn
  std::string source{};                  // "--elastic_server", "--master", "PADDLE_ELASTIC_SERVER"
  std::string user{};
  std::string password{};  // never shown
  bool tls = false;
  std::string cacert{};  // files; empty: the system's own, none
  std::string cert{};
  std::string key{};

  bool operator==(const EtcdSpec&) const = default;
};

struct NodeRange {
  int min = 1;
  int max = 1;

  bool is_fixed() const { return min == max; }
  // As it is typed: "3" or "2:4".
  std::string text() const {
    return is_fixed() ? std::to_string(min) : std::to_string(min) + ":" + std::to_string(max);
  }
  bool operator==(const NodeRange&) const = default;
};

// A job whose nodes come and go: the etcd server where they meet, how many there may be, and how
// long the others wait.
struct ElasticSpec {
  EtcdSpec etcd{};
  NodeRange nodes{};
  std::string nodes_source{};                  // "--np", "--nnodes", "PADDLE_ELASTIC_NP"
  std::chrono::milliseconds timeout{120'000};  // too few nodes are waited for so long
  std::chrono::milliseconds settle{
      3'000};                    // a changed number of nodes is kept so long before it counts
  std::chrono::seconds ttl{60};  // of what a dead node leaves in etcd
  // Where a trainer fails: 1 all start again, 0 its node leaves and the others go on or wait, -1
  // the job ends.
  int level = 1;
  bool force = false;  // --force: this launch's number of nodes replaces that of the running job
  std::string pre_hook{};  // --elastic_pre_hook: a shell command before each round

  bool operator==(const ElasticSpec&) const = default;
};

// What somebody outside wants of a running job.
struct JobOrder {
  enum class Kind { Status, Scale, Stop };

  Kind kind = Kind::Status;
  EtcdSpec etcd{};
  std::string job_id{};
  int nodes = 0;      // of Scale
  bool json = false;  // --status=json

  bool operator==(const JobOrder&) const = default;
};

// By which option each is asked for.
struct OrderWord {
  JobOrder::Kind kind;
  std::string_view option;
};

constexpr OrderWord kOrderWords[] = {
    {JobOrder::Kind::Status, "status"},
    {JobOrder::Kind::Scale, "scale"},
    {JobOrder::Kind::Stop, "stop"},
};

// In a job with parameter servers whose pods have one process each: the servers of
// ServerSpec::servers in their order, then the trainers. JobSpec::node_rank is this pod's place.
struct SingleProcess {
  ProcessName mine{};
  std::string called{};             // this pod, where messages speak of its place
  std::vector<std::string> pods{};  // what all pods are called, by their places
  std::string port_source{};        // what named the port of the servers

  bool operator==(const SingleProcess&) const = default;
};

// Where the servers of Paddle's first cluster documents listen, unless they are told otherwise.
constexpr int kLegacyServerPort = 6174;

// What the user asked for of a job with parameter servers. For each role there is either a list of
// the whole job's endpoints, or a number for each node.
struct ServerSpec {
  std::vector<std::string> servers{};  // host:port, as typed
  std::vector<std::string> workers{};
  std::vector<std::vector<std::string>> heter_workers{};  // by stages, from stage 2 on
  int server_num = 0;                                     // of each node; 0 where there is a list
  int worker_num = 0;
  std::vector<int> heter_worker_num{};       // by stages
  std::vector<std::string> heter_devices{};  // by stages: cpu, gpu or xpu

  std::optional<int> http_port{};  // of Gloo's meeting point, on the first server's node
  std::string http_port_source{};  // "--http_port", "--gloo_port" or a variable
  std::string with_gloo = "0";     // PADDLE_WITH_GLOO
  std::chrono::milliseconds server_wait{10'000};
  bool legacy_env = false;  // the variables of the first cluster documents are set as well

  std::string layout{};  // the roles as they were asked for: the same text on nodes that agree
  std::optional<SingleProcess> single{};
  // PaddleCloud started this one process, or a job is one worker without servers: the script runs
  // once, in the environment as it is. The lists are for endpoints.log alone.
  std::optional<ProcessName> as_it_is{};

  int heter_stages() const {
    return static_cast<int>(heter_workers.empty() ? heter_worker_num.size() : heter_workers.size());
  }
  bool operator==(const ServerSpec&) const = default;
};

enum class Mode { Collective, ParameterServer, ParameterServerHeter, Rpc };
enum class ConsoleMode { RankZero, All, None, Direct };  // Direct: there are no logs
enum class DryRun { No, Text, Json };
enum class Binding { None, Numa };
enum class LogLevel { Debug, Info, Warning, Error };

// The program as the user named it; site/find_program turns it into an argv.
struct Script {
  std::string name{};  // train.py, a module after -m, or any executable
  bool is_module = false;
  std::vector<std::string> args{};
  std::optional<std::string> python{};    // --python
  const OwnFunction* function = nullptr;  // called instead; the name is for people then

  bool operator==(const Script&) const = default;
};

// --gpus=0,1 and its relatives. --devices leaves the kind open.
struct CardChoice {
  std::string option;            // as typed, for messages: "--gpus", or "PADDLE_DEVICES"
  std::optional<CardKind> kind;  // none: --devices
  std::string list;              // as typed

  bool operator==(const CardChoice&) const = default;
};

// --master HOST:PORT.
struct MeetingPoint {
  std::string host;  // as typed
  int port = 0;

  bool operator==(const MeetingPoint&) const = default;
};

struct JobSpec {
  Script script;
  Mode mode = Mode::Collective;
  std::optional<ServerSpec> servers;  // in the two modes with parameter servers

  std::optional<CardChoice> cards;
  bool assume_cards = false;  // --assume_gpus: the named cards are taken to be there
  std::optional<int> nproc_per_node;
  std::string backend = "auto";
  Binding bind = Binding::None;
  std::optional<int> omp_threads;  // --omp; 0: keep
  std::optional<std::string> nccl_lib;
  bool drop_proxies = false;  // --proxy drop
  bool nccl_ids = true;       // the launcher makes NCCL's ids for the trainers
  bool store_door = true;

  std::vector<std::string> ips = {"127.0.0.1"};
  bool ips_given = false;
  std::string ips_source = "--ips";    // or "PADDLE_IPS", "PADDLE_TRAINERS"
  std::optional<MeetingPoint> master;  // --master, when there are several nodes
  int nnodes = 1;  // otherwise the size of ips, or more where pods beside the list have places
  std::optional<int> node_rank;  // --rank, or PaddleCloud's PADDLE_TRAINER_ID
  bool sort_ip = false;
  std::string bootstrap = "auto";  // auto, solo, tcp, mpi, pmix, or the name of a site's plugin
  int bootstrap_port = 6060;
  std::chrono::milliseconds bootstrap_timeout{900'000};
  std::chrono::seconds heartbeat{10};
  std::optional<std::string> token;  // PADDLE_LAUNCH_TOKEN; never shown
  std::optional<std::string> token_file;
  bool check = false;  // --check: try the network between the nodes and start nothing
  std::optional<std::string> host;
  std::string host_source;  // "--host" or "POD_IP"
  std::optional<int> start_port;
  std::string start_port_source;                  // "--start_port" or "FLAGS_START_PORT"
  std::optional<std::pair<int, int>> port_range;  // --port_range, inclusive
  std::vector<int> given_ports;                   // PaddleCloud names each port of this node
  bool gpu_log = true;                            // --enable_gpu_log
  std::string job_id = "default";
  bool job_id_given = false;

  std::string log_dir = "log";
  bool log_overwrite = false;
  bool local_log_names = false;  // --log_names local
  LogLevel log_level = LogLevel::Info;
  bool quiet = false;
  ConsoleMode console = ConsoleMode::RankZero;
  bool stdin_to_rank_zero = false;
  std::optional<std::string> report;  // --report: the file that tells how the job ended
  bool stop_with_parent = false;

  std::chrono::milliseconds grace{10'000};
  RestartSpec restarts;
  std::optional<ElasticSpec> elastic;
  DryRun dry_run = DryRun::No;

  // What the banner shows: every option of the documents, and whatever else was given, by name.
  // Values that only the machine can resolve ("gpus") are filled in by the banner.
  std::vector<std::pair<std::string, std::string>> arguments;

  bool started_together = false;  // by mpirun or srun, perhaps with other launchers

  bool has_several_nodes() const { return ips.size() > 1 || nnodes > 1 || elastic; }
  // Whether there may be another round after this one.
  bool has_rounds() const { return restarts.most > 0 || elastic; }
  bool may_have_others() const { return has_several_nodes() || started_together; }
  bool operator==(const JobSpec&) const = default;
};

}  // namespace paddle_launch
