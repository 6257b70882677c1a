// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/port_users.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "launcher/os/files.h"
#include "launcher/os/processes.h"
#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

using Words = std::vector<std::string_view>;

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

void for_each_line(const std::string& file, const std::function<void(const Words&)>& reader) {
  const std::string text = read_file(file).value_or("");
  for (const std::string_view line : split(text, '\n')) {
    Words words = split(line, ' ');
    std::erase(words, std::string_view());
    reader(words);
  }
}

// A line of /proc/net/tcp or tcp6.
struct TcpSocket {
  int port = 0;  // the local one
  bool listens = false;
  bool on_loopback = false;  // reached from this machine alone
  std::string_view user{};   // a number
  std::string_view inode{};  // "0": the socket belongs to nobody any more
};

void for_each_tcp_socket(const std::string& table,
                         const std::function<void(const TcpSocket&)>& reader) {
  for_each_line(table, [&reader](const Words& words) {
    if (words.size() <= kInode) return;
    const std::optional<int> port = port_of(words[kLocal]);
    if (!port) return;
    reader({*port, words[kState] == kListening, is_loopback(words[kLocal]), words[kUser],
            words[kInode]});
  });
}

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

namespace {

// Who holds a port: /proc/net names the socket's inode, and /proc/<pid>/fd who has it open.

// Where the inode stands in a line of /proc/net/unix; a path follows.
constexpr std::size_t kUnixInode = 6;
constexpr std::string_view kNobody = "an unknown process";
// Only seen where the one who listened before had not set SO_REUSEADDR.
constexpr std::string_view kTimeWait =
    "a connection that was just closed (TIME_WAIT, gone within a minute)";

std::string link_target(const std::string& path) {
  std::array<char, 64> target{};
  const ssize_t length = readlink(path.c_str(), target.data(), target.size());
  return length > 0 ? std::string(target.data(), static_cast<std::size_t>(length)) : std::string();
}

std::optional<std::string> process_with_socket(std::string_view inode,
                                               const std::string& proc_root) {
  const std::string wanted = fmt::format("socket:[{}]", inode);
  for (const std::string& pid : names_in(proc_root)) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::string process = proc_root + "/" + pid;
    const std::vector<std::string> open = names_in(process + "/fd");
    const bool has_it = std::any_of(open.begin(), open.end(), [&](const std::string& fd) {
      return link_target(process + "/fd/" + fd) == wanted;
    });
    if (!has_it) continue;
    return fmt::format("process {} ({})", pid,
                       shown_command(read_file(process + "/cmdline").value_or("")));
  }
  return std::nullopt;
}

struct Socket {
  std::string inode;
  std::string user;
  bool listens = false;
};

void find_tcp_socket(int port, const std::string& table, std::optional<Socket>& best) {
  for_each_tcp_socket(table, [&](const TcpSocket& socket) {
    if (socket.port != port) return;
    const bool owned = socket.inode != "0";  // TIME_WAIT belongs to nobody
    if (best && (best->listens || (best->inode != "0" && !socket.listens) || !owned)) return;
    best = Socket{std::string(socket.inode), std::string(socket.user), socket.listens};
  });
}

}  // namespace

std::string port_lock_name(int port) {
  return std::string(1, '\0') + "paddle-launch/port/" + std::to_string(port);
}

std::string describe_port_owner(int port, const std::string& proc_root) {
  std::optional<Socket> socket;
  find_tcp_socket(port, proc_root + "/net/tcp", socket);
  if (!socket || !socket->listens) find_tcp_socket(port, proc_root + "/net/tcp6", socket);
  if (!socket) return std::string(kNobody);
  if (socket->inode == "0") return std::string(kTimeWait);
  if (auto process = process_with_socket(socket->inode, proc_root)) return *process;
  return fmt::format("a process of user id {}", socket->user);
}

std::string describe_lock_owner(int port, const std::string& proc_root) {
  const std::string path = "@" + port_lock_name(port).substr(1);
  std::string inode;
  for_each_line(proc_root + "/net/unix", [&](const Words& words) {
    if (words.size() > kUnixInode + 1 && words[kUnixInode + 1] == path) inode = words[kUnixInode];
  });
  if (inode.empty()) return std::string(kNobody);
  return process_with_socket(inode, proc_root).value_or(std::string(kNobody));
}

}  // namespace paddle_launch
