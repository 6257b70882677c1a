// SPDX-License-Identifier: Apache-2.0
// For users: docs/logs-and-ranks.md.
#include "launcher/run/gpu_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "launcher/os/child.h"
#include "launcher/os/files.h"
#include "launcher/os/shared_library.h"
#include "launcher/os/unique_fd.h"
#include "launcher/site/found_cards.h"
#include "launcher/tell/voice.h"
#include "launcher/text/number.h"

namespace paddle_launch {
namespace {

constexpr time_t kEvery = 5;  // seconds, as Paddle's launcher does
constexpr std::chrono::milliseconds kLastBreath{500};
constexpr const char* kHeader =
    "time,host,index,utilization.gpu [%],memory.used [MiB],memory.total [MiB],power.draw [W],"
    "temperature.gpu [C],clocks.sm [MHz],clocks.mem [MHz]\n";

// NVML's C boundary (nvml.h, stable since driver 410). Every call returns 0 for success.
using Device = struct NvmlDevice*;
struct Utilization {
  unsigned gpu;
  unsigned memory;
};
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
constexpr int kTemperatureOfGpu = 0;
constexpr int kClockOfSm = 1;
constexpr int kClockOfMemory = 2;
constexpr unsigned kMilli = 1000;
constexpr unsigned long long kMebi = 1024ULL * 1024;

class Sampler {
 public:
  explicit Sampler(const std::string& library) : nvml_(library) {
    nvml_.symbol<int (*)()>("nvmlInit_v2")();
  }

  // One line a card; what a card does not tell is empty.
  std::string sample(const GpuLogSettings& settings) const {
    std::string lines;
    const std::string now = timestamp();
    for (const std::string& name : settings.cards) {
      Device device = find(name);
      if (device == nullptr) continue;
      const auto busy = ask<Utilization>("nvmlDeviceGetUtilizationRates", device);
      const auto memory = ask<Memory>("nvmlDeviceGetMemoryInfo", device);
      const auto power = ask<unsigned>("nvmlDeviceGetPowerUsage", device);
      lines +=
          fmt::format("{},{},{},{},{},{},{},{},{},{}\n", now, settings.host, name,
                      shown(busy ? std::optional(busy->gpu) : std::nullopt),
                      shown(memory ? std::optional(memory->used / kMebi) : std::nullopt),
                      shown(memory ? std::optional(memory->total / kMebi) : std::nullopt),
                      shown(power ? std::optional(*power / kMilli) : std::nullopt),
                      shown(ask<unsigned>("nvmlDeviceGetTemperature", device, kTemperatureOfGpu)),
                      shown(ask<unsigned>("nvmlDeviceGetClockInfo", device, kClockOfSm)),
                      shown(ask<unsigned>("nvmlDeviceGetClockInfo", device, kClockOfMemory)));
    }
    return lines;
  }

 private:
  Device find(const std::string& name) const {
    Device device = nullptr;
    const auto number = parse_whole_number(name);
    const int result =
        number ? nvml_.symbol<int (*)(unsigned, Device*)>("nvmlDeviceGetHandleByIndex_v2")(
                     static_cast<unsigned>(*number), &device)
               : nvml_.symbol<int (*)(const char*, Device*)>("nvmlDeviceGetHandleByUUID")(
                     name.c_str(), &device);
    return result == 0 ? device : nullptr;
  }

  template <typename Value, typename... Which>
  std::optional<Value> ask(const char* call, Device device, Which... which) const {
    Value value{};
    const auto function = nvml_.symbol<int (*)(Device, Which..., Value*)>(call);
    return function(device, which..., &value) == 0 ? std::optional(value) : std::nullopt;
  }

  template <typename Number>
  static std::string shown(const std::optional<Number>& number) {
    return number ? std::to_string(*number) : std::string();
  }

  SharedLibrary nvml_;
};

// Does not return while there is something to write, and room for it.
void write_samples(const GpuLogSettings& settings) {
  const Sampler sampler(settings.library);
  std::string lines = sampler.sample(settings);
  if (lines.empty()) return;
  const UniqueFd file(
      open(settings.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOCTTY | O_CLOEXEC, 0666));
  if (!file) return;
  if (lseek(file.get(), 0, SEEK_END) == 0) lines.insert(0, kHeader);
  timespec next{};
  clock_gettime(CLOCK_MONOTONIC, &next);
  while (write_all(file.get(), lines)) {
    next.tv_sec += kEvery;
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr) != 0) continue;
    lines = sampler.sample(settings);
  }
}

}  // namespace

bool wants_gpu_log(const GpuLogSettings& settings) {
  return !settings.library.empty() && !settings.path.empty() && !settings.cards.empty();
}

GpuLogSettings gpu_log_settings(const PodPlan& plan, const std::string& job_id,
                                const Environment& env) {
  GpuLogSettings settings{.host = plan.processes.host};
  if (plan.card_kind != CardKind::Gpu || plan.log_dir.empty()) return settings;
  settings.library = nvml_library(env).value_or("");
  std::string name = job_id + ".gpu.log";
  std::replace(name.begin(), name.end(), '/', '_');
  settings.path = plan.log_dir + "/" + name;
  for (const ProcessSpec& process : plan.processes.processes) {
    for (const Card& card : process.cards) settings.cards.push_back(card.name);
  }
  return settings;
}

GpuLog::GpuLog(const GpuLogSettings& settings)
    : pid_(fork_child({.name = "pl-gpu-log", .own_session = true},
                      [&settings] { write_samples(settings); })) {}

GpuLog::~GpuLog() {
  if (is_gone(pid_)) return;
  kill(pid_, SIGKILL);
  is_gone_within(pid_, kLastBreath);
}

}  // namespace paddle_launch
