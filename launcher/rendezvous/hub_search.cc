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
      others_(settings.identity.greeting.tag) {
  facts_.nodes = terms.nodes;
  facts_.hub = hub_text(settings_);
}

void HubSearch::end_lookup() {
  if (lookup_) loop_.forget(lookup_->fd());
  lookup_.reset();
}

std::unique_ptr<Link> HubSearch::find() {
  ticking_.set(kTick, [this] { tick(); });
  if (!retry_.is_set()) look_up();
  loop_.run_until([this] { return link_ || is_late_; });
  if (is_late_) throw NodeMissing(never_came(facts_));
  ticking_.stop();
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
  dialer_ = std::make_unique<Dialer>(
      loop_, settings_.identity, targets, settings_.from,
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
  for (const Greeting& greeting : failure.other_jobs) others_.met(greeting, settings_.hub_host);
  others_.tell(facts_);
  dialer_.reset();
  try_again(why);
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

OtherLaunchers::OtherLaunchers(std::string tag) : tag_(std::move(tag)) {}

void OtherLaunchers::met(const Greeting& greeting, const std::string& where) {
  const bool is_other_token = greeting.tag == tag_;
  std::set<std::string>& known = is_other_token ? other_tokens_ : other_jobs_;
  if (known.size() >= kMost) return;
  const std::string who = fmt::format("{} of user {} at {}", greeting.job, greeting.user, where);
  known.insert(is_other_token ? fmt::format("the launcher of {} has another token; give all nodes "
                                            "the same PADDLE_LAUNCH_TOKEN or --token_file",
                                            who)
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
