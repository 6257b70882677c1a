// SPDX-License-Identifier: Apache-2.0
// M pods meet at one hub: time until the last has the roster, against as many bare connections.
#include <unistd.h>

#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "benchmarks/scratch.h"
#include "benchmarks/sections.h"
#include "benchmarks/table.h"
#include "benchmarks/talking_child.h"

namespace paddle_launch {
namespace {

constexpr auto kTimeOut = std::chrono::seconds(60);
// TCPStore's clients block: its M pods take their turns in one process.
constexpr int kMostOfTorch = 512;
constexpr const char* kBare = "bare connects";

struct Subject {
  std::string label;
  const Tool* tool;
  std::function<Argv(int)> center;  // the process that listens
  std::function<Argv(int)> others;  // the one that connects
  std::function<Reading(const TalkingChild& center, const TalkingChild& others)> read;
  int most = 4096;
};

Reading read_bare(const TalkingChild& center, const TalkingChild& others) {
  const double last = std::max(center["accepted"], others["connected"]);
  return {last - others["began"],
          {{"memory", center["memory"]}, {"hub_cpu", center["cpu"]}, {"cpu", others["cpu"]}},
          {}};
}

// On real nodes every member makes its offer and unpacks the roster at the same time as the others:
// both count once.
Reading read_meeting(const TalkingChild& center, const TalkingChild& others) {
  return {others["received"] + others["offer"] + others["unpack"],
          {{"memory", center["memory"]},
           {"hub_cpu", center["cpu"]},
           {"cpu", others["cpu"]},
           {"from_hub", others["from_hub"]},
           {"roster", others["roster"]},
           {"unpack", others["unpack"]},
           {"retries", others["retries"]}},
          {}};
}

Reading read_store(const TalkingChild& /*center*/, const TalkingChild& others) {
  return {others["received"], {{"roster", others["roster"]}}, {}};
}

std::vector<Subject> subjects(const Tools& tools) {
  const auto pods = [&tools](const Argv& words) {
    return [&tools, words](int size) {
      return Argv{tools.pods, words[0], std::to_string(size), words[1],
                  fmt::format("benchmark {}", getpid())};
    };
  };
  const auto connections = [&tools](const std::string& role) {
    return [&tools, role](int size) { return Argv{tools.pods, role, std::to_string(size - 1)}; };
  };
  const auto store = [&tools](const std::string& role) {
    return [&tools, role](int size) {
      return Argv{"python3", tools.store_meeting, role, std::to_string(size)};
    };
  };
  return {{kBare, &tools.bare_loop, connections("accept"), connections("connect"), read_bare},
          {"paddle-launch, --ips", &tools.paddle_launch, pods({"hub", "list"}),
           pods({"members", "list"}), read_meeting},
          {"paddle-launch, --master", &tools.paddle_launch, pods({"hub", "master"}),
           pods({"members", "master"}), read_meeting},
          {"torch TCPStore", &tools.torchrun, store("hub"), store("members"), read_store,
           kMostOfTorch}};
}

std::vector<int> sizes(const Bench& bench) {
  return bench.options.quick ? std::vector{4, 64} : std::vector{4, 64, 512, 4096};
}

std::string key(const std::string& label, int size) {
  return fmt::format("rendezvous/{}/{}", label, size);
}

Reading measure(const Subject& subject, int size) {
  const Scratch scratch;
  const auto deadline = Clock::now() + kTimeOut;
  TalkingChild center(subject.center(size), scratch.path());
  center.wait_for("ready", deadline);
  TalkingChild others(subject.others(size), scratch.path());
  others.wait_for_end(deadline);
  center.tell_to_end();
  center.wait_for_end(deadline);
  return subject.read(center, others);
}

std::string mebibytes(const Measurement& numbers, const std::string& name, double unit) {
  const auto found = numbers.counters.find(name);
  if (found == numbers.counters.end()) return "-";
  return fmt::format("{:.2f}", median(found->second) / unit);
}

std::string whole(const Measurement& numbers, const std::string& name) {
  const auto found = numbers.counters.find(name);
  return found == numbers.counters.end() ? "-" : fmt::format("{:.0f}", median(found->second));
}

std::string in_milliseconds(const Measurement& numbers, const std::string& name) {
  const auto found = numbers.counters.find(name);
  return found == numbers.counters.end() ? "-" : milliseconds(median(found->second));
}

}  // namespace

void add_rendezvous_cases(const Bench& bench) {
  for (const Subject& subject : subjects(bench.tools)) {
    if (!subject.tool->installed()) continue;
    for (const int size : sizes(bench)) {
      if (size > subject.most) continue;
      add_case(key(subject.label, size), bench.options.repetitions,
               [subject, size] { return measure(subject, size); });
    }
  }
}

std::string rendezvous_tables(const Bench& bench, const Results& results) {
  constexpr double kMebi = 1024.0 * 1024.0;
  Table table({"pods", "meeting", "median", "min..max, ms", "× bare connects", "roster, bytes",
               "hub sends, MiB", "hub's memory, MiB", "hub's CPU time", "the others' CPU time",
               "unpacking", "turned away"});
  for (const int size : sizes(bench)) {
    for (const Subject& subject : subjects(bench.tools)) {
      if (size > subject.most) continue;
      const Measurement* numbers = results.find(key(subject.label, size));
      const std::string missing = no_number(*subject.tool, numbers);
      const std::vector<std::string> head{std::to_string(size), subject.label};
      if (!missing.empty()) {
        table.add_without_numbers(head, missing);
        continue;
      }
      const double middle = median(numbers->seconds);
      table.add({head[0], head[1], milliseconds(middle), spread_milliseconds(numbers->seconds),
                 ratio(middle, results.find(key(kBare, size))), whole(*numbers, "roster"),
                 mebibytes(*numbers, "from_hub", kMebi), mebibytes(*numbers, "memory", 1024),
                 in_milliseconds(*numbers, "hub_cpu"), in_milliseconds(*numbers, "cpu"),
                 in_milliseconds(*numbers, "unpack"), whole(*numbers, "retries")});
    }
  }
  return fmt::format(
      "## Rendezvous: M pods with 8 endpoints each meet over loopback\n\n{}\n"
      "From the first connect until the last pod has the roster. All pods but the hub live in one "
      "process and come at once; what each of them does on its own machine besides the channel, "
      "making its offer and unpacking the roster, counts once. *Bare connects* are M − 1 "
      "connections between two processes, all accepted, without a byte on them. *Hub's memory* is "
      "how far its resident memory grew at most, without the kernel's socket buffers. *Turned "
      "away* counts attempts that had to be made again.\n",
      table.markdown());
}

}  // namespace paddle_launch
