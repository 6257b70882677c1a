// SPDX-License-Identifier: Apache-2.0
// How a pod of an elastic job finds its way to the others: its own address, its port, and the hub.
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/name_lookup.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/elastic.h"
#include "launcher/text/ipv4.h"

namespace paddle_launch {
namespace {

constexpr std::chrono::milliseconds kBetweenTries{300};
constexpr std::chrono::seconds kForNames{3};

std::optional<std::uint32_t> address_of(const std::string& host) {
  if (const auto address = parse_ipv4(host)) return address;
  const NameAnswer answer = look_up({host}, kForNames).front();
  if (answer.addresses.empty()) return std::nullopt;
  return answer.addresses.front();
}

}  // namespace

std::string Elastic::address_towards_etcd() const {
  for (const std::string& endpoint : settings_.job.spec.etcd.endpoints) {
    const auto address = address_of(std::string(host_of(endpoint)));
    const auto source = address ? source_address_for(*address) : std::nullopt;
    if (source) return format_ipv4(*source);
  }
  throw NodeMissing(fmt::format(
      "{}={}: no way leads there from this node; check the name, or say with --host which address "
      "of this node the others reach",
      settings_.job.spec.etcd.source, fmt::join(settings_.job.spec.etcd.endpoints, ",")));
}

void Elastic::listen_idly() {
  if (listener_) return;
  const std::uint32_t address = parse_ipv4(host_).value_or(0);
  const auto listen = [&](int port) {
    listener_ = std::make_unique<IdleListener>(loop_, listen_on(address, port, kHubBacklog));
  };
  for (int port = settings_.first_port; port < settings_.first_port + kHubPorts; ++port) {
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
Connections Elastic::find_hub() {
  const auto timeout = settings_.job.spec.timeout;
  for (;;) {
    throw_if_stopped();
    if (register_->is_booked() && register_->leads()) {
      listen_idly();
      UniqueFd listener = std::exchange(listener_, nullptr)->take();
      return {.hub = std::make_unique<Hub>(loop_, std::move(listener), settings_.identity)};
    }
    const BookedPod* const leader = register_->is_booked() ? register_->leader() : nullptr;
    if (leader != nullptr) {
      if (auto link = dial(BookedPod(*leader))) return {.link = std::move(link)};
    }
    if (EventLoop::Clock::now() - began_ >= timeout) {
      throw NodeMissing(fmt::format(
          "no way into the job {} was found in {} s: {}; look at its nodes with --status",
          settings_.job.job_id, std::chrono::duration_cast<std::chrono::seconds>(timeout).count(),
          !register_->problem().empty() ? register_->problem()
          : leader == nullptr           ? std::string("this node could not be booked in etcd")
                              : fmt::format("{}:{}, which holds it together: {}", leader->host,
                                            leader->port, dial_problem_)));
    }
    bool has_news = false;
    register_->on_change([&has_news] { has_news = true; });
    run_until(loop_, kBetweenTries, [&has_news] { return has_news; });
    register_->on_change({});
  }
}

std::unique_ptr<Link> Elastic::dial(const BookedPod& hub) {
  const auto address = address_of(hub.host);
  if (!address) return nullptr;
  std::unique_ptr<Link> found;
  std::optional<DialFailure> failed;
  const auto self = parse_ipv4(host_);
  const std::optional<std::uint32_t> from = self && is_loopback(*self) ? self : std::nullopt;
  const Dialer dialer(loop_, settings_.identity, {{*address, hub.port}}, from,
                      {.found = [&](std::unique_ptr<Link> link) { found = std::move(link); },
                       .failed = [&](const DialFailure& failure) { failed = failure; }});
  // Nobody is waited for who was struck out meanwhile.
  bool is_struck_out = false;
  register_->on_change([this, &hub, &is_struck_out] {
    const BookedPod* const leader = register_->leader();
    is_struck_out = leader == nullptr || leader->name != hub.name;
  });
  loop_.run_until([&] { return found || failed || is_struck_out; });
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
  if (address && is_loopback(*address) && hub.machine != settings_.job.machine) return;
  const bool is_dead = failure.is_refused || hub.name == lost_hub_;
  if (is_dead) register_->expel(hub.name);
}

}  // namespace paddle_launch
