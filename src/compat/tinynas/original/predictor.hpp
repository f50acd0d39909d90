// SPDX-License-Identifier: Apache-2.0
/// TinyNAS op_profiler's own predictor, reproduced: scipy's interpolation between the rows of a
/// convolution library.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "base/result.hpp"
#include "compat/tinynas/conv_tuple.hpp"

namespace oplat::compat::tinynas {

/// A line of a library. The time is that of the whole batch; negative where the profile failed.
struct LibraryTime {
  ConvTuple conv;
  double ms = 0;
};

/// Answers what the original answers, for whoever has to compare with it. It knows no spread, is
/// constant beyond the grid of its library and linear in the batch; the estimators of the chain do
/// better.
///
/// Rows of one type, stride, fusion and kernel make a group, in which those of one batch and one
/// ratio In_C / Out_C (cut to two digits; In_C = 3 apart) make a slice over (Out_C, In_H). In a
/// slice: scipy's LinearNDInterpolator, outside its hull the nearest row. Between ratios and
/// between batches: lines, extended beyond the ends.
class OriginalPredictor {
 public:
  /// The rows in the order of the file, which decides how Qhull splits the cells of a grid. As the
  /// original, takes no rows of In_H = 4 and no negative times. Code::Input if none is left.
  static Result<OriginalPredictor> create(std::span<const LibraryTime> rows);
  OriginalPredictor(OriginalPredictor&&) noexcept;
  OriginalPredictor& operator=(OriginalPredictor&&) noexcept;
  ~OriginalPredictor();

  /// ms of the whole batch. Code::Missing names the convolution and why the original raises. A
  /// slice is triangulated when it is first needed; where that fails (all its points on one line),
  /// Code::Input names the slice. Threads may ask at once.
  [[nodiscard]] Result<double> predict(const ConvTuple& conv) const;
  /// Which numbers of the convolution lie beyond those of the library's rows of its kind, and how
  /// far, in words; empty if none does.
  [[nodiscard]] std::string beyond(const ConvTuple& conv) const;

 private:
  struct Library;
  explicit OriginalPredictor(std::unique_ptr<Library> library);
  std::unique_ptr<Library> library_;
};

}  // namespace oplat::compat::tinynas
