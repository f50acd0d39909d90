// SPDX-License-Identifier: Apache-2.0
#include "runtimes/programs.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/install_places.hpp"

namespace oplat::runtimes {
namespace {

namespace fs = std::filesystem;

/// Returns only where the program cannot be executed. Found in PATH where it names no folder.
Error execute(const RuntimeEntry& entry, const std::string& program,
              std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execvp(program.c_str(), argv.data());
  return Error{Code::Runtime, fmt::format("{}: cannot execute {}: {}; install it: {}", entry.name,
                                          program, std::strerror(errno), entry.install)};
}

/// NAME in `folder` or in the nearest folder above it that has it.
std::optional<fs::path> at_or_above(fs::path folder, const fs::path& name) {
  while (!folder.empty()) {
    std::error_code error;
    if (fs::exists(folder / name, error)) return folder / name;
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return std::nullopt;
}

/// OPLAT_PADDLE_PYTHON of "paddle".
std::string variable_of(std::string_view name) {
  std::string variable = "OPLAT_";
  for (const char c : name) variable += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return variable + "_PYTHON";
}

std::string interpreter_of(const RuntimeEntry& entry, const fs::path& folder) {
  if (const char* given = std::getenv(variable_of(entry.name).c_str());
      given != nullptr && *given != '\0')
    return given;
  const fs::path name = fs::path(fmt::format(".venv-{}", entry.name)) / "bin" / "python";
  if (const auto found = at_or_above(folder, name)) return found->string();
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (!error && fs::exists(here / name, error)) return (here / name).string();
  if (const auto environment = at_or_above(folder, "pyvenv.cfg"))
    return (environment->parent_path() / "bin" / "python").string();
  return "python3";
}

/// `relative`, from the folder of the installed program, if it is there.
std::optional<fs::path> installed(const fs::path& folder, const fs::path& relative) {
  std::error_code error;
  const fs::path path = (folder / relative).lexically_normal();
  return fs::exists(path, error) ? std::optional(path) : std::nullopt;
}

/// Of an installed oplat, else of the sources that the folder is in.
std::optional<fs::path> find_script(const fs::path& folder) {
  if (auto found = installed(folder, fs::path(base::kInstalledPython) / "oplat_worker.py"))
    return found;
  return at_or_above(folder, fs::path("python") / "oplat_worker.py");
}

Error become_python(const RuntimeEntry& entry, const fs::path& folder,
                    std::vector<std::string> arguments) {
  const auto script = find_script(folder);
  if (!script) {
    return Error{
        Code::Runtime,
        fmt::format("{}: python/oplat_worker.py is neither in a folder above {} nor installed with "
                    "it; install oplat with 'cmake --install'",
                    entry.name, folder.string())};
  }
  // The worker loads liboplat_worker from there.
  ::setenv("OPLAT_EXECUTABLE_FOLDER", folder.c_str(), 1);
  if (const auto library = installed(folder, base::kInstalledWorkerLibrary))
    ::setenv("OPLAT_WORKER_LIBRARY", library->c_str(), 0);
  const std::vector<std::string> begin{"-B", script->string(), std::string(entry.name)};
  arguments.insert(arguments.begin(), begin.begin(), begin.end());
  return execute(entry, interpreter_of(entry, folder), std::move(arguments));
}

}  // namespace

Error become_program(const RuntimeEntry& entry, std::vector<std::string> arguments) {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (!error && entry.python) return become_python(entry, folder, std::move(arguments));
  const std::string program = (folder / entry.program).string();
  if (error || !fs::exists(program, error)) {
    return Error{Code::Runtime,
                 fmt::format("{}: there is no program {} next to oplat; install what "
                             "it is built from and build again: {}",
                             entry.name, entry.program, entry.install)};
  }
  return execute(entry, program, std::move(arguments));
}

}  // namespace oplat::runtimes
