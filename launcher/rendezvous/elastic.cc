// SPDX-License-Identifier: Apache-2.0
// docs/elastic.md is the page for users. A pod is booked in etcd while it lives, the one that has
// been booked longest is the hub:
//
//   booked, another leads    dial it; a port that refuses strikes it out of the book
//   booked and leads         listen, gather those who come, commit the round to the book
//   deposed while gathering  book anew, and look for the new hub
#include "launcher/rendezvous/elastic.h"

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/os/name_lookup.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/identity.h"
#include "launcher/rendezvous/joining.h"
#include "launcher/site/credentials.h"
#include "launcher/tell/log_lines.h"
#include "launcher/text/bytes_as_text.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

// A node may be stopping its trainers, for their whole grace, before it comes.
constexpr std::chrono::seconds kToCome{10};
constexpr std::chrono::milliseconds kBetweenTries{300};
constexpr std::chrono::seconds kForNames{3};

std::optional<std::uint32_t> address_of(const std::string& host) {
  if (const auto address = parse_ipv4(host)) return address;
  const NameAnswer answer = look_up({host}, kForNames).front();
  if (answer.addresses.empty()) return std::nullopt;
  return answer.addresses.front();
}

BookedRound booked(const Roster& roster, const RoundState& state) {
  BookedRound round{.state = state, .is_running = true};
  int rank = 0;
  for (const PodOffer& pod : roster.pods) {
    const int trainers = static_cast<int>(pod.trainers.size());
    round.pods.push_back(
        {.name = pod.name, .host = pod.host, .first_rank = rank, .trainers = trainers});
    rank += trainers;
  }
  return round;
}

// What etcd has to warn of goes to the person who waits, as long as nodes are waited for.
class Warnings {
 public:
  Warnings(JobRegister& job, Narrator& narrator) : job_(job) {
    job_.on_warning([&narrator](const std::string& line) { narrator.warning(line); });
  }
  Warnings(const Warnings&) = delete;
  Warnings& operator=(const Warnings&) = delete;
  ~Warnings() { job_.on_warning({}); }

 private:
  JobRegister& job_;
};

}  // namespace

std::string stopped_text(const JobBook& book) {
  return fmt::format("the job was stopped by --stop from {}",
                     one_line(book.stop_from.value_or("somewhere")));
}

Elastic::Elastic(const Launch& launch, Narrator& narrator) : launch_(launch), narrator_(narrator) {}

Elastic::~Elastic() { leave(false); }

void Elastic::leave(bool job_is_over) {
  if (register_) register_->leave(job_is_over);
}

void Elastic::open(const Offer& offer, std::vector<std::string>& notices) {
  const JobSpec& job = launch_.job;
  const bool has_token = !find_token(job, launch_.env).secret.empty();
  identity_ = has_token ? typed_identity(job, launch_.env, launch_.here, notices)
                        : scheduled_identity(job, launch_.here);
  host_ = offer.me.host.empty() ? address_towards_etcd() : offer.me.host;
  const auto address = parse_ipv4(host_);
  if (offer.me.host.empty() && job.elastic->nodes.max > 1 && address && is_loopback(*address)) {
    notices.push_back(fmt::format(
        "the other nodes know this one as {}, the address from which it reaches etcd: only "
        "launchers on this machine can use that; name another with --host or POD_IP",
        host_));
  }
  listen_idly();
  register_ = std::make_unique<JobRegister>(launch_.loop,
                                            RegisterSettings{.spec = *job.elastic,
                                                             .job_id = job.job_id,
                                                             .version = PADDLE_LAUNCH_VERSION,
                                                             .command = command_text(job.script),
                                                             .machine = launch_.here.host_name,
                                                             .has_token = has_token});
  register_->open(host_, listener_->port());
  if (const auto secret = key_of(from_hex(register_->secret()).value_or(""))) {
    identity_.secret = *secret;
  }
}

void Elastic::throw_if_stopped() const {
  if (register_->book().stop_from) {
    throw StoppedBySignal(SIGTERM, stopped_text(register_->book()));
  }
}

bool Elastic::is_connected() const {
  return hub_session_ != nullptr || (member_session_ != nullptr && member_session_->has_hub());
}

void Elastic::drop_session() {
  hub_session_ = nullptr;
  member_session_ = nullptr;
  session_.reset();
}

Gathered Elastic::gather(const Brought& brought) {
  began_ = EventLoop::Clock::now();
  std::vector<std::string> notices;
  if (!register_) open(brought.offer, notices);
  const Warnings warnings(*register_, narrator_);
  JobTerms terms = terms_of(launch_.job, launch_.here, brought.offer, nullptr);
  terms.round = brought.next.state.number - 1;
  if (last_) terms.place = static_cast<int>(last_->mine);
  PodOffer offer = brought.offer.pod;
  offer.host = host_;
  bool connected = is_connected();
  if (last_ && !connected && register_->book().round) lost_hub_ = register_->book().round->hub;
  if (hub_session_ != nullptr) {
    for (const std::string& name : hub_session_->lost()) register_->expel(name);
  }
  std::optional<Gathered> gathered;
  for (;;) {
    throw_if_stopped();
    if (!connected) find_hub();
    offer.name = register_->name();
    const OfferMessage mine = offer_message(terms, offer);
    gathered = hub_session_ != nullptr ? gather_others(mine, brought) : join(mine);
    register_->on_change({});
    register_->keep_name(true);
    if (gathered) break;
    drop_session();
    connected = false;
  }
  terms.place.reset();
  watch_.emplace(launch_.loop, *register_, launch_.job.elastic->settle,
                 offer_message(terms, offer));
  last_ = gathered->roster;
  gathered->notices = std::move(notices);
  return std::move(*gathered);
}

int Elastic::expected(const std::set<std::string>& here) const {
  const auto& pods = register_->book().pods;
  return static_cast<int>(std::count_if(pods.begin(), pods.end(), [&here](const BookedPod& pod) {
    return !here.contains(pod.name);
  }));
}

// Those who were together before need nobody's leave to go on.
void Elastic::commit(const Roster& roster, bool as_before, std::function<void(bool)> answered) {
  if (as_before && is_held_up()) return answered(true);
  register_->commit(booked(roster, round_), std::move(answered));
}

std::optional<Gathered> Elastic::gather_others(OfferMessage mine, const Brought& brought) {
  round_ = brought.next.state;
  if (const auto& last = register_->book().round) {
    round_.number = std::max(round_.number, last->state.number + 1);
    round_.restarts = std::max(round_.restarts, last->state.restarts);
  }
  // Its own place is from a round that others have left behind.
  if (mine.terms.round + 1 != round_.number) mine.terms.place.reset();
  register_->keep_name(false);
  GatheringSettings settings{.round = round_, .timeout = timeout()};
  settings.elastic = ElasticTerms{.rule = this,
                                  .settle = launch_.job.elastic->settle,
                                  .before = last_ ? static_cast<int>(last_->pods.size()) : 0,
                                  .has_settled = brought.next.has_settled,
                                  .patience = launch_.job.grace + kToCome};
  Gathering gathering(launch_.loop, std::move(settings), *hub_session_, std::move(mine), narrator_);
  const std::string name = register_->name();
  register_->on_change([this, &gathering, name] {
    if (register_->book().stop_from) {
      return gathering.refuse(
          {.status = kSignalBase + SIGTERM, .node = -1, .text = stopped_text(register_->book())});
    }
    const bool is_deposed = register_->name() != name || !register_->leads();
    if (is_deposed && !is_held_up()) return gathering.give_up();
    gathering.look_again();
  });
  std::optional<Gathered> gathered;
  try {
    gathered = gathering.run(brought.payload);
  } catch (...) {
    if (gathering.is_refused()) register_->leave(true);
    throw;
  }
  if (gathered) return gathered;
  narrator_.remark("another node holds the job together now; looking for it");
  listen_idly();
  register_->book_anew(host_, listener_->port());
  return std::nullopt;
}

std::string Elastic::too_few(const WaitingFacts& facts) const {
  const NodeRange range = register_->nodes();
  const auto waited = std::chrono::duration_cast<std::chrono::seconds>(timeout()).count();
  if (facts.missing == 0) {
    return fmt::format(
        "job {}: the nodes have changed, and etcd did not answer within --elastic_timeout ({} s): "
        "{}; see that it runs, and start the job again",
        launch_.job.job_id, waited, register_->problem());
  }
  return fmt::format(
      "job {}: {} of at least {} node{} came within --elastic_timeout ({} s){}; start the job "
      "again with more nodes, or with a lower --np",
      launch_.job.job_id, facts.nodes - facts.missing, range.min, range.min == 1 ? "" : "s", waited,
      register_->problem().empty() ? "" : "; etcd does not answer: " + register_->problem());
}

std::optional<Gathered> Elastic::join(OfferMessage mine) {
  Joining joining(launch_.loop,
                  {.keep_alive = identity_.keep_alive, .timeout = timeout() + kPatienceWithHub},
                  *member_session_, std::move(mine), narrator_);
  const BookedPod* const leader = register_->leader();
  const std::string hub = leader == nullptr ? "" : leader->name;
  auto gathered = joining.run();
  if (!gathered) {
    lost_hub_ = hub;
    began_ = EventLoop::Clock::now();
  }
  return gathered;
}

std::string Elastic::address_towards_etcd() const {
  for (const std::string& endpoint : launch_.job.elastic->etcd.endpoints) {
    const auto address = address_of(std::string(host_of(endpoint)));
    const auto source = address ? source_address_for(*address) : std::nullopt;
    if (source) return format_ipv4(*source);
  }
  throw NodeMissing(fmt::format(
      "{}={}: no way leads there from this node; check the name, or say with --host which address "
      "of this node the others reach",
      launch_.job.elastic->etcd.source, fmt::join(launch_.job.elastic->etcd.endpoints, ",")));
}

void Elastic::listen_idly() {
  if (listener_) return;
  const std::uint32_t address = parse_ipv4(host_).value_or(0);
  const auto listen = [&](int port) {
    listener_ = std::make_unique<IdleListener>(launch_.loop, listen_on(address, port, kHubBacklog));
  };
  for (int port = launch_.job.bootstrap_port; port < launch_.job.bootstrap_port + kHubPorts;
       ++port) {
    try {
      return listen(port);
    } catch (const std::system_error&) {
      // Somebody else's; the book tells the others which one is ours.
    }
  }
  listen(0);
}

// Without a connection: the book says whom to go to. Comes back when there is one, or when this pod
// is the one to gather the others.
void Elastic::find_hub() {
  for (;;) {
    throw_if_stopped();
    if (register_->is_booked() && register_->leads()) {
      return be_hub();
    }
    const BookedPod* const leader = register_->is_booked() ? register_->leader() : nullptr;
    if (leader != nullptr) {
      if (auto link = dial(BookedPod(*leader))) {
        auto session =
            std::make_unique<MemberSession>(launch_.loop, std::move(link), identity_.keep_alive);
        member_session_ = session.get();
        hub_session_ = nullptr;
        session_ = std::move(session);
        return;
      }
    }
    if (EventLoop::Clock::now() - began_ >= timeout()) {
      throw NodeMissing(fmt::format(
          "no way into the job {} was found in {} s: {}; look at its nodes with --status",
          launch_.job.job_id, std::chrono::duration_cast<std::chrono::seconds>(timeout()).count(),
          !register_->problem().empty() ? register_->problem()
          : leader == nullptr           ? std::string("this node could not be booked in etcd")
                              : fmt::format("{}:{}, which holds it together: {}", leader->host,
                                            leader->port, dial_problem_)));
    }
    bool has_news = false;
    register_->on_change([&has_news] { has_news = true; });
    run_until(launch_.loop, kBetweenTries, [&has_news] { return has_news; });
    register_->on_change({});
  }
}

void Elastic::be_hub() {
  listen_idly();
  UniqueFd listener = std::exchange(listener_, nullptr)->take();
  auto session = std::make_unique<HubSession>(
      std::make_unique<Hub>(launch_.loop, std::move(listener), identity_));
  hub_session_ = session.get();
  member_session_ = nullptr;
  session_ = std::move(session);
}

std::unique_ptr<Link> Elastic::dial(const BookedPod& hub) {
  const auto address = address_of(hub.host);
  if (!address) return nullptr;
  std::unique_ptr<Link> found;
  std::optional<DialFailure> failed;
  const auto self = parse_ipv4(host_);
  const std::optional<std::uint32_t> from = self && is_loopback(*self) ? self : std::nullopt;
  const Dialer dialer(launch_.loop, identity_, {{*address, hub.port}}, from,
                      {.found = [&](std::unique_ptr<Link> link) { found = std::move(link); },
                       .failed = [&](const DialFailure& failure) { failed = failure; }});
  // Nobody is waited for who was struck out meanwhile.
  bool is_struck_out = false;
  register_->on_change([this, &hub, &is_struck_out] {
    const BookedPod* const leader = register_->leader();
    is_struck_out = leader == nullptr || leader->name != hub.name;
  });
  launch_.loop.run_until([&] { return found || failed || is_struck_out; });
  register_->on_change({});
  if (failed) take_dial_failure(hub, *failed);
  return found;
}

// A port that refuses belongs to a dead launcher: nobody has to wait until its lease is over. So
// does the hub that we have lost and cannot reach again. Any other may be busy, or behind a network
// that fails for us alone.
void Elastic::take_dial_failure(const BookedPod& hub, const DialFailure& failure) {
  dial_problem_ = failure.why;
  // A loopback address is another machine to each machine.
  const auto address = parse_ipv4(hub.host);
  if (address && is_loopback(*address) && hub.machine != launch_.here.host_name) return;
  const bool is_dead = failure.is_refused || hub.name == lost_hub_;
  if (is_dead) register_->expel(hub.name);
}

}  // namespace paddle_launch
