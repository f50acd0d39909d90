// SPDX-License-Identifier: Apache-2.0
/// The pickles of MMT (mnn-meter): meta.pkl and meta_latency.pkl, lists of `mmt.utils.ops_meta`,
/// in protocols 2 to 5. A pickle is a program; this reader knows the instructions that make data
/// and objects of that one class, whose name it takes as text and never imports. It refuses all
/// others by name and offset, but for the name of an operator's own class: MMT 1 and 2.0 keep it in
/// the table (`classname`), later ones in a file next to each model. It stays a name, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oplat::compat::mmt {

/// The attributes of one ops_meta in their order. A tuple, which JSON lacks, is
/// {"tuple": [...]} with no other member, and a dict {"dict": [[key, value], ...]} where not all
/// keys are texts or where it would look like either. The attribute `classname` may be
/// {"global": [module, name]}.
using Attributes = nlohmann::ordered_json;

/// Of a shape that MMT can run.
inline constexpr std::int64_t kMaxDimension = std::int64_t{1} << 31;

struct PickledOperator {
  Attributes attributes;   ///< an object
  std::size_t offset = 0;  ///< of the instruction that made it
};

/// The operators in the order of the list. Code::Input with the offset, what was found and what was
/// expected.
Result<std::vector<PickledOperator>> read_operators(std::string_view bytes);

/// A pickle of protocol 3 that Python, with mmt.utils at hand, loads to a list of ops_meta with
/// these attributes. Code::Input for what attributes of read_operators() cannot be.
Result<std::string> write_operators(std::span<const Attributes> operators);

}  // namespace oplat::compat::mmt
