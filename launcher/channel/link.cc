// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/link.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "launcher/os/sockets.h"

namespace paddle_launch {
namespace {

// A stranger that has not proved anything by then is dropped.
constexpr std::chrono::seconds kGreetingTime{10};
constexpr std::chrono::seconds kTimeToAcknowledge{3};
constexpr std::size_t kReadAtOnce = 64 * 1024;

bool is_not_yet(int error) { return error == EAGAIN || error == EWOULDBLOCK; }

std::string why_greeting_failed(const Handshake& handshake) {
  switch (handshake.state()) {
    case Handshake::State::OtherProtocol:
      return "a launcher that speaks protocol " + std::to_string(handshake.their_protocol()) +
             ", and this one speaks " + std::to_string(kProtocol);
    case Handshake::State::OtherJob:
      return handshake.is_same_job() ? "a launcher that does not know this job's secret"
                                     : "a launcher of another job";
    case Handshake::State::OtherCommand:
    case Handshake::State::Goodbye:
      return "a launcher of another job";
    default:
      return "not a launcher";
  }
}

}  // namespace

std::string connection_problem(int error) {
  switch (error) {
    case ECONNREFUSED:
      return "connection refused";
    case EHOSTUNREACH:
      return "no route to host";
    case ENETUNREACH:
      return "network is unreachable";
    case ETIMEDOUT:
      return "no answer";
    case ECONNRESET:
    case EPIPE:
      return "connection reset";
    default:
      return std::strerror(error);
  }
}

Link::Link(EventLoop& loop, UniqueFd connected, Handshake handshake, std::size_t longest_frame,
           Events events)
    : loop_(loop),
      socket_(std::move(connected)),
      handshake_(std::move(handshake)),
      longest_frame_(longest_frame),
      proved_(std::move(events.proved)),
      greeting_time_(loop),
      greeted_at_(EventLoop::Clock::now()) {
  listen(std::move(events.message), std::move(events.ended));
  loop_.on_readable(socket_.get(), [this] { read(); });
  greeting_time_.set(kGreetingTime, [this] {
    end("no proof within " + std::to_string(kGreetingTime.count()) + " s");
  });
  const std::string first = handshake_.begin();
  if (!first.empty()) send_frame(first);
}

Link::~Link() {
  if (socket_) loop_.forget(socket_.get());
}

void Link::listen(std::function<void(Message)> message, std::function<void(const LinkEnd&)> ended) {
  inbox_.listen([message = std::move(message), ended = std::move(ended)](News news) {
    if (const auto* end = std::get_if<LinkEnd>(&news)) return ended(*end);
    message(std::move(std::get<Message>(news)));
  });
}

void Link::read() {
  std::array<char, kReadAtOnce> chunk;
  const ssize_t size = recv(socket_.get(), chunk.data(), chunk.size(), MSG_DONTWAIT);
  if (size < 0 && (is_not_yet(errno) || errno == EINTR)) return;
  if (size < 0) return end(connection_problem(errno));
  if (size == 0 && write_error_ != 0) return end(connection_problem(write_error_));
  if (size == 0) return end(is_proved() ? kEndedWithoutAWord : kClosedByOther, true);
  incoming_.add({chunk.data(), static_cast<std::size_t>(size)});
  reading_ = true;
  if (!take_frames()) return;
  reading_ = false;
  if (!write_watched_) write();
  if (incoming_.is_oversize()) end("a frame that is too long");
}

// False: the link is gone.
bool Link::take_frames() {
  const std::weak_ptr<bool> alive = alive_;
  while (const std::optional<std::string_view> frame = incoming_.next()) {
    if (!take(*frame) || alive.expired()) return false;
  }
  return true;
}

bool Link::take(std::string_view frame) {
  if (!is_proved()) return greet(frame);
  const std::optional<std::string> plain = stream_->open(frame);
  std::optional<Message> message = plain ? decode(*plain) : std::nullopt;
  if (!message) {
    end("a frame that is not what the other side sealed");
    return false;
  }
  inbox_.put(std::move(*message));
  return true;
}

bool Link::greet(std::string_view frame) {
  const std::string answer = handshake_.take(frame);
  const Handshake::State state = handshake_.state();
  // Whatever the other side's clock says in its proof was read after this.
  if (state == Handshake::State::Going) greeted_at_ = EventLoop::Clock::now();
  if (!answer.empty()) send_frame(answer);
  if (!socket_) return false;
  if (state == Handshake::State::Going) return true;
  if (state != Handshake::State::Proved) {
    end(why_greeting_failed(handshake_));
    return false;
  }
  greeting_time_.stop();
  stream_ = handshake_.take_stream();
  incoming_.set_longest(longest_frame_);
  const auto proved = proved_;  // the link may go while it is called
  proved();
  return true;
}

void Link::hurry() const {
  if (socket_) shorten_user_timeout(socket_.get(), kTimeToAcknowledge);
}

void Link::send(const Message& message) { send_encoded(encode(message)); }

void Link::send_encoded(std::string_view message) {
  if (socket_ && is_proved()) send_frame(stream_->seal(message));
}

void Link::send_frame(std::string_view frame) {
  outgoing_.add(frame);
  if (!write_watched_ && !reading_) write();
}

// What cannot be written because the other side is gone is noticed by read(), never here: nobody
// who sends has to expect that the link dies under them.
void Link::write() {
  const int error = outgoing_.send_to(socket_.get());
  if (error != 0 && !is_not_yet(error)) {
    write_error_ = error;
    outgoing_ = OutgoingFrames();
  }
  const bool wants_more = !outgoing_.empty();
  if (wants_more == write_watched_) return;
  write_watched_ = wants_more;
  loop_.on_writable(socket_.get(), wants_more ? EventLoop::Callback([this] { write(); }) : nullptr);
}

void Link::end(std::string why, bool is_closed) {
  greeting_time_.stop();
  if (std::exchange(reading_, false) && !write_watched_) write();  // a goodbye
  loop_.forget(socket_.get());
  socket_.reset();
  inbox_.put(LinkEnd{std::move(why), handshake_.state(), is_closed});
}

}  // namespace paddle_launch
