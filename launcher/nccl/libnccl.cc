// SPDX-License-Identifier: Apache-2.0
// docs/nccl.md.
#include "launcher/nccl/libnccl.h"

#include <dlfcn.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "launcher/os/files.h"
#include "launcher/text/lists.h"

namespace paddle_launch {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLibrary = "libnccl.so.2";
constexpr std::string_view kWheel = "nvidia/nccl/lib/libnccl.so.2";  // below site-packages

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path, ignored);
}

fs::path resolved(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

// The entries of a directory whose names begin like this, later names first.
std::vector<fs::path> entries(const fs::path& directory, const std::string& beginning) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(directory, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(beginning)) found.push_back(entry->path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

class Candidates {
 public:
  void add(const fs::path& path) {
    if (!is_file(path)) return;
    fs::path real = resolved(path);
    if (std::find(seen_.begin(), seen_.end(), real) != seen_.end()) return;
    seen_.push_back(std::move(real));
    paths_.push_back(path.string());
  }
  void add_plain_name() { paths_.emplace_back(kLibrary); }
  std::vector<std::string> paths() && { return std::move(paths_); }

 private:
  std::vector<std::string> paths_;
  std::vector<fs::path> seen_;
};

// An empty entry is left out: it would mean wherever we were started.
std::vector<fs::path> directories_in(const Environment& env, std::string_view variable) {
  std::vector<fs::path> found;
  const std::string list = lookup(env, variable).value_or("");
  for (const std::string_view directory : split(list, ':')) {
    if (!directory.empty()) found.emplace_back(directory);
  }
  return found;
}

// "python3.11" where the interpreter's file says so, else what every Python 3 begins with.
std::string python_name(const std::string& interpreter) {
  const std::string name = resolved(interpreter).filename().string();
  return name.starts_with("python3.") ? name : "python3";
}

void add_site_packages(Candidates& to, const fs::path& prefix, const std::string& python) {
  for (const char* const lib : {"lib", "lib64"}) {
    for (const fs::path& directory : entries(prefix / lib, python)) {
      to.add(directory / "site-packages" / kWheel);
      to.add(directory / "dist-packages" / kWheel);
    }
  }
}

// In the order in which Python itself looks: a virtual environment hides ~/.local, and ~/.local
// hides an installation.
std::vector<fs::path> python_prefixes(const NcclSearch& search) {
  std::vector<fs::path> prefixes;
  const auto home = lookup(search.env, "HOME");
  if (home) prefixes.push_back(fs::path(*home) / ".local");
  if (search.python.empty()) return prefixes;
  const fs::path own = fs::path(search.python).parent_path().parent_path();
  prefixes.insert(is_file(own / "pyvenv.cfg") ? prefixes.begin() : prefixes.end(), own);
  const fs::path real = resolved(search.python).parent_path().parent_path();
  if (real != own) prefixes.push_back(real);
  if (real == "/usr") prefixes.emplace_back("/usr/local");  // Debian's pip installs there
  return prefixes;
}

void add_python(Candidates& to, const NcclSearch& search) {
  for (const fs::path& path : directories_in(search.env, "PYTHONPATH")) to.add(path / kWheel);
  const std::string python = python_name(search.python);
  for (const fs::path& prefix : python_prefixes(search)) add_site_packages(to, prefix, python);
  for (const char* const variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto prefix = lookup(search.env, variable).value_or("");
    if (prefix.empty()) continue;
    add_site_packages(to, prefix, python);
    to.add(fs::path(prefix) / "lib" / kLibrary);  // conda's own package
  }
}

void add_toolkits(Candidates& to, const NcclSearch& search) {
  std::vector<fs::path> roots;
  for (const char* const variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const auto root = lookup(search.env, variable).value_or("");
    if (!root.empty()) roots.emplace_back(root);
  }
  roots.push_back(fs::path(search.toolkits) / "cuda");  // the one that the administrator chose
  const auto installed = entries(search.toolkits, "cuda");
  roots.insert(roots.end(), installed.begin(), installed.end());
  for (const fs::path& root : roots) {
    for (const char* const lib : {"lib64", "lib", "targets/x86_64-linux/lib"}) {
      to.add(root / lib / kLibrary);
    }
  }
}

NcclCandidates only_the_given(const std::string& given) {
  if (is_file(given)) return {{given}, {}};
  const fs::path inside = fs::path(given) / kLibrary;
  if (is_file(inside)) return {{inside.string()}, {}};
  std::error_code ignored;
  return {{},
          fmt::format("--nccl_lib={}: {}; name libnccl.so.2 or the directory that has it", given,
                      fs::is_directory(given, ignored) ? "there is no libnccl.so.2 in it"
                                                       : "no such file")};
}

}  // namespace

NcclCandidates find_nccl(const NcclSearch& search) {
  if (!search.given.empty()) return only_the_given(search.given);
  Candidates found;
  // Paddle's own way to name the directory comes before the loader's.
  for (const char* const variable : {"FLAGS_nccl_dir", "LD_LIBRARY_PATH"}) {
    for (const fs::path& directory : directories_in(search.env, variable)) {
      found.add(directory / kLibrary);
    }
  }
  add_python(found, search);
  add_toolkits(found, search);
  found.add_plain_name();
  return {std::move(found).paths(), {}};
}

std::vector<std::string> nccl_conf_files(const Environment& env) {
  std::vector<std::string> files;
  const std::string named = lookup(env, "NCCL_CONF_FILE").value_or("");
  if (!named.empty()) {
    files.push_back(named);
  } else if (const passwd* const user = getpwuid(getuid())) {
    files.push_back(std::string(user->pw_dir) + "/.nccl.conf");  // NCCL does not look at HOME
  }
  files.emplace_back("/etc/nccl.conf");
  return files;
}

bool conf_sets(const std::vector<std::string>& files, std::string_view variable) {
  const std::string beginning = std::string(variable) + "=";
  return std::any_of(files.begin(), files.end(), [&beginning](const std::string& file) {
    const std::string content = read_file(file).value_or("");
    const auto lines = split(content, '\n');
    return std::any_of(lines.begin(), lines.end(),
                       [&beginning](std::string_view line) { return line.starts_with(beginning); });
  });
}

namespace {

// The file behind a plain name.
std::string file_of(const void* function) {
  Dl_info info{};
  return dladdr(function, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

}  // namespace

NcclLibrary::NcclLibrary(const std::string& path)
    : library_(path),
      get_version_(library_.symbol<int (*)(int*)>("ncclGetVersion")),
      get_unique_id_(library_.symbol<int (*)(char*)>("ncclGetUniqueId")),
      get_error_string_(library_.symbol<const char* (*)(int)>("ncclGetErrorString")) {}

std::string NcclLibrary::failure(const char* call, int result) const {
  std::string text = fmt::format("{} failed in {}: {}", call,
                                 file_of(reinterpret_cast<const void*>(get_unique_id_)),
                                 get_error_string_(result));
  try {
    // Since 2.13. What NCCL_DEBUG=WARN would have printed.
    const auto last_error = library_.symbol<const char* (*)(void*)>("ncclGetLastError");
    const char* const words = last_error(nullptr);
    if (words != nullptr && *words != '\0') text += fmt::format(" ({})", words);
  } catch (const std::runtime_error&) {
    text += " (NCCL_DEBUG=WARN says more)";
  }
  return text;
}

NcclIds NcclLibrary::make_ids(int count) const {
  NcclIds made;
  made.library = file_of(reinterpret_cast<const void*>(get_unique_id_));
  if (const int result = get_version_(&made.version); result != 0) {
    throw std::runtime_error(failure("ncclGetVersion", result));
  }
  for (int index = 0; index < count; ++index) {
    std::string id(kNcclIdBytes, '\0');
    if (const int result = get_unique_id_(id.data()); result != 0) {
      throw std::runtime_error(failure("ncclGetUniqueId", result));
    }
    if (index > 0 && id == made.ids.front()) break;
    made.ids.push_back(std::move(id));
  }
  return made;
}

OpenedNccl open_nccl(const std::vector<std::string>& candidates) {
  std::string problem = "no libnccl.so.2 can be used";
  std::string_view separator = ": ";
  for (const std::string& path : candidates) {
    try {
      return {NcclLibrary(path), {}};
    } catch (const std::runtime_error& error) {
      const std::string_view why = error.what();
      // The loader's words mostly begin with the file.
      problem += why.starts_with(path) ? fmt::format("{}{}", separator, why)
                                       : fmt::format("{}{}: {}", separator, path, why);
      separator = "; ";
    }
  }
  return {std::nullopt, std::move(problem)};
}

}  // namespace paddle_launch
