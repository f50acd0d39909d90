// SPDX-License-Identifier: Apache-2.0
/// Which families get a process of their own, and how much it counts. smooth_model.hpp describes
/// the method.
#include "estimate/learned/smooth_model.hpp"

#include <cmath>
#include <mutex>

#include "base/parallel.hpp"

namespace oplat::estimate {
namespace {

constexpr int kShareSteps = 10;

/// What is mixed with the common process is judged on rows of setting 0, a fifth of those that a
/// family needs at least.
constexpr std::size_t kShareOfSetting = 5;

std::map<std::uint32_t, std::vector<std::size_t>> large_families(const Points& points,
                                                                 std::size_t least) {
  std::map<std::uint32_t, std::vector<std::size_t>> rows;
  std::map<std::uint32_t, std::size_t> of_setting;
  for (std::size_t i = 0; i < points.families.size(); ++i) {
    rows[points.families[i]].push_back(i);
    of_setting[points.families[i]] += points.is_of_setting(i) ? 1 : 0;
  }
  std::erase_if(rows, [&](const auto& each) {
    // One that holds all rows is what the common process sees.
    return each.second.size() < least || each.second.size() == points.slices.size() ||
           of_setting[each.first] * kShareOfSetting < least;
  });
  return rows;
}

Gaussian::Answer mixed(const Gaussian::Answer& own, const Gaussian::Answer& common, float share) {
  const auto s = static_cast<double>(share);
  return {s * own.mean + (1 - s) * common.mean, s * own.sd + (1 - s) * common.sd};
}

/// In tenths, with the least mean |error| of what is left out of setting 0.
float best_share(std::span<const Gaussian::Answer> own, std::span<const Gaussian::Answer> common,
                 std::span<const std::size_t> rows, std::span<const double> y,
                 const Points& points) {
  float best = 0;
  double least = -1;
  for (int step = 0; step <= kShareSteps; ++step) {
    const float share = static_cast<float>(step) / kShareSteps;
    double sum = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (points.is_of_setting(rows[i]))
        sum += std::abs(mixed(own[i], common[rows[i]], share).mean - y[rows[i]]);
    }
    if (least >= 0 && sum >= least) continue;
    least = sum;
    best = share;
  }
  return best;
}

}  // namespace

std::size_t SmoothModel::processes(const Points& points, const Options& options) {
  return 1 + large_families(points, options.min_rows_of_own).size();
}

SmoothModel SmoothModel::learn(const Points& points, std::span<const double> y,
                               const Options& options) {
  const auto families = large_families(points, options.min_rows_of_own);
  std::vector<std::uint32_t> names;
  for (const auto& [family, rows] : families) names.push_back(family);
  std::mutex mutex;
  const auto options_of = [&](std::size_t rows_of_kernel, std::size_t max_exact) {
    Gaussian::Options out = options.common;
    out.rows_of_kernel = rows_of_kernel;
    out.max_exact = max_exact;
    if (options.common.go_on)
      out.go_on = [&] {
        const std::lock_guard lock(mutex);
        return options.common.go_on();
      };
    return out;
  };
  SmoothModel model;
  std::vector<Gaussian> own(names.size());
  // The common process takes longest, so it begins.
  const Status all =
      base::for_each(1 + names.size(), options.threads, [&](std::size_t number) -> Status {
        if (number == 0) {
          model.common_ = Gaussian::learn(
              points, y, options_of(options.common.rows_of_kernel, options.common.max_exact));
          return {};
        }
        const std::vector<std::size_t>& rows = families.at(names[number - 1]);
        std::vector<double> values;
        for (const std::size_t row : rows) values.push_back(y[row]);
        own[number - 1] =
            Gaussian::learn(points.chosen(rows), values,
                            options_of(options.rows_of_own_kernel, options.max_exact_of_own));
        return {};
      });
  // Stopped.
  if (!all || model.common_.rows() == 0) return model;
  const auto common = model.common_.left_out();
  model.left_out_.assign(common.begin(), common.end());
  for (std::size_t number = 0; number < names.size(); ++number) {
    const std::vector<std::size_t>& rows = families.at(names[number]);
    if (own[number].rows() != rows.size()) return {};  // stopped
    if (own[number].left_out().empty()) continue;
    const float share = best_share(own[number].left_out(), common, rows, y, points);
    if (share <= 0) continue;
    for (std::size_t i = 0; i < rows.size(); ++i)
      model.left_out_[rows[i]] = mixed(own[number].left_out()[i], common[rows[i]], share);
    model.own_[names[number]] = {share, std::move(own[number])};
  }
  return model;
}

std::map<std::uint32_t, float> SmoothModel::shares() const {
  std::map<std::uint32_t, float> out;
  for (const auto& [family, own] : own_) out[family] = own.share;
  return out;
}

Gaussian::Answer SmoothModel::answer(std::span<const float> at, std::uint32_t slice,
                                     std::uint32_t family) const {
  const auto found = own_.find(family);
  if (found == own_.end()) return common_.answer(at, slice, family);
  const Gaussian::Answer own = found->second.gaussian.answer(at, slice, family);
  if (found->second.share >= 1) return own;
  return mixed(own, common_.answer(at, slice, family), found->second.share);
}

void SmoothModel::save(base::ByteWriter& writer) const {
  common_.save(writer);
  writer.u64(own_.size());
  for (const auto& [family, own] : own_) {
    writer.u32(family);
    writer.f32(own.share);
    own.gaussian.save(writer);
  }
}

Result<SmoothModel> SmoothModel::load(base::ByteReader& reader) {
  const auto broken = [](std::string_view what) {
    return fail(Code::Input, "smooth model: {}; run oplat fit again", what);
  };
  SmoothModel model;
  OPLAT_TRY(common, Gaussian::load(reader));
  model.common_ = std::move(common);
  const std::size_t count = reader.count(4 + 4);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t family = reader.u32();
    const float share = reader.f32();
    OPLAT_TRY(gaussian, Gaussian::load(reader));
    if (!(share > 0 && share <= 1) || gaussian.columns() != model.columns())
      return broken("the process of a family is damaged");
    model.own_.insert_or_assign(family, Own{share, std::move(gaussian)});
  }
  if (!reader.ok()) return broken("it is cut off");
  return model;
}

}  // namespace oplat::estimate
