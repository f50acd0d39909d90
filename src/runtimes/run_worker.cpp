// SPDX-License-Identifier: Apache-2.0
/// From a runtime's name to its worker. Apart from serve.cpp, so that a program of one worker links
/// no other.
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "runtimes/process.hpp"
#include "runtimes/programs.hpp"
#include "runtimes/serve.hpp"

namespace oplat::runtimes {

void drop_environment(std::string_view name, const std::vector<std::string>& arguments) {
  if (has_worker_environment()) return;
  std::error_code error;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(error);
  std::vector<std::string> variables = worker_environment(error ? "/tmp" : temporary);
  std::vector<std::string> words{"oplat", "worker", std::string(name), "--"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  std::vector<char*> environment;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : variables) environment.push_back(variable.data());
  argv.push_back(nullptr);
  environment.push_back(nullptr);
  ::execve("/proc/self/exe", argv.data(), environment.data());
}

int run_worker(std::string_view name, const std::vector<std::string>& arguments) {
  const RuntimeEntry* entry = find_runtime(name);
  std::optional<Error> stays;
  // Before the descriptor is claimed: the other program claims it.
  if (entry != nullptr && entry->create == nullptr) stays = become_program(*entry, arguments);
  const int descriptor = claim_protocol_descriptor();
  if (descriptor < 0) return 1;
  if (entry == nullptr) {
    std::vector<std::string> names;
    for (const auto& known : runtimes()) names.emplace_back(known.name);
    stays = Error{Code::Runtime, fmt::format("unknown runtime {}; known: {}", base::printable(name),
                                             base::join(names, ", "))};
  }
  if (stays) return serve_failure(*stays, descriptor);
  auto worker = entry->create(arguments);
  if (!worker) return serve_failure(worker.error(), descriptor);
  return serve(**worker, descriptor);
}

}  // namespace oplat::runtimes
