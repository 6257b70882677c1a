// SPDX-License-Identifier: Apache-2.0
// What stays the same from the first look around to the exit status, for whoever does a part of the
// launch.
#pragma once

#include "launcher/job/environment.h"
#include "launcher/job/job_spec.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/signals.h"
#include "launcher/site/machine.h"

namespace paddle_launch {

struct Launch {
  const JobSpec& job;
  const Environment& env;
  const Surroundings& around;
  const Machine& here;
  const Inherited& inherited;
  EventLoop& loop;
  SignalWatch& signals;
};

}  // namespace paddle_launch
