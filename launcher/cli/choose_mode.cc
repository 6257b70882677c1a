// SPDX-License-Identifier: Apache-2.0
// For users: docs/parameter-server.md.
#include "launcher/cli/choose_mode.h"

#include <string_view>

namespace paddle_launch {
namespace {

const GivenOption* heter_option(const GivenOptions& given) {
  return given.first_of({"heter_workers", "heter_worker_num", "heter_devices"});
}

const GivenOption* server_option(const GivenOptions& given) {
  // As in Paddle, --gloo_port and --with_gloo choose nothing.
  return given.first_of(
      {"servers", "workers", "trainers", "server_num", "worker_num", "trainer_num", "http_port"});
}

Mode mode_named(std::string_view word) {
  if (word == "ps") return Mode::ParameterServer;
  if (word == "ps-heter") return Mode::ParameterServerHeter;
  if (word == "rpc") return Mode::Rpc;
  return Mode::Collective;
}

ModeChoice first_choice(const GivenOptions& given) {
  if (const GivenOption* const mode = given.find("run_mode")) return {mode_named(mode->text), mode};
  if (const GivenOption* const heter = heter_option(given)) {
    return {Mode::ParameterServerHeter, heter};
  }
  if (const GivenOption* const server = server_option(given)) {
    return {Mode::ParameterServer, server};
  }
  return {};
}

void check_no_server_options(const ModeChoice& choice, const GivenOptions& given) {
  if (choice.because == nullptr) return;
  for (const GivenOption* const option : {heter_option(given), server_option(given)}) {
    if (option == nullptr) continue;
    refuse_together(*choice.because, *option, option->name + " is for the parameter-server mode");
  }
}

void check_only_server_options(const ModeChoice& choice, const GivenOptions& given) {
  const GivenOption* const heter = heter_option(given);
  if (choice.mode == Mode::ParameterServer && heter != nullptr) {
    refuse_together(*choice.because, *heter,
                    "heterogeneous workers need --run_mode=ps-heter, or no --run_mode");
  }
  if (const GivenOption* const other = given.first_of({"ips", "nproc_per_node"})) {
    refuse_together(*choice.because, *other,
                    "the first is for the parameter-server mode, the second for collective jobs");
  }
  const GivenOption* const backend = given.find("backend");
  if (backend != nullptr && backend->text != "auto") {
    refuse_together(*choice.because, *backend,
                    "a backend is for collective jobs, the first is for the parameter-server mode");
  }
}

}  // namespace

bool has_servers(Mode mode) {
  return mode == Mode::ParameterServer || mode == Mode::ParameterServerHeter;
}

ModeChoice choose_mode(const GivenOptions& given) {
  const ModeChoice choice = first_choice(given);
  if (has_servers(choice.mode)) {
    check_only_server_options(choice, given);
  } else {
    check_no_server_options(choice, given);
  }
  return choice;
}

}  // namespace paddle_launch
