// SPDX-License-Identifier: Apache-2.0
/// Which kind of variation an operator has, and two of them.
///
/// Convolutions and pools have roles for their dimensions (variations/windows.cpp), and so have
/// operators whose results are not sized as their operands (variations/forms.cpp). Recurrent layers
/// have a length, a batch, an input and a hidden size, in multiples of which their weights come.
/// All others have no roles: equal numbers are taken as one size, which changes wherever it stands.
/// That is right for products, sums and normalisations, where each dimension of a result is one of
/// an operand.
///
/// Example: MatMul [197,768] x [768,192] has the sizes 197, 768 and 192; with 160, 512 and 208 it
/// is [160,512] x [512,208] -> [160,208].
///
/// Nothing rests on the results being right: a worker refuses a kernel whose results have other
/// shapes than its key says.
#include "ir/variation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "ir/operators/arguments.hpp"
#include "ir/variations/forms.hpp"
#include "ir/variations/sizes.hpp"
#include "ir/variations/windows.hpp"
#include "ir/work.hpp"

namespace oplat::ir {
namespace {

using variations::dims_of;
using variations::Draw;
using variations::kMaxKept;
using variations::Numbers;
using variations::tensor_of;
using variations::usual;

/// Without weights an operator is cheap, and how large it is differs more.
constexpr double kWiderSpread = 2.5;
constexpr double kWider = 0.5;
/// How often a size becomes a multiple of less than it was: libraries are slower at what is left
/// over, and networks have 28, 58 or 90 channels, too. Not where a layout has blocks of them.
constexpr double kOtherUnits = 0.2;
constexpr double kMaxFlops = 2147483648.0;
constexpr double kMaxBytes = 268435456.0;

/// Gates of a recurrent layer; std::nullopt for other operators.
std::optional<std::int64_t> gates_of(const Key& key) {
  if (!key.domain.empty()) return std::nullopt;
  if (key.op == "LSTM") return 4;
  if (key.op == "GRU") return 3;
  if (key.op == "RNN") return 1;
  return std::nullopt;
}

/// X [length, batch, input], W [directions, gates * hidden, input], R [.., gates * hidden, hidden],
/// B [.., 2 * gates * hidden], lengths [batch], first states [directions, batch, hidden]; results Y
/// [length, directions, batch, hidden] and last states. Peepholes and layout 1 are left alone.
std::optional<Key> vary_recurrent(const Key& key, std::int64_t gates, Draw& draw) {
  constexpr std::size_t kPeepholes = 7;
  const auto image = dims_of(key.operand(0));
  const auto hidden_before = ops::integer(key, "hidden_size");
  const auto weights = dims_of(key.operand(1));
  if (!image || image->size() != 3 || !hidden_before || !weights || weights->size() != 3 ||
      ops::integer(key, "layout").value_or(0) != 0 || key.operand(kPeepholes) != nullptr ||
      !usual(*image) || !usual(*weights) || !usual({*hidden_before}))
    return std::nullopt;
  const std::int64_t directions = weights->front();
  const std::int64_t length = draw.size((*image)[0], 1);
  const std::int64_t batch = (*image)[1];
  const std::int64_t hidden = draw.size(*hidden_before);
  // Stacked layers keep their size.
  const std::int64_t input = (*image)[2] == *hidden_before ? hidden : draw.size((*image)[2]);
  const Numbers states = {directions, batch, hidden};
  const std::array<Numbers, 7> operands = {Numbers{length, batch, input},
                                           {directions, gates * hidden, input},
                                           {directions, gates * hidden, hidden},
                                           {directions, 2 * gates * hidden},
                                           {batch},
                                           states,
                                           states};
  Key out = key;
  for (std::size_t i = 0; i < out.operands.size(); ++i) {
    if (std::holds_alternative<AliasEntry>(out.operands[i])) return std::nullopt;
    if (TensorEntry* tensor = tensor_of(out.operands[i])) tensor->shape = Shape::of(operands[i]);
  }
  for (std::size_t i = 0; i < out.results.size(); ++i) {
    if (std::holds_alternative<AliasEntry>(out.results[i])) return std::nullopt;
    if (TensorEntry* tensor = tensor_of(out.results[i]))
      tensor->shape = Shape::of(i == 0 ? Numbers{length, directions, batch, hidden} : states);
  }
  ops::set_attribute(out, "hidden_size", Value(hidden));
  return out;
}

/// Attributes whose numbers are not sizes.
constexpr std::array<std::string_view, 8> kNoSizes = {"axis", "axes",  "perm",     "stash_type",
                                                      "to",   "dtype", "saturate", "keepdims"};

bool holds_size(const Value& value) {
  if (const std::int64_t* number = value.integer())
    return *number > kMaxKept || *number < -kMaxKept;
  if (const List* list = value.list()) return std::any_of(list->begin(), list->end(), holds_size);
  // The equation of an Einsum names no sizes, and neither do other texts.
  return false;
}

bool depends_on_sizes(const Key& key) {
  for (const auto& [name, value] : key.attributes) {
    if (std::find(kNoSizes.begin(), kNoSizes.end(), name) == kNoSizes.end() && holds_size(value))
      return true;
  }
  for (const auto& [name, value] : key.tags) {
    if (name != "block" && holds_size(value)) return true;
  }
  for (const Entry& entry : key.operands) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor == nullptr || !tensor->value) continue;
    if (tensor->dtype == Dtype::I64 || tensor->dtype == Dtype::I32) return true;
    if (tensor->value->list() != nullptr) return true;  // a value for each element
  }
  return false;
}

std::optional<Key> vary_linked(const Key& key, Draw& draw) {
  if (depends_on_sizes(key)) return std::nullopt;
  std::map<std::int64_t, std::int64_t> sizes;
  Key out = key;
  const auto change = [](TensorEntry& tensor, const auto& sized) {
    for (Dim& dim : tensor.shape.dims) {
      if (!dim) return false;
      if (!sized(*dim)) return false;
    }
    return tensor.shape.ranked;
  };
  for (Entry& entry : out.operands) {
    TensorEntry* tensor = tensor_of(entry);
    if (tensor == nullptr) continue;
    const bool done = change(*tensor, [&](std::int64_t& size) {
      const auto [at, added] = sizes.emplace(size, size);
      if (added) at->second = draw.size(size);
      size = at->second;
      return true;
    });
    if (!done) return std::nullopt;
  }
  for (Entry& entry : out.results) {
    TensorEntry* tensor = tensor_of(entry);
    if (tensor == nullptr) continue;
    const bool done = change(*tensor, [&](std::int64_t& size) {
      if (size <= kMaxKept) return true;
      const auto at = sizes.find(size);
      if (at == sizes.end()) return false;
      size = at->second;
      return true;
    });
    if (!done) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<Key> vary(const Key& key, double spread, const Catalogue& catalogue,
                        base::Random& random) {
  const bool has_weights =
      std::any_of(key.operands.begin(), key.operands.end(), [](const Entry& entry) {
        const auto* tensor = std::get_if<TensorEntry>(&entry);
        return tensor != nullptr && tensor->constant && tensor->shape.dims.size() > 1;
      });
  const bool wider = !has_weights && random.uniform() < kWider;
  const bool in_blocks = key.tag("block") != nullptr;
  Draw draw(wider ? kWiderSpread * spread : spread, in_blocks ? 0 : kOtherUnits, random);
  const variations::Variation own = variations::variation_of(key);
  const auto gates = gates_of(key);
  auto out = variations::has_window(key) ? variations::vary_window(key, draw)
             : own != nullptr            ? own(key, draw)
             : gates                     ? vary_recurrent(key, *gates, draw)
                                         : vary_linked(key, draw);
  if (!out) return std::nullopt;
  if (!variations::has_window(key)) variations::vary_form(*out, draw);
  variations::vary_types(*out, draw);
  if (*out == key) return std::nullopt;
  const Work work = ir::work(*out, catalogue);
  if (!work.complete || work.bytes() > kMaxBytes || work.flops.value_or(0) > kMaxFlops)
    return std::nullopt;
  return out;
}

}  // namespace oplat::ir
