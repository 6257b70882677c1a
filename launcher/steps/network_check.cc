// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/network_check.h"

#include <cstdio>

#include "launcher/job/errors.h"
#include "launcher/rendezvous/link_checker.h"
#include "launcher/tell/check_table.h"

namespace paddle_launch {

int check_network(EventLoop& loop, const Met& met, const std::string& machine, bool speaks) {
  const LinkCheck check = LinkChecker(loop, *met.channel, met.roster, machine).run();
  met.channel->close();
  // Without its hub every node has a table of its own.
  if (speaks || check.seen_by >= 0) std::fputs(check_table(check).c_str(), stdout);
  const bool written = std::fflush(stdout) == 0;
  const int status = check_status(check);
  return written || status != 0 ? status : kLaunchErrorStatus;
}

}  // namespace paddle_launch
