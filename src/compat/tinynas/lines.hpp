// SPDX-License-Identifier: Apache-2.0
/// What the readers of line formats share.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "base/text.hpp"
#include "compat/tinynas/conv_tuple.hpp"

namespace oplat::compat::tinynas {

/// Calls `take(line, number)` for each line of `text`, without its line end (LF or CRLF), counted
/// from 1; stops at the first error. A last line without its end counts; a byte order mark before
/// the first line is passed over.
template <class Take>
Status for_each_line(std::string_view text, Take take) {
  if (text.starts_with(base::kByteOrderMark)) text.remove_prefix(base::kByteOrderMark.size());
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    OPLAT_CHECK(take(line, ++number));
  }
  return {};
}

/// The words between blanks and tabs.
std::vector<std::string_view> words(std::string_view line);

/// "Regular 1 3 224 224 32 3 2 0": Conv_type Batch In_C In_H In_W Out_C Kernel Stride ElmtFused,
/// the columns of samples and libraries. The error says which column is off, without a place.
Result<ConvTuple> tuple_of_library_fields(std::span<const std::string_view> fields);
/// The ten fields of a sample, in messages.
inline constexpr std::string_view kSampleForm =
    "Conv_type Batch In_C In_H In_W Out_C Kernel Stride ElmtFused 0";
/// "Regular 1 3 224 224 32 3 2 0 0": those nine and the 0 in the place of the time. Where a blank
/// was lost, "256 14" to "25614", sizes stay sizes; only the number of fields and In_H = In_W,
/// which hold of every sample, tell.
Result<ConvTuple> tuple_of_sample_fields(std::span<const std::string_view> fields);
/// "Regular 2 0 3 1 3 224 32": Conv_type Stride ElmtFused Kernel Batch In_C In_H Out_C.
Result<ConvTuple> tuple_of_test_fields(std::span<const std::string_view> fields);

}  // namespace oplat::compat::tinynas
