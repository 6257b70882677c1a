// SPDX-License-Identifier: Apache-2.0
// For users: docs/elastic.md.
#include "launcher/cli/etcd_of_options.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/cli/endpoint_list.h"
#include "launcher/cli/environment_defaults.h"
#include "launcher/job/errors.h"
#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kWebSchemes = "http:// or https://";
constexpr std::string_view kEndOfScheme = "://";

ValueReading read_entry(std::string_view endpoint) {
  if (endpoint.empty()) {
    return refused(
        "it takes HOST:PORT of etcd, several with one comma between two, and an entry is empty");
  }
  if (std::count(endpoint.begin(), endpoint.end(), ':') > 1) {
    return refused(
        fmt::format("{} is not HOST:PORT with an IPv4 address or a host name", endpoint));
  }
  return read_endpoint_list(endpoint, EndpointList());
}

class ServerReader {
 public:
  explicit ServerReader(std::string_view schemes) : schemes_(schemes) {}

  ValueReading read(std::string_view text) {
    if (without_blanks(text).empty()) return refused("it takes HOST:PORT of an etcd server");
    for (const std::string_view part : split(text, ',')) {
      std::string problem = take(without_blanks(part));
      if (!problem.empty()) return refused(std::move(problem));
    }
    std::string list = fmt::format("{}{}", typed_.scheme, fmt::join(typed_.endpoints, ","));
    return accepted(std::move(list), std::move(typed_));
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
    std::vector<std::string>& endpoints = typed_.endpoints;
    ValueReading reading = read_entry(entry);
    const bool is_new =
        std::find(endpoints.begin(), endpoints.end(), reading.text) == endpoints.end();
    if (reading.problem.empty() && is_new) endpoints.push_back(std::move(reading.text));
    return reading.problem;
  }

  std::string take_scheme(std::string_view scheme) {
    const bool is_known =
        schemes_ == kWebSchemes ? scheme == "http://" || scheme == "https://" : scheme == schemes_;
    if (!is_known) {
      return fmt::format("it takes HOST:PORT, with {} before it at most, and not with {}", schemes_,
                         scheme);
    }
    if (!typed_.scheme.empty() && typed_.scheme != scheme) {
      return "some servers have http:// and some https://, and it takes one of them for all";
    }
    typed_.scheme = scheme;
    return {};
  }

  std::string_view schemes_;
  EtcdServersTyped typed_{};
};

}  // namespace

ValueReading read_etcd_servers(std::string_view text) {
  return ServerReader(kWebSchemes).read(text);
}

ValueReading read_etcd_master(std::string_view text) {
  return ServerReader(kEtcdScheme).read(text);
}

namespace {

// The password of --etcd_user. It is no option's default: these are shown in the banner.
constexpr std::string_view kEtcdPasswordVariable = "PADDLE_ETCD_PASSWORD";

void take_user(const GivenOptions& given, const Environment& env, EtcdSpec& etcd,
               Remarks& remarks) {
  const GivenOption* const user = given.find("etcd_user");
  if (user == nullptr) return;
  std::optional<std::string> password = non_empty(env, kEtcdPasswordVariable);
  const auto& typed = user->as<UserTyped>();
  etcd.user = typed.name;
  if (typed.password) {
    etcd.password = *typed.password;
    if (!user->from_environment) {
      remarks.warnings.push_back(fmt::format(
          "{}: every user of this machine could read a password in the command line, for a moment "
          "at least; put it into the variable {}, which trainers do not see",
          said(*user), kEtcdPasswordVariable));
    }
    if (!password || *password == etcd.password) return;
    remarks.warnings.push_back(fmt::format("{} is not used: {} comes with a password",
                                           kEtcdPasswordVariable, said(*user)));
    return;
  }
  if (!password) {
    throw UsageError(fmt::format(
        "{}: etcd lets nobody in without a password. Put it into the variable {}, or write "
        "{}={}:PASSWORD.",
        said(*user), kEtcdPasswordVariable, user->name, etcd.user));
  }
  etcd.password = std::move(*password);
}

void refuse_alone(const GivenOption& one, std::string_view what, std::string_view other) {
  throw UsageError(
      fmt::format("{}: {}. Add --{}=FILE, or {}.", said(one), what, other, how_to_drop(one)));
}

void take_tls(const GivenOption& server, const GivenOptions& given, EtcdSpec& etcd) {
  const GivenOption* const cacert = given.find("etcd_cacert");
  const GivenOption* const cert = given.find("etcd_cert");
  const GivenOption* const key = given.find("etcd_key");
  if (cert != nullptr && key == nullptr) {
    refuse_alone(*cert, "a certificate is of no use without its key", "etcd_key");
  }
  if (key != nullptr && cert == nullptr) {
    refuse_alone(*key, "a key is of no use without its certificate", "etcd_cert");
  }
  const std::string& scheme = server.as<EtcdServersTyped>().scheme;
  const GivenOption* const file = cacert != nullptr ? cacert : cert;
  if (file != nullptr && scheme == "http://") {
    refuse_together(server, *file, "http:// is without TLS, and the second is for TLS");
  }
  etcd.tls = file != nullptr || scheme == "https://";
  etcd.cacert = given.text("etcd_cacert").value_or("");
  etcd.cert = given.text("etcd_cert").value_or("");
  etcd.key = given.text("etcd_key").value_or("");
}

}  // namespace

bool is_etcd_master(const GivenOption& master) {
  return std::holds_alternative<EtcdServersTyped>(master.value) &&
         key_of(*master.option) == "master";
}

const GivenOption* choose_etcd(GivenOptions& given, Remarks& remarks) {
  const GivenOption* const server = given.find("elastic_server");
  const GivenOption* const master = given.find("master");
  const bool master_is_etcd = master != nullptr && is_etcd_master(*master);
  if (server == nullptr) return master_is_etcd ? master : nullptr;
  if (master == nullptr) return server;

  if (master->from_environment) {
    drop_unused(*master, fmt::format("the nodes meet at {}", said(*server)), given, remarks);
    return server;
  }
  if (!master_is_etcd || !server->from_environment) {
    refuse_together(*server, *master, "each is a way for the nodes to find each other");
  }
  drop_unused(*server, option_comes_first(*master), given, remarks);
  return master;
}

EtcdSpec etcd_of_options(const GivenOption& server, const GivenOptions& given,
                         const Environment& env, Remarks& remarks) {
  EtcdSpec etcd;
  etcd.endpoints = server.as<EtcdServersTyped>().endpoints;
  etcd.source = server.name;
  take_tls(server, given, etcd);
  take_user(given, env, etcd, remarks);
  return etcd;
}

void check_job_id(const GivenOption& server, const GivenOptions& given) {
  const GivenOption* const id = given.find("job_id");
  if (id == nullptr && !is_etcd_master(server)) {
    throw UsageError(fmt::format(
        "{}: several jobs may use one etcd, and nothing says which of them this is. Add "
        "--job_id=NAME, the same on each node.",
        said(server)));
  }
  if (id == nullptr || id->text.find('/') == std::string::npos) return;
  throw UsageError(fmt::format(
      "{}: the keys of an elastic job in etcd are /paddle/JOB_ID/…, so its name cannot have a "
      "slash. Choose a name without one.",
      said(*id)));
}

}  // namespace paddle_launch
