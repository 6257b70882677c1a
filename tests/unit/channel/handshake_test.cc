// SPDX-License-Identifier: Apache-2.0
#include "launcher/channel/handshake.h"

#include <gtest/gtest.h>

namespace paddle_launch {
namespace {

using State = Handshake::State;

const Greeting kHubGreeting{.version = "0.1.0", .user = "ann", .job = "train.py", .host = "n1"};
const Greeting kMemberGreeting{.version = "0.1.0", .user = "ann", .job = "train.py", .host = "n2"};

Handshake hub_of(const Key& secret) { return {Handshake::Role::Hub, secret, kHubGreeting}; }
Handshake member_of(const Key& secret) {
  return {Handshake::Role::Member, secret, kMemberGreeting};
}

const Key kSecret = job_secret("a token of sixteen", "train.py");

TEST(Handshake, TwoThatKnowTheSecretProveItToEachOther) {
  Handshake hub = hub_of(kSecret);
  Handshake member = member_of(kSecret);
  EXPECT_EQ(hub.take(member.take(hub.take(member.begin()))), "");
  EXPECT_EQ(hub.state(), State::Proved);
  EXPECT_EQ(member.state(), State::Proved);
  EXPECT_EQ(hub.theirs(), kMemberGreeting);
  EXPECT_EQ(member.theirs(), kHubGreeting);

  SealedStream from_hub = hub.take_stream();
  SealedStream from_member = member.take_stream();
  EXPECT_EQ(from_member.open(from_hub.seal("roster")), "roster");
  EXPECT_EQ(from_hub.open(from_member.seal("offer")), "offer");
}

TEST(Handshake, AMemberOfAnotherJobSaysGoodbyeAndSeesWhoseJobItMet) {
  Handshake hub = hub_of(kSecret);
  Handshake member = member_of(job_secret("a token of sixteen", "other.py"));
  const std::string goodbye = member.take(hub.take(member.begin()));
  EXPECT_EQ(member.state(), State::OtherJob);
  EXPECT_EQ(member.theirs(), kHubGreeting);
  hub.take(goodbye);
  EXPECT_EQ(hub.state(), State::Goodbye);
}

// A hub and a member that know the same secret and have different tags.
std::pair<State, State> met_by_other_command(bool any_command) {
  Greeting greeting = kMemberGreeting;
  greeting.tag = "other";
  Handshake hub = hub_of(kSecret);
  Handshake member{Handshake::Role::Member, kSecret, greeting, {}, any_command};
  hub.take(member.take(hub.take(member.begin())));
  return {hub.state(), member.state()};
}

TEST(Handshake, AHubOfAnotherCommandIsTakenOnlyByAMemberThatTakesAny) {
  EXPECT_EQ(met_by_other_command(false), std::pair(State::Goodbye, State::OtherCommand));
  EXPECT_EQ(met_by_other_command(true), std::pair(State::Proved, State::Proved));
}

// A member that knows no secret, and opens credentials that say "for us".
Handshake member_that_opens_credentials() {
  return {Handshake::Role::Member, random_key(), kMemberGreeting,
          [](const std::string& credential) {
            return credential == "for us" ? std::optional(kSecret) : std::nullopt;
          }};
}

State met_by_hub_with_credential(const std::string& credential, const Key& secret) {
  Greeting greeting = kHubGreeting;
  greeting.sealed_secret = credential;
  Handshake hub{Handshake::Role::Hub, secret, greeting};
  Handshake member = member_that_opens_credentials();
  hub.take(member.take(hub.take(member.begin())));
  EXPECT_EQ(hub.state() == State::Proved, member.state() == State::Proved);
  return member.state();
}

TEST(Handshake, AMemberLearnsTheSecretFromACredentialThatItCanOpen) {
  EXPECT_EQ(met_by_hub_with_credential("for us", kSecret), State::Proved);
  EXPECT_EQ(met_by_hub_with_credential("for us", random_key()), State::OtherJob);
}

TEST(Handshake, AMemberThatOpensLettersTrustsNobodyWithoutOne) {
  EXPECT_EQ(met_by_hub_with_credential("for others", kSecret), State::OtherJob);
  EXPECT_EQ(met_by_hub_with_credential("", kSecret), State::OtherJob);
}

TEST(Handshake, AWrongProofIsRefused) {
  Handshake hub = hub_of(kSecret);
  Handshake member = member_of(kSecret);
  std::string proof = member.take(hub.take(member.begin()));
  proof.front() = static_cast<char>(proof.front() ^ 1);
  EXPECT_EQ(hub.take(proof), "");
  EXPECT_EQ(hub.state(), State::OtherJob);
}

TEST(Handshake, ARecordingOfAMemberProvesNothingToTheHubLater) {
  Handshake member = member_of(kSecret);
  const std::string hello = member.begin();
  Handshake first = hub_of(kSecret);
  const std::string proof = member.take(first.take(hello));
  Handshake second = hub_of(kSecret);
  second.take(hello);
  second.take(proof);
  EXPECT_EQ(second.state(), State::OtherJob);
}

TEST(Handshake, AnEchoOfTheHubsOwnProofProvesNothing) {
  Handshake hub = hub_of(kSecret);
  Handshake stranger = member_of(random_key());
  const std::string answer = hub.take(stranger.begin());
  const std::size_t header = SealedStream(random_key()).header().size();
  hub.take(answer.substr(answer.size() - kKeyBytes - header));
  EXPECT_EQ(hub.state(), State::OtherJob);
}

TEST(Handshake, GarbageIsNotALauncher) {
  for (const std::string& garbage :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(kLongestGreeting + 1, 'x'),
        std::string(), std::string(100, '\0')}) {
    Handshake hub = hub_of(kSecret);
    EXPECT_EQ(hub.take(garbage), "");
    EXPECT_EQ(hub.state(), State::NotALauncher);
  }
}

TEST(Handshake, EveryCutHelloIsRefusedAndNothingMoreIsTaken) {
  const std::string hello = member_of(kSecret).begin();
  for (std::size_t size = 0; size < hello.size(); ++size) {
    Handshake hub = hub_of(kSecret);
    hub.take(hello.substr(0, size));
    EXPECT_EQ(hub.state(), State::NotALauncher) << size;
    EXPECT_EQ(hub.take(hello), "");
  }
}

TEST(Handshake, ALauncherOfAnotherProtocolLearnsWhoWeAre) {
  std::string hello = member_of(kSecret).begin();
  // The version follows the magic word and its length.
  hello[14] = 9;
  Handshake hub = hub_of(kSecret);
  EXPECT_NE(hub.take(hello), "");
  EXPECT_EQ(hub.state(), State::OtherProtocol);
  EXPECT_EQ(hub.their_protocol(), 9);
}

TEST(SealedStream, NoticesWhatWasChangedRepeatedOrLeftOut) {
  const Key key = random_key();
  SealedStream sender(key);
  SealedStream receiver(random_key());
  ASSERT_TRUE(receiver.begin_opening(key, sender.header()));
  const std::string one = sender.seal("one");
  const std::string two = sender.seal("two");
  const std::string three = sender.seal("three");
  std::string changed = one;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  EXPECT_FALSE(receiver.open(changed));
  EXPECT_EQ(receiver.open(one), "one");
  EXPECT_FALSE(receiver.open(one));
  EXPECT_FALSE(receiver.open(three));
  EXPECT_EQ(receiver.open(two), "two");
  EXPECT_FALSE(receiver.open("short"));
  EXPECT_FALSE(receiver.begin_opening(key, "short"));
}

TEST(JobSecret, DependsOnTheTokenAndOnTheJob) {
  EXPECT_TRUE(same(kSecret, job_secret("a token of sixteen", "train.py")));
  EXPECT_FALSE(same(kSecret, job_secret("a token of sixteen", "train.p")));
  EXPECT_FALSE(same(kSecret, job_secret("a token of sixteen!", "train.py")));
  EXPECT_FALSE(same(job_secret("ab", "c"), job_secret("a", "bc")));
}

}  // namespace
}  // namespace paddle_launch
