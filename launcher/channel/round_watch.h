// SPDX-License-Identifier: Apache-2.0
// What an elastic job minds while a round runs: nodes that come, and orders from outside.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "launcher/channel/message.h"
#include "launcher/channel/session.h"
#include "launcher/job/ending.h"

namespace paddle_launch {

class RoundWatch {
 public:
  class Listener {
   public:
    // Once at most: what happens after that is the next round's.
    virtual void on_reason_to_stop(const StopCause& cause) = 0;
    virtual void on_warning(const std::string& line) = 0;

   protected:
    ~Listener() = default;
  };

  RoundWatch() = default;
  RoundWatch(const RoundWatch&) = delete;
  RoundWatch& operator=(const RoundWatch&) = delete;
  virtual ~RoundWatch() = default;

  // The process that talks to etcd.
  virtual pid_t keeper() const = 0;
  // Lets in who fits, refuses who does not.
  virtual std::optional<RefusalMessage> on_newcomer(const OfferMessage& offer) = 0;
  // `listener` hears of what is seen until end().
  virtual void begin(const Session& session, int nodes, Listener& listener) = 0;
  // Processes of the job have done their work: nobody is let in any more.
  virtual void work_ends() = 0;
  virtual void end() = 0;
};

}  // namespace paddle_launch
