// SPDX-License-Identifier: Apache-2.0
/// Messages about malformed rows.
#include "table/refused_rows.hpp"

#include "base/text.hpp"

namespace oplat::table {
namespace {

constexpr std::size_t kMaxNotes = 10;

}  // namespace

void RefusedRows::add(std::size_t line, const std::string& why) {
  if (notes_.size() < kMaxNotes) notes_.push_back(fmt::format("line {}: {}", line, why));
  ++count_;
}

std::string RefusedRows::first() const {
  return notes_.empty() ? std::string() : fmt::format(", the first at {}", notes_.front());
}

tl::unexpected<Error> RefusedRows::error(std::string_view name) const {
  const std::string shown = base::printable(name, 400);
  if (count_ == 1) {
    return fail(Code::Input, "{}: {}; use --skip-bad-rows to skip malformed rows", shown,
                notes_.front());
  }
  std::string text =
      fmt::format("{}: {} malformed rows; use --skip-bad-rows to skip them", shown, count_);
  for (const std::string& note : notes_) text += fmt::format("\n  {}: {}", shown, note);
  if (count_ > notes_.size()) text += fmt::format("\n  and {} more", count_ - notes_.size());
  return fail(Code::Input, "{}", text);
}

}  // namespace oplat::table
