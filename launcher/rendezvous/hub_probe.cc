// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/hub_probe.h"

#include <utility>

#include "launcher/channel/message.h"

namespace paddle_launch {

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

}  // namespace paddle_launch
