// SPDX-License-Identifier: Apache-2.0
/// Texts of flags parsed into typed values.
#include "cli/requests.hpp"

#include "app/runtimes.hpp"
#include "base/name_value.hpp"
#include "runtimes/worker_command.hpp"

namespace oplat::cli {

Result<std::vector<std::string>> worker_words(const std::string& command) {
  auto words = runtimes::split_command(command);
  if (!words) return fail(Code::Usage, "--worker: {}", words.error().message);
  return words;
}

Result<app::RuntimeRequest> runtime_request(const RunOptions& options) {
  app::RuntimeRequest request;
  request.runtime = options.runtime;
  request.worker_arguments = options.worker_arguments;
  if (options.worker) {
    OPLAT_TRY(command, worker_words(*options.worker));
    request.worker_command = std::move(command);
    request.remote = true;
  }
  request.threads = options.thread_list.empty() ? options.threads : options.thread_list.front();
  request.precision = options.precision;
  request.device = options.device;
  request.cpu = options.cpu;
  for (const std::string& text : options.options) {
    OPLAT_TRY(pair, base::name_value("--option", text));
    request.options[pair.first] = pair.second;
  }
  return request;
}

Result<app::RuntimeRequest> runtime_request(const RunOptions& options,
                                            std::span<const std::string> models,
                                            app::Events& events) {
  OPLAT_TRY(request, runtime_request(options));
  if (!request.runtime.empty() || request.remote) return request;
  OPLAT_TRY(runtime, app::runtime_for(models, events));
  request.runtime = std::move(runtime);
  return request;
}

}  // namespace oplat::cli
