// SPDX-License-Identifier: Apache-2.0
// Wires the parts: the only place that reads the real environment, and the only catch.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "launcher/cli/command_line.h"
#include "launcher/job/environment.h"
#include "launcher/job/errors.h"
#include "launcher/job_orders.h"
#include "launcher/launch.h"
#include "launcher/os/print_out.h"
#include "launcher/site/surroundings.h"

namespace {

constexpr int kLaunchError = 1;

using paddle_launch::Environment;

// Started with a closed stdin or stdout (`>&-`), the next file we open would take its place.
void hold_standard_descriptors() {
  for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    return;
  }
}

Environment read_environment() {
  Environment env;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && equals > 0)
      env.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return env;
}

constexpr std::array<std::string_view, 2> kSecrets = {"PADDLE_LAUNCH_TOKEN",
                                                      "PADDLE_ETCD_PASSWORD"};

// Secrets leave the environment before anything is started: neither a child nor a reader of /proc
// sees them.
void wipe_secrets() {
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    const bool is_secret =
        std::find(kSecrets.begin(), kSecrets.end(), text.substr(0, equals)) != kSecrets.end();
    if (is_secret) explicit_bzero(*entry + equals + 1, text.size() - equals - 1);
  }
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// All tasks of mpirun or srun are given the same words and the same signals: one complains for all.
bool is_first_task() {
  return paddle_launch::surroundings(read_environment()).task.value_or(0) == 0;
}

int complain(const std::string& program, const char* what, int status) {
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), what);
  return status;
}

int run(const std::vector<std::string>& argv) {
  Environment env = read_environment();
  wipe_secrets();
  const paddle_launch::CommandLine command = paddle_launch::parse_command_line(
      argv, env, paddle_launch::surroundings(env).may_be_several());
  for (const std::string_view name : kSecrets) env.erase(std::string(name));
  if (const auto* print = std::get_if<paddle_launch::PrintAndExit>(&command)) {
    return paddle_launch::print_out(print->text) ? 0 : kLaunchError;
  }
  if (const auto* order = std::get_if<paddle_launch::JobOrder>(&command)) {
    return paddle_launch::carry_out(*order);
  }
  return paddle_launch::launch(std::get<paddle_launch::ParsedCommandLine>(command), env);
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_descriptors();
  const std::vector<std::string> arguments(argv, argv + argc);
  const std::string program = arguments.empty() ? "paddle-launch" : base_name(arguments.front());
  try {
    return run(arguments);
  } catch (const paddle_launch::UsageError& error) {
    return is_first_task() ? complain(program, error.what(), paddle_launch::kWrongUseStatus)
                           : paddle_launch::kWrongUseStatus;
  } catch (const paddle_launch::AlreadyTold& told) {
    return told.status;
  } catch (const paddle_launch::StoppedBySignal& error) {
    const int status = paddle_launch::kSignalBase + error.signal;
    return is_first_task() ? complain(program, error.what(), status) : status;
  } catch (const paddle_launch::NoLongerNeeded& reason) {
    std::fprintf(stderr, "%s: %s\n", program.c_str(), reason.what());
    return 0;
  } catch (const paddle_launch::NodeMissing& error) {
    return complain(program, error.what(), paddle_launch::kNodeMissingStatus);
  } catch (const std::exception& error) {
    return complain(program, error.what(), kLaunchError);
  }
}
