// SPDX-License-Identifier: Apache-2.0
// A FAKE of NVIDIA's management library, for tests on machines without GPUs. FAKE_NVML_CARDS is the
// number of cards (4 if unset); FAKE_NVML_HANG=1 hangs like a dead driver, FAKE_NVML_LOST=N loses
// card N. It plays a load: every number of a card is its place more than that of card 0.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kSuccess = 0;
constexpr int kGpuIsLost = 15;

std::array<char, 64> handles{};  // a handle is the address of its card's place

struct PciInfo {
  std::array<char, 16> bus_id_legacy;
  std::array<unsigned, 5> numbers;
  std::array<char, 32> bus_id;
};

unsigned number_from(const char* variable, unsigned otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

unsigned index_of(const void* device) {
  return static_cast<unsigned>(static_cast<const char*>(device) - handles.data());
}

}  // namespace

extern "C" {

// NOLINTBEGIN(readability-identifier-naming): the names are NVML's.
int nvmlInit_v2() {
  while (number_from("FAKE_NVML_HANG", 0) == 1) pause();
  return kSuccess;
}

int nvmlShutdown() { return kSuccess; }

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = number_from("FAKE_NVML_CARDS", 4);
  return kSuccess;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  if (index == number_from("FAKE_NVML_LOST", ~0U)) return kGpuIsLost;
  *device = &handles.at(index);
  return kSuccess;
}

int nvmlDeviceGetUUID(const void* device, char* uuid, unsigned size) {
  std::snprintf(uuid, size, "GPU-fake-%04u", index_of(device));
  return kSuccess;
}

int nvmlDeviceGetPciInfo_v3(const void* device, PciInfo* info) {
  std::memset(info, 0, sizeof *info);
  std::snprintf(info->bus_id.data(), info->bus_id.size(), "00000000:%02X:00.0", index_of(device));
  return kSuccess;
}

int nvmlDeviceGetUtilizationRates(const void* device, std::array<unsigned, 2>* rates) {
  *rates = {90 + index_of(device), 0};
  return kSuccess;
}

int nvmlDeviceGetMemoryInfo(const void* device, std::array<unsigned long long, 3>* bytes) {
  constexpr unsigned long long kMebi = 1024ULL * 1024;
  *bytes = {80000 * kMebi, 0, (1000 + index_of(device)) * kMebi};
  return kSuccess;
}

int nvmlDeviceGetPowerUsage(const void* device, unsigned* milliwatts) {
  *milliwatts = (300 + index_of(device)) * 1000;
  return kSuccess;
}

int nvmlDeviceGetTemperature(const void* device, int /*sensor*/, unsigned* celsius) {
  *celsius = 60 + index_of(device);
  return kSuccess;
}

int nvmlDeviceGetClockInfo(const void* device, int type, unsigned* megahertz) {
  *megahertz = static_cast<unsigned>(type) * 1000 + index_of(device);
  return kSuccess;
}
// NOLINTEND(readability-identifier-naming)

}  // extern "C"
