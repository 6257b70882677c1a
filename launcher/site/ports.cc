// SPDX-License-Identifier: Apache-2.0
// docs/decisions/0008 says which ports are handed out, and why.
#include "launcher/site/ports.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <system_error>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/job/pod.h"
#include "launcher/os/clock.h"
#include "launcher/os/files.h"
#include "launcher/site/port_users.h"

namespace paddle_launch {

// A port is first reserved among launchers and only then tested: a test must not stand in the way
// of the trainer whose port it is.

namespace {

UniqueFd open_socket(int family, int type) {
  UniqueFd opened(socket(family, type | SOCK_CLOEXEC, 0));
  if (opened) return opened;
  const int error = errno;
  throw LaunchError(fmt::format(
      "cannot open a socket to reserve a port: {}; {}", std::strerror(error),
      error == EMFILE
          ? "each trainer needs one descriptor for its port, so raise the limit (ulimit -n)"
          : "free system resources and try again"));
}

// None: another launcher, or this one, has the port.
UniqueFd lock_port(int port) {
  UniqueFd lock = open_socket(AF_UNIX, SOCK_DGRAM);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  const std::string text = port_lock_name(port);
  std::copy(text.begin(), text.end(), name.sun_path);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + text.size());
  const int result = bind(lock.get(), reinterpret_cast<const sockaddr*>(&name), size);
  // Where a sandbox forbids such names the job still starts; only the reservation is missing.
  if (result < 0 && errno == EADDRINUSE) lock.reset();
  return lock;
}

bool bind_any(int fd, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  return bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// Without SO_REUSEADDR, so that a port with connections in TIME_WAIT is left alone.
bool is_free(int port) { return bind_any(open_socket(AF_INET, SOCK_STREAM).get(), port); }

// With SO_REUSEADDR, as trainers do: a port in TIME_WAIT after a quick restart is fine. Only
// listen() then tells whether somebody else listens. Returns an errno, 0 for free.
int try_to_listen(int port) {
  const UniqueFd test = open_socket(AF_INET, SOCK_STREAM);
  const int yes = 1;
  setsockopt(test.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return bind_any(test.get(), port) && listen(test.get(), 1) == 0 ? 0 : errno;
}

struct Taken {
  std::vector<int> ports;
  std::vector<UniqueFd> locks;
  std::vector<int> reserved;  // by somebody else, or by this launcher for another purpose

  int count() const { return static_cast<int>(ports.size()); }
};

// One after the other from a random place on, so that launchers that start together seldom meet.
Taken take_free_ports(const std::vector<PortSpan>& spans, int wanted) {
  Taken taken;
  const int all = count_ports(spans);
  const int begin = random_below(all);
  for (int step = 0; step < all && taken.count() < wanted; ++step) {
    const int port = port_at(spans, (begin + step) % all);
    UniqueFd lock = lock_port(port);
    if (!lock) taken.reserved.push_back(port);
    if (!lock || !is_free(port)) continue;
    taken.ports.push_back(port);
    taken.locks.push_back(std::move(lock));
  }
  return taken;
}

// A reservation is a name that any user of the host may take, for all ports in a second: it keeps
// launchers apart as long as there is a choice, and is no reason not to start. `own`: not these.
void take_reserved_ports(Taken& taken, int wanted, const std::vector<int>& own,
                         std::vector<std::string>& warnings, const std::string& proc_root) {
  std::vector<int> used;
  for (const int port : taken.reserved) {
    if (taken.count() + static_cast<int>(used.size()) >= wanted) break;
    const bool is_own = std::find(own.begin(), own.end(), port) != own.end();
    if (!is_own && is_free(port)) used.push_back(port);
  }
  if (taken.count() + static_cast<int>(used.size()) < wanted || used.empty()) return;
  taken.ports.insert(taken.ports.end(), used.begin(), used.end());
  warnings.push_back(fmt::format(
      "{} ports are reserved on this host and too few are left: port {} is reserved by {}. Nothing "
      "listens on {} of them, which are used all the same. If another paddle-launch has reserved "
      "them, give each job a --port_range=LOW:HIGH of its own; otherwise end that process.",
      taken.reserved.size(), used.front(), describe_lock_owner(used.front(), proc_root),
      used.size()));
}

[[noreturn]] void refuse_few_ports(const std::vector<PortSpan>& spans, int wanted, int free) {
  throw LaunchError(fmt::format(
      "not enough free ports: {} needed (one for each trainer without a given port, and one for "
      "PADDLE_MASTER), {} free in {}; stop what uses them, or give a larger range with "
      "--port_range=LOW:HIGH",
      wanted, free, format_spans(spans)));
}

std::string trainer_name(std::size_t trainer) { return fmt::format("trainer {}", trainer); }

[[noreturn]] void refuse_port(const NamedPort& named, const std::string& reason) {
  throw LaunchError(fmt::format("port {} of {} ({}) {}; {}", named.port, named.whose, named.said,
                                reason, named.remedy));
}

UniqueFd take_named_port(const NamedPort& named, const std::string& proc_root) {
  UniqueFd lock = lock_port(named.port);
  if (!lock) {
    refuse_port(named, fmt::format("is reserved by another paddle-launch, {}",
                                   describe_lock_owner(named.port, proc_root)));
  }
  const int error = try_to_listen(named.port);
  if (error == 0) return lock;
  if (error == EADDRINUSE) {
    refuse_port(named, "is in use by " + describe_port_owner(named.port, proc_root));
  }
  refuse_port(named, fmt::format("cannot be opened: {}", std::strerror(error)));
}

std::vector<NamedPort> ports_from_start(const PortWish& wish) {
  const int last = *wish.start + wish.count - 1;
  if (*wish.start < 1 || last > kLastPort) {
    throw UsageError(
        fmt::format("{}={}: {} trainers would listen on ports {} to {}, but ports go from 1 to "
                    "65535; choose another "
                    "first port",
                    wish.start_source, *wish.start, wish.count, *wish.start, last));
  }
  std::vector<NamedPort> named;
  for (int port = *wish.start; port <= last; ++port) {
    named.push_back({port, trainer_name(named.size()),
                     fmt::format("{}={}", wish.start_source, *wish.start),
                     fmt::format("choose another first port, or leave out {} to get free ones",
                                 wish.start_source)});
  }
  return named;
}

// What is more than the trainers need is not looked at: the cluster gave a port for each card.
std::vector<NamedPort> given_ports(const PortWish& wish) {
  const auto& source = wish.given_source;
  const auto count = static_cast<std::size_t>(wish.count);
  if (wish.given.size() < count) {
    throw UsageError(fmt::format(
        "{} names {} ports of this node for {} trainers; name one for each, or start {} trainers",
        source, wish.given.size(), count, wish.given.size()));
  }
  std::vector<NamedPort> named;
  for (std::size_t trainer = 0; trainer < count; ++trainer) {
    const int port = wish.given[trainer];
    const auto before = wish.given.begin() + static_cast<std::ptrdiff_t>(trainer);
    if (port < 1 || port > kLastPort) {
      throw UsageError(
          fmt::format("{}: port {} of trainer {} does not exist; name one from 1 to "
                      "65535",
                      source, port, trainer));
    }
    if (std::find(wish.given.begin(), before, port) != before) {
      throw UsageError(
          fmt::format("{}: port {} of trainer {} is another trainer's as well; name "
                      "each port of a node once",
                      source, port, trainer));
    }
    named.push_back({port, trainer_name(trainer), source,
                     fmt::format("stop what uses it, or name another port in {}", source)});
  }
  return named;
}

std::vector<NamedPort> named_ports(const PortWish& wish) {
  std::vector<NamedPort> named = wish.named;
  std::vector<NamedPort> trainers;
  if (!wish.given.empty()) {
    trainers = given_ports(wish);
  } else if (wish.start) {
    trainers = ports_from_start(wish);
  }
  named.insert(named.end(), trainers.begin(), trainers.end());
  return named;
}

}  // namespace

PortLease lease_ports(const PortWish& wish, std::vector<std::string>& warnings,
                      const std::string& proc_root) {
  PortLease lease;
  for (const NamedPort& named : named_ports(wish)) {
    lease.locks.push_back(take_named_port(named, proc_root));
    lease.trainers.push_back(named.port);
  }
  const bool trainers_are_named = !wish.given.empty() || wish.start;
  const int needed = (trainers_are_named ? 0 : wish.count) + 1;
  const auto candidates = port_candidates(wish, needed, warnings, proc_root);
  Taken taken = take_free_ports(candidates, needed + (wish.store ? 1 : 0));
  if (taken.count() < needed)
    take_reserved_ports(taken, needed, lease.trainers, warnings, proc_root);
  if (taken.count() < needed) refuse_few_ports(candidates, needed, taken.count());
  if (taken.count() > needed) {
    lease.store = taken.ports.back();
    taken.ports.pop_back();
  }
  lease.master = taken.ports.back();
  taken.ports.pop_back();
  lease.trainers.insert(lease.trainers.end(), taken.ports.begin(), taken.ports.end());
  for (auto& lock : taken.locks) lease.locks.push_back(std::move(lock));
  return lease;
}

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
