// SPDX-License-Identifier: Apache-2.0
#include "launcher/steps/network_check.h"

#include <cstdio>

#include "launcher/rendezvous/link_checker.h"
#include "launcher/tell/check_table.h"

namespace paddle_launch {

int check_network(EventLoop& loop, const Met& met, const std::string& machine, bool speaks) {
  const LinkCheck check = LinkChecker(loop, *met.channel, met.roster, machine).run();
  met.channel->close();
  if (speaks) std::fputs(check_table(check).c_str(), stdout);
  const bool written = std::fflush(stdout) == 0;
  return all_links_work(check) && written ? 0 : 1;
}

}  // namespace paddle_launch
