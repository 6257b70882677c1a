// SPDX-License-Identifier: Apache-2.0
// The etcd servers of an elastic job, as text: "10.0.0.1:2379,etcd-2:2379", with http:// or
// https:// before it, or etcd:// in --master.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "launcher/cli/value_rule.h"

namespace paddle_launch {

inline constexpr std::string_view kEtcdScheme = "etcd://";

// The value keeps a scheme once, before the first server.
ValueReading read_etcd_servers(std::string_view text);
ValueReading read_etcd_master(std::string_view text);

// The value of a reading that was accepted, taken apart.
struct EtcdServersRead {
  std::string scheme{};  // "https://"; empty: none was typed
  std::vector<std::string> endpoints{};
};

EtcdServersRead etcd_servers_in(std::string_view value);

}  // namespace paddle_launch
