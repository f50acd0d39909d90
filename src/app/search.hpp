// SPDX-License-Identifier: Apache-2.0
/// Use cases: a search space as its kernels, and as the latencies of all its choices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/events.hpp"
#include "app/predict.hpp"
#include "base/result.hpp"
#include "search/latencies.hpp"

namespace oplat::app {

/// A search space (docs/guide/searching.md).
struct SpaceSource {
  std::string file;                            ///< YAML
  std::vector<std::int64_t> resolutions = {};  ///< heights and widths in pixels in place of the
                                               ///< file's; empty: the file's
};

/// The space with the resolutions asked for, each once. Code::Input: the file.
Result<search::SearchSpace> read_space(const SpaceSource& source);

struct SearchExpandResult {
  std::vector<std::string> keys;  ///< distinct kernels, in order of first use
  std::size_t layers = 0;
  std::size_t resolutions = 0;
};

/// The distinct kernels of a space. Code::Input: the file, or shapes that do not go together.
Result<SearchExpandResult> search_expand(const SpaceSource& space, Events& events);

struct SearchTextResult {
  std::string text;                ///< a key, query or operator a line
  std::vector<std::string> notes;  ///< how many there are, and what is left out
};
/// What `oplat search expand` prints: the kernels of a space, as keys or as `queries` of
/// runtime_lut, or the operators of a space of MMT. Code::Usage: what that has not.
Result<SearchTextResult> search_text(const SpaceSource& space, bool queries, Events& events);

struct SearchLutRequest {
  SpaceSource space;
  std::string table;  ///< a table of oplat
  predict::RowFilter rows = {};
  PredictionOptions options = {};
  std::optional<double> reuse_bytes = {};  ///< touched between two uses of a weight; empty: those
                                           ///< of a mean network
};

/// The latency of every choice of every layer. Kernels without an estimate are not an error here:
/// see SpaceLatencies::missing. Warnings are in the result. Code::Input: space or table;
/// Code::Usage: several settings fit; Code::Refused: no rows for the filter.
Result<search::SpaceLatencies> search_lut(const SearchLutRequest& request, Events& events);
/// The same by a table that is open; `request.table` is not looked at.
Result<search::SpaceLatencies> search_lut(const SearchLutRequest& request,
                                          const table::Table& table);
/// The same as a file in one of search::kForms, with lines about it for people: the sums of each
/// resolution.
struct SearchLutText {
  std::string text;
  std::vector<std::string> notes;
  search::SpaceLatencies latencies;
};
Result<SearchLutText> search_lut_text(const SearchLutRequest& request, std::string_view form,
                                      Events& events);
/// Code::Missing where kernels have no estimate: which, and the way out.
Status require_times(const search::SpaceLatencies& latencies, const SearchLutRequest& request);

}  // namespace oplat::app
