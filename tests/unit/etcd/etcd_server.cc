// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/etcd/etcd_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "launcher/os/check.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {
namespace {

constexpr const char* kProgram = "/usr/bin/etcd";
constexpr std::chrono::seconds kToStart{30};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

UniqueFd listener(int& port) {
  UniqueFd fd(check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  sockaddr_in address = loopback(0);
  check(bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "bind");
  check(listen(fd.get(), 16), "listen");
  socklen_t size = sizeof address;
  check(getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  port = ntohs(address.sin_port);
  return fd;
}

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

void end(pid_t& pid) {
  if (pid < 0) return;
  kill(pid, SIGKILL);
  waitpid(std::exchange(pid, -1), nullptr, 0);
}

[[noreturn]] void answer_everybody(int listening, const std::string& answer) {
  for (;;) {
    const int fd = accept(listening, nullptr, nullptr);
    if (answer.empty()) continue;
    std::array<char, 4096> question{};
    if (read(fd, question.data(), question.size()) > 0) {
      [[maybe_unused]] const ssize_t sent = send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    }
    close(fd);
  }
}

}  // namespace

bool all_tests_must_run() {
  const char* const must = std::getenv("PADDLE_LAUNCH_REQUIRE_TEST_HOSTS");
  return must != nullptr && std::string(must) == "1";
}

std::string why_no_etcd() {
  if (access(kProgram, X_OK) == 0) return {};
  return fmt::format("{} is not there: install the package etcd-server", kProgram);
}

int free_port() {
  int port = 0;
  listener(port);
  return port;
}

EtcdServer::EtcdServer(std::vector<std::string> tls) : tls_(std::move(tls)) {
  for (int tries = 0; tries < 3 && pid_ < 0; ++tries) {
    port_ = free_port();
    peer_port_ = free_port();
    start();
  }
  if (pid_ < 0) throw std::runtime_error("etcd does not start: " + content_of(folder_.path("log")));
}

std::vector<std::string> EtcdServer::command() const {
  const std::string client = fmt::format("{}://{}", tls_.empty() ? "http" : "https", address());
  const std::string peer = fmt::format("http://127.0.0.1:{}", peer_port_);
  // A short election makes a fast start, and leases of one second possible.
  std::vector<std::string> words = {kProgram,
                                    "--data-dir=" + folder_.path("data"),
                                    "--heartbeat-interval=20",
                                    "--election-timeout=200",
                                    "--bcrypt-cost=4",
                                    "--listen-client-urls=" + client,
                                    "--advertise-client-urls=" + client,
                                    "--listen-peer-urls=" + peer,
                                    "--initial-advertise-peer-urls=" + peer,
                                    "--initial-cluster=default=" + peer};
  words.insert(words.end(), tls_.begin(), tls_.end());
  return words;
}

void EtcdServer::start() {
  std::ofstream(folder_.path("log"), std::ios::trunc).flush();
  const std::vector<std::string> words = command();
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const std::string log = folder_.path("log");
  pid_ = check(fork(), "fork");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int fd = open(log.c_str(), O_WRONLY | O_APPEND);
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    execv(kProgram, arguments.data());
    _exit(127);
  }
  const auto until = std::chrono::steady_clock::now() + kToStart;
  while (!is_ready()) {
    const bool is_dead = waitpid(pid_, nullptr, WNOHANG) != 0;
    if (is_dead) pid_ = -1;
    if (is_dead || std::chrono::steady_clock::now() > until) return stop();
    usleep(5000);
  }
}

bool EtcdServer::is_ready() const {
  return content_of(folder_.path("log")).find("client requests") != std::string::npos;
}

void EtcdServer::stop() { end(pid_); }

std::string EtcdServer::ask(const std::string& path, const std::string& body) const {
  const UniqueFd fd(check(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
  const sockaddr_in address = loopback(port_);
  check(connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
  const std::string request = fmt::format(
      "POST {} HTTP/1.1\r\nHost: etcd\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{}", path,
      body.size(), body);
  check(send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), "send");
  std::string answer;
  std::array<char, 4096> piece{};
  for (ssize_t size = 0; (size = read(fd.get(), piece.data(), piece.size())) > 0;) {
    answer.append(piece.data(), static_cast<std::size_t>(size));
  }
  return answer;
}

OddServer::OddServer(const std::string& answer) {
  const UniqueFd listening = listener(port_);
  pid_ = check(fork(), "fork");
  if (pid_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  answer_everybody(listening.get(), answer);
}

OddServer::~OddServer() { end(pid_); }

}  // namespace paddle_launch
