// SPDX-License-Identifier: Apache-2.0
/// Leaving families of networks out.
#include "estimate/unseen.hpp"

#include <algorithm>
#include <cmath>

#include "estimate/learned/sparse_model.hpp"

namespace oplat::estimate {

Result<std::vector<double>> errors_of_unseen(
    std::span<const ir::Description> rows, std::span<const double> log_ns,
    std::span<const std::vector<std::size_t>> groups_of_rows,
    std::span<const NetworkOfRows> networks, std::size_t folds, const LearnRequest& request) {
  std::vector<double> errors(networks.size(), 0);
  for (std::size_t fold = 0; fold < folds; ++fold) {
    const bool is_asked =
        std::any_of(networks.begin(), networks.end(),
                    [&](const NetworkOfRows& network) { return network.group % folds == fold; });
    if (!is_asked) continue;
    const auto is_out = [&](std::size_t row) {
      const std::vector<std::size_t>& groups = groups_of_rows[row];
      return !groups.empty() && std::all_of(groups.begin(), groups.end(), [&](std::size_t group) {
        return group % folds == fold;
      });
    };
    std::vector<ir::Description> known;
    std::vector<double> known_ns;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (is_out(i)) continue;
      known.push_back(rows[i]);
      known_ns.push_back(log_ns[i]);
    }
    OPLAT_TRY(model, SparseModel::fit(known, known_ns, request));
    for (std::size_t n = 0; n < networks.size(); ++n) {
      if (networks[n].group % folds != fold) continue;
      double measured = 0;
      double predicted = 0;
      for (const auto& [row, count] : networks[n].rows) {
        const double ns = count * std::exp(log_ns[row]);
        if (!is_out(row)) {
          measured += ns;
          predicted += ns;
          continue;
        }
        // Of a slice that only this network has nothing is known; predictions say so.
        const auto answer = model.answer(rows[row], Profile::Accurate);
        if (!answer) continue;
        measured += ns;
        predicted += count * std::exp(answer->log_ns);
      }
      errors[n] = measured > 0 ? predicted / measured - 1 : 0;
    }
  }
  return errors;
}

}  // namespace oplat::estimate
