// SPDX-License-Identifier: Apache-2.0
/// Typed access to cells of untrusted files.
#include "table/cells.hpp"

#include <cmath>

#include "base/text.hpp"

namespace oplat::table {
namespace {

std::string_view type_name(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return "an integer";
    case SQLITE_FLOAT:
      return "a number";
    case SQLITE_TEXT:
      return "text";
    case SQLITE_BLOB:
      return "a blob";
    default:
      return "null";
  }
}

}  // namespace

Cells::Cells(const Statement& statement, std::string_view table)
    : statement_(statement), table_(table) {
  id_ = integer(0);
}

void Cells::bad(int column, std::string_view what) {
  if (fault_) return;
  fault_ = fmt::format("{} {}: {} holds {}", table_, id_,
                       sqlite3_column_name(statement_.handle(), column), what);
}

Status Cells::status() const {
  if (fault_) return statement_.database().corrupt("{}", *fault_);
  return {};
}

bool Cells::is_null(int column) const {
  return sqlite3_column_type(statement_.handle(), column) == SQLITE_NULL;
}

bool Cells::expect(int column, int type, std::string_view name) {
  const int found = sqlite3_column_type(statement_.handle(), column);
  if (found == type) return true;
  bad(column, fmt::format("{}; expected {}", type_name(found), name));
  return false;
}

std::int64_t Cells::integer(int column) {
  return expect(column, SQLITE_INTEGER, "an integer")
             ? sqlite3_column_int64(statement_.handle(), column)
             : 0;
}

std::int64_t Cells::count(int column) {
  const std::int64_t value = integer(column);
  if (value >= 0) return value;
  bad(column, fmt::format("{}, which is negative", value));
  return 0;
}

std::optional<std::int64_t> Cells::optional_integer(int column) {
  if (is_null(column)) return std::nullopt;
  return integer(column);
}

double Cells::any_number(int column) {
  // A whole number in a column that somebody declared anew comes back as an integer.
  if (sqlite3_column_type(statement_.handle(), column) != SQLITE_INTEGER &&
      !expect(column, SQLITE_FLOAT, "a number")) {
    return 0;
  }
  const double value = sqlite3_column_double(statement_.handle(), column);
  if (std::isfinite(value)) return value;
  bad(column, "an infinite number");
  return 0;
}

double Cells::number(int column) {
  const double value = any_number(column);
  if (value >= 0) return value;
  bad(column, fmt::format("{}, which is negative", base::float_text(value)));
  return 0;
}

std::optional<double> Cells::optional_number(int column) {
  if (is_null(column)) return std::nullopt;
  return number(column);
}

std::string Cells::text(int column) {
  if (!expect(column, SQLITE_TEXT, "text")) return {};
  // The pointer must be asked for before the length: asking may convert the cell.
  const auto* data =
      reinterpret_cast<const char*>(sqlite3_column_text(statement_.handle(), column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.handle(), column));
  if (size > kMaxText) {
    bad(column, fmt::format("{} bytes of text; the limit is {}", size, kMaxText));
    return {};
  }
  return data == nullptr ? std::string() : std::string(data, size);
}

std::optional<std::string> Cells::optional_text(int column) {
  if (is_null(column)) return std::nullopt;
  return text(column);
}

std::string_view Cells::bytes(int column) {
  if (!expect(column, SQLITE_BLOB, "a blob")) return {};
  const void* data = sqlite3_column_blob(statement_.handle(), column);
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_.handle(), column));
  return size == 0 ? std::string_view() : std::string_view(static_cast<const char*>(data), size);
}

std::string_view Cells::blob(int column, std::size_t size) {
  const std::string_view found = bytes(column);
  if (found.size() == size) return found;
  bad(column, fmt::format("{} bytes; expected {}", found.size(), size));
  return {};
}

}  // namespace oplat::table
