// SPDX-License-Identifier: Apache-2.0
/// Texts of flags parsed into typed values.
#include "cli/requests.hpp"

namespace oplat::cli {

Result<app::RuntimeRequest> runtime_request(const RunOptions& options) {
  app::RuntimeRequest request;
  request.runtime = options.runtime;
  request.worker_arguments = options.worker_arguments;
  request.threads = options.threads;
  request.precision = options.precision;
  request.device = options.device;
  request.cpu = options.cpu;
  for (const std::string& text : options.options) {
    OPLAT_TRY(pair, name_value("--option", text));
    request.options[pair.first] = pair.second;
  }
  return request;
}

}  // namespace oplat::cli
