// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/job_status.h"

#include <chrono>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "launcher/tell/columns.h"
#include "launcher/tell/words.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

using Json = nlohmann::ordered_json;

// Never negative: the clocks of the nodes and ours may differ.
std::int64_t seconds_since(std::int64_t then, std::int64_t now) {
  return then > 0 && now > then ? now - then : 0;
}

std::string span(std::int64_t then, std::int64_t now) {
  return how_long(std::chrono::seconds(seconds_since(then, now)));
}

bool is_waiting(const JobStatus& status, const JobStatus::Node& node) {
  return !status.is_running || node.trainers <= 0;
}

std::string ranks(const JobStatus& status, const JobStatus::Node& node) {
  if (is_waiting(status, node)) return "waiting";
  if (node.trainers == 1) return std::to_string(node.first_rank);
  return fmt::format("{}-{}", node.first_rank, std::int64_t{node.first_rank} + node.trainers - 1);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : one_line(text); }

std::string table(const JobStatus& status) {
  std::vector<std::vector<std::string>> rows = {{"node", "rank", "pid", "host name"}};
  for (const JobStatus::Node& node : status.nodes) {
    rows.push_back({or_dash(node.host), ranks(status, node),
                    node.pid > 0 ? std::to_string(node.pid) : "-", or_dash(node.machine)});
  }
  return in_columns(rows);
}

std::string round_line(const JobStatus& status, std::int64_t now) {
  if (!status.is_running && status.round_started <= 0) return "none yet: waiting for nodes";
  if (!status.is_running) {
    return fmt::format("none now: waiting for nodes, restarts used {}", status.round.restarts);
  }
  std::string text = fmt::format("{}, running for {}, restarts used {}", status.round.number,
                                 span(status.round_started, now), status.round.restarts);
  if (!status.hub.empty()) text += "; held together by " + one_line(status.hub);
  return text;
}

}  // namespace

std::string job_status(const JobStatus& status, std::int64_t now) {
  return fmt::format("job     {}, up {}, {} node{} wanted\nround   {}\n", one_line(status.job_id),
                     span(status.created, now), one_line(status.wanted),
                     status.wanted == "1" ? "" : "s", round_line(status, now)) +
         table(status);
}

std::string job_status_json(const JobStatus& status, std::int64_t now) {
  Json nodes = Json::array();
  for (const JobStatus::Node& node : status.nodes) {
    const bool waits = is_waiting(status, node);
    nodes.push_back({{"host", node.host},
                     {"machine", node.machine},
                     {"pid", node.pid},
                     {"waiting", waits},
                     {"first_rank", waits ? Json() : Json(node.first_rank)},
                     {"trainers", waits ? 0 : node.trainers}});
  }
  const Json round = {{"number", status.round.number},
                      {"restarts", status.round.restarts},
                      {"quick_failures", status.round.quick_failures},
                      {"started", status.round_started},
                      {"seconds", seconds_since(status.round_started, now)}};
  const bool had_round = status.is_running || status.round_started > 0;
  const Json whole = {{"job_id", status.job_id},
                      {"wanted", status.wanted},
                      {"created", status.created},
                      {"seconds", seconds_since(status.created, now)},
                      {"running", status.is_running},
                      {"hub", status.hub},
                      {"round", had_round ? round : Json()},
                      {"nodes", nodes}};
  // In ASCII: what nodes wrote into etcd may hold characters that steer a terminal.
  return whole.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace paddle_launch
