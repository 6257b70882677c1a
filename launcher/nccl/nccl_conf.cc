// SPDX-License-Identifier: Apache-2.0
#include "launcher/nccl/nccl_conf.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>

#include "launcher/os/files.h"
#include "launcher/text/lists.h"

namespace paddle_launch {

std::vector<std::string> nccl_conf_files(const Environment& env) {
  std::vector<std::string> files;
  const std::string named = lookup(env, "NCCL_CONF_FILE").value_or("");
  if (!named.empty()) {
    files.push_back(named);
  } else if (const passwd* const user = getpwuid(getuid())) {
    files.push_back(std::string(user->pw_dir) + "/.nccl.conf");  // NCCL does not look at HOME
  }
  files.emplace_back("/etc/nccl.conf");
  return files;
}

bool conf_sets(const std::vector<std::string>& files, std::string_view variable) {
  const std::string beginning = std::string(variable) + "=";
  return std::any_of(files.begin(), files.end(), [&beginning](const std::string& file) {
    const std::string content = read_file(file).value_or("");
    const auto lines = split(content, '\n');
    return std::any_of(lines.begin(), lines.end(),
                       [&beginning](std::string_view line) { return line.starts_with(beginning); });
  });
}

}  // namespace paddle_launch
