// SPDX-License-Identifier: Apache-2.0
// What the user asked for: options and their environment variables, parsed and checked for
// contradictions, before anything was asked of the machine.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "launcher/job/card.h"
#include "launcher/job/elastic_spec.h"
#include "launcher/job/own_function.h"
#include "launcher/job/restart_spec.h"
#include "launcher/job/server_spec.h"

namespace paddle_launch {

enum class Mode { Collective, ParameterServer, ParameterServerHeter, Rpc };
enum class ConsoleMode { RankZero, All, None, Direct };  // Direct: there are no logs
enum class DryRun { No, Text, Json };
enum class Binding { None, Numa };
enum class LogLevel { Debug, Info, Warning, Error };

// The program as the user named it; site/program turns it into an argv.
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
  std::optional<std::string> nccl_lib;
  bool nccl_ids = true;  // the launcher makes NCCL's ids for the trainers
  bool store_door = true;

  std::vector<std::string> ips = {"127.0.0.1"};
  bool ips_given = false;
  std::string ips_source = "--ips";    // or "PADDLE_IPS", "PADDLE_TRAINERS"
  std::optional<MeetingPoint> master;  // --master, when there are several nodes
  int nnodes = 1;                      // with a master; otherwise the size of ips
  std::optional<int> node_rank;        // --rank, or PaddleCloud's PADDLE_TRAINER_ID
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
  std::string job_id = "default";
  bool job_id_given = false;

  std::string log_dir = "log";
  bool log_overwrite = false;
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
