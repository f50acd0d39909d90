// SPDX-License-Identifier: Apache-2.0
#include "app/search.hpp"

#include <algorithm>
#include <utility>

#include "app/mmt.hpp"
#include "app/session.hpp"
#include "app/table_source.hpp"
#include "base/counted.hpp"
#include "base/files.hpp"
#include "base/text.hpp"
#include "base/truncated_list.hpp"
#include "compat/mobile_vision/families.hpp"
#include "compat/mobile_vision/lut.hpp"
#include "compat/registry.hpp"
#include "search/expansion.hpp"
#include "search/write.hpp"

namespace oplat::app {

Result<search::SearchSpace> read_space(const SpaceSource& source) {
  OPLAT_TRY(file, base::Source::open(source.file));
  OPLAT_TRY(space, search::read_space(file, compat::block_families()));
  if (source.resolutions.empty()) return std::move(space);
  space.resolutions.clear();
  for (const std::int64_t one : source.resolutions) {
    if (std::find(space.resolutions.begin(), space.resolutions.end(), one) ==
        space.resolutions.end())
      space.resolutions.push_back(one);
  }
  return std::move(space);
}

Result<SearchExpandResult> search_expand(const SpaceSource& space, Events& events) {
  static_cast<void>(events);  // takes milliseconds and has nothing to report
  OPLAT_TRY(read, read_space(space));
  OPLAT_TRY(keys, search::keys_of(read, read.resolutions));
  return SearchExpandResult{std::move(keys), read.layers.size(), read.resolutions.size()};
}

namespace {

/// An operator space of MMT: its operators, one a line.
Result<SearchTextResult> mmt_text(const SpaceSource& space, bool queries) {
  if (queries || !space.resolutions.empty())
    return fail(Code::Usage, "{}: a space of MMT has neither resolutions nor queries", space.file);
  OPLAT_TRY(expanded, expand_mmt_space(space.file));
  SearchTextResult result;
  for (const std::string& one : expanded.operators) result.text += one + "\n";
  result.notes = std::move(expanded.left_out);
  result.notes.push_back(fmt::format("{} operators", expanded.operators.size()));
  return result;
}

}  // namespace

Result<SearchTextResult> search_text(const SpaceSource& space, bool queries, Events& events) {
  if (is_mmt_space(space.file)) return mmt_text(space, queries);
  OPLAT_TRY(expanded, search_expand(space, events));
  SearchTextResult result;
  for (const std::string& key : expanded.keys) {
    if (!queries) {
      result.text += key + "\n";
      continue;
    }
    OPLAT_TRY(query, compat::mobile_vision::query_of(key));
    result.text += compat::mobile_vision::lut_question_line(query, "");
  }
  result.notes.push_back(fmt::format("{} keys: {} layers at {}", expanded.keys.size(),
                                     expanded.layers,
                                     base::counted(expanded.resolutions, "resolution")));
  return result;
}

namespace {

constexpr std::size_t kMaxNamedKeys = 5;

Result<search::SearchSpace> asked_space(const SearchLutRequest& request) {
  if (request.rows.runtime) OPLAT_CHECK(check_runtime_name(*request.rows.runtime));
  return read_space(request.space);
}

Result<search::SpaceLatencies> time_asked(const SearchLutRequest& request,
                                          const search::SearchSpace& space,
                                          const table::Table& table) {
  OPLAT_TRY(selection, select_rows(table, request.rows));
  search::Options options;
  options.level = request.options.level;
  options.missing = request.options.missing;
  options.profile = request.options.estimator;
  options.reuse_bytes = request.reuse_bytes;
  return search::time_space(table, selection, space, space.resolutions, options);
}

}  // namespace

Result<search::SpaceLatencies> search_lut(const SearchLutRequest& request,
                                          const table::Table& table) {
  OPLAT_TRY(space, asked_space(request));
  return time_asked(request, space, table);
}

Result<search::SpaceLatencies> search_lut(const SearchLutRequest& request, Events& events) {
  static_cast<void>(events);
  OPLAT_TRY(space, asked_space(request));
  OPLAT_TRY(table, table::Table::open(request.table, table::Mode::Read, compat::codecs()));
  return time_asked(request, space, table);
}

Result<SearchLutText> search_lut_text(const SearchLutRequest& request, std::string_view form,
                                      Events& events) {
  OPLAT_TRY(latencies, search_lut(request, events));
  OPLAT_TRY(text, search::written(latencies, form));
  std::vector<std::string> notes = search::summary(latencies);
  return SearchLutText{std::move(text), std::move(notes), std::move(latencies)};
}

Status require_times(const search::SpaceLatencies& latencies, const SearchLutRequest& request) {
  if (latencies.missing.empty()) return {};
  base::TruncatedList keys(kMaxNamedKeys);
  for (const std::string& key : latencies.missing) keys.add(base::printable(key, 400));
  return fail(Code::Missing,
              "{}: distinct kernels missing from {}: {}; measure them ('oplat search expand' lists "
              "them), or learn them with 'oplat fit'{}:{}",
              request.space.file, request.table, keys.count(),
              request.options.missing == predict::MissingPolicy::Error
                  ? ", or use --missing roofline"
                  : "; --missing roofline needs rows with a time",
              keys.text());
}

}  // namespace oplat::app
