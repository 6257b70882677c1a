// SPDX-License-Identifier: Apache-2.0
// For users: docs/compatibility.md.
#include "launcher/plan/proxies.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kProxies[] = {"http_proxy", "https_proxy", "all_proxy",
                                         "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"};
// Programs read one of the two, or both.
constexpr const char* kExceptions[] = {"no_proxy", "NO_PROXY"};

bool is_proxy(const EnvVar& variable) {
  return !variable.second.empty() &&
         std::find(std::begin(kProxies), std::end(kProxies), variable.first) != std::end(kProxies);
}

std::string value_in(const std::vector<EnvVar>& env, std::string_view name) {
  const auto found = std::find_if(
      env.begin(), env.end(), [name](const EnvVar& variable) { return variable.first == name; });
  return found == env.end() ? std::string() : found->second;
}

std::string with_hosts(std::string exceptions, const std::string& hosts) {
  std::set<std::string> there;
  for (const std::string_view entry : split(exceptions, ',')) {
    const std::size_t first = std::min(entry.find_first_not_of(' '), entry.size());
    there.emplace(entry.substr(first, entry.find_last_not_of(' ') - first + 1));
  }
  if (there.contains("*")) return exceptions;
  for (const std::string_view host : split(hosts, ',')) {
    if (!there.emplace(host).second) continue;
    if (!exceptions.empty()) exceptions += ',';
    exceptions += host;
  }
  return exceptions;
}

void put_aside(std::vector<EnvVar>& env) {
  for (EnvVar& variable : env) {
    if (is_proxy(variable) && value_in(env, variable.first + "_original").empty()) {
      variable.first += "_original";
    }
  }
  std::erase_if(env, is_proxy);
}

}  // namespace

void settle_proxies(const std::string& hosts, bool drop, std::vector<EnvVar>& env,
                    std::vector<std::string>& warnings) {
  if (std::none_of(env.begin(), env.end(), is_proxy)) return;
  if (drop) return put_aside(env);
  std::vector<EnvVar> exceptions;
  for (const char* const name : kExceptions) {
    std::string own = value_in(env, name);
    if (own.empty()) own = value_in(env, name == kExceptions[0] ? kExceptions[1] : kExceptions[0]);
    exceptions.emplace_back(name, with_hosts(std::move(own), hosts));
    if (exceptions.back().second.size() <= kLongestNoProxy) continue;
    warnings.push_back(fmt::format(
        "http_proxy and its like are not passed on: with the hosts of this job {} would be longer "
        "than {} KiB; scripts find them in http_proxy_original, and --proxy=drop asks for it",
        name, kLongestNoProxy / 1024));
    return put_aside(env);
  }
  std::erase_if(env, [](const EnvVar& variable) {
    return variable.first == kExceptions[0] || variable.first == kExceptions[1];
  });
  env.insert(env.end(), exceptions.begin(), exceptions.end());
}

}  // namespace paddle_launch
