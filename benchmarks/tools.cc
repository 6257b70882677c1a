// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/tools.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <stdexcept>

#include "benchmarks/scratch.h"

namespace paddle_launch {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(60);  // importing a framework is slow

fs::path on_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    fs::path candidate = fs::path(folder) / name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return {};
}

// stdout and stderr of a short command; empty when it fails or takes too long.
std::string output_of(const Argv& argv) {
  const Scratch scratch;
  Child child(argv, scratch.path());
  const auto ending = child.wait_until(child.started() + kPatience);
  if (!ending || ending->status != 0) return {};
  std::string text;
  for (const char* name : {"stdout", "stderr"}) {
    std::ifstream file(scratch / name);
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string word_after(const std::string& text, const std::string& key) {
  const size_t at = text.find(key);
  if (at == std::string::npos) return {};
  std::istringstream rest(text.substr(at + key.size()));
  std::string word;
  rest >> word;
  return word;
}

Tool find_program(const std::string& name, const std::string& program, const std::string& key) {
  const fs::path path = on_path(program);
  if (path.empty()) return {name, {}, {}};
  const std::string told = output_of({path.string(), "--version"});
  return {name, {path.string()}, key.empty() ? first_line(told) : word_after(told, key)};
}

Tool find_module(const std::string& name, const std::string& package, const std::string& module) {
  const std::string version =
      output_of({"python3", "-c", "import " + package + " as p; print(p.__version__)"});
  if (version.empty()) return {name, {}, {}};
  return {name, {"python3", "-m", module}, first_line(version)};
}

Tool find_paddle_launch(const std::string& wish, const fs::path& here) {
  const fs::path built = here.parent_path() / "launcher" / "paddle-launch";
  fs::path path = on_path("paddle-launch");
  if (access(built.c_str(), X_OK) == 0) path = built;
  if (!wish.empty()) path = fs::absolute(wish);
  if (path.empty() || access(path.c_str(), X_OK) != 0) {
    throw std::runtime_error("paddle-launch was not found" +
                             (wish.empty() ? std::string() : " at " + wish) +
                             "; name it with --paddle_launch PATH");
  }
  return {"paddle-launch", {path.string()}, first_line(output_of({path.string(), "--version"}))};
}

void prefer_real_python() {
  const std::string real =
      first_line(output_of({"python3", "-c", "import sys; print(sys.executable)"}));
  if (real.empty()) throw std::runtime_error("python3 was not found; the log writers need it");
  const char* path = std::getenv("PATH");
  const std::string folder = fs::path(real).parent_path().string();
  setenv("PATH", (folder + ":" + (path == nullptr ? "" : path)).c_str(), 1);
}

}  // namespace

Tools find_tools(const BenchmarkOptions& options) {
  unsetenv("PYTHONUNBUFFERED");
  prefer_real_python();
  const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  Tools tools;
  tools.bare_loop = {"bare loop", {(here / "bare_loop").string()}, "posix_spawn, then wait"};
  tools.paddle_launch = find_paddle_launch(options.paddle_launch, here);
  tools.hydra = find_program("hydra", "mpiexec.hydra", "Version:");
  tools.open_mpi = find_program("mpirun", "mpirun.openmpi", "");
  tools.torchrun = find_module("torchrun", "torch", "torch.distributed.run");
  tools.paddle = find_module("Paddle's own", "paddle", "paddle.distributed.launch");
  tools.trainer = (here / "bench_trainer").string();
  tools.line_writer = (here / "line_writer").string();
  tools.pods = (here / "bench_pods").string();
  tools.store_meeting = (here / "store_meeting.py").string();
  tools.python = first_line(output_of({"python3", "--version"}));
  if (tools.open_mpi.installed()) {
    tools.open_mpi.command.emplace_back("--oversubscribe");
    if (geteuid() == 0) tools.open_mpi.command.emplace_back("--allow-run-as-root");
  }
  return tools;
}

Argv joined(Argv head, const Argv& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

}  // namespace paddle_launch
