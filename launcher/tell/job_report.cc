// SPDX-License-Identifier: Apache-2.0
#include "launcher/tell/job_report.h"

#include <nlohmann/json.hpp>

#include "launcher/tell/words.h"
#include "launcher/text/signal_name.h"

namespace paddle_launch {
namespace {

using Kind = StopCause::Kind;
using nlohmann::json;

std::string_view word_of(Kind kind) {
  switch (kind) {
    case Kind::Completed:
      return "completed";
    case Kind::WorkerFailed:
      return "worker_failed";
    case Kind::NotStarted:
      return "not_started";
    case Kind::Interrupted:
      return "interrupted";
    case Kind::GuardLost:
      return "guard_lost";
    case Kind::PodLost:
      return "node_lost";
    case Kind::NodesChange:
      return "nodes_changed";
    case Kind::StoppedFromOutside:
      return "stopped_from_outside";
    case Kind::LauncherFailed:
      return "launcher_failed";
  }
  return "launch_failed";
}

json text_or_null(const std::string& text) { return text.empty() ? json() : json(text); }

json process_json(ProcessName name) {
  return {{"role", words_of(name.role).key}, {"rank", name.index}};
}

json failure_json(const FailureRecord& failure) {
  const ProcessExit& exit = failure.exit;
  json process = process_json(failure.name());
  process.update({{"node", failure.node},
                  {"pid", exit.pid},
                  {"code", exit.code},
                  {"signal", exit.signal == 0 ? json() : json(signal_name(exit.signal))},
                  {"signal_number", exit.signal},
                  {"core_dumped", exit.core_dumped},
                  {"log", text_or_null(failure.log_path)}});
  return process;
}

json suspect_json(const RootCauseHint& hint) {
  json process = process_json(hint.name());
  process.update({{"node", hint.node}, {"log", text_or_null(hint.log_path)}});
  return process;
}

// Every key, as they are where nothing has begun.
json empty_report(std::string_view kind, int status, const std::string& text) {
  return {{"status", status},
          {"kind", kind},
          {"text", text},
          {"first", json()},
          {"failures", json::array()},
          {"stopped", json::array()},
          {"silent", json::array()},
          {"doubt", json()},
          {"suspect", json()},
          {"restarts", json()}};
}

// Whatever a script or a node wrote, the object stays well formed.
std::string written(const json& object) {
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string job_report(const JobVerdict& verdict, int status, int restarts) {
  const StopCause& first = verdict.first;
  json report =
      empty_report(word_of(first.kind), status, first.text.empty() ? "completed" : first.text);
  json& failures = report["failures"];
  for (const FailureRecord& failure : verdict.failures) failures.push_back(failure_json(failure));
  if (first.kind == Kind::WorkerFailed && !failures.empty()) report["first"] = failures.front();
  for (const ProcessName& name : verdict.stopped) report["stopped"].push_back(process_json(name));
  report["silent"] = verdict.silent;
  report["doubt"] = text_or_null(verdict.doubt);
  if (verdict.hint) report["suspect"] = suspect_json(*verdict.hint);
  report["restarts"] = restarts;
  return written(report);
}

std::string launch_report(std::string_view kind, int status, const std::string& text) {
  return written(empty_report(kind, status, text));
}

}  // namespace paddle_launch
