// SPDX-License-Identifier: Apache-2.0
// Pods find each other in a directory on a disk that all nodes see. Whoever puts the file `hub`
// there first is the hub, and the others read from it where to go. From then on they meet in a star
// over TCP, as in most other ways.
//
//   SITE_DIRECTORY   the directory, a new one for each job
//   SITE_SIZE        how many pods there are
//   SITE_RANK        which place this one is to have; not set: as they come
#pragma once

#include <optional>
#include <string>

#include "launcher/rendezvous/rendezvous.h"
#include "launcher/rendezvous/star.h"
#include "launcher/site/launch_values.h"
#include "launcher/tell/narrator.h"

namespace paddle_launch {

class SharedDirectory final : public Rendezvous {
 public:
  // UsageError where a variable does not say what it has to.
  SharedDirectory(const Launch& launch, Narrator& narrator);

  Gathered gather(const Brought& brought) override;
  Session& session() override { return star_->session(); }
  bool others_may_come() const override { return true; }

 private:
  void find_hub(const Offer& offer);

  const Launch& launch_;
  Narrator& narrator_;
  std::string directory_;
  int pods_ = 1;
  std::optional<int> place_;
  std::optional<Star> star_;  // once the hub is known
};

}  // namespace paddle_launch
