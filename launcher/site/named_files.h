// SPDX-License-Identifier: Apache-2.0
// The files that the user named, tried before anything starts: that of --report, which is written
// when everything has ended, and those for TLS with etcd.
#pragma once

#include <optional>
#include <string>

#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Throws UsageError where the report could not be written.
void check_report_file(const std::string& path);

// Whole or not at all, within a few seconds. The text is what failed; none: it is there.
std::optional<std::string> write_report_file(const std::string& path, const std::string& content);

// Throws UsageError for one that cannot be read.
void check_etcd_files(const EtcdSpec& etcd);

}  // namespace paddle_launch
