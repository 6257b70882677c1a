// SPDX-License-Identifier: Apache-2.0
#include "shared_directory.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "launcher/channel/secret.h"
#include "launcher/job/errors.h"
#include "launcher/os/files.h"
#include "launcher/os/sockets.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/identity.h"
#include "launcher/rendezvous/tcp.h"
#include "launcher/text/bytes_as_text.h"
#include "launcher/text/ipv4.h"
#include "launcher/text/lists.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

constexpr int kMostPods = 4096;

// None: it is not set.
std::optional<int> number_in(const Environment& env, std::string_view name, int least, int most) {
  const auto text = lookup(env, name);
  if (!text) return std::nullopt;
  const auto number = parse_whole_number(*text);
  if (!number || *number < least || *number > most) {
    throw UsageError(
        fmt::format("{}={}: it must be a number from {} to {}", name, *text, least, most));
  }
  return static_cast<int>(*number);
}

// The one by which the user names this node, or the first by which other machines could know it.
std::uint32_t own_address(const Launch& launch) {
  if (launch.job.host) {
    if (const auto named = parse_ipv4(*launch.job.host)) return *named;
  }
  for (const std::string& text : launch.here.addresses) {
    const auto address = parse_ipv4(text);
    if (address && !is_loopback(*address)) return *address;
  }
  return kLoopback;
}

// A file has its name only when it is whole, and link() gives no name twice. What it answers does
// not matter: a network file system may lose the answer. What stands there does.
std::string put_first(const std::string& path, const std::string& own, const Machine& here) {
  const std::string mine = fmt::format("{}.of.{}.{}", path, here.host_name, getpid());
  const auto failed = replace_file(mine, own, S_IRUSR | S_IWUSR);
  if (failed) throw LaunchError(fmt::format("{}; see that the directory can be written", *failed));
  const bool is_first = link(mine.c_str(), path.c_str()) == 0;
  const std::string reason = is_first ? "" : std::strerror(errno);
  unlink(mine.c_str());
  if (auto content = read_file(path)) return *content;
  throw LaunchError(fmt::format("{}: {}; see that the directory can be read", path, reason));
}

// "secret address port".
struct HubFile {
  Key secret{};
  std::uint32_t address = 0;
  int port = 0;
};

HubFile read_hub(const std::string& path, const std::string& content) {
  const auto words = split(content, ' ');
  if (words.size() == 3) {
    const auto secret = key_of(from_hex(words[0]).value_or(""));
    const auto address = parse_ipv4(std::string(words[1]));
    const auto port = parse_whole_number(words[2]);
    if (secret && address && port && *port > 0 && *port <= kLastPort) {
      return {*secret, *address, static_cast<int>(*port)};
    }
  }
  throw LaunchError(fmt::format(
      "{}: it does not say where the hub is; give each job a new SITE_DIRECTORY", path));
}

}  // namespace

SharedDirectory::SharedDirectory(const Launch& launch, Narrator& narrator)
    : launch_(launch), narrator_(narrator) {
  directory_ = lookup(launch.env, "SITE_DIRECTORY").value_or("");
  const auto pods = number_in(launch.env, "SITE_SIZE", 1, kMostPods);
  if (directory_.empty() || !pods) {
    throw UsageError(
        "--bootstrap=directory: SITE_DIRECTORY and SITE_SIZE must say where the launchers meet and "
        "how many there are; set them, or leave out --bootstrap");
  }
  pods_ = *pods;
  place_ = number_in(launch.env, "SITE_RANK", 0, pods_ - 1);
}

void SharedDirectory::find_hub(const Offer& offer) {
  // Whoever reads of us finds us listening.
  const std::uint32_t address = own_address(launch_);
  UniqueFd listener = listen_on(address, 0, kHubBacklog);
  const std::string path = directory_ + "/hub";
  const std::string own = fmt::format("{} {} {}", in_hex(bytes_of(random_key())),
                                      format_ipv4(address), local_port(listener.get()));
  const std::string content = put_first(path, own, launch_.here);
  if (content != own) listener.reset();
  const HubFile hub = read_hub(path, content);
  TcpSettings settings{.identity = scheduled_identity(launch_.job, launch_.here),
                       .hub_host = format_ipv4(hub.address),
                       .hub_addresses = {hub.address},
                       .ports = {hub.port},
                       .timeout = patience_with(offer, launch_.job)};
  settings.identity.secret = hub.secret;
  if (is_loopback(address)) settings.from = address;
  star_.emplace(launch_.loop, std::move(settings), narrator_, std::move(listener));
}

Gathered SharedDirectory::gather(const Brought& brought) {
  if (!star_) find_hub(brought.offer);
  JobTerms terms = terms_of(launch_.job, launch_.here, brought.offer, nullptr);
  terms.ips.clear();
  terms.nodes = pods_;
  terms.place = place_;
  OfferMessage mine = offer_message(terms, brought.offer.pod);
  // Unless the user names one, each pod has the address by which it reaches the hub.
  mine.offer.host = launch_.job.host.value_or("");
  return star_->gather(brought.next.state, std::move(mine), brought.payload);
}

}  // namespace paddle_launch
