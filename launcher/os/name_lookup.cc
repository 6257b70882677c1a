// SPDX-License-Identifier: Apache-2.0
#include "launcher/os/name_lookup.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <system_error>

#include "launcher/os/check.h"
#include "launcher/os/clock.h"

namespace paddle_launch {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// A child whose descriptor is readable has said everything, or is about to.
constexpr std::chrono::seconds kToSayIt{1};
constexpr char kProblem = '!';
constexpr std::size_t kMostAtOnce = 32;  // children of one look_up

// What needs no name server: addresses, and what is neither an address nor a name. getaddrinfo
// would take "10.1" for 10.0.0.1; in a list of nodes it is a slip of the pen.
std::optional<NameAnswer> known_at_once(const std::string& host) {
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) == 1) {
    return NameAnswer{{ntohl(address.s_addr)}, ""};
  }
  if (host.empty()) return NameAnswer{{}, "the name is empty"};
  if (host.find_first_not_of("0123456789.") != std::string::npos) return std::nullopt;
  return NameAnswer{{}, "this is no IPv4 address"};
}

// One address a line, as a number, or the problem.
std::string encode_answer(const NameAnswer& answer) {
  if (answer.addresses.empty()) return kProblem + answer.problem;
  std::string lines;
  for (const std::uint32_t address : answer.addresses) lines += std::to_string(address) + "\n";
  return lines;
}

NameAnswer decode_answer(std::string_view text) {
  if (text.starts_with(kProblem)) return {{}, std::string(text.substr(1))};
  NameAnswer answer;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::uint32_t address = 0;
    const auto [stopped, error] = std::from_chars(text.data(), text.data() + end, address);
    if (error == std::errc() && stopped == text.data() + end) answer.addresses.push_back(address);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return answer;
}

// Waits for the name servers.
NameAnswer ask_name_server(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_INET;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error == EAI_SYSTEM) return {{}, std::strerror(errno)};
  if (error != 0) return {{}, gai_strerror(error)};
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  NameAnswer answer;
  auto& found = answer.addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    sockaddr_in address{};
    std::memcpy(&address, entry->ai_addr, sizeof address);
    const std::uint32_t number = ntohl(address.sin_addr.s_addr);
    if (std::find(found.begin(), found.end(), number) == found.end()) found.push_back(number);
  }
  return answer;
}

using Lookups = std::map<std::size_t, NameLookup>;  // by the place of the host

void take_answers(Lookups& running, steady_clock::time_point until,
                  std::vector<NameAnswer>& answers) {
  std::vector<pollfd> waiting;
  waiting.reserve(running.size());
  for (const auto& [place, lookup] : running) waiting.push_back({lookup.fd(), POLLIN, 0});
  if (poll(waiting.data(), waiting.size(), milliseconds_until(until)) <= 0) return;
  auto next = running.begin();
  for (const pollfd& descriptor : waiting) {
    const auto current = next++;
    if (descriptor.revents == 0) continue;
    answers[current->first] = {current->second.addresses(), current->second.problem()};
    running.erase(current);
  }
}

}  // namespace

NameLookup::NameLookup(const std::string& host) : NameLookup(host, ask_name_server) {}

NameLookup::NameLookup(const std::string& host,
                       const std::function<NameAnswer(const std::string&)>& ask)
    : answer_(known_at_once(host)) {
  if (!answer_) {
    try {
      child_.emplace([&host, &ask] { return encode_answer(ask(host)); });
      return;
    } catch (const std::system_error& error) {
      answer_ = {{}, std::string("cannot start the look-up: ") + error.what()};
    }
  }
  ready_.reset(check(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd"));
}

const NameAnswer& NameLookup::answer() {
  if (!answer_) {
    const auto text = child_->answer(steady_clock::now() + kToSayIt);
    answer_ = text ? decode_answer(*text) : NameAnswer{{}, "the look-up ended without an answer"};
  }
  return *answer_;
}

std::vector<std::uint32_t> NameLookup::addresses() { return answer().addresses; }

std::string NameLookup::problem() { return answer().problem; }

std::vector<NameAnswer> look_up(const std::vector<std::string>& hosts, milliseconds patience) {
  const auto until = steady_clock::now() + patience;
  const NameAnswer too_late{{}, "no answer within " + std::to_string(patience.count()) + " ms"};
  std::vector<NameAnswer> answers(hosts.size(), too_late);
  Lookups running;
  for (std::size_t next = 0; next < hosts.size() || !running.empty();) {
    if (steady_clock::now() >= until) break;
    while (next < hosts.size() && running.size() < kMostAtOnce) {
      running.try_emplace(next, hosts[next]);
      ++next;
    }
    take_answers(running, until, answers);
  }
  return answers;
}

}  // namespace paddle_launch
