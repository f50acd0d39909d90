// SPDX-License-Identifier: Apache-2.0
/// The client's side of `put`: sends models and input data to a worker that does not share the
/// client's file system, and remembers what it has. A model goes with the files that it refers to,
/// into one folder named by the model's hash, so that the worker finds them as the client does. The
/// worker keeps what it got (runtimes/uploads.hpp): a second client, or the same one after a
/// restart, sends one short request a file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "runtimes/protocol.hpp"

namespace oplat::runtimes {

class RemoteFiles {
 public:
  /// Sends one piece and returns the worker's answer, or why there is none.
  using Put = std::function<Result<PutOutcome>(const PutRequest&)>;

  explicit RemoteFiles(Put put) : put_(std::move(put)) {}

  /// The worker's path of a model. Code::Input if the model cannot be read or refers to a file in
  /// another folder; errors of `put` as they are.
  Result<std::string> model(const std::string& path);
  /// The worker's path of a file by itself, such as the data of an input.
  Result<std::string> file(const std::string& path);
  /// After a restart: the worker may be on another machine, so everything is asked for again.
  void forget() { sent_.clear(); }

 private:
  /// `name`: that of the file on the worker's side; `path` may be what a link leads to.
  Result<std::string> send(const std::string& folder, const std::string& name,
                           const std::string& path);

  Put put_;
  std::map<std::string, std::string> sent_;  // our path -> the worker's
};

}  // namespace oplat::runtimes
