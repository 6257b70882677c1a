// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/payload.h"

#include <ctime>
#include <utility>

#include "launcher/site/log_place.h"
#include "launcher/text/wire.h"

namespace paddle_launch {

JobPayload unpack_payload(std::string_view payload) {
  if (payload.empty()) return {};
  WireReader in(payload);
  JobPayload unpacked{.log_name = in.text(in.left())};
  unpacked.nccl = in.text(in.left());
  return in.finished_well() ? unpacked : JobPayload{};
}

NamedLogs::NamedLogs(const JobSpec& job)
    : job_(job),
      is_asked_for_(job.log_dir == kNamedLogs && job.console != ConsoleMode::Direct && !job.check) {
}

PayloadMaker NamedLogs::maker(const Preparation& ready, PayloadMaker nccl) {
  if (!is_asked_for_ && !nccl) return {};
  return [this, &ready, nccl = std::move(nccl)](int trainers, std::uint32_t own_address) {
    if (is_asked_for_ && name_.empty()) {
      const std::string wish = name_for_logs(job_.script.name, std::time(nullptr));
      name_ = job_.dry_run == DryRun::No ? make_named_logs(ready.log_dir, wish) : wish;
    }
    const std::string ids = nccl ? nccl(trainers, own_address) : std::string();
    if (name_.empty() && ids.empty()) return std::string();
    WireWriter out;
    out.text(name_);
    out.text(ids);
    return out.take();
  };
}

void NamedLogs::assume(Preparation& ready) const {
  if (is_asked_for_) ready.log_dir += "/" + name_for_logs(job_.script.name, std::time(nullptr));
}

void NamedLogs::take(std::string_view payload, Preparation& ready) {
  if (!is_asked_for_ || ready.has_named_logs) return;
  name_ = unpack_payload(payload).log_name;
  if (!is_name_for_logs(name_)) name_ = name_for_logs(job_.script.name, std::time(nullptr));
  ready.log_dir += "/" + name_;
  ready.has_named_logs = true;
}

}  // namespace paddle_launch
