// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/elastic_watch.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "launcher/job/errors.h"
#include "launcher/rendezvous/agreement.h"
#include "launcher/rendezvous/elastic.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {

ElasticWatch::ElasticWatch(EventLoop& loop, JobRegister& job, std::chrono::milliseconds settle,
                           OfferMessage mine)
    : job_(job), settle_(settle), mine_(std::move(mine)), settling_(loop) {}

std::optional<RefusalMessage> ElasticWatch::on_newcomer(const OfferMessage& offer) {
  if (const auto problem = misfit(mine_, offer))
    return RefusalMessage{.status = 1, .node = -1, .text = *problem};
  settling_.set(settle_, [this] { grow(); });
  return std::nullopt;
}

void ElasticWatch::begin(const Session& session, int nodes, Listener& listener) {
  session_ = &session;
  nodes_ = nodes;
  is_working_ = true;
  listener_ = &listener;
  job_.on_warning([&listener](const std::string& line) { listener.on_warning(line); });
  job_.on_change([this] { look(); });
  look();
}

void ElasticWatch::end() {
  settling_.stop();
  job_.on_change({});
  job_.on_warning({});
  listener_ = nullptr;
  session_ = nullptr;
}

void ElasticWatch::stop(StopCause::Kind kind, int status, std::string text) {
  if (listener_ == nullptr) return;
  std::exchange(listener_, nullptr)
      ->on_reason_to_stop({.kind = kind,
                           .node = 0,
                           .status = status,
                           .text = std::move(text),
                           .at = EventLoop::Clock::now()});
}

void ElasticWatch::look() {
  if (session_ == nullptr || !session_->is_hub()) return;
  const JobBook& book = job_.book();
  if (book.stop_from) {
    return stop(StopCause::Kind::StoppedFromOutside, kSignalBase + SIGTERM, stopped_text(book));
  }
  const int most = job_.nodes().max;
  if (!may_change()) return;
  if (nodes_ > most) {
    return stop(StopCause::Kind::NodesChange, 0,
                fmt::format("scaled in from {} to {} nodes by --scale from {}", nodes_, most,
                            one_line(book.scale_from)));
  }
  if (nodes_ < most && !settling_.is_set() && !session_->newcomers().empty()) {
    settling_.set(settle_, [this] { grow(); });
  }
}

void ElasticWatch::grow() {
  if (session_ == nullptr || !may_change()) return;
  const std::vector<OfferMessage> waiting = session_->newcomers();
  const NodeRange range = job_.nodes();
  const int all = nodes_ + static_cast<int>(waiting.size());
  if (waiting.empty() || nodes_ >= range.max || all < range.min) return;
  std::vector<std::string> names;
  names.reserve(waiting.size());
  for (const OfferMessage& offer : waiting) names.push_back(node_name(offer));
  stop(StopCause::Kind::NodesChange, 0,
       fmt::format("{} joined: going from {} to {} nodes", fmt::join(names, ", "), nodes_,
                   std::min(all, range.max)));
}

}  // namespace paddle_launch
