// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/start_environment.h"

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
// NAME or NAME:PASSWORD; the name stays.
constexpr std::string_view kUserVariable = "PADDLE_ETCD_USER";
constexpr std::string_view kUserOption = "etcd_user";
constexpr char kHidden = '*';

std::size_t after_colon(std::string_view text, std::size_t from) {
  const std::size_t colon = text.find(':', from);
  return colon == std::string_view::npos ? text.size() : colon + 1;
}

// Where the secret of "NAME=VALUE" begins; at the end: there is none.
std::size_t secret_begins(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos) return entry.size();
  const std::string_view name = entry.substr(0, equals);
  if (name == kUserVariable) return after_colon(entry, equals);
  const bool is_secret = std::find(kSecrets.begin(), kSecrets.end(), name) != kSecrets.end();
  return is_secret ? equals + 1 : entry.size();
}

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
    const std::size_t begin = secret_begins(text);
    explicit_bzero(*entry + begin, text.size() - begin);
  }
}

void drop_secrets(Environment& env) {
  for (const std::string_view name : kSecrets) env.erase(std::string(name));
  const auto user = env.find(std::string(kUserVariable));
  if (user != env.end()) user->second = user->second.substr(0, user->second.find(':'));
}

// Words of the script that look alike lose nothing by it: the launcher has its own copy of all.
void hide_typed_password(char** words) {
  bool is_value = false;  // of the word before
  for (char** word = words; word != nullptr && *word != nullptr; ++word) {
    std::string_view text(*word);
    const std::size_t name = text.find_first_not_of('-');
    const bool is_option = name == 1 || name == 2;
    const std::size_t equals = std::min(text.find('='), text.size());
    const bool is_user = is_option && text.substr(name, equals - name) == kUserOption;
    if (is_value || (is_user && equals < text.size())) {
      const std::size_t begin = after_colon(text, is_value ? 0 : equals);
      std::fill(*word + begin, *word + text.size(), kHidden);
    }
    is_value = is_user && equals == text.size();
  }
}

}  // namespace paddle_launch
