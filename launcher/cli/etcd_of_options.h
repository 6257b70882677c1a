// SPDX-License-Identifier: Apache-2.0
// Which etcd the options name, and how to get in.
#pragma once

#include <string_view>

#include "launcher/cli/given_options.h"
#include "launcher/cli/value_rule.h"
#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"

namespace paddle_launch {

// The etcd servers of an elastic job, as text: "10.0.0.1:2379,etcd-2:2379", with http:// or
// https:// before it, or etcd:// in --master.
inline constexpr std::string_view kEtcdScheme = "etcd://";

// The value keeps a scheme once, before the first server.
ValueReading read_etcd_servers(std::string_view text);
ValueReading read_etcd_master(std::string_view text);

bool is_etcd_master(const GivenOption& master);

// --elastic_server or --master=etcd://…; null: neither. Where there is another way for the nodes to
// meet as well, drops the one that comes from a variable with a warning. Throws UsageError when
// both were typed.
const GivenOption* choose_etcd(GivenOptions& given, Remarks& remarks);

// Throws UsageError for a certificate without its key, and for a user without a password.
EtcdSpec etcd_of_options(const GivenOption& server, const GivenOptions& given,
                         const Environment& env, Remarks& remarks);

// Throws UsageError for a name that cannot be a part of a key. `server` is what choose_etcd gave.
void check_job_id(const GivenOption& server, const GivenOptions& given);

}  // namespace paddle_launch
