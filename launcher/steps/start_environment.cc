// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/start_environment.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

namespace paddle_launch {
namespace {

constexpr std::array<std::string_view, 2> kSecrets = {"PADDLE_LAUNCH_TOKEN",
                                                      "PADDLE_ETCD_PASSWORD"};

}  // namespace

void hold_standard_descriptors() {
  for (int fd = open("/dev/null", O_RDWR); fd >= 0; fd = open("/dev/null", O_RDWR)) {
    if (fd <= STDERR_FILENO) continue;
    close(fd);
    return;
  }
}

Environment read_environment(char** entries) {
  Environment env;
  for (char** entry = entries; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos && equals > 0)
      env.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return env;
}

void wipe_secrets(char** entries) {
  for (char** entry = entries; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    const bool is_secret =
        std::find(kSecrets.begin(), kSecrets.end(), text.substr(0, equals)) != kSecrets.end();
    if (is_secret) explicit_bzero(*entry + equals + 1, text.size() - equals - 1);
  }
}

void drop_secrets(Environment& env) {
  for (const std::string_view name : kSecrets) env.erase(std::string(name));
}

}  // namespace paddle_launch
