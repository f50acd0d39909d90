// SPDX-License-Identifier: Apache-2.0
/// From a runtime's name to its worker. Apart from serve.cpp, so that a program of one worker links no other.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "oplat/base/text.hpp"
#include "oplat/runtimes/serve.hpp"

namespace oplat::runtimes {
namespace {

/// Becomes the program that stands beside this executable; returns only where that cannot be.
Error become(const RuntimeEntry& entry, std::vector<std::string> arguments) {
  std::error_code error;
  const auto executable = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string program = (executable.parent_path() / entry.program).string();
  if (error || !std::filesystem::exists(program, error)) {
    return Error{
        Code::Runtime,
        fmt::format("{}: there is no program {} beside oplat; install what it is built from and build again: {}",
                    entry.name, entry.program, entry.install)};
  }
  arguments.insert(arguments.begin(), program);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  ::execv(program.c_str(), argv.data());
  return Error{Code::Runtime,
               fmt::format("{}: cannot execute {}: {}", entry.name, entry.program, std::strerror(errno))};
}

}  // namespace

int run_worker(std::string_view name, const std::vector<std::string>& arguments) {
  const RuntimeEntry* entry = find_runtime(name);
  std::optional<Error> stays;
  // Before the descriptor is claimed: the other program claims it.
  if (entry != nullptr && entry->create == nullptr) stays = become(*entry, arguments);
  const int descriptor = claim_protocol_descriptor();
  if (descriptor < 0) return 1;
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const auto& known : runtimes()) names.emplace_back(known.name);
    stays = Error{Code::Runtime,
                  fmt::format("unknown runtime {}; known: {}", base::printable(name), base::join(names, ", "))};
  }
  if (stays) return serve_failure(*stays, descriptor);
  auto worker = entry->create(arguments);
  if (!worker) return serve_failure(worker.error(), descriptor);
  return serve(**worker, descriptor);
}

}  // namespace oplat::runtimes
