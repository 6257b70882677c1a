// SPDX-License-Identifier: Apache-2.0
// One connection to another launcher: greets, proves, then carries sealed messages. Never blocks;
// a slow or hostile other side costs a bounded buffer and delays nobody. What comes while nobody
// listens waits in the inbox.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "launcher/channel/handshake.h"
#include "launcher/channel/inbox.h"
#include "launcher/channel/message.h"
#include "launcher/os/event_loop.h"
#include "launcher/os/frames.h"
#include "launcher/os/unique_fd.h"

namespace paddle_launch {

// Why a link ended whose other side closed it: a stranger, and a launcher that had proved itself.
constexpr const char* kClosedByOther = "closed by the other side";
constexpr const char* kEndedWithoutAWord = "its launcher ended without a word";

struct LinkEnd {
  std::string why{};  // "closed by the other side", "connection timed out", …
  Handshake::State greeting = Handshake::State::Going;
  bool is_closed = false;  // in good order, by the other side: its launcher is there no more
};

class Link {
 public:
  using News = std::variant<Message, LinkEnd>;

  // `ended` is the last event. The link may be destroyed inside any of them.
  struct Events {
    std::function<void()> proved;
    std::function<void(Message)> message;
    std::function<void(const LinkEnd&)> ended;
  };

  // `longest_frame`: once proved.
  Link(EventLoop& loop, UniqueFd connected, Handshake handshake, std::size_t longest_frame,
       Events events);
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  ~Link();

  // For whoever takes the link over. What has waited is told at once; the link may be gone when
  // this returns.
  void listen(std::function<void(Message)> message, std::function<void(const LinkEnd&)> ended);
  void stop_listening() { inbox_.stop_listening(); }
  const std::deque<News>& unheard() const { return inbox_.waiting(); }

  // Only once proved.
  void send(const Message& message);
  // What encode() made of a message: one that goes to many is encoded once.
  void send_encoded(std::string_view message);
  // The job is being stopped: another machine that is gone must not hold up the end, and one that
  // is there acknowledges in milliseconds, even if its launcher stands still.
  void hurry() const;
  bool is_proved() const { return stream_.has_value(); }

  int fd() const { return socket_.get(); }
  const Handshake& handshake() const { return handshake_; }
  // When the other side was asked for its proof.
  EventLoop::Clock::time_point greeted_at() const { return greeted_at_; }

 private:
  void read();
  bool take_frames();
  bool take(std::string_view frame);
  bool greet(std::string_view frame);
  void send_frame(std::string_view frame);
  void write();
  void end(std::string why, bool is_closed = false);

  EventLoop& loop_;
  UniqueFd socket_;
  Handshake handshake_;
  std::size_t longest_frame_;
  std::function<void()> proved_;
  Inbox<News> inbox_;
  IncomingFrames incoming_{kLongestGreeting};
  OutgoingFrames outgoing_;
  std::optional<SealedStream> stream_;
  Alarm greeting_time_;
  EventLoop::Clock::time_point greeted_at_;
  int write_error_ = 0;  // told by read()
  bool write_watched_ = false;
  bool reading_ = false;  // what is sent meanwhile goes out together
  // Expires with the link: tells a callback's caller whether the link is still there.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

// "connection refused", "no route to host": an errno of a connection in words.
std::string connection_problem(int error);

}  // namespace paddle_launch
