// SPDX-License-Identifier: Apache-2.0
/// The first link of the chain: rows of the very kernel that is asked for.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/estimator.hpp"
#include "estimate/learned/states.hpp"
#include "estimate/reuse.hpp"
#include "ir/catalogue.hpp"
#include "table/table.hpp"

namespace oplat::estimate {

/// What others brought into the last level while rows were measured (foreign.hpp), and the ramp out
/// of it that this was learned by.
struct ForeignTraffic {
  double bytes_per_ns = 0;
  Ramp last;
};

/// Which rows may answer: those of one device under the first setting that holds the key.
struct RowSource {
  const table::Table* table = nullptr;  ///< must outlive the estimator
  table::DeviceId device = 0;
  std::vector<table::SettingId>
      settings;  ///< in order of preference: the asked build, then other builds of the version
  std::optional<ReuseCurve> curve;           ///< nothing: the rows' own states are the ends
  const ir::Catalogue* catalogue = nullptr;  ///< required; must outlive the estimator
  std::optional<ForeignTraffic> foreign = std::nullopt;  ///< nothing: rows count as measured
};

/// Rows of the key itself. A single row is returned verbatim; hot and cold rows are interpolated at
/// the footprint, those of the last level without what others took of it where RowSource says that;
/// rows without a state answer any footprint where no row has one. A key that holds
/// "?" matches nothing. Where no row has the key, those of its aliases answer (ir/key_domain.hpp),
/// with a wider spread where they leave the batch open or the key does; then not those of rows that
/// cannot be (sanity.hpp).
std::unique_ptr<Estimator> make_exact(RowSource rows);

/// What a row of the very key says in place of a time: "row 7 holds no time: failed: ...";
/// std::nullopt if there is no row.
Result<std::optional<std::string>> row_without_time(const RowSource& rows, std::string_view key);
/// Why no row answers, from what the table holds of the key: "no row", "unsupported: reason", ...
Result<std::string> why_missing(const RowSource& rows, std::string_view key);

/// The operators that usable times are of, each "domain:op" or "op".
Result<std::set<std::string, std::less<>>> timed_operators(const RowSource& rows);
/// That of a printed key; nothing after it is looked at.
std::string_view operator_of(std::string_view key);

/// Every usable time of the source, to fit from.
Result<std::vector<Sample>> read_samples(const RowSource& rows);
/// The same, each with its state: what models learn from. Rows whose cores were never alone or
/// apart are left out where they are less than half.
Result<std::vector<Sample>> read_samples_in_states(const RowSource& rows);
/// The source's device with the threads of its first setting; one where the table lacks either.
Result<ir::Host> host_of(const RowSource& rows);
/// Where states begin on the source's device, as rows are measured in them.
Result<StateLimits> state_limits(const RowSource& rows);

}  // namespace oplat::estimate
