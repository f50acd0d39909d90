// SPDX-License-Identifier: Apache-2.0
/// Space: which numbers of the keys vary in a table, and so where each key stands among the others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/description.hpp"

namespace oplat::estimate {

/// Those of a convolution and the cache state.
inline constexpr std::size_t kMaxAxes = 13;
static_assert(ir::kConvolutionNumbers + 1 <= kMaxAxes);

/// Coordinates are logarithms, so that what doubles a size is one step wherever it starts.
struct Point {
  std::uint32_t slice = 0;
  std::uint32_t family = 0;  ///< of the slice (ir::family_of)
  /// The slice has no row: `slice` is another one of the family, in which its numbers have a place.
  bool relative = false;
  std::array<double, kMaxAxes> at{};  ///< axes that the slice does not have stay 0
  /// Differs from every row in what all rows have in common, so that nothing measured stands next
  /// to it.
  bool strange = false;
  /// How far it lies beyond the least and the largest number that any row has, in doublings: the
  /// distance over all axes. Rows are those of the slice, and where the catalogue says what numbers
  /// mean those of its kind, whatever is fused (docs/adr/0069).
  double outside = 0;
};

/// A number of a key that lies beyond those of the rows.
struct Beyond {
  std::uint32_t number = 0;  ///< index among Description::numbers
  double value = 0;
  double low = 0;   ///< the least of the rows
  double high = 0;  ///< and their largest; the same where all have one
  double doublings = 0;
};

/// The standard deviation of the logarithm of an answer at a point, where one among the rows has
/// `sd_log`.
double spread_at(const Point& point, double sd_log);

class Space {
 public:
  /// Axes of the catalogue's numbers are the same in all slices: those that vary in any. In other
  /// slices each number that varies and does not merely repeat another is one. Of more than
  /// kMaxAxes the last one stays, which is the cache state where there are several.
  static Space learn(std::span<const ir::Description> rows);

  [[nodiscard]] std::size_t axes() const { return axes_; }
  [[nodiscard]] std::size_t slices() const { return slices_.size(); }
  /// std::nullopt if the slice was never seen, unless its numbers mean the same in another slice of
  /// the operator: then the place is a strange one in that.
  [[nodiscard]] std::optional<Point> place(const ir::Description& description) const;
  /// The element type of the description's first operand, if no row of the operator has it;
  /// std::nullopt also where its slice names none.
  [[nodiscard]] std::optional<ir::Dtype> new_type(const ir::Description& description) const;
  /// Why a place lies outside, the farthest first; for people.
  [[nodiscard]] std::vector<Beyond> beyond(const ir::Description& description) const;

  /// As text, one slice a line; for the fit record: docs/reference/fit-format.md.
  [[nodiscard]] std::string save() const;
  static std::optional<Space> load(std::string_view text);

 private:
  struct Slice {
    std::uint32_t id = 0;
    std::uint32_t family = 0;
    std::size_t numbers = 0;
    std::int64_t rows = 0;
    /// The number on an axis, and the coordinates between which the rows lie.
    struct Axis {
      std::uint32_t number = 0;
      double low = 0;
      double high = 0;
    };
    std::vector<Axis> axes;
    /// Of each axis the coordinates beyond which a place lies outside.
    struct Reach {
      double low = 0;
      double high = 0;
    };
    std::vector<Reach> reach;
    bool aligned = false;
    /// Numbers that are on no axis: of one value in all rows, or always what an earlier number is.
    struct Same {
      std::uint32_t number = 0;
      std::optional<std::uint32_t> as;
      double value = 0;
    };
    std::vector<Same> same;
    /// Words of a saved line.
    bool read(const std::vector<std::string>& words);
    [[nodiscard]] bool holds(const std::vector<double>& numbers_of) const;
  };
  void add(const std::string& text, Slice slice);
  /// Sets the slices' reach, once all are there.
  void join_reaches();
  /// The slice of a description, or another that its numbers have a place in; nullptr if there
  /// is none.
  struct Home {
    const Slice* slice = nullptr;
    bool relative = false;
  };
  [[nodiscard]] Home home_of(const ir::Description& description) const;
  [[nodiscard]] const Slice* relative_of(const ir::Description& description) const;

  std::unordered_map<std::string, Slice> slices_;
  std::unordered_map<std::string, std::uint32_t> families_;
  std::size_t axes_ = 0;
};

/// A coordinate: the logarithm of a positive number, else a value below all of those.
double coordinate(double number);

}  // namespace oplat::estimate
