// SPDX-License-Identifier: Apache-2.0
// How two launchers find out that they belong to one job: each proves that it knows the job's
// secret, over both nonces and both greetings, with another label in each direction, so that
// neither a recording nor an echo proves anything. Frames in, frames out; no sockets here.
//
//   member: hello (nonce, greeting)  →
//                                    ←   hub: hello (nonce, greeting), proof, stream header
//   member: proof, stream header     →
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "launcher/channel/secret.h"

namespace paddle_launch {

// What a launcher shows of itself to anyone who connects, before anything is proved: enough for a
// person to see which job was met, nothing that would be a secret.
struct Greeting {
  std::string version{};  // of the launcher
  std::string user{};
  std::string job{};   // --job_id, or the name of the script; never its arguments
  std::string host{};  // where the launcher runs
  int pid = 0;         // of the launcher
  // A few bytes of what makes a job itself. The same tag and another secret mean another token.
  std::string tag{};
  // Of the list of nodes, where one was typed and the command is what makes a job: those with the
  // same list and another command may be one job all the same.
  std::string list{};
  // The job's secret in a form that only its own user can open (MUNGE); empty: there is none.
  std::string sealed_secret{};

  bool operator==(const Greeting&) const = default;
};

constexpr int kProtocol = 3;
// No frame of a handshake is longer.
constexpr std::size_t kLongestGreeting = 4096;

// What a sealed credential says; none: it is not for us.
using CredentialOpener = std::function<std::optional<Key>(const std::string& credential)>;

class Handshake {
 public:
  enum class Role { Hub, Member };
  enum class State {
    Going,
    Proved,
    NotALauncher,   // garbage
    OtherProtocol,  // a launcher that speaks another version of this protocol
    OtherJob,       // it does not know our secret
    OtherCommand,   // it does, and its tag is another one
    Goodbye,        // it says that we do not know its secret
  };

  // `open`: for a member that learns the secret from the hub's greeting. `any_command`: a member
  // takes a hub whose tag is another one as well.
  Handshake(Role role, const Key& secret, Greeting mine, CredentialOpener open = {},
            bool any_command = false);

  // The first frame to send; empty for the hub, which only answers.
  std::string begin();
  // Takes one frame in and returns what is to be sent; empty: nothing.
  std::string take(std::string_view frame);

  State state() const { return state_; }
  const Greeting& theirs() const { return theirs_; }
  const Greeting& mine() const { return mine_; }
  const Key& secret() const { return secret_; }  // the hub's, once a credential was opened
  int their_protocol() const { return their_protocol_; }
  // By what both say of themselves: then another secret means another token.
  bool is_same_job() const { return mine_.tag == theirs_.tag; }
  // Once proved: the way to send and receive from now on.
  SealedStream take_stream() { return std::move(*stream_); }

 private:
  std::string hello() const;
  bool read_hello(std::string_view frame, std::string_view& rest);
  std::string take_as_hub(std::string_view frame);
  std::string take_as_member(std::string_view frame);
  std::string all_words() const;
  std::string fail(State state);

  Role role_;
  Key secret_;
  Greeting mine_;
  CredentialOpener open_;
  bool any_command_;
  Greeting theirs_;
  Key my_nonce_;
  int their_protocol_ = 0;
  std::string my_hello_;
  std::string their_hello_;
  State state_ = State::Going;
  std::optional<SealedStream> stream_;
};

}  // namespace paddle_launch
