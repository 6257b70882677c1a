// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/etcd_files.h"

#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "launcher/job/errors.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

void check_etcd_files(const EtcdSpec& etcd) {
  const std::pair<const char*, const std::string&> files[] = {
      {"--etcd_cacert", etcd.cacert}, {"--etcd_cert", etcd.cert}, {"--etcd_key", etcd.key}};
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file) continue;
    throw UsageError(
        fmt::format("{}={}: it cannot be read: {}; name a file that can, or leave out {}", option,
                    path, std::strerror(errno), option));
  }
}

}  // namespace paddle_launch
