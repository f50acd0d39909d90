// SPDX-License-Identifier: Apache-2.0
/// Relatives: what rows of other kinds say of a kernel whose own kind has no row.
///
/// The problem: models learn within a slice, all of a key that is not a number. A network that
/// nobody measured always has some kernels of a slice without rows: the same operator with another
/// rank, another activation fused, an operator that no measured network had. They are seldom much
/// of its time, and without an answer for them there is none for the network.
///
/// A row's time is taken relative to the machine's bound for its work (machine.hpp). Rows whose
/// steps (ir::Work::steps) take longer than all else know such kernels, others the rest. Rows of
/// the same operator that are nearest in size are weighed by their distance; without any, those of
/// operators that compute the same (Conv and FusedConv), or of all. How far such answers err is
/// learned by asking for each slice from the others, and for each operator from the others: by a
/// factor of 1.2 to 3, which their spread says.
///
/// Example: HardSigmoid of [1,1024] from rows of HardSigmoid of [1,120,1,1] and [1,480,1,1].
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "estimate/learned/machine.hpp"
#include "ir/description.hpp"

namespace oplat::estimate {

/// Of the fit record in the table.
inline constexpr std::string_view kRelativesFormat = "oplat.relatives/3";

class Relatives {
 public:
  struct Row {
    std::string_view op;                           ///< "domain:op"
    const ir::Description* description = nullptr;  ///< in its cache state
    double log_ns = 0;
  };
  enum class Kin : std::uint8_t {
    Operator,  ///< rows of the same operator in another form
    Any,       ///< rows of other operators, of those that compute the same if there are any
  };
  struct Answer {
    double log_ns = 0;
    double sd_log = 0;
    Kin kin = Kin::Any;
    std::size_t rows = 0;  ///< that were weighed
  };

  /// Nothing for too few rows.
  static std::optional<Relatives> learn(std::span<const Row> rows, const Machine& machine);
  /// From rows of this state, or of all states where it has none.
  [[nodiscard]] std::optional<Answer> answer(std::string_view op, const ir::Work& work,
                                             std::size_t state) const;

  /// docs/reference/fit-format.md.
  [[nodiscard]] std::string save() const;
  /// Code::Input if the bytes are damaged.
  static Result<Relatives> load(std::string_view bytes);

 private:
  static constexpr std::size_t kSizes = 5;
  using Sizes = std::array<float, kSizes>;
  struct Site {
    std::uint32_t op = 0;
    std::uint32_t slice = 0;  ///< while learning
    std::uint8_t state = 0;
    Sizes sizes{};
    float u = 0;        ///< ln(time / bound)
    bool slow = false;  ///< is_slow of its work
  };
  struct Guess {
    double log_ns = 0;  ///< nearest: relative to the bound
    std::size_t rows = 0;
  };
  static Sizes sizes_of(const ir::Work& work);
  static ir::Work work_of(const Sizes& sizes);
  [[nodiscard]] double bound_without_steps(ir::Work work) const;
  /// Steps take longer than all else.
  [[nodiscard]] bool is_slow(const ir::Work& work) const;
  /// From the nearest sites that `counts`, of those as slow if there are any.
  template <class Counts>
  [[nodiscard]] std::optional<Guess> guess(const ir::Work& work, Counts counts) const;
  /// By the median of slow rows that `counts`; std::nullopt if they are few.
  template <class Counts>
  [[nodiscard]] std::optional<Guess> of_slow(const ir::Work& work, Counts counts) const;
  template <class Counts>
  [[nodiscard]] std::optional<Guess> nearest(const Sizes& sizes, Counts counts) const;
  void learn_spreads();

  Machine machine_;
  std::vector<std::string> ops_;
  std::vector<Site> sites_;
  std::array<double, 2> sd_log_{};  ///< by Kin
};

}  // namespace oplat::estimate
