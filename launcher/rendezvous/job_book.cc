// SPDX-License-Identifier: Apache-2.0
#include "launcher/rendezvous/job_book.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "launcher/job/pod.h"
#include "launcher/text/utf8.h"

namespace paddle_launch {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::string_view kPods = "pods/";
constexpr std::string_view kSomewhere = "somewhere";
constexpr std::size_t kMostText = 1000;
constexpr int kMostCount = 1'000'000'000;  // the sum of two still is an int

// One value of the book. A field that is missing or of the wrong kind makes the whole unreadable;
// one that we do not know is a newer version's.
class Fields {
 public:
  explicit Fields(const std::string& value) : Fields(Json::parse(value, nullptr, false)) {}
  explicit Fields(Json object) : object_(std::move(object)), is_wrong_(!object_.is_object()) {}
  bool is_wrong() const { return is_wrong_; }

  void text(const char* key, std::string& to) {
    const Json* const found = find(key);
    if (found == nullptr || !found->is_string()) return fail();
    to = start_of_text(found->get_ref<const std::string&>(), kMostText);
  }
  // As it was where the field is missing: orders may be written by hand.
  void text_if_any(const char* key, std::string& to) {
    if (find(key) != nullptr) text(key, to);
  }
  template <class Number>
  void number(const char* key, Number& to, Number least, Number most) {
    const Json* const found = find(key);
    if (found == nullptr || !found->is_number_integer()) return fail();
    // What only an unsigned number can hold would come out of get() as a negative one.
    const bool is_huge = found->is_number_unsigned() &&
                         found->get<std::uint64_t>() > static_cast<std::uint64_t>(most);
    const auto value = found->get<std::int64_t>();
    if (is_huge || value < least || value > most) return fail();
    to = static_cast<Number>(value);
  }
  void count(const char* key, int& to) { number(key, to, 0, kMostCount); }
  void large(const char* key, std::int64_t& to) {
    number(key, to, std::int64_t{0}, std::numeric_limits<std::int64_t>::max());
  }
  void flag(const char* key, bool& to) {
    const Json* const found = find(key);
    if (found == nullptr || !found->is_boolean()) return fail();
    to = found->get<bool>();
  }
  Json list(const char* key) {
    const Json* const found = find(key);
    if (found == nullptr || !found->is_array()) fail();
    return is_wrong_ ? Json::array() : *found;
  }

 private:
  void fail() { is_wrong_ = true; }
  const Json* find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }

  Json object_;
  bool is_wrong_;
};

std::string cut(const std::string& text) { return std::string(start_of_text(text, kMostText)); }

// The bytes may come from a command line or a host name: what is no UTF-8 is replaced.
std::string dumped(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<BookedJob> read_job(const EtcdEntry& entry) {
  BookedJob job{.lease = entry.lease};
  Fields fields(entry.value);
  fields.text("version", job.version);
  fields.number("min", job.nodes.min, 1, kMostCount);
  fields.number("max", job.nodes.max, job.nodes.min, kMostCount);
  fields.text("secret", job.secret);
  fields.large("created", job.created);
  fields.text("command", job.command);
  return fields.is_wrong() ? std::nullopt : std::optional(job);
}

std::optional<BookedPod> read_pod(const EtcdEntry& entry) {
  const std::string name = entry.key.substr(kPods.size());
  if (name.empty() || name.find('/') != std::string::npos) return std::nullopt;
  BookedPod pod{.name = name, .created = entry.created, .modified = entry.modified};
  Fields fields(entry.value);
  fields.text("host", pod.host);
  fields.number("port", pod.port, 1, kLastPort);
  fields.text("machine", pod.machine);
  fields.count("pid", pod.pid);
  fields.large("since", pod.since);
  return fields.is_wrong() || pod.host.empty() ? std::nullopt : std::optional(pod);
}

std::optional<BookedRound::Pod> read_round_pod(const Json& object) {
  BookedRound::Pod pod;
  Fields fields(object);
  fields.text("name", pod.name);
  fields.text("host", pod.host);
  fields.count("first_rank", pod.first_rank);
  fields.count("trainers", pod.trainers);
  return fields.is_wrong() ? std::nullopt : std::optional(pod);
}

std::optional<BookedRound> read_round(const EtcdEntry& entry) {
  BookedRound round;
  Fields fields(entry.value);
  fields.count("number", round.state.number);
  fields.count("restarts", round.state.restarts);
  fields.count("quick_failures", round.state.quick_failures);
  fields.large("started", round.started);
  fields.flag("running", round.is_running);
  fields.text("hub", round.hub);
  for (const Json& object : fields.list("pods")) {
    const auto pod = read_round_pod(object);
    if (!pod) return std::nullopt;
    round.pods.push_back(*pod);
  }
  return fields.is_wrong() ? std::nullopt : std::optional(round);
}

void read_scale(const EtcdEntry& entry, JobBook& book) {
  int nodes = 0;
  std::string from(kSomewhere);
  Fields fields(entry.value);
  fields.number("nodes", nodes, 1, kMostCount);
  fields.text_if_any("from", from);
  if (fields.is_wrong()) return;
  book.scale = nodes;
  book.scale_from = from;
}

std::optional<std::string> read_stop(const EtcdEntry& entry) {
  std::string from(kSomewhere);
  Fields fields(entry.value);
  fields.text_if_any("from", from);
  return fields.is_wrong() ? std::nullopt : std::optional(from);
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

}  // namespace

std::optional<NodeRange> JobBook::wanted() const {
  if (!job) return std::nullopt;
  if (!scale) return job->nodes;
  if (job->nodes.is_fixed()) return NodeRange{*scale, *scale};
  return NodeRange{job->nodes.min, std::max(job->nodes.min, *scale)};
}

const BookedPod* JobBook::find_pod(const std::string& name) const {
  const auto found = std::find_if(pods.begin(), pods.end(),
                                  [&name](const BookedPod& pod) { return pod.name == name; });
  return found == pods.end() ? nullptr : &*found;
}

std::string pod_key(const std::string& name) { return std::string(kPods) + name; }

EtcdCompare as_it_stands(const std::string& key, std::int64_t revision) {
  return {key, revision == 0 ? EtcdCompare::What::Absent : EtcdCompare::What::Modified, revision};
}

std::string prefix_of(const std::string& job_id) {
  std::string prefix = "/paddle/";
  for (const char c : job_id) {
    prefix +=
        is_plain(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return prefix + "/";
}

JobBook read_book(const std::vector<EtcdEntry>& entries) {
  JobBook book;
  for (const EtcdEntry& entry : entries) {
    if (entry.key == kJobKey) {
      book.job = read_job(entry);
      book.job_key = entry.modified;
    } else if (entry.key == kRoundKey) {
      book.round = read_round(entry);
      book.round_key = entry.modified;
    } else if (entry.key == kScaleKey) {
      read_scale(entry, book);
    } else if (entry.key == kStopKey) {
      book.stop_from = read_stop(entry);
    } else if (entry.key.starts_with(kPods)) {
      if (const auto pod = read_pod(entry)) book.pods.push_back(*pod);
    }
  }
  std::sort(book.pods.begin(), book.pods.end(), [](const BookedPod& a, const BookedPod& b) {
    return a.seniority() != b.seniority() ? a.seniority() < b.seniority() : a.name < b.name;
  });
  return book;
}

std::string write_job(const BookedJob& job) {
  return dumped({{"version", cut(job.version)},
                 {"min", job.nodes.min},
                 {"max", job.nodes.max},
                 {"secret", job.secret},
                 {"created", job.created},
                 {"command", cut(job.command)}});
}

std::string write_pod(const BookedPod& pod) {
  return dumped({{"host", cut(pod.host)},
                 {"port", pod.port},
                 {"machine", cut(pod.machine)},
                 {"pid", pod.pid},
                 {"since", pod.since}});
}

std::string write_round(const BookedRound& round) {
  Json pods = Json::array();
  for (const BookedRound::Pod& pod : round.pods) {
    pods.push_back({{"name", cut(pod.name)},
                    {"host", cut(pod.host)},
                    {"first_rank", pod.first_rank},
                    {"trainers", pod.trainers}});
  }
  return dumped({{"number", round.state.number},
                 {"restarts", round.state.restarts},
                 {"quick_failures", round.state.quick_failures},
                 {"started", round.started},
                 {"running", round.is_running},
                 {"hub", cut(round.hub)},
                 {"pods", pods}});
}

std::string write_scale(int nodes, const std::string& from) {
  return dumped({{"nodes", nodes}, {"from", cut(from)}});
}

std::string write_stop(const std::string& from) {
  return dumped(Json::object({{"from", cut(from)}}));
}

}  // namespace paddle_launch
