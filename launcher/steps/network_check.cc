// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/network_check.h"

#include "launcher/job/errors.h"
#include "launcher/rendezvous/link_checker.h"
#include "launcher/run/own_words.h"
#include "launcher/tell/check_table.h"

namespace paddle_launch {

int check_network(EventLoop& loop, const Met& met, const std::string& machine, bool speaks) {
  const LinkCheck check = LinkChecker(loop, *met.channel, met.roster, machine).run();
  met.channel->close();
  // Without its hub every node has a table of its own.
  const bool is_shown = speaks || check.seen_by >= 0;
  const bool written = !is_shown || print_out(check_table(check));
  const int status = check_status(check);
  return written || status != 0 ? status : kLaunchErrorStatus;
}

}  // namespace paddle_launch
