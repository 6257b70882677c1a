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
    {"channel", {"job", "text", "os", "tell"}},
    {"cli", {"job", "text"}},
    {"site", {"job", "text", "os", "tell"}},
    {"nccl", {"job", "text", "os"}},
    {"plan", {"job", "text"}},
    {"rendezvous", {"job", "text", "os", "site", "channel", "etcd", "tell"}},
    {"run", {"job", "text", "os", "site", "channel", "tell"}},
    {"tell", {"job", "text"}},
};
