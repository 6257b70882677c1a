// SPDX-License-Identifier: Apache-2.0
// The files that the user named for TLS with etcd.
#pragma once

#include "launcher/job/job_spec.h"

namespace paddle_launch {

// Throws UsageError for one that cannot be read.
void check_etcd_files(const EtcdSpec& etcd);

}  // namespace paddle_launch
