// SPDX-License-Identifier: Apache-2.0
// What etcd's JSON gateway is asked and answers, without a server.
#include "launcher/etcd/gateway.h"

#include <gtest/gtest.h>

#include "launcher/etcd/http.h"
#include "launcher/text/bytes_as_text.h"

namespace paddle_launch {
namespace {

TEST(Base64, IsThatOfTheStandardBothWays) {
  const std::pair<std::string, std::string> pairs[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {std::string("\xff\xfe\xfd\0", 4), "//79AA=="}};
  for (const auto& [bytes, text] : pairs) {
    EXPECT_EQ(to_base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
}

TEST(Base64, WhatIsNoneIsNotRead) {
  for (const char* text : {"Z", "Zg", "Zg=", "Z===", "Zm9?", "Zg==Zg==", "Zm\n9", "===="}) {
    EXPECT_FALSE(from_base64(text)) << text;
  }
}

TEST(TxnRequest, NamesKeysWithThePrefixAndLeasesOfEachKind) {
  using What = EtcdCompare::What;
  EtcdChange change;
  change.only_if = {{"a", What::Absent, 7}, {"b", What::Created, 8}, {"c", What::Modified, 9}};
  change.puts = {
      {"p", "1", EtcdLease::Pod}, {"j", "2", EtcdLease::Job}, {"n", "3", EtcdLease::None}};
  change.deletes = {"d"};
  change.delete_all = true;
  EXPECT_EQ(
      txn_request("/", change, {.pod = 5, .job = 6}),
      R"({"compare":[{"create_revision":"0","key":"L2E=","result":"EQUAL","target":"CREATE"},)"
      R"({"create_revision":"8","key":"L2I=","result":"EQUAL","target":"CREATE"},)"
      R"({"key":"L2M=","mod_revision":"9","result":"EQUAL","target":"MOD"}],)"
      R"("success":[{"request_delete_range":{"key":"Lw==","range_end":"MA=="}},)"
      R"({"request_delete_range":{"key":"L2Q="}},)"
      R"({"request_put":{"key":"L3A=","lease":"5","value":"MQ=="}},)"
      R"({"request_put":{"key":"L2o=","lease":"6","value":"Mg=="}},)"
      R"({"request_put":{"key":"L24=","value":"Mw=="}}]})");
}

TEST(Requests, AreAsTheGatewayWantsThem) {
  EXPECT_EQ(range_request("/a/"), R"({"key":"L2Ev","range_end":"L2Ew"})");
  EXPECT_EQ(watch_request("/a/", 12),
            R"({"create_request":{"key":"L2Ev","range_end":"L2Ew","start_revision":"12"}})");
  EXPECT_EQ(grant_request(std::chrono::seconds(60)), R"({"TTL":"60"})");
  EXPECT_EQ(lease_request(77), R"({"ID":"77"})");
  EXPECT_EQ(authenticate_request("joe", "a\"b"), R"({"name":"joe","password":"a\"b"})");
  EXPECT_NO_THROW(authenticate_request("joe", "\xff\xfe"));
}

TEST(ReadRange, GivesEntriesWithoutThePrefix) {
  const auto range = read_range(
      R"({"header":{"revision":"9"},"kvs":[{"key":"L2Ev","create_revision":"2",)"
      R"("mod_revision":"3","version":"1","value":"MQ==","lease":"9223372036854775807"},)"
      R"({"key":"L2I=","create_revision":4,"mod_revision":4}],"count":"2"})",
      "/");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->revision, 9);
  ASSERT_EQ(range->entries.size(), 2U);
  EXPECT_EQ(range->entries[0], (EtcdEntry{"a/", "1", 2, 3, 9223372036854775807}));
  EXPECT_EQ(range->entries[1], (EtcdEntry{"b", "", 4, 4, 0}));
}

TEST(ReadRange, WhatIsOddIsNoAnswer) {
  for (const char* body :
       {"", "{", "[]", "3", "null", "{}", R"({"header":{}})", R"({"header":{"revision":"x"}})",
        R"({"header":{"revision":"9"},"kvs":{}})", R"({"header":{"revision":"9"},"kvs":[3]})",
        R"({"header":{"revision":"9"},"kvs":[{"key":"L2E"}]})",
        R"({"header":{"revision":"9"},"kvs":[{"key":"eHg="}]})",
        R"({"header":{"revision":"9"},"kvs":[{"key":"L2E=","lease":"1e5"}]})",
        R"({"header":{"revision":"9"},"kvs":[{"key":"L2E=","lease":true}]})"}) {
    EXPECT_FALSE(read_range(body, "/")) << body;
  }
}

TEST(ReadWatch, GivesEventsInTheirOrder) {
  const auto watch =
      read_watch(R"({"result":{"header":{"revision":"9"},"events":[)"
                 R"({"kv":{"key":"L2E=","create_revision":"2","mod_revision":"3","value":"MQ=="}},)"
                 R"({"type":"DELETE","kv":{"key":"L2E=","mod_revision":"4"}}]}})",
                 "/");
  ASSERT_TRUE(watch);
  EXPECT_FALSE(watch->is_over);
  ASSERT_EQ(watch->events.size(), 2U);
  EXPECT_FALSE(watch->events[0].is_delete);
  EXPECT_EQ(watch->events[0].entry, (EtcdEntry{"a", "1", 2, 3, 0}));
  EXPECT_TRUE(watch->events[1].is_delete);
  EXPECT_EQ(watch->events[1].entry.key, "a");
}

TEST(ReadWatch, TellsTheBeginningFromTheEnd) {
  EXPECT_TRUE(read_watch(R"({"result":{"created":true}})", "/")->is_created);
  const auto cancelled = read_watch(
      R"({"result":{"canceled":true,"compact_revision":"5","cancel_reason":"compacted"}})", "/");
  EXPECT_TRUE(cancelled->is_over);
  EXPECT_EQ(cancelled->words, "compacted");
  const auto error = read_watch(R"({"error":{"grpc_code":14,"message":"closing"}})", "/");
  EXPECT_TRUE(error->is_over);
  EXPECT_EQ(error->words, "closing");
}

TEST(ReadWatch, WhatIsOddIsNoAnswer) {
  for (const char* line : {"", "x", "{}", R"({"result":[]})", R"({"result":{"events":{}}})",
                           R"({"result":{"events":[{}]}})",
                           R"({"result":{"events":[{"type":"DELETE","kv":{"key":"eHg="}}]}})"}) {
    EXPECT_FALSE(read_watch(line, "/")) << line;
  }
}

TEST(SmallAnswers, AreReadOrRefused) {
  EXPECT_EQ(read_txn(R"({"header":{"revision":"2"},"succeeded":true})"), true);
  EXPECT_EQ(read_txn(R"({"header":{"revision":"2"}})"), false);
  EXPECT_FALSE(read_txn(R"({"succeeded":true})"));
  EXPECT_FALSE(read_txn("}"));
  EXPECT_EQ(read_grant(R"({"ID":"2324035442917290245","TTL":"5"})"), 2324035442917290245);
  EXPECT_FALSE(read_grant(R"({"TTL":"5"})"));
  EXPECT_EQ(read_keep_alive(R"({"result":{"ID":"7","TTL":"5"}})"), 5);
  EXPECT_EQ(read_keep_alive(R"({"result":{"ID":"7"}})"), 0);
  EXPECT_FALSE(read_keep_alive(R"({"ID":"7"})"));
  EXPECT_EQ(read_token(R"({"token":"abc.21"})"), "abc.21");
  EXPECT_FALSE(read_token("{\"token\":\"abc\\r\\nX: y\"}"));
  EXPECT_FALSE(read_token(R"({"token":""})"));
}

TEST(Judge, KnowsTheRefusalsThatItCanDoSomethingAbout) {
  const auto verdict = [](const char* words) {
    return judge(400, std::string(R"({"error":"etcdserver: )") + words + R"(","code":3})").verdict;
  };
  EXPECT_EQ(verdict("invalid auth token"), Verdict::BadToken);
  EXPECT_EQ(verdict("user name is empty"), Verdict::NeedsUser);
  EXPECT_EQ(verdict("authentication failed, invalid user ID or password"), Verdict::WrongPassword);
  EXPECT_EQ(verdict("authentication is not enabled"), Verdict::AuthIsOff);
  EXPECT_EQ(verdict("permission denied"), Verdict::Denied);
  EXPECT_EQ(verdict("requested lease not found"), Verdict::LeaseGone);
  EXPECT_EQ(verdict("no leader"), Verdict::Unavailable);
  EXPECT_EQ(verdict("mvcc: database space exceeded"), Verdict::Refused);
  EXPECT_EQ(judge(503, R"({"code":14,"message":"etcdserver: no leader"})").verdict,
            Verdict::Unavailable);
  EXPECT_EQ(judge(200, R"({"error":{"message":"etcdserver: no leader"}})").verdict,
            Verdict::Unavailable);
}

TEST(Judge, WordsOfAServerAreOneShortLine) {
  const Judgement judgement =
      judge(400, R"({"error":"a\nb\u0007)" + std::string(5000, 'x') + R"("})");
  EXPECT_TRUE(judgement.words.starts_with("a b x"));
  EXPECT_LT(judgement.words.size(), 400U);
}

TEST(Judge, WhatIsNotOfEtcdIsSaidToBeOdd) {
  EXPECT_EQ(judge(200, "{}").verdict, Verdict::Fine);
  EXPECT_EQ(judge(404, "Not Found").words, "answers, but not as etcd does (HTTP 404)");
  EXPECT_EQ(judge(404, "{}").words, "answers, but not as etcd does (HTTP 404)");
  EXPECT_EQ(judge(200, "[]").words, "answers, but not as etcd does (no JSON)");
  EXPECT_EQ(judge(400, "Client sent an HTTP request to an HTTPS server.\n").words,
            "speaks TLS; write https:// before the address or give --etcd_cacert=FILE");
}

TEST(TransportProblem, IsInPlainWords) {
  using std::chrono::milliseconds;
  EXPECT_EQ(transport_problem({.code = CURLE_COULDNT_CONNECT, .os_error = ECONNREFUSED}),
            "connection refused");
  EXPECT_EQ(transport_problem({.code = CURLE_COULDNT_CONNECT, .words = "Failed"}), "Failed");
  EXPECT_EQ(transport_problem({.code = CURLE_COULDNT_RESOLVE_HOST}), "name not known");
  EXPECT_EQ(transport_problem({.code = CURLE_OPERATION_TIMEDOUT, .took = milliseconds(5003)}),
            "no answer in 5 s");
  EXPECT_EQ(transport_problem({.code = CURLE_OPERATION_TIMEDOUT, .took = milliseconds(100)}),
            "no answer in 1 s");
  EXPECT_EQ(
      transport_problem(
          {.code = CURLE_PEER_FAILED_VERIFICATION, .tls = true, .words = "SSL: no \n"}),
      "no TLS connection: SSL: no; check that it speaks TLS, and --etcd_cacert, --etcd_cert and "
      "--etcd_key");
  EXPECT_EQ(transport_problem({.code = CURLE_GOT_NOTHING, .tls = true}),
            "closed the connection without an answer");
}

}  // namespace
}  // namespace paddle_launch
