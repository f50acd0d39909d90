// SPDX-License-Identifier: Apache-2.0
/// The current line of a result, decoded with every type, length and range checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "table/limits.hpp"
#include "table/sqlite.hpp"

namespace oplat::table {

/// Reads cells by column number. After the first bad cell all getters give neutral values and
/// status() says which cell it was; callers decode a whole line and ask status() once.
class Cells {
 public:
  /// Column 0 must be the id of the line in `table`.
  Cells(const Statement& statement, std::string_view table);

  [[nodiscard]] std::int64_t id() const { return id_; }
  std::int64_t integer(int column);
  /// An integer >= 0.
  std::int64_t count(int column);
  std::optional<std::int64_t> optional_integer(int column);
  /// A finite number >= 0: times, sizes, spreads.
  double number(int column);
  std::optional<double> optional_number(int column);
  /// A finite number of either sign.
  double any_number(int column);
  std::string text(int column);
  std::optional<std::string> optional_text(int column);
  std::string_view blob(int column, std::size_t size);
  /// A blob of any size.
  std::string_view bytes(int column);
  [[nodiscard]] bool is_null(int column) const;

  /// Marks the line as bad for a reason that the caller found, e.g. JSON that does not parse.
  void bad(int column, std::string_view what);
  [[nodiscard]] Status status() const;

 private:
  bool expect(int column, int type, std::string_view name);

  const Statement& statement_;
  std::string_view table_;
  std::int64_t id_ = 0;
  std::optional<std::string> fault_;
};

/// Counts texts that lines share in the file: a small table from anywhere, in which many lines name
/// one long text, must not fill the memory.
class SharedBytes {
 public:
  explicit SharedBytes(std::size_t most = kMaxSharedBytes) : most_(most) {}
  /// Code::Input once they are more than an answer may hold.
  Status add(const Database& database, std::size_t bytes) {
    bytes_ += bytes;
    if (bytes_ <= most_) return {};
    return database.corrupt(
        "its lines repeat more than {} MiB of keys or facts, as no table of "
        "oplat does; make it again",
        most_ >> 20);
  }

 private:
  std::size_t most_;
  std::size_t bytes_ = 0;
};

/// Checks that ids come strictly ascending: a damaged file can show the same page again and again.
class Ascending {
 public:
  /// False where `id` is not above the one before.
  bool next(std::int64_t id) {
    const bool ok = !last_ || id > *last_;
    last_ = id;
    return ok;
  }

 private:
  std::optional<std::int64_t> last_;
};

}  // namespace oplat::table
