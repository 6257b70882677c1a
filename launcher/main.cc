// SPDX-License-Identifier: Apache-2.0
// The program: hands the real environment to a launch, or to an order for a running job, and turns
// what failed into words and an exit status.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <string>
#include <variant>
#include <vector>

#include "launcher/cli/command_line.h"
#include "launcher/job/environment.h"
#include "launcher/job/errors.h"
#include "launcher/launch.h"
#include "launcher/launch_failure.h"
#include "launcher/rendezvous/job_orders.h"
#include "launcher/run/own_words.h"
#include "launcher/site/credentials.h"
#include "launcher/site/named_files.h"
#include "launcher/site/start_environment.h"
#include "launcher/tell/job_report.h"

namespace {

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// All tasks of mpirun or srun are given the same words and the same signals: one complains for all.
bool is_first_task() {
  const paddle_launch::Environment env = paddle_launch::read_environment(environ);
  return paddle_launch::surroundings(env).task.value_or(0) == 0;
}

// Its file, too, is one for all.
bool writes_report(const paddle_launch::LaunchFailure& failure) {
  using Told = paddle_launch::LaunchFailure::Told;
  const bool is_of_all = failure.told == Told::Already || failure.told == Told::OnceForAllTasks;
  return !is_of_all || is_first_task();
}

int tell(const std::string& program, const paddle_launch::LaunchFailure& failure) {
  using Told = paddle_launch::LaunchFailure::Told;
  const bool is_silent =
      failure.told == Told::Already || (failure.told == Told::OnceForAllTasks && !is_first_task());
  if (!is_silent) {
    const char* const word = failure.told == Told::AsRemark ? "" : "error: ";
    paddle_launch::say_on_stderr(program + ": " + word + failure.text + "\n");
  }
  return failure.status;
}

// Until the job stops by itself, whoever started us is needed.
void stop_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) raise(SIGTERM);
}

int show(const std::string& text) {
  return paddle_launch::print_out(text) ? 0 : paddle_launch::kLaunchErrorStatus;
}

int run(const std::vector<std::string>& argv, pid_t parent) {
  paddle_launch::Environment env = paddle_launch::read_environment(environ);
  paddle_launch::wipe_secrets(environ);
  const paddle_launch::CommandLine command = paddle_launch::parse_command_line(
      argv, env, paddle_launch::surroundings(env).may_be_several());
  paddle_launch::drop_secrets(env);
  if (const auto* print = std::get_if<paddle_launch::PrintAndExit>(&command)) {
    return show(print->text);
  }
  if (const auto* order = std::get_if<paddle_launch::JobOrder>(&command)) {
    return show(paddle_launch::carry_out(*order));
  }
  if (const auto* token = std::get_if<paddle_launch::MakeToken>(&command)) {
    return show(paddle_launch::make_token(token->file, env));
  }
  const auto& parsed = std::get<paddle_launch::ParsedCommandLine>(command);
  if (parsed.job.stop_with_parent) stop_with(parent);
  return paddle_launch::launch(parsed, env).status;
}

}  // namespace

int main(int argc, char** argv) {
  const pid_t parent = getppid();
  paddle_launch::hold_standard_descriptors();
  const std::vector<std::string> arguments(argv, argv + argc);
  paddle_launch::hide_typed_password(argv);
  const std::string program = arguments.empty() ? "paddle-launch" : base_name(arguments.front());
  try {
    return run(arguments, parent);
  } catch (...) {
    const paddle_launch::LaunchFailure failure =
        paddle_launch::failure_of(std::current_exception());
    const auto report = paddle_launch::typed_report(arguments);
    if (report && writes_report(failure)) {
      paddle_launch::write_report_file(
          *report,
          paddle_launch::launch_report(key_of(failure.kind), failure.status, failure.text));
    }
    return tell(program, failure);
  }
}
