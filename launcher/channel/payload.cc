// SPDX-License-Identifier: Apache-2.0
// docs/job-channel.md says when it travels.
#include "launcher/channel/payload.h"

#include "launcher/channel/fields.h"

namespace paddle_launch {
namespace {

template <typename Wire>
void payload_fields(Wire& wire, Of<Wire, JobPayload>& payload) {
  wire.text(payload.log_name, kOneLine);
  wire.number(payload.nccl.version, kAnyCount);
  wire.text(payload.nccl.library, kText);
  wire.texts(payload.nccl.ids, {kNcclIdBytes});
}

}  // namespace

std::string pack_payload(const JobPayload& payload) {
  if (payload == JobPayload{}) return {};
  FieldWriter wire;
  payload_fields(wire, payload);
  return wire.take();
}

JobPayload unpack_payload(std::string_view bytes) {
  FieldReader wire(bytes);
  JobPayload payload;
  payload_fields(wire, payload);
  return wire.finished_well() ? payload : JobPayload{};
}

}  // namespace paddle_launch
