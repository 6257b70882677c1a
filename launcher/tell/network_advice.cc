// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/network_advice.h"

#include <algorithm>
#include <array>
#include <utility>

namespace paddle_launch {
namespace {

constexpr std::string_view kNoWay =
    "there is no way to that address: look at the address, at the route (ip route get ADDRESS), "
    "and "
    "for a firewall that rejects";
constexpr std::string_view kSwallowed =
    "a firewall drops the packets, or no machine that is running has this address";
constexpr std::string_view kUnknownName =
    "give addresses instead of names, or add the name to DNS or /etc/hosts on that node";
constexpr std::string_view kClosed =
    "something closed the connection at once: another program at that port, or a firewall";
constexpr std::string_view kOtherVersion = "install the same paddle-launch on every node";

using Advice = std::pair<std::string_view, std::string_view>;

constexpr std::array<Advice, 13> kAdvice = {{
    {"refused",
     "a machine answers, but nothing listens at that port: the launcher does not run there, the "
     "address leads to another machine, or a firewall rejects"},
    {"no route", kNoWay},
    {"unreachable", kNoWay},
    {"no answer", kSwallowed},
    {"timed out", kSwallowed},
    {"name", kUnknownName},
    {"reset", kClosed},
    {"closed", kClosed},
    {"secret", "give every node the same PADDLE_LAUNCH_TOKEN or --token_file"},
    {"another job", "give every node of the job the same --job_id"},
    {"not a launcher",
     "another program has that port; --bootstrap_port chooses another one, the same on every node"},
    {"protocol", kOtherVersion},
    {"version", kOtherVersion},
}};

}  // namespace

std::string_view network_advice(std::string_view problem) {
  const auto* const found =
      std::find_if(kAdvice.begin(), kAdvice.end(), [problem](const Advice& advice) {
        return problem.find(advice.first) != std::string_view::npos;
      });
  return found == kAdvice.end() ? std::string_view() : found->second;
}

}  // namespace paddle_launch
