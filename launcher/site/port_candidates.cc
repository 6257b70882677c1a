// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/port_candidates.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/job/pod.h"
#include "launcher/os/files.h"

namespace paddle_launch {
namespace {

constexpr int kUsualFirst = 20000;
// Below live the well-known services, and Paddle's own 6070 and 6170.
constexpr int kLowestFirst = 10000;

constexpr PortSpan kKernelDefault{32768, 60999};

PortSpan ephemeral_range(const std::string& proc_root) {
  const auto text = read_file(proc_root + "/sys/net/ipv4/ip_local_port_range");
  if (!text) return kKernelDefault;
  PortSpan range;
  const char* const end = text->data() + text->size();
  const auto first = std::from_chars(text->data(), end, range.first);
  const char* next = first.ptr;
  while (next != end && (*next == ' ' || *next == '\t')) ++next;
  const auto last = std::from_chars(next, end, range.last);
  if (first.ec != std::errc{} || last.ec != std::errc{}) return kKernelDefault;
  return range;
}

std::vector<PortSpan> outside(const PortSpan& ephemeral, int lowest) {
  std::vector<PortSpan> spans;
  if (lowest < ephemeral.first) spans.push_back({lowest, std::min(ephemeral.first - 1, kLastPort)});
  const int above = std::max(lowest, ephemeral.last + 1);
  if (above <= kLastPort) spans.push_back({above, kLastPort});
  return spans;
}

}  // namespace

std::vector<PortSpan> port_candidates(const PortWish& wish, int needed,
                                      std::vector<std::string>& warnings,
                                      const std::string& proc_root) {
  if (wish.range) {
    const auto [first, last] = *wish.range;
    if (first < 1 || last > kLastPort || last < first) {
      throw UsageError(
          fmt::format("--port_range={}:{}: ports go from 1 to 65535, the lower one first; give "
                      "LOW:HIGH, such as "
                      "20000:29999",
                      first, last));
    }
    return {{first, last}};
  }
  const PortSpan ephemeral = ephemeral_range(proc_root);
  for (const int lowest : {kUsualFirst, kLowestFirst}) {
    auto spans = outside(ephemeral, lowest);
    if (count_ports(spans) >= needed) return spans;
  }
  warnings.push_back(fmt::format(
      "net.ipv4.ip_local_port_range is {}-{} and leaves too few ports for {} listeners, so they "
      "get ports "
      "that an outgoing connection may take before they listen; narrow it (sysctl -w "
      "net.ipv4.ip_local_port_range='32768 60999') or name a quiet range with "
      "--port_range=LOW:HIGH",
      ephemeral.first, ephemeral.last, needed));
  return {{kUsualFirst, kLastPort}};
}

int count_ports(const std::vector<PortSpan>& spans) {
  int count = 0;
  for (const auto& span : spans) count += span.last - span.first + 1;
  return count;
}

int port_at(const std::vector<PortSpan>& spans, int place) {
  for (const auto& span : spans) {
    const int size = span.last - span.first + 1;
    if (place < size) return span.first + place;
    place -= size;
  }
  return 0;
}

std::string format_spans(const std::vector<PortSpan>& spans) {
  std::string text;
  for (const auto& span : spans) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{}-{}", span.first, span.last);
  }
  return text;
}

}  // namespace paddle_launch
