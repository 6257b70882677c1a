// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md has the table of secrets.
#include "launcher/rendezvous/identity.h"

#include <unistd.h>

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/os/sockets.h"
#include "launcher/site/credentials.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kTagBytes = 4;

std::string script_name(const JobSpec& job) {
  return job.script.name.substr(job.script.name.rfind('/') + 1);
}

// What tells a job apart from others whose nodes are the same. Where the script lies does not.
std::string command_words(const JobSpec& job) {
  std::string words = (job.script.is_module ? "module " : "script ") + script_name(job);
  for (const std::string& argument : job.script.args) words.append(1, '\0').append(argument);
  return words;
}

// By which launchers are of one job.
struct Words {
  std::string secret{};  // whoever has others is of another job, whatever else it says
  std::string tag{};
  std::string list{};  // of nodes, where the tag is of a command; empty: the tag decides
};

Words words_of(const JobSpec& job) {
  if (job.job_id_given) return {.secret = "id " + job.job_id, .tag = "id " + job.job_id};
  if (job.master) return {.tag = "address"};
  return {.tag = command_words(job),
          .list = fmt::format("{} {}", fmt::join(job.ips, ","),
                              job.servers ? job.servers->layout : "")};
}

std::string tag_of(const std::string& words) { return digest(words).substr(0, kTagBytes); }

ChannelIdentity identity_of(const JobSpec& job, const Machine& here, const Words& words) {
  const std::string script = script_name(job);
  return {.secret = {},
          .greeting = {.version = PADDLE_LAUNCH_VERSION,
                       .user = user_name(),
                       .job = job.job_id_given ? fmt::format("{} (job id {})", script, job.job_id)
                                               : script,
                       .host = here.host_name,
                       .pid = getpid(),
                       .tag = tag_of(words.tag),
                       .list = words.list.empty() ? "" : tag_of(words.list)},
          .keep_alive = keep_alive_for(job.heartbeat)};
}

ChannelIdentity protected_by_token(const JobSpec& job, const Machine& here, const Words& words,
                                   const Token& token, std::vector<std::string>& notices) {
  ChannelIdentity identity = identity_of(job, here, words);
  if (token.secret.empty()) {
    notices.emplace_back(
        "the job channel is not protected: whoever can reach this node can join, read and stop "
        "the job; `paddle-launch --make_token` makes a token for it");
  }
  identity.secret =
      job_secret(token.secret.empty() ? "no token" : "token " + token.secret, words.secret);
  return identity;
}

}  // namespace

ChannelIdentity scheduled_identity(const JobSpec& job, const Machine& here) {
  return identity_of(job, here, {.tag = "scheduled"});
}

ChannelIdentity typed_identity(const JobSpec& job, const Environment& env, const Machine& here,
                               std::vector<std::string>& notices) {
  return protected_by_token(job, here, words_of(job), find_token(job, env), notices);
}

ChannelIdentity step_identity(const JobSpec& job, const Environment& env, const Machine& here,
                              const SlurmStep& step, std::vector<std::string>& notices) {
  const bool is_hub = step.node == 0 && step.local == 0;
  const std::string name = fmt::format("step {}.{}", step.job_id, step.step_id);
  const Words words{.secret = name, .tag = name};
  const Token token = find_token(job, env);
  const Key secret = random_key();
  const auto credential =
      token.secret.empty() ? munge_seal(std::string(bytes_of(secret)), env) : std::nullopt;
  if (!credential) return protected_by_token(job, here, words, token, notices);
  ChannelIdentity identity = identity_of(job, here, words);
  identity.secret = secret;
  if (is_hub) {
    identity.greeting.sealed_secret = *credential;
  } else {
    identity.open = [&env](const std::string& sealed) {
      return key_of(munge_open(sealed, env).value_or(""));
    };
  }
  return identity;
}

}  // namespace paddle_launch
