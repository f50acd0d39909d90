// SPDX-License-Identifier: Apache-2.0
/// The links of the chain that learn from other rows: interpolation with a learned residual, and
/// shapes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/estimator.hpp"
#include "estimate/exact.hpp"
#include "estimate/finished_parts.hpp"
#include "ir/description.hpp"
#include "table/table.hpp"

namespace oplat::estimate {

/// Of the fit record in the table.
inline constexpr std::string_view kLearnedFormat = "oplat.learned/25";

/// Fewer rows teach nothing: learn() refuses them.
inline constexpr std::size_t kMinRowsLearned = 30;

/// How much time an answer may take: all that was learned, or the part that answers in a few
/// microseconds.
enum class Profile : std::uint8_t { Accurate, Fast };
/// "accurate", "fast".
std::optional<Profile> parse_profile(std::string_view text);

/// Rows of the same device under another setting, which say something of its rows under this one.
struct RelatedRows {
  std::span<const ir::Description> descriptions;
  std::span<const double> log_ns;  ///< of each, ln of the time in ns
};

struct LearnRequest {
  std::uint64_t seed = 1;
  int threads = 2;
  /// Whether whole levels are left out in turn to learn how sure answers far from the rows are.
  /// Without it their spread is a cautious guess.
  bool calibrate = true;
  double effort = 1;  ///< factor of the numbers of trees
  /// Where all questions are known: what none of them needs is not learned. The answers to them are
  /// the same.
  std::span<const ir::Description> questions;
  /// What sparse models (learned/sparse_model.hpp) also learn from, weighed by how alike the times
  /// of both prove; learn() finds those of other numbers of threads by itself.
  RelatedRows related;
  /// Steps done and in all; false stops with Code::Interrupted.
  std::function<bool(int done, int all)> progress;
  /// Rows that check_rows() faults are not learned from. Rows of unknown batch never are where it
  /// faults them.
  bool exclude_suspects = false;
  /// Of fits that were stopped: what is there is not learned again, and what is finished is put
  /// there. The fit is the same with and without.
  FinishedParts* finished = nullptr;
};

struct LearnedFit {
  /// To be stored together: that of the format kLearnedFormat, then, where rows were left out, how
  /// sure single rows are.
  std::vector<table::Fit> fits;
  std::int64_t rows = 0;  ///< that were learned from: those whose keys say every size
  /// rows of the source that were measured while other programs kept the machine busy
  std::int64_t under_load = 0;
  /// Whether rows left out have shown how sure answers are; too few rows cannot.
  bool calibrated = false;
};

/// What the rows teach, for the fit record of their (device, setting). Rows under a setting that
/// differs in the number of threads alone help, those of the setting with most of them. The same
/// rows and seed give the same bytes. Code::Refused: too few rows of its own.
Result<LearnedFit> learn(const RowSource& rows, const LearnRequest& request);

/// How the bytes of a fit stand to those that learn() makes now.
enum class FitAge : std::uint8_t {
  Current,
  Older,  ///< can be read, but learn() would make a better one of the same rows
  Newer,  ///< another oplat made it; it answers nothing here
};
/// Of a blob of kLearnedFormat. Code::Input if it is damaged.
Result<FitAge> age_of_fit(std::string_view blob);

/// Answers from the table's fit, which is read at the first question that nothing before it
/// answered. A fit of an unknown format or of other rows answers nothing.
std::unique_ptr<Estimator> make_learned(RowSource rows, Profile profile);

}  // namespace oplat::estimate
