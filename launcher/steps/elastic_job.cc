// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/elastic_job.h"

#include <utility>

#include <fmt/format.h>

#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/identity.h"
#include "launcher/site/credentials.h"
#include "launcher/tell/log_lines.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

// A node may be stopping its trainers, for their whole grace, before it comes.
constexpr std::chrono::seconds kToCome{10};

}  // namespace

ElasticJob::ElasticJob(EventLoop& loop, const JobSpec& job, const Environment& env,
                       const Machine& here, const OwnNode& me, std::vector<std::string>& notices)
    : loop_(loop), job_(job) {
  ElasticSettings settings;
  settings.job = {.spec = *job.elastic,
                  .job_id = job.job_id,
                  .version = PADDLE_LAUNCH_VERSION,
                  .command = command_text(job.script),
                  .machine = here.host_name,
                  .has_token = !find_token(job, env).secret.empty()};
  settings.identity = settings.job.has_token ? typed_identity(job, env, here, notices)
                                             : scheduled_identity(job, here);
  settings.host = me.host;
  settings.first_port = job.bootstrap_port;
  settings.patience = job.grace + kToCome;
  settings.waiting = [this](const WaitingFacts& facts) {
    if (announcer_ != nullptr) announcer_->waiting(facts);
  };
  settings.remark = [this](const std::string& text) {
    if (announcer_ != nullptr) announcer_->remark(text);
  };
  elastic_ = std::make_unique<Elastic>(loop, std::move(settings));
  const auto address = parse_ipv4(elastic_->host());
  if (me.host.empty() && job.elastic->nodes.max > 1 && address && is_loopback(*address)) {
    notices.push_back(fmt::format(
        "the other nodes know this one as {}, the address from which it reaches etcd: only "
        "launchers on this machine can use that; name another with --host or POD_IP",
        elastic_->host()));
  }
  elastic_->open();
}

ElasticJob::Announced::Announced(ElasticJob& job, Announcer& announcer) : job_(job) {
  job_.announcer_ = &announcer;
  job_.elastic_->job().on_warning(
      [&announcer](const std::string& line) { announcer.warning(line); });
}

ElasticJob::Announced::~Announced() {
  job_.elastic_->job().on_warning({});
  job_.announcer_ = nullptr;
}

ElasticJob::~ElasticJob() { leave(false); }

Met ElasticJob::meet(BetweenRounds between, JobTerms terms, const PodOffer& offer,
                     const PayloadMaker& payload) {
  Announcer announcer(job_, true);
  const Announced announced(*this, announcer);
  const int before = static_cast<int>(between.roster.pods.size());
  if (before > 0) terms.place = static_cast<int>(between.roster.mine);
  Met met =
      elastic_->meet(std::move(between.connections), terms, offer, between.next, before, payload);
  terms.place.reset();
  watch_.emplace(loop_, elastic_->job(), job_.elastic->settle, offer_message(terms, offer));
  return met;
}

void ElasticJob::leave(bool job_is_over) { elastic_->job().leave(job_is_over); }

}  // namespace paddle_launch
