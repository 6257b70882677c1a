// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md has the table of secrets.
#include "launcher/rendezvous/identity.h"

#include <optional>

#include <fmt/format.h>

#include "launcher/os/sockets.h"
#include "launcher/site/credentials.h"

namespace paddle_launch {
namespace {

constexpr std::size_t kTagBytes = 2;  // too few to guess arguments from

// Launchers with the same words are of one job.
std::string job_words(const JobSpec& job) {
  if (job.job_id_given) return "id " + job.job_id;
  std::string words = job.script.is_module ? "module " : "script ";
  words += job.script.name;
  for (const std::string& argument : job.script.args) words.append(1, '\0').append(argument);
  return words;
}

std::string name_in_greeting(const JobSpec& job) {
  const std::string script = job.script.name.substr(job.script.name.rfind('/') + 1);
  return job.job_id_given ? fmt::format("{} (job id {})", script, job.job_id) : script;
}

ChannelIdentity identity_of(const JobSpec& job, const Machine& here, const std::string& words) {
  return {.secret = {},
          .greeting = {.version = PADDLE_LAUNCH_VERSION,
                       .user = user_name(),
                       .job = name_in_greeting(job),
                       .host = here.host_name,
                       .tag = digest(words).substr(0, kTagBytes)},
          .keep_alive = keep_alive_for(job.heartbeat)};
}

ChannelIdentity protected_by_token(const JobSpec& job, const Machine& here,
                                   const std::string& words, const Token& token,
                                   std::vector<std::string>& notices) {
  ChannelIdentity identity = identity_of(job, here, words);
  if (token.secret.empty()) {
    notices.emplace_back(
        "the job channel is not protected: whoever can reach this node and knows your name and "
        "this command can join or stop the job; set PADDLE_LAUNCH_TOKEN or --token_file, the same "
        "on all nodes");
  }
  identity.secret = job_secret(
      token.secret.empty() ? "user " + identity.greeting.user : "token " + token.secret, words);
  return identity;
}

}  // namespace

ChannelIdentity scheduled_identity(const JobSpec& job, const Machine& here) {
  return identity_of(job, here, job_words(job));
}

ChannelIdentity typed_identity(const JobSpec& job, const Environment& env, const Machine& here,
                               std::vector<std::string>& notices) {
  return protected_by_token(job, here, job_words(job), find_token(job, env), notices);
}

ChannelIdentity step_identity(const JobSpec& job, const Environment& env, const Machine& here,
                              const SlurmStep& step, std::vector<std::string>& notices) {
  const bool is_hub = step.node == 0 && step.local == 0;
  const std::string words =
      fmt::format("step {}.{} of {}", step.job_id, step.step_id, job_words(job));
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
