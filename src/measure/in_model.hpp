// SPDX-License-Identifier: Apache-2.0
/// The guard of a campaign: did each kernel take inside its model the time that its row says?
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/interval.hpp"
#include "base/result.hpp"
#include "ir/catalogue.hpp"
#include "ir/work.hpp"
#include "table/table.hpp"

namespace oplat::measure {

/// A kernel of a plan as the runtime's own profile of the whole model timed it.
struct KernelInModel {
  std::string name;  ///< of the node
  std::string key;
  std::int64_t count = 1;  ///< executions per run
  base::Interval ns;       ///< of one execution, as surely as the profiler tells
};

/// A kernel that takes another time inside a model than by itself.
struct UnlikeKernel {
  std::string model;  ///< its file
  std::string name;   ///< of the first node
  std::string key;
  double share = 0;             ///< of the model's time, profiled or by rows, whichever is more
  base::Interval in_model_ns;   ///< of one execution
  base::Interval by_itself_ns;  ///< the row's cache states, fastest to slowest
  bool has_row = true;          ///< false: a view, which has none; a dispatch is taken for it
};

/// Whether a kernel may take `in_model_ns` where its row says `by_itself_ns`: within a factor of
/// two of the nearest cache state, but no slower and no faster than 1.3 times and 5 us; or slower
/// by what all bytes of `work` need from memory, or faster by what its weights need.
bool explains(const base::Interval& by_itself_ns, const base::Interval& in_model_ns,
              const ir::Work& work);

/// Compares the kernels above 5 % of a model's time with their rows, flags the rows that do not
/// explain it (table/in_model.hpp), and clears the flag of those that do by now. Kernels without a
/// time are left out; of views those are named that take more than a dispatch.
Result<std::vector<UnlikeKernel>> flag_unlike_kernels(table::Table& table, table::DeviceId device,
                                                      table::SettingId setting,
                                                      const ir::Catalogue& catalogue,
                                                      const std::string& model,
                                                      std::span<const KernelInModel> kernels);

}  // namespace oplat::measure
