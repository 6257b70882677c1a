// SPDX-License-Identifier: Apache-2.0
// The table of who may include whom. It is the law; launcher/CMakeLists.txt and
// docs/architecture.md mirror it.
#pragma once

#include <map>
#include <set>
#include <string>

using Rooms = std::set<std::string>;

inline const std::map<std::string, Rooms> kMayInclude = {
    {"job", {}},
    {"text", {}},
    {"os", {}},
    {"etcd", {"job", "text", "os"}},
    {"channel", {"job", "text", "os"}},
    {"cli", {"job", "text"}},
    {"site", {"job", "text", "os"}},
    {"nccl", {"job", "text", "os"}},
    {"plan", {"job", "text"}},
    {"rendezvous", {"job", "text", "os", "channel", "etcd"}},
    {"run", {"job", "text", "os", "channel"}},
    {"tell", {"job", "text"}},
    {"steps",
     {"job", "text", "os", "etcd", "channel", "cli", "site", "nccl", "plan", "rendezvous", "run",
      "tell"}},
};
