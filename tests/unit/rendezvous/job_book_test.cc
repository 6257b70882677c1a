// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/job_book.h"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace paddle_launch {
namespace {

using Json = nlohmann::json;

BookedJob job() {
  return {.version = "0.1.0",
          .nodes = {2, 4},
          .secret = "00ff",
          .created = 1'700'000'000,
          .command = "train.py --lr 0.1"};
}

BookedPod pod(const std::string& name, std::int64_t since = 0) {
  return {
      .name = name, .host = "10.0.0.1", .port = 6768, .machine = "n1", .pid = 1234, .since = since};
}

BookedRound round() {
  return {.state = {.number = 3, .restarts = 1, .quick_failures = 2},
          .started = 1'700'000'100,
          .is_running = true,
          .hub = "a",
          .pods = {{.name = "a", .host = "10.0.0.1", .first_rank = 0, .trainers = 4},
                   {.name = "b", .host = "10.0.0.2", .first_rank = 4, .trainers = 2}}};
}

JobBook book_with(const std::string& key, const std::string& value) {
  return read_book({{.key = key, .value = value}});
}

// The value with one field changed; null: without it.
std::string changed(const std::string& value, const std::string& field, const Json& to) {
  Json object = Json::parse(value);
  object.erase(field);
  if (!to.is_null()) object[field] = to;
  return object.dump();
}

bool reads_job(const std::string& field, const Json& to) {
  return book_with(kJobKey, changed(write_job(job()), field, to)).job.has_value();
}

bool reads_pod(const std::string& field, const Json& to) {
  return !book_with(pod_key("a"), changed(write_pod(pod("a")), field, to)).pods.empty();
}

bool reads_round(const std::string& field, const Json& to) {
  return book_with(kRoundKey, changed(write_round(round()), field, to)).round.has_value();
}

TEST(JobBook, ReadsWhatItWrote) {
  const JobBook book = read_book(
      {{.key = kJobKey, .value = write_job(job()), .created = 5, .modified = 6, .lease = 7},
       {.key = pod_key("a"), .value = write_pod(pod("a", 8)), .created = 9, .modified = 10},
       {.key = kRoundKey, .value = write_round(round()), .created = 11, .modified = 12},
       {.key = kScaleKey, .value = write_scale(3, "n9")},
       {.key = kStopKey, .value = write_stop("n8")}});
  BookedJob found = job();
  found.lease = 7;
  EXPECT_EQ(book.job_key, 6);
  EXPECT_EQ(book.job, found);
  BookedPod one = pod("a", 8);
  one.created = 9;
  one.modified = 10;
  EXPECT_EQ(book.pods, std::vector{one});
  BookedRound running = round();
  EXPECT_EQ(book.round_key, 12);
  EXPECT_EQ(book.round, running);
  EXPECT_EQ(book.scale, 3);
  EXPECT_EQ(book.scale_from, "n9");
  EXPECT_EQ(book.stop_from, "n8");
}

TEST(JobBook, ValuesArePlainJson) {
  EXPECT_EQ(write_job(job()),
            R"({"version":"0.1.0","min":2,"max":4,"secret":"00ff","created":1700000000,)"
            R"("command":"train.py --lr 0.1"})");
  EXPECT_EQ(write_pod(pod("a", 8)),
            R"({"host":"10.0.0.1","port":6768,"machine":"n1","pid":1234,"since":8})");
  EXPECT_EQ(write_round({.state = {.number = 1}, .hub = "a", .pods = {{.name = "a"}}}),
            R"({"number":1,"restarts":0,"quick_failures":0,"started":0,"running":false,"hub":"a",)"
            R"("pods":[{"name":"a","host":"","first_rank":0,"trainers":0}]})");
  EXPECT_EQ(write_scale(3, "n9"), R"({"nodes":3,"from":"n9"})");
  EXPECT_EQ(write_stop("n8"), R"({"from":"n8"})");
}

TEST(JobBook, AnEmptyPrefixIsAnEmptyBook) {
  const JobBook book = read_book({});
  EXPECT_FALSE(book.job || book.round || book.scale || book.stop_from);
  EXPECT_TRUE(book.pods.empty());
  EXPECT_FALSE(book.wanted());
  EXPECT_EQ(book.find_pod("a"), nullptr);
}

TEST(JobBook, TheMostSeniorPodComesFirst) {
  const JobBook book =
      read_book({{.key = "pods/a", .value = write_pod(pod("a")), .created = 30},
                 {.key = "pods/b", .value = write_pod(pod("b", 10)), .created = 40},
                 {.key = "pods/d", .value = write_pod(pod("d")), .created = 20},
                 {.key = "pods/c", .value = write_pod(pod("c", 20)), .created = 50}});
  std::string names;
  for (const BookedPod& one : book.pods) names += one.name;
  EXPECT_EQ(names, "bcda");
  ASSERT_NE(book.find_pod("d"), nullptr);
  EXPECT_EQ(book.find_pod("d")->created, 20);
  EXPECT_EQ(book.find_pod("e"), nullptr);
}

TEST(JobBook, FieldsOfANewerVersionAreNoHindrance) {
  EXPECT_TRUE(reads_job("color", "red"));
  EXPECT_TRUE(reads_pod("color", Json::array({1, 2})));
  EXPECT_TRUE(reads_round("color", 1.5));
  EXPECT_EQ(book_with(kScaleKey, R"({"nodes":3,"from":"x","color":{}})").scale, 3);
}

TEST(JobBook, OrdersWrittenByHandNeedNotSayFromWhere) {
  EXPECT_EQ(book_with(kScaleKey, R"({"nodes":3})").scale, 3);
  EXPECT_EQ(book_with(kStopKey, "{}").stop_from, "somewhere");
}

TEST(JobBook, WhatCannotBeReadIsLeftOut) {
  for (const char* const value :
       {"", "x", "{", "[]", "null", "7", "\"{}\"", "\xff\xfe", "{\"min\":"}) {
    for (const std::string key : {"job", "round", "pods/a", "orders/scale", "orders/stop"}) {
      const JobBook book = book_with(key, value);
      EXPECT_FALSE(book.job || book.round || book.scale || book.stop_from) << key << ' ' << value;
      EXPECT_TRUE(book.pods.empty()) << value;
    }
  }
}

TEST(JobBook, KeysOfOthersAreLeftOut) {
  for (const char* const key :
       {"pods/", "pods", "pods/a/b", "pod/a", "", "jobs", "job/", "orders", "orders/scale/x"}) {
    const JobBook book = book_with(key, write_pod(pod("a")));
    EXPECT_TRUE(book.pods.empty() && !book.job && !book.scale && !book.stop_from) << key;
  }
}

TEST(JobBook, AJobOutOfRangeIsLeftOut) {
  EXPECT_TRUE(reads_job("min", 4));
  EXPECT_FALSE(reads_job("min", 5)) << "more than max";
  EXPECT_FALSE(reads_job("min", 0));
  EXPECT_FALSE(reads_job("max", -1));
  EXPECT_FALSE(reads_job("max", 1e18));
  EXPECT_FALSE(reads_job("max", 18446744073709551615ULL));
  EXPECT_FALSE(reads_job("max", 9'000'000'000));
  EXPECT_FALSE(reads_job("max", "4"));
  EXPECT_FALSE(reads_job("max", 4.0));
  EXPECT_FALSE(reads_job("max", {}));
  EXPECT_FALSE(reads_job("created", -1));
  EXPECT_FALSE(reads_job("created", 18446744073709551615ULL));
  EXPECT_FALSE(reads_job("command", 3));
  EXPECT_FALSE(reads_job("version", {}));
}

TEST(JobBook, APodOutOfRangeIsLeftOut) {
  EXPECT_TRUE(reads_pod("port", 1));
  EXPECT_TRUE(reads_pod("port", 65535));
  EXPECT_FALSE(reads_pod("port", 0));
  EXPECT_FALSE(reads_pod("port", 65536));
  EXPECT_FALSE(reads_pod("port", 6768 + (1LL << 32)));
  EXPECT_FALSE(reads_pod("pid", -1));
  EXPECT_FALSE(reads_pod("since", -1));
  EXPECT_FALSE(reads_pod("host", ""));
  EXPECT_FALSE(reads_pod("host", Json::array()));
  EXPECT_FALSE(reads_pod("machine", 1));
}

TEST(JobBook, ARoundOutOfRangeIsLeftOut) {
  EXPECT_TRUE(reads_round("running", false));
  EXPECT_TRUE(reads_round("pods", Json::array()));
  EXPECT_FALSE(reads_round("running", 1));
  EXPECT_FALSE(reads_round("number", -1));
  EXPECT_FALSE(reads_round("number", 2147483647)) << "the next one would be negative";
  EXPECT_FALSE(reads_round("restarts", {}));
  EXPECT_FALSE(reads_round("pods", Json::object()));
  EXPECT_FALSE(reads_round("pods", {}));
  EXPECT_FALSE(reads_round("pods", Json::array({7})));
  Json one = {{"name", "a"}, {"host", "h"}, {"first_rank", 0}, {"trainers", 1}};
  EXPECT_TRUE(reads_round("pods", Json::array({one})));
  one["trainers"] = -1;
  EXPECT_FALSE(reads_round("pods", Json::array({one})));
}

TEST(JobBook, AnOrderOutOfRangeIsLeftOut) {
  EXPECT_FALSE(book_with(kScaleKey, R"({"nodes":0,"from":"x"})").scale);
  EXPECT_FALSE(book_with(kScaleKey, R"({"nodes":3,"from":3})").scale);
  EXPECT_FALSE(book_with(kStopKey, R"({"from":null})").stop_from);
}

TEST(JobBook, AnOrderFromOutsideChangesTheNumberOfNodes) {
  JobBook book{.scale = 3};
  EXPECT_FALSE(book.wanted()) << "there is no job";
  book.job = BookedJob{.nodes = {2, 4}};
  EXPECT_EQ(book.wanted(), (NodeRange{2, 3}));
  book.scale = 9;
  EXPECT_EQ(book.wanted(), (NodeRange{2, 9}));
  book.scale = 1;
  EXPECT_EQ(book.wanted(), (NodeRange{2, 2}));
  book.scale.reset();
  EXPECT_EQ(book.wanted(), (NodeRange{2, 4}));
  book.job->nodes = {2, 2};
  EXPECT_EQ(book.wanted(), (NodeRange{2, 2}));
  book.scale = 1;
  EXPECT_EQ(book.wanted(), (NodeRange{1, 1}));
}

TEST(JobBook, TwoJobsNeverShareAPrefix) {
  EXPECT_EQ(prefix_of("job-1_a.B"), "/paddle/job-1_a.B/");
  EXPECT_EQ(prefix_of("j/1"), "/paddle/j%2F1/");
  EXPECT_EQ(prefix_of("j%2F1"), "/paddle/j%252F1/");
  EXPECT_EQ(prefix_of("\xc3\xa9 \n"), "/paddle/%C3%A9%20%0A/");
  std::set<std::string> prefixes;
  const std::vector<std::string> ids = {"a", "a/", "a%2F", "a/b", "a%2f", "a%2Fb", "", "/", "A"};
  for (const std::string& id : ids) prefixes.insert(prefix_of(id));
  EXPECT_EQ(prefixes.size(), ids.size());
}

TEST(JobBook, TextsOfAnyBytesAreWrittenAndBounded) {
  BookedJob odd = job();
  odd.command = std::string("a\xff\n\0b\"", 6) + std::string(5000, 'x');
  const auto found = book_with(kJobKey, write_job(odd)).job;
  ASSERT_TRUE(found);
  EXPECT_EQ(found->command.substr(0, 9), std::string("a\xef\xbf\xbd\n\0b\"x", 9));
  EXPECT_LE(found->command.size(), 1000U);
  odd.command = std::string(999, 'x') + "\xc3\xa9";
  EXPECT_EQ(book_with(kJobKey, write_job(odd)).job->command, std::string(999, 'x'));
  BookedPod far = pod("a");
  far.machine = "\xf0\x9f";
  EXPECT_EQ(book_with(pod_key("a"), write_pod(far)).pods.size(), 1U);
  EXPECT_EQ(book_with(kStopKey, write_stop("\xe9")).stop_from, "\xef\xbf\xbd");
}

TEST(JobBook, ALongTextFromElsewhereIsCut) {
  const auto value = changed(write_job(job()), "command", std::string(3000, 'y'));
  EXPECT_EQ(book_with(kJobKey, value).job->command, std::string(1000, 'y'));
}

}  // namespace
}  // namespace paddle_launch
