// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch_failure.h"

#include <cerrno>
#include <string>
#include <system_error>

namespace paddle_launch {
namespace {

// The kernel's words name no remedy, and a limit is what it usually is.
std::string with_remedy(const std::system_error& error) {
  std::string text = error.what();
  switch (error.code().value()) {
    case EMFILE:
      return text + "; raise the limit on open files (ulimit -n)";
    case EAGAIN:
      return text + "; raise the limit on processes (ulimit -u)";
    case ENOMEM:
      return text + "; free memory, or ask for more";
    default:
      return text;
  }
}

}  // namespace

std::string_view key_of(LaunchFailure::Kind kind) {
  switch (kind) {
    case LaunchFailure::Kind::Interrupted:
      return "interrupted";
    case LaunchFailure::Kind::NodesChanged:
      return "nodes_changed";
    case LaunchFailure::Kind::LaunchFailed:
      break;
  }
  return "launch_failed";
}

LaunchFailure failure_of(const std::exception_ptr& problem) {
  using Told = LaunchFailure::Told;
  using Kind = LaunchFailure::Kind;
  try {
    std::rethrow_exception(problem);
  } catch (const UsageError& error) {
    return {.status = kWrongUseStatus, .text = error.what(), .told = Told::OnceForAllTasks};
  } catch (const AlreadyTold& told) {
    return {.status = told.status,
            .text = "the first launcher of the job has told why on its console",
            .told = Told::Already};
  } catch (const StoppedBySignal& error) {
    return {.status = kSignalBase + error.signal,
            .text = error.what(),
            .told = Told::OnceForAllTasks,
            .kind = Kind::Interrupted};
  } catch (const NoLongerNeeded& reason) {
    return {.status = 0, .text = reason.what(), .told = Told::AsRemark, .kind = Kind::NodesChanged};
  } catch (const NodeMissing& error) {
    return {.status = kNodeMissingStatus, .text = error.what()};
  } catch (const std::system_error& error) {
    return {.status = kLaunchErrorStatus, .text = with_remedy(error)};
  } catch (const std::exception& error) {
    return {.status = kLaunchErrorStatus, .text = error.what()};
  }
}

}  // namespace paddle_launch
