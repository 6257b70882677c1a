// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/handshake.h"

#include <limits>
#include <utility>

#include "launcher/text/wire.h"

namespace paddle_launch {
namespace {

constexpr std::string_view kMagic = "PADDLE-LAUNCH";
constexpr std::string_view kGoodbye = "another job";
constexpr std::size_t kLongestWord = 512;
constexpr std::size_t kLongestCredential = 1024;

constexpr std::string_view kHubProves = "the hub knows the secret";
constexpr std::string_view kMemberProves = "the member knows the secret";
constexpr std::string_view kToMember = "frames to the member";
constexpr std::string_view kToHub = "frames to the hub";

std::string shortened(const std::string& word) { return word.substr(0, kLongestWord); }

}  // namespace

Handshake::Handshake(Role role, const Key& secret, Greeting mine, CredentialOpener open,
                     bool any_command)
    : role_(role),
      secret_(secret),
      mine_(std::move(mine)),
      open_(std::move(open)),
      any_command_(any_command),
      my_nonce_(random_key()) {
  my_hello_ = hello();
}

std::string Handshake::begin() { return role_ == Role::Member ? my_hello_ : std::string(); }

std::string Handshake::take(std::string_view frame) {
  if (state_ != State::Going) return {};
  if (frame.size() > kLongestGreeting) return fail(State::NotALauncher);
  return role_ == Role::Hub ? take_as_hub(frame) : take_as_member(frame);
}

std::string Handshake::fail(State state) {
  state_ = state;
  return {};
}

std::string Handshake::hello() const {
  WireWriter out;
  out.text(kMagic);
  out.varint(kProtocol);
  out.text(bytes_of(my_nonce_));
  out.text(shortened(mine_.version));
  out.text(shortened(mine_.user));
  out.text(shortened(mine_.job));
  out.text(shortened(mine_.host));
  out.varint(static_cast<std::uint64_t>(mine_.pid));
  out.text(shortened(mine_.tag));
  out.text(shortened(mine_.list));
  out.text(mine_.sealed_secret.substr(0, kLongestCredential));
  return out.bytes();
}

// False: the state says why. `rest`: what follows the hello in the frame.
bool Handshake::read_hello(std::string_view frame, std::string_view& rest) {
  WireReader in(frame);
  const std::string magic = in.text(kMagic.size());
  const auto protocol = in.varint();
  if (in.failed() || magic != kMagic || protocol > 1'000'000) {
    state_ = State::NotALauncher;
    return false;
  }
  their_protocol_ = static_cast<int>(protocol);
  if (their_protocol_ != kProtocol) {
    state_ = State::OtherProtocol;
    return false;
  }
  const bool has_nonce = key_of(in.text(kKeyBytes)).has_value();
  theirs_.version = in.text(kLongestWord);
  theirs_.user = in.text(kLongestWord);
  theirs_.job = in.text(kLongestWord);
  theirs_.host = in.text(kLongestWord);
  const std::uint64_t pid = in.varint();
  theirs_.tag = in.text(kLongestWord);
  theirs_.list = in.text(kLongestWord);
  theirs_.sealed_secret = in.text(kLongestCredential);
  if (in.failed() || !has_nonce || pid > std::numeric_limits<int>::max()) {
    state_ = State::NotALauncher;
    return false;
  }
  theirs_.pid = static_cast<int>(pid);
  rest = frame.substr(frame.size() - in.left());
  their_hello_ = std::string(frame.substr(0, frame.size() - in.left()));
  return true;
}

// Protocol version, nonces and greetings of both sides: what every proof and key is bound to.
std::string Handshake::all_words() const {
  const bool hub = role_ == Role::Hub;
  WireWriter out;
  out.text(hub ? their_hello_ : my_hello_);
  out.text(hub ? my_hello_ : their_hello_);
  return out.bytes();
}

std::string Handshake::take_as_hub(std::string_view frame) {
  if (their_hello_.empty()) {
    std::string_view rest;
    if (!read_hello(frame, rest)) {
      // A launcher of another version still learns who we are.
      return state_ == State::OtherProtocol ? my_hello_ : std::string();
    }
    if (!rest.empty()) return fail(State::NotALauncher);
    stream_.emplace(derive(secret_, kToMember, all_words()));
    return my_hello_ + std::string(bytes_of(derive(secret_, kHubProves, all_words()))) +
           stream_->header();
  }
  if (frame == kGoodbye) return fail(State::Goodbye);
  const auto proof = key_of(frame.substr(0, kKeyBytes));
  if (!proof || !same(*proof, derive(secret_, kMemberProves, all_words()))) {
    return fail(State::OtherJob);
  }
  if (!stream_->begin_opening(derive(secret_, kToHub, all_words()), frame.substr(kKeyBytes))) {
    return fail(State::NotALauncher);
  }
  state_ = State::Proved;
  return {};
}

std::string Handshake::take_as_member(std::string_view frame) {
  std::string_view rest;
  if (!read_hello(frame, rest)) return {};
  if (open_) {
    // Whoever shows no credential that we can open is not of this job, whatever else it knows.
    const auto secret = is_same_job() ? open_(theirs_.sealed_secret) : std::nullopt;
    secret_ = secret.value_or(random_key());
  }
  const auto proof = key_of(rest.substr(0, kKeyBytes));
  if (!proof || !same(*proof, derive(secret_, kHubProves, all_words()))) {
    state_ = State::OtherJob;
    return std::string(kGoodbye);
  }
  if (!is_same_job() && !any_command_) {
    state_ = State::OtherCommand;
    return std::string(kGoodbye);
  }
  stream_.emplace(derive(secret_, kToHub, all_words()));
  if (!stream_->begin_opening(derive(secret_, kToMember, all_words()), rest.substr(kKeyBytes))) {
    return fail(State::NotALauncher);
  }
  state_ = State::Proved;
  return std::string(bytes_of(derive(secret_, kMemberProves, all_words()))) + stream_->header();
}

}  // namespace paddle_launch
