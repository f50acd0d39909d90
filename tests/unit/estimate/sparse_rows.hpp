// SPDX-License-Identifier: Apache-2.0
/// Made-up rows for tests of what learns: convolutions, fused ones and copies, with a time that
/// follows a simple law.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "compat/tinynas/conv_tuple.hpp"
#include "ir/description.hpp"
#include "unit/compat/all_domains.hpp"

namespace oplat::test {

struct MadeRows {
  std::vector<ir::Description> descriptions;
  std::vector<double> log_ns;
};

inline ir::Description described(const ir::Key& key) {
  auto description = ir::describe(key);
  if (!description) throw std::runtime_error("a key without a description: " + ir::print(key));
  return std::move(*description);
}

/// 5 us, and 1 ns for 2000 operations or 100 bytes, whichever takes longer; twice that in stride 2.
inline double made_log_ns(const ir::Description& d) {
  const double stride = d.contraction ? d.contraction->stride : 1;
  return std::log(5000 + stride * std::max(d.work.flops.value_or(0) / 2000, d.work.bytes() / 100));
}

/// A convolution of random sizes; every third with a sum.
inline compat::tinynas::ConvTuple made_tuple(base::Random& random, std::size_t number) {
  compat::tinynas::ConvTuple conv;
  conv.batch = std::int64_t{1} << random.below(4);
  conv.in_c = 16 * static_cast<std::int64_t>(1 + random.below(12));
  conv.out_c = 16 * static_cast<std::int64_t>(1 + random.below(12));
  conv.in_h = conv.in_w = 8 + 2 * static_cast<std::int64_t>(random.below(24));
  conv.kernel = 1 + 2 * static_cast<std::int64_t>(random.below(3));
  conv.stride = 1 + static_cast<std::int64_t>(random.below(2));
  conv.fused = number % 3 == 0;
  return conv;
}

inline ir::Description made_convolution(base::Random& random, std::size_t number) {
  return described(compat::tinynas::key_of(made_tuple(random, number), ir::Dtype::F32));
}

inline ir::Description made_copy(std::size_t number) {
  const std::string size = std::to_string(1000 * (number + 1));
  auto key = ir::parse("test:copy{}(f32[" + size + "])->(f32[" + size + "])");
  if (!key) throw std::runtime_error(key.error().message);
  return described(*key);
}

inline MadeRows made_rows(std::size_t convolutions, std::size_t copies, std::uint64_t seed) {
  base::Random random(seed);
  MadeRows rows;
  for (std::size_t i = 0; i < convolutions; ++i)
    rows.descriptions.push_back(made_convolution(random, i));
  for (std::size_t i = 0; i < copies; ++i) rows.descriptions.push_back(made_copy(i));
  for (const ir::Description& each : rows.descriptions) rows.log_ns.push_back(made_log_ns(each));
  return rows;
}

}  // namespace oplat::test
