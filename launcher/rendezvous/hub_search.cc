// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/hub_search.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/message.h"
#include "launcher/job/errors.h"
#include "launcher/os/clock.h"
#include "launcher/tell/waiting.h"

namespace paddle_launch {

namespace {

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::milliseconds kFirstPause{50};
constexpr std::chrono::milliseconds kLongestPause{1000};
// So long a hub with the same list and another command is none for us: nodes of two jobs of a sweep
// do not mix, and arguments that differ from node to node need no --job_id.
constexpr std::chrono::seconds kForOwnCommand{10};

std::string hub_text(const TcpSettings& settings) {
  const int first = settings.ports.front();
  const int last = settings.ports.back();
  return first == last ? fmt::format("{}:{}", settings.hub_host, first)
                       : fmt::format("{}:{}-{}", settings.hub_host, first, last);
}

}  // namespace

HubSearch::HubSearch(EventLoop& loop, const TcpSettings& settings, const JobTerms& terms,
                     Narrator& narrator)
    : loop_(loop),
      settings_(settings),
      terms_(terms),
      narrator_(narrator),
      pause_(kFirstPause),
      ticking_(loop),
      retry_(loop),
      began_(EventLoop::Clock::now()),
      others_(settings.identity.greeting) {
  facts_.nodes = terms.nodes;
  facts_.hub = hub_text(settings_);
}

void HubSearch::end_lookup() {
  if (lookup_) loop_.forget(lookup_->fd());
  lookup_.reset();
}

std::unique_ptr<Link> HubSearch::find() {
  // At once where hubs of another command let us go, time and again.
  ticking_.set(is_of_other_command_ ? std::chrono::seconds(0) : kTick, [this] { tick(); });
  if (!retry_.is_set()) look_up();
  loop_.run_until([this] { return link_ || is_late_; });
  if (is_late_) throw NodeMissing(never_came(facts_));
  ticking_.stop();
  is_of_other_command_ = !link_->handshake().is_same_job();
  if (is_of_other_command_) return std::move(link_);  // it may have no place for us
  pause_ = kFirstPause;
  facts_.last_try.clear();
  others_.forget();
  others_.tell(facts_);
  return std::move(link_);
}

// Each time anew: in many clusters a name is known only once its node is up.
void HubSearch::look_up() {
  if (!settings_.hub_addresses.empty()) return dial(settings_.hub_addresses);
  lookup_ = std::make_unique<NameLookup>(settings_.hub_host);
  loop_.on_readable(lookup_->fd(), [this] {
    const std::vector<std::uint32_t> addresses = lookup_->addresses();
    const std::string problem = lookup_->problem();
    end_lookup();
    if (addresses.empty()) return try_again("its name is not known: " + problem);
    dial(addresses);
  });
}

void HubSearch::dial(const std::vector<std::uint32_t>& addresses) {
  std::vector<DialTarget> targets;
  for (const std::uint32_t address : addresses) {
    for (const int port : settings_.ports) targets.push_back({address, port});
  }
  dial(targets, false);
}

void HubSearch::dial(const std::vector<DialTarget>& targets, bool any_command) {
  ChannelIdentity identity = settings_.identity;
  identity.any_command = any_command;
  dialer_ = std::make_unique<Dialer>(
      loop_, std::move(identity), targets, settings_.from,
      Dialer::Events{.found =
                         [this](std::unique_ptr<Link> link) {
                           link_ = std::move(link);
                           dialer_.reset();
                         },
                     .failed = [this](const DialFailure& failure) { on_failure(failure); }});
}

void HubSearch::on_failure(const DialFailure& failure) {
  const std::string why = failure.why;
  others_.forget();
  for (const OtherHub& hub : failure.other_jobs) others_.met(hub.greeting, settings_.hub_host);
  others_.tell(facts_);
  const std::optional<DialTarget> other = hub_of_other_command(failure);
  dialer_.reset();
  if (other) return dial({*other}, true);
  try_again(why);
}

// When it is time to join one. All ports were asked for our own just now.
std::optional<DialTarget> HubSearch::hub_of_other_command(const DialFailure& failure) {
  const auto may_be_ours = [this](const OtherHub& hub) {
    return hub.knows_secret && !hub.greeting.list.empty() &&
           hub.greeting.list == settings_.identity.greeting.list;
  };
  const auto other =
      std::find_if(failure.other_jobs.begin(), failure.other_jobs.end(), may_be_ours);
  if (other == failure.other_jobs.end()) return std::nullopt;
  const auto now = EventLoop::Clock::now();
  if (!other_command_since_) other_command_since_ = now;
  if (now - *other_command_since_ < kForOwnCommand) return std::nullopt;
  return other->where;
}

void HubSearch::try_again(const std::string& why) {
  facts_.last_try = why;
  // Thousands may have lost the hub, or begun, at one moment: they do not all ask again at another.
  retry_.set(spread(pause_), [this] { look_up(); });
  pause_ = std::min(pause_ * 2, kLongestPause);
}

void HubSearch::tick() {
  ticking_.set(kTick, [this] { tick(); });
  const auto waited = EventLoop::Clock::now() - began_;
  facts_.waited = std::chrono::duration_cast<std::chrono::seconds>(waited);
  if (!terms_.problem.empty()) narrator_.problem(terms_.problem);
  is_late_ = waited >= settings_.timeout;
  if (!is_late_) narrator_.waiting(facts_);
}

HubProbe::HubProbe(EventLoop& loop, ChannelIdentity identity, std::vector<int> ports,
                   std::optional<std::uint32_t> from, OfferMessage mine, Events events)
    : loop_(loop),
      identity_(std::move(identity)),
      ports_(std::move(ports)),
      from_(from),
      mine_(std::move(mine)),
      events_(std::move(events)) {}

HubProbe::~HubProbe() { end_lookup(); }

void HubProbe::end_lookup() {
  if (lookup_) loop_.forget(lookup_->fd());
  lookup_.reset();
}

void HubProbe::probe(const std::string& host) { probe(host, ports_); }

void HubProbe::probe(const std::string& host, std::vector<int> ports) {
  if (lookup_ || dialer_ || link_) return;
  host_ = host;
  host_ports_ = std::move(ports);
  lookup_ = std::make_unique<NameLookup>(host);
  loop_.on_readable(lookup_->fd(), [this] {
    const std::vector<std::uint32_t> addresses = lookup_->addresses();
    const std::string problem = lookup_->problem();
    end_lookup();
    if (addresses.empty()) return nobody("its name is not known: " + problem);
    dial(addresses);
  });
}

void HubProbe::nobody(const std::string& why) { events_.nobody(host_, why); }

void HubProbe::dial(const std::vector<std::uint32_t>& addresses) {
  std::vector<DialTarget> targets;
  for (const int port : host_ports_) targets.push_back({addresses.front(), port});
  dialer_ = std::make_unique<Dialer>(
      loop_, identity_, targets, from_,
      Dialer::Events{.found = [this](std::unique_ptr<Link> link) { found(std::move(link)); },
                     .failed =
                         [this](const DialFailure& failure) {
                           const std::string why = failure.why;
                           dialer_.reset();
                           nobody(why);
                         }});
}

// Another hub of this very job: it compares our lists and says what is wrong.
void HubProbe::found(std::unique_ptr<Link> link) {
  link_ = std::move(link);
  link_->listen(
      [this](const Message& message) {
        const auto* refusal = std::get_if<RefusalMessage>(&message);
        if (refusal == nullptr) return;
        const RefusalMessage answer = *refusal;
        link_.reset();
        events_.answered(host_, answer);
      },
      [this](const LinkEnd&) { link_.reset(); });
  link_->send(clocks_now());
  link_->send(mine_);
  dialer_.reset();
}

namespace {

// More would not help anybody, and strangers choose what is in them.
constexpr std::size_t kMost = 8;

}  // namespace

OtherLaunchers::OtherLaunchers(Greeting own) : own_(std::move(own)) {}

void OtherLaunchers::met(const Greeting& greeting, const std::string& where) {
  const bool is_other_token = greeting.tag == own_.tag;
  const bool has_our_list = !own_.list.empty() && greeting.list == own_.list;
  std::set<std::string>& known = is_other_token ? other_tokens_ : other_jobs_;
  if (known.size() >= kMost) return;
  const std::string who = fmt::format("{} of user {} (process {}) at {}", greeting.job,
                                      greeting.user, greeting.pid, where);
  known.insert(is_other_token ? fmt::format("the launcher of {} has another token; give all nodes "
                                            "the same PADDLE_LAUNCH_TOKEN or --token_file",
                                            who)
               : has_our_list ? who + ", with these nodes and another command"
                              : who);
}

void OtherLaunchers::forget() {
  other_jobs_.clear();
  other_tokens_.clear();
}

void OtherLaunchers::tell(WaitingFacts& facts) const {
  facts.other_jobs.assign(other_jobs_.begin(), other_jobs_.end());
  facts.odd.assign(other_tokens_.begin(), other_tokens_.end());
}

}  // namespace paddle_launch
