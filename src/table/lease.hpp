// SPDX-License-Identifier: Apache-2.0
/// One writer at a time: a row with a heartbeat that says who writes the table.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "table/sqlite.hpp"

namespace oplat::table {

class Lease {
 public:
  /// A writer of another host, or one that cannot be looked at, counts as gone after this long
  /// without a heartbeat.
  static constexpr std::chrono::seconds kLifetime{60};
  static constexpr std::chrono::seconds kRefresh{10};

  /// Takes the lease in a transaction of its own. Code::Refused while another writer lives, naming
  /// it.
  static Result<Lease> take(Database& database);
  /// Inside a transaction: Code::Refused while another writer lives, naming it.
  static Status check_free(Database& database);
  /// Inside a transaction: Code::Refused if another writer has taken the table over; refreshes
  /// an old heartbeat.
  Status keep(Database& database);
  /// Frees the table for the next writer; a failure leaves the lease to its lifetime.
  void release(Database& database);

 private:
  explicit Lease(std::string token) : token_(std::move(token)) {}

  std::string token_;
  std::chrono::steady_clock::time_point beat_ = std::chrono::steady_clock::now();
};

}  // namespace oplat::table
