// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/listening_ports.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "launcher/os/files.h"

namespace paddle_launch {
namespace {

// The words of a line: number, local address:port, remote, state, queues, timer, retransmits, uid,
// timeout, inode.
constexpr std::size_t kLocal = 1;
constexpr std::size_t kState = 3;
constexpr std::size_t kUser = 7;
constexpr std::size_t kInode = 9;
constexpr std::string_view kListening = "0A";
constexpr int kHexadecimal = 16;
constexpr std::size_t kDigitsOfIpv4 = 8;
constexpr std::string_view kLoopbackIpv6 = "00000000000000000000000001000000";

void split_words(std::string_view line, Words& words) {
  words.clear();
  while (!line.empty()) {
    const auto first = line.find_first_not_of(' ');
    if (first == std::string_view::npos) break;
    line.remove_prefix(first);
    const auto end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
}

// None in the line with the headings.
std::optional<int> port_of(std::string_view address) {
  const auto colon = address.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view digits = address.substr(colon + 1);
  int port = 0;
  const char* end = digits.data() + digits.size();
  const auto [parsed, error] = std::from_chars(digits.data(), end, port, kHexadecimal);
  return error == std::errc() && parsed == end ? std::optional<int>(port) : std::nullopt;
}

// 127.x.y.z, whose bytes stand in the order of this machine, or ::1.
bool is_loopback(std::string_view address) {
  const std::string_view host = address.substr(0, address.rfind(':'));
  return host.size() == kDigitsOfIpv4 ? host.ends_with("7F") : host == kLoopbackIpv6;
}

}  // namespace

void for_each_line(std::string_view text, const std::function<void(const Words&)>& reader) {
  Words words;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    split_words(text.substr(0, end), words);
    reader(words);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void for_each_tcp_socket(const std::string& table,
                         const std::function<void(const TcpSocket&)>& reader) {
  const std::string text = read_file(table).value_or("");
  for_each_line(text, [&reader](const Words& words) {
    if (words.size() <= kInode) return;
    const std::optional<int> port = port_of(words[kLocal]);
    if (!port) return;
    reader({*port, words[kState] == kListening, is_loopback(words[kLocal]), words[kUser],
            words[kInode]});
  });
}

namespace {

std::set<int> listening(const std::set<int>& asked, const std::string& proc_root,
                        bool loopback_too) {
  std::set<int> found;
  for (const char* table : {"/net/tcp", "/net/tcp6"}) {
    if (found.size() == asked.size()) break;
    for_each_tcp_socket(proc_root + table, [&](const TcpSocket& socket) {
      const bool counts = socket.listens && (loopback_too || !socket.on_loopback);
      if (counts && asked.contains(socket.port)) found.insert(socket.port);
    });
  }
  return found;
}

}  // namespace

std::set<int> listening_ports(const std::vector<int>& wanted, const std::string& proc_root) {
  return listening({wanted.begin(), wanted.end()}, proc_root, true);
}

std::set<int> ports_on_loopback_alone(const std::set<int>& ports, const std::string& proc_root) {
  std::set<int> alone = listening(ports, proc_root, true);
  for (const int port : listening(ports, proc_root, false)) alone.erase(port);
  return alone;
}

}  // namespace paddle_launch
