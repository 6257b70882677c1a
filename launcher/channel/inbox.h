// SPDX-License-Identifier: Apache-2.0
// What comes while nobody listens waits here, in order. Between two rounds, and between a roster
// and the round that it begins, nobody does.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace paddle_launch {

template <class News>
class Inbox {
 public:
  using Listener = std::function<void(News)>;

  Inbox() = default;
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;
  ~Inbox() { stop_listening(); }

  // Hears at once what has waited. The inbox may be gone when this returns: a listener may destroy
  // its owner.
  void listen(Listener listener) {
    state_->listener = std::move(listener);
    tell(state_);
  }
  void stop_listening() { state_->listener = nullptr; }
  // As listen().
  void put(News news) {
    state_->waiting.push_back(std::move(news));
    tell(state_);
  }
  const std::deque<News>& waiting() const { return state_->waiting; }

 private:
  struct State {
    Listener listener{};
    std::deque<News> waiting{};
  };

  // Until there is nothing more, or nobody listens any longer.
  static void tell(std::shared_ptr<State> state) {
    while (state->listener && !state->waiting.empty()) {
      News news = std::move(state->waiting.front());
      state->waiting.pop_front();
      const Listener listener = state->listener;  // it may be replaced while it is called
      listener(std::move(news));
    }
  }

  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace paddle_launch
