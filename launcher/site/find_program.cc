// SPDX-License-Identifier: Apache-2.0
#include "launcher/site/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "launcher/job/errors.h"

namespace paddle_launch {
namespace {

bool is_executable_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// The first directory of PATH that has any of the names.
std::optional<std::string> find_on_path(std::initializer_list<std::string_view> names,
                                        const Environment& env) {
  const std::string path = lookup(env, "PATH").value_or("/usr/local/bin:/usr/bin:/bin");
  std::string_view rest = path;
  while (true) {
    const std::size_t colon = rest.find(':');
    const std::string_view directory = rest.substr(0, colon);
    for (const std::string_view name : names) {
      std::string candidate = fmt::format("{}/{}", directory.empty() ? "." : directory, name);
      if (is_executable_file(candidate)) return candidate;
    }
    if (colon == std::string_view::npos) return std::nullopt;
    rest.remove_prefix(colon + 1);
  }
}

// Whoever calls venv/bin/paddle-launch by its path means that environment, active or not.
std::optional<std::string> python_of_environment(const std::string& own_directory) {
  const std::string python = own_directory + "/python";
  const bool is_environment = access((own_directory + "/../pyvenv.cfg").c_str(), F_OK) == 0;
  if (own_directory.empty() || !is_environment || !is_executable_file(python)) return std::nullopt;
  return python;
}

std::string usual_python(const Environment& env, const std::string& own_directory) {
  if (const auto own = python_of_environment(own_directory)) return *own;
  if (const auto found = find_on_path({"python", "python3"}, env)) return *found;
  throw UsageError(
      "no python and no python3 is on PATH; install one, or name an interpreter with --python");
}

std::string named_python(const std::string& wish, const Environment& env) {
  if (wish.find('/') == std::string::npos) {
    const auto found = find_on_path({std::string_view(wish)}, env);
    if (found) return *found;
    throw UsageError(
        fmt::format("--python={}: no such program is on PATH; give its full path", wish));
  }
  if (is_executable_file(wish)) return wish;
  throw UsageError(
      fmt::format("--python={}: not an executable file; name a Python interpreter", wish));
}

void check_readable_script(const std::string& script) {
  struct stat status {};
  if (stat(script.c_str(), &status) != 0) {
    throw UsageError(fmt::format(
        "training_script {}: {}; give the path of the script, or `-m module` for a module", script,
        std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) {
    throw UsageError(
        fmt::format("training_script {} is a directory; give the script inside it", script));
  }
  if (access(script.c_str(), R_OK) != 0) {
    throw UsageError(fmt::format("training_script {} cannot be read: {}; change its permissions",
                                 script, std::strerror(errno)));
  }
}

std::string find_executable(const std::string& script, const Environment& env) {
  if (script.find('/') == std::string::npos) {
    const auto found = find_on_path({std::string_view(script)}, env);
    if (found) return *found;
  }
  check_readable_script(script);
  if (!is_executable_file(script)) {
    throw UsageError(fmt::format(
        "training_script {} is not executable; run `chmod +x {}`, or give it the ending .py if it "
        "is Python",
        script, script));
  }
  return script.find('/') == std::string::npos ? "./" + script : script;
}

}  // namespace

Program find_program(const Script& script, const Environment& env,
                     const std::string& own_directory) {
  if (script.function != nullptr) return {script.name, {script.name}, script.function};
  Program program;
  const bool is_python = script.name.ends_with(".py");
  if (script.is_module || is_python) {
    if (!script.is_module) check_readable_script(script.name);
    program.path =
        script.python ? named_python(*script.python, env) : usual_python(env, own_directory);
    program.argv = {program.path, "-u"};
    if (script.is_module) program.argv.emplace_back("-m");
    program.argv.push_back(script.name);
  } else {
    program.path = find_executable(script.name, env);
    program.argv = {program.path};
  }
  program.argv.insert(program.argv.end(), script.args.begin(), script.args.end());
  return program;
}

}  // namespace paddle_launch
