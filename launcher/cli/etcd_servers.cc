// SPDX-License-Identifier: Apache-2.0
// See etcd_servers.h.
#include "launcher/cli/etcd_servers.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/endpoint_list.h"
#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kWebSchemes = "http:// or https://";
constexpr std::string_view kEndOfScheme = "://";

// As a clause; empty: the endpoint is one.
std::string problem_of_endpoint(std::string_view endpoint) {
  if (endpoint.empty()) {
    return "it takes HOST:PORT of etcd, several with one comma between two, and an entry is empty";
  }
  if (std::count(endpoint.begin(), endpoint.end(), ':') > 1) {
    return fmt::format("{} is not HOST:PORT with an IPv4 address or a host name", endpoint);
  }
  return read_endpoint_list(endpoint, EndpointList()).problem;
}

class ServerReader {
 public:
  explicit ServerReader(std::string_view schemes) : schemes_(schemes) {}

  ValueReading read(std::string_view text) {
    if (without_blanks(text).empty()) return {{}, "it takes HOST:PORT of an etcd server"};
    for (const std::string_view part : split(text, ',')) {
      std::string problem = take(without_blanks(part));
      if (!problem.empty()) return {{}, std::move(problem)};
    }
    return {fmt::format("{}{}", scheme_, fmt::join(endpoints_, ",")), {}};
  }

 private:
  // What is wrong, as a clause.
  std::string take(std::string_view entry) {
    const std::size_t end = entry.find(kEndOfScheme);
    if (end != std::string_view::npos) {
      const std::string_view scheme = entry.substr(0, end + kEndOfScheme.size());
      std::string problem = take_scheme(scheme);
      if (!problem.empty()) return problem;
      entry.remove_prefix(scheme.size());
      if (entry.ends_with('/')) entry.remove_suffix(1);
    }
    std::string problem = problem_of_endpoint(entry);
    if (!problem.empty()) return problem;
    std::string endpoint = read_endpoint_list(entry, EndpointList()).value;
    if (std::find(endpoints_.begin(), endpoints_.end(), endpoint) == endpoints_.end()) {
      endpoints_.push_back(std::move(endpoint));
    }
    return {};
  }

  std::string take_scheme(std::string_view scheme) {
    const bool is_known =
        schemes_ == kWebSchemes ? scheme == "http://" || scheme == "https://" : scheme == schemes_;
    if (!is_known) {
      return fmt::format("it takes HOST:PORT, with {} before it at most, and not with {}", schemes_,
                         scheme);
    }
    if (!scheme_.empty() && scheme_ != scheme) {
      return "some servers have http:// and some https://, and it takes one of them for all";
    }
    scheme_ = scheme;
    return {};
  }

  std::string_view schemes_;
  std::string scheme_{};
  std::vector<std::string> endpoints_{};
};

}  // namespace

ValueReading read_etcd_servers(std::string_view text) {
  return ServerReader(kWebSchemes).read(text);
}

ValueReading read_etcd_master(std::string_view text) {
  return ServerReader(kEtcdScheme).read(text);
}

EtcdServersRead etcd_servers_in(std::string_view value) {
  EtcdServersRead servers;
  const std::size_t end = value.find(kEndOfScheme);
  if (end != std::string_view::npos) {
    servers.scheme = value.substr(0, end + kEndOfScheme.size());
    value.remove_prefix(servers.scheme.size());
  }
  for (const std::string_view endpoint : split(value, ','))
    servers.endpoints.emplace_back(endpoint);
  return servers;
}

}  // namespace paddle_launch
