// SPDX-License-Identifier: Apache-2.0
#include "tests/contract/grounds.h"

#include <unistd.h>

#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "examples/shared_directory_rendezvous/shared_directory.h"
#include "launcher/text/ipv4.h"
#include "tests/unit/etcd/etcd_server.h"
#include "tests/unit/temp_folder.h"

namespace paddle_launch {
namespace {

constexpr int kMasterPort = 16'070;
// On a machine that does a lot else, the pods that are started together come that far apart.
constexpr std::chrono::milliseconds kSettle{1000};

// A job of its own, with addresses of its own: the same tests may run elsewhere on this machine.
class GroundOnLoopback : public Ground {
 public:
  explicit GroundOnLoopback(const PodRange& pods) : pods_(pods) {
    static int count = 0;
    constexpr int processes = 150;
    net_ = fmt::format("127.{}.{}", 100 + getpid() % processes, ++count);
    job_id_ = fmt::format("contract-{}-{}", getpid(), count);
  }

 protected:
  StartedWith start_at(int host) const {
    StartedWith with;
    with.me.host = address(host);
    with.me.address = parse_ipv4(with.me.host);
    return with;
  }
  StartedWith with_job(StartedWith with, const Part& part) const {
    with.job.script.name = "train.py";
    with.job.job_id = job_id_;
    with.job.job_id_given = true;
    with.job.token = "a token for the tests of the contract";
    with.job.bootstrap_timeout = part.timeout;
    return with;
  }
  std::string address(int host) const { return fmt::format("{}.{}", net_, host + 1); }
  int pods() const { return pods_.max; }
  const PodRange& range() const { return pods_; }
  const std::string& job_id() const { return job_id_; }

 private:
  PodRange pods_;
  std::string net_;
  std::string job_id_;
};

class Alone final : public GroundOnLoopback {
 public:
  using GroundOnLoopback::GroundOnLoopback;

  StartedWith start(const Part& part) const override { return with_job(start_at(0), part); }
};

class ByList final : public GroundOnLoopback {
 public:
  using GroundOnLoopback::GroundOnLoopback;

  StartedWith start(const Part& part) const override {
    StartedWith with = with_job(start_at(part.wish()), part);
    with.me.place = static_cast<std::size_t>(part.wish());
    with.job.ips.clear();
    for (int host = 0; host < pods(); ++host) with.job.ips.push_back(address(host));
    with.job.nnodes = pods();
    return with;
  }
};

class ByMaster final : public GroundOnLoopback {
 public:
  using GroundOnLoopback::GroundOnLoopback;

  StartedWith start(const Part& part) const override {
    StartedWith with = with_job(start_at(part.wish()), part);
    with.me.place = static_cast<std::size_t>(part.wish());
    with.me.is_meeting_point = part.wish() == 0;
    with.job.master = MeetingPoint{address(0), kMasterPort};
    with.job.nnodes = pods();
    with.job.node_rank = part.wish();
    return with;
  }
};

// A task on each node.
class InSlurmStep final : public GroundOnLoopback {
 public:
  using GroundOnLoopback::GroundOnLoopback;

  StartedWith start(const Part& part) const override {
    StartedWith with = with_job({}, part);
    with.me.place = static_cast<std::size_t>(part.wish());
    with.job.started_together = true;
    with.around = {.launched_by = "srun", .tasks = pods(), .task = part.wish()};
    SlurmStep step{.job_id = job_id(), .step_id = "0", .node = part.wish()};
    for (int host = 0; host < pods(); ++host) {
      step.nodes.push_back(address(host));
      step.tasks_per_node.push_back(1);
    }
    with.around.step = step;
    return with;
  }
};

// The plugin of examples/plugins.
class ThroughPlugin final : public GroundOnLoopback {
 public:
  using GroundOnLoopback::GroundOnLoopback;

  // The plugin reads the environment of its process, as MPI does.
  StartedWith start(const Part& part) const override {
    StartedWith with = with_job({}, part);
    with.me.place = static_cast<std::size_t>(part.wish());
    setenv("SITE_RANK", std::to_string(part.wish()).c_str(), 1);
    setenv("SITE_SIZE", std::to_string(pods()).c_str(), 1);
    setenv("SITE_DIRECTORY", folder_.path().c_str(), 1);
    with.env["PADDLE_LAUNCH_PLUGIN_DIR"] = EXAMPLE_PLUGIN_DIR;
    with.job.bootstrap = "shared_directory";
    with.job.started_together = true;
    with.around = {.launched_by = "a site", .tasks = pods(), .task = part.wish()};
    return with;
  }

 private:
  TempFolder folder_;
};

// Not one that ends by itself: the child through which tasks meet leaves by exit(), and would end
// the etcd of all on its way.
EtcdServer* etcd = nullptr;

class ThroughEtcd final : public GroundOnLoopback {
 public:
  explicit ThroughEtcd(const PodRange& pods) : GroundOnLoopback(pods) {
    if (etcd == nullptr) etcd = new EtcdServer;
  }

  StartedWith start(const Part& part) const override {
    StartedWith with = with_job(start_at(part.number), part);
    with.job.elastic = ElasticSpec{.etcd = etcd->spec(),
                                   .nodes = range(),
                                   .nodes_source = "--np",
                                   .timeout = part.timeout,
                                   .settle = kSettle};
    with.job.nnodes = pods();
    return with;
  }
};

// What a site has made for itself: examples/shared_directory_rendezvous.
class InDirectory final : public GroundOnLoopback {
 public:
  using GroundOnLoopback::GroundOnLoopback;

  StartedWith start(const Part& part) const override {
    StartedWith with = with_job(start_at(part.wish()), part);
    with.job.host = with.me.host;
    with.env = {{"SITE_DIRECTORY", folder_.path()},
                {"SITE_SIZE", std::to_string(pods())},
                {"SITE_RANK", std::to_string(part.wish())}};
    return with;
  }
  std::unique_ptr<Rendezvous> choose(const Launch& launch, Narrator& narrator) const override {
    return std::make_unique<SharedDirectory>(launch, narrator);
  }

 private:
  TempFolder folder_;
};

template <class OneGround>
std::unique_ptr<Ground> make(const PodRange& pods) {
  return std::make_unique<OneGround>(pods);
}

}  // namespace

void stop_etcd() { delete std::exchange(etcd, nullptr); }

const std::vector<Kind>& all_kinds() {
  static const std::vector<Kind> kinds = {
      {.rendezvous = "Solo", .name = "Solo", .ground = make<Alone>, .has_others = false},
      {.rendezvous = "Tcp",
       .name = "TcpWithList",
       .ground = make<ByList>,
       .others_may_come = true,
       .finds_new_hub = true},
      {.rendezvous = "Tcp",
       .name = "TcpWithMaster",
       .ground = make<ByMaster>,
       .others_may_come = true,
       .finds_new_hub = true},
      {.rendezvous = "Tasks",
       .name = "Tasks",
       .ground = make<ThroughPlugin>,
       .has_one_console = true},
      {.rendezvous = "SlurmStepRendezvous",
       .name = "SlurmStep",
       .ground = make<InSlurmStep>,
       .has_one_console = true},
      {.rendezvous = "Elastic",
       .name = "Elastic",
       .ground = make<ThroughEtcd>,
       .keeps_wishes = false,
       .others_may_come = true,
       .finds_new_hub = true,
       .is_elastic = true},
      {.rendezvous = "SharedDirectory",
       .name = "SharedDirectory",
       .ground = make<InDirectory>,
       .others_may_come = true},
  };
  return kinds;
}

}  // namespace paddle_launch
