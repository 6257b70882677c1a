// SPDX-License-Identifier: Apache-2.0
#include "launcher/launch_failure.h"

namespace paddle_launch {

LaunchFailure failure_of(const std::exception_ptr& problem) {
  using Told = LaunchFailure::Told;
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
            .kind = "interrupted"};
  } catch (const NoLongerNeeded& reason) {
    return {.status = 0, .text = reason.what(), .told = Told::AsRemark, .kind = "nodes_changed"};
  } catch (const NodeMissing& error) {
    return {.status = kNodeMissingStatus, .text = error.what()};
  } catch (const std::exception& error) {
    return {.status = kLaunchErrorStatus, .text = error.what()};
  }
}

}  // namespace paddle_launch
