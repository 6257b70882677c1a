// SPDX-License-Identifier: Apache-2.0
#include "launcher/meeting.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "launcher/os/ipv4.h"
#include "launcher/os/tcp.h"
#include "launcher/os/write_patiently.h"
#include "launcher/rendezvous/solo.h"
#include "launcher/rendezvous/tcp.h"
#include "launcher/site/token.h"
#include "launcher/tell/log_lines.h"
#include "launcher/tell/voice.h"
#include "launcher/tell/waiting.h"

namespace paddle_launch {
namespace {

constexpr int kHubPorts = 10;
constexpr std::size_t kTagBytes = 2;  // too few to guess arguments from
// A node that cannot take part tells the others so, but keeps its own user waiting no longer.
constexpr std::chrono::seconds kToTellAProblem{10};

// A terminal or pipe that does not take our lines must not hold up the meeting.
void write_if_it_takes(std::string_view text) {
  write_to_stderr_patiently(text, std::chrono::milliseconds(0));
}

int terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// The person at the terminal while nodes are missing.
class Announcer {
 public:
  explicit Announcer(const JobSpec& job)
      : terminal_(isatty(STDERR_FILENO) == 1),
        voice_(job.quiet ? LogLevel::Error : job.log_level, write_if_it_takes),
        notice_(terminal_, terminal_ ? terminal_width() : 0) {
    notice_.update({}, std::chrono::steady_clock::now());
  }
  Announcer(const Announcer&) = delete;
  Announcer& operator=(const Announcer&) = delete;
  ~Announcer() { clear(); }

  void waiting(const WaitingFacts& facts) {
    const std::string text = notice_.update(facts, std::chrono::steady_clock::now());
    if (text.empty()) return;
    if (terminal_) {
      voice_.block(text);
    } else {
      voice_.info(text);
    }
  }
  void remark(const std::string& text) {
    clear();
    voice_.info(text);
  }
  void problem(const std::string& text) {
    clear();
    const std::string sentence = text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
    voice_.error(sentence + "; telling the other nodes");
  }

 private:
  void clear() {
    const std::string text = notice_.end();
    if (!text.empty()) voice_.block(text);
  }

  bool terminal_;
  Voice voice_;
  WaitingNotice notice_;
};

// Launchers with the same words are of one job.
std::string job_words(const JobSpec& job) {
  if (job.job_id_given) return "id " + job.job_id;
  std::string words = job.script.is_module ? "module " : "script ";
  words += job.script.name;
  for (const std::string& argument : job.script.args) words.append(1, '\0').append(argument);
  return words;
}

std::string command_text(const JobSpec& job) {
  std::vector<std::string> words;
  if (job.script.is_module) words.emplace_back("-m");
  words.push_back(job.script.name);
  words.insert(words.end(), job.script.args.begin(), job.script.args.end());
  return shell_quoted(words);
}

std::string card_name(const JobSpec& job) {
  const std::string script = job.script.name.substr(job.script.name.rfind('/') + 1);
  return job.job_id_given ? fmt::format("{} (job id {})", script, job.job_id) : script;
}

ChannelIdentity make_identity(const JobSpec& job, const Environment& env, const Machine& here,
                              std::vector<std::string>& notices) {
  const Token token = find_token(job, env);
  const std::string user = user_name();
  if (token.secret.empty()) {
    notices.emplace_back(
        "the job channel is not protected: whoever can reach this node and knows your name and "
        "this command can join or stop the job; set PADDLE_LAUNCH_TOKEN or --token_file, the same "
        "on all nodes");
  }
  return {.secret = job_secret(token.secret.empty() ? "user " + user : "token " + token.secret,
                               job_words(job)),
          .card = {.version = PADDLE_LAUNCH_VERSION,
                   .user = user,
                   .job = card_name(job),
                   .host = here.host_name,
                   .tag = digest(job_words(job)).substr(0, kTagBytes)},
          .keep_alive = keep_alive_for(job.heartbeat)};
}

// What the others would probably see us come from.
std::string likely_address(const Machine& here) {
  for (const std::string& address : here.addresses) {
    if (!is_loopback(parse_ipv4(address).value_or(0))) return address;
  }
  return here.host_name;
}

std::vector<int> hub_ports(const JobSpec& job) {
  if (job.master) return {job.master->port};
  std::vector<int> ports(kHubPorts);
  std::iota(ports.begin(), ports.end(), job.bootstrap_port);
  return ports;
}

TcpSettings tcp_settings(const JobSpec& job, const Machine& here, const OwnNode& me) {
  TcpSettings settings;
  settings.hub_host = job.master ? job.master->host : job.ips.front();
  settings.ports = hub_ports(job);
  settings.is_hub = job.master ? is_meeting_point(job, here) : me.place == 0;
  settings.may_join_instead = job.master.has_value();
  settings.listen_on = job.master ? parse_ipv4(job.master->host) : me.address;
  // Several pods on one machine, to try things out: each comes from its own address.
  if (me.address && is_loopback(*me.address)) settings.from = me.address;
  settings.timeout = job.bootstrap_timeout;
  return settings;
}

}  // namespace

PodClaim make_claim(const JobSpec& job, const Machine& here, const OwnNode& me,
                    const std::string& problem) {
  PodClaim claim{.version = PADDLE_LAUNCH_VERSION,
                 .machine = here.host_name,
                 .pid = getpid(),
                 .ips = job.master ? std::vector<std::string>{} : job.ips,
                 .nodes = job.master ? job.nnodes : static_cast<int>(job.ips.size()),
                 .place = job.node_rank,
                 .sort_ip = job.sort_ip,
                 .check = job.check,
                 .command = command_text(job),
                 .problem = problem};
  if (!job.master) claim.place = static_cast<int>(me.place);
  return claim;
}

Met meet_the_others(EventLoop& loop, const JobSpec& job, const Environment& env,
                    const Machine& here, const OwnNode& me, const PodClaim& claim,
                    const PodOffer& offer, std::vector<std::string>& notices) {
  if (!job.has_several_nodes()) return Solo().meet(claim, offer);
  Announcer announcer(job);
  TcpSettings settings = tcp_settings(job, here, me);
  settings.identity = make_identity(job, env, here, notices);
  if (!claim.problem.empty()) {
    settings.timeout = std::min<std::chrono::milliseconds>(settings.timeout, kToTellAProblem);
  }
  settings.waiting = [&announcer](const WaitingFacts& facts) { announcer.waiting(facts); };
  settings.never_came = never_came;
  settings.problem = [&announcer](const std::string& text) { announcer.problem(text); };
  settings.remark = [&announcer](const std::string& text) { announcer.remark(text); };
  return Tcp(loop, std::move(settings)).meet(claim, offer);
}

Roster assumed_roster(const JobSpec& job, const Machine& here, const OwnNode& me,
                      const PodOffer& offer) {
  Roster roster;
  roster.mine = me.place;
  const std::size_t nodes = job.master ? static_cast<std::size_t>(job.nnodes) : job.ips.size();
  for (std::size_t place = 0; place < nodes; ++place) {
    PodOffer pod = offer;
    if (job.master && place != me.place) pod.host = fmt::format("node-{}", place);
    if (pod.host.empty()) pod.host = likely_address(here);
    if (!job.master) pod.host = nodes == 1 ? offer.host : job.ips[place];
    roster.pods.push_back(std::move(pod));
  }
  return roster;
}

}  // namespace paddle_launch
