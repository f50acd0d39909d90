// SPDX-License-Identifier: Apache-2.0
/// What `oplat tinynas predict` is asked: convolutions of a network structure or of a list, at one
/// or several batches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {

struct ConvQuestion {
  std::string name;  ///< of the place in the network; empty: from a list
  ConvTuple conv;
  std::optional<double> real_ms;  ///< what was measured
  bool library_row = false;       ///< named by a library, whose times are each of its row's batch
};

/// Convolutions that are summed up.
struct ConvQuestions {
  std::optional<std::int64_t> batch;  ///< of all of them; nothing: each has its own
  std::vector<ConvQuestion> convs;
};

/// The convolutions of a structure file; batch 1. Code::Input as its reader and rules say.
Result<std::vector<ConvQuestion>> structure_questions(const std::string& path,
                                                      std::int64_t resolution, Rules rules);

/// The convolutions of a list, of a library for one. Failed rows (-1) of a library are left out as
/// the original does; a tuple loses its -1 only. Warnings count both. A time of 0 is none.
Result<std::vector<ConvQuestion>> listed_questions(const std::string& path,
                                                   std::vector<std::string>& warnings);

/// Whether a device has the rules of the original's T40: batch 1, no fused sum, channels in
/// multiples of 32.
bool has_t40_rules(const std::string& device);

/// One set a batch; one set of the convolutions' own batches where no batch is given. Measured
/// times of other batches are dropped, and counted in a warning; a tuple's time is that of the one
/// batch that is given, whatever the tuple says.
std::vector<ConvQuestions> at_batches(const std::vector<ConvQuestion>& convs,
                                      const std::vector<std::int64_t>& batches, bool t40,
                                      std::vector<std::string>& warnings);

}  // namespace oplat::compat::tinynas
