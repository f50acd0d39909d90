// SPDX-License-Identifier: Apache-2.0
/// One function for each kind of operator. Each draws sizes of operand 0, as a rule those that are
/// equal together, says what results follow, and in some cases draws another axis, order or factor.
///
/// Example: Concat along axis 1 of [1,32,28,28] and [1,64,28,28] draws 32, 64 and 28, and gives
/// [1,24,20,20] and [1,80,20,20] joined to [1,104,20,20].
#include "ir/variations/forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "ir/axis.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/forms.hpp"

namespace oplat::ir::variations {
namespace {

constexpr double kOtherForm = 0.4;
constexpr double kOtherType = 0.2;
constexpr std::int64_t kMaxReduced = 4096;
constexpr std::array<std::int64_t, 7> kParts = {2, 2, 3, 4, 5, 6, 8};
constexpr std::array<double, 4> kFactors = {2, 2, 4, 8};
constexpr std::array<std::int64_t, 3> kDepths = {2, 3, 4};
/// Rows of products: a token or a vector as often as many of them.
constexpr std::array<std::int64_t, 12> kRows = {1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 256, 1024};

/// One value for a constant whose elements are equal, as keys have it.
void set_numbers(TensorEntry& tensor, const Numbers& numbers) {
  const bool equal = std::all_of(numbers.begin(), numbers.end(),
                                 [&](std::int64_t number) { return number == numbers.front(); });
  tensor.shape = Shape::of({static_cast<std::int64_t>(numbers.size())});
  tensor.value = equal && numbers.size() > 1 ? Value(numbers.front()) : Value::ints(numbers);
}

void set_dims(Entry& entry, const Numbers& dims) {
  if (TensorEntry* tensor = tensor_of(entry)) tensor->shape = Shape::of(dims);
}

Numbers tied(const Numbers& dims, Draw& draw) {
  Numbers out;
  for (const std::int64_t size : dims) out.push_back(draw.tied(size));
  return out;
}

/// Tensors along an axis, one after the other: all dimensions but that one are common.
std::optional<Key> vary_joined(const Key& key, Draw& draw) {
  const auto result = dims_of(key.result(0));
  if (!result || !usual(*result)) return std::nullopt;
  const auto axis = axis_index(ops::integer(key, "axis").value_or(0), result->size());
  if (!axis) return std::nullopt;
  Key out = key;
  // Scales and zero points of quantised ones are constants of one element.
  const auto is_part = [&](const Entry& entry) {
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    return tensor != nullptr && tensor->shape.ranked && tensor->shape.dims.size() == result->size();
  };
  const bool plain = std::all_of(key.operands.begin(), key.operands.end(), is_part);
  if (plain && key.operands.size() > 1 && draw.happens(kOtherForm)) {
    const auto parts = static_cast<std::size_t>(draw.one_of(kParts));
    while (out.operands.size() > parts) out.operands.pop_back();
    while (out.operands.size() < parts) out.operands.push_back(out.operands.back());
  }
  Numbers joined = tied(*result, draw);
  joined[*axis] = 0;
  std::size_t parts = 0;
  for (Entry& entry : out.operands) {
    if (std::holds_alternative<AliasEntry>(entry)) return std::nullopt;
    if (!is_part(entry)) continue;
    const auto dims = dims_of(tensor_of(entry));
    if (!dims) return std::nullopt;
    Numbers part = joined;
    part[*axis] = draw.tied((*dims)[*axis]);
    joined[*axis] += part[*axis];
    set_dims(entry, part);
    ++parts;
  }
  if (parts == 0) return std::nullopt;
  set_dims(out.results.front(), joined);
  return out;
}

std::optional<Key> vary_split(const Key& key, Draw& draw) {
  const auto whole = dims_of(key.operand(0));
  if (!whole || !usual(*whole)) return std::nullopt;
  const auto axis = axis_index(ops::integer(key, "axis").value_or(0), whole->size());
  if (!axis) return std::nullopt;
  Key out = key;
  Numbers joined = tied(*whole, draw);
  Numbers sizes;
  for (Entry& entry : out.results) {
    const auto dims = dims_of(tensor_of(entry));
    if (!dims || dims->size() != whole->size()) return std::nullopt;
    sizes.push_back(draw.tied((*dims)[*axis]));
    joined[*axis] = sizes.back();
    set_dims(entry, joined);
  }
  joined[*axis] = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  set_dims(out.operands.front(), joined);
  if (out.operands.size() == 1) return out;
  TensorEntry* constant = tensor_of(out.operands[1]);
  if (!numbers_of(constant) || out.operands.size() > 2) return std::nullopt;
  set_numbers(*constant, sizes);
  return out;
}

/// Along other axes than those that it slices.
std::optional<Key> vary_slice(const Key& key, Draw& draw) {
  const auto whole = dims_of(key.operand(0));
  const auto part = dims_of(key.result(0));
  const auto axes = numbers_of(key.operand(3));
  if (!whole || !part || !axes || whole->size() != part->size() || !usual(*whole))
    return std::nullopt;
  std::vector<bool> sliced(whole->size(), false);
  for (const std::int64_t axis : *axes) {
    const auto place = axis_index(axis, whole->size());
    if (!place) return std::nullopt;
    sliced[*place] = true;
  }
  Numbers of_whole = *whole;
  Numbers of_part = *part;
  for (std::size_t d = 0; d < whole->size(); ++d) {
    if (sliced[d]) continue;
    if ((*whole)[d] != (*part)[d]) return std::nullopt;
    of_whole[d] = of_part[d] = draw.tied((*whole)[d]);
  }
  Key out = key;
  set_dims(out.operands.front(), of_whole);
  set_dims(out.results.front(), of_part);
  return out;
}

std::optional<Key> vary_pad(const Key& key, Draw& draw) {
  const auto before = dims_of(key.operand(0));
  const auto pads = numbers_of(key.operand(1));
  const auto after = dims_of(key.result(0));
  if (!before || !pads || !after || pads->size() != 2 * before->size() ||
      after->size() != before->size() || key.operand(3) != nullptr || !usual(*before))
    return std::nullopt;
  Key out = key;
  const Numbers sizes = tied(*before, draw);
  Numbers padded;
  for (std::size_t d = 0; d < before->size(); ++d) {
    const std::int64_t added = (*after)[d] - (*before)[d];
    if (added != (*pads)[d] + (*pads)[before->size() + d] || added < 0) return std::nullopt;
    padded.push_back(sizes[d] + added);
  }
  set_dims(out.operands.front(), sizes);
  set_dims(out.results.front(), padded);
  return out;
}

/// Factors that a resize states as numbers: reals in operand 2, or whole ones in an attribute.
std::optional<std::vector<double>> factors_of(const Key& key) {
  std::vector<double> factors;
  const TensorEntry* constant = key.operand(2);
  const Value* said =
      constant != nullptr && constant->value ? &*constant->value : key.attribute("scales");
  if (said == nullptr || said->list() == nullptr) return std::nullopt;
  for (const Value& each : *said->list()) {
    if (each.real() != nullptr) {
      factors.push_back(*each.real());
    } else if (each.integer() != nullptr) {
      factors.push_back(static_cast<double>(*each.integer()));
    } else {
      return std::nullopt;
    }
  }
  return factors;
}

void set_factors(Key& key, const std::vector<double>& factors) {
  if (key.attribute("scales") != nullptr) {
    Numbers whole;
    for (const double factor : factors) whole.push_back(std::llround(factor));
    ops::set_attribute(key, "scales", Value::ints(whole));
    return;
  }
  if (TensorEntry* constant = tensor_of(key.operands[2]))
    constant->value = Value(List(factors.begin(), factors.end()));
}

/// What networks resize by: the nearest place as it was usual, and between places in both ways.
struct ResizeMode {
  const char* mode;
  const char* places;
  const char* nearest;  ///< empty: none is said
};
constexpr std::array<ResizeMode, 3> kResizeModes = {{{"nearest", "asymmetric", "floor"},
                                                     {"linear", "half_pixel", ""},
                                                     {"linear", "align_corners", ""}}};

void set_mode(Key& key, const ResizeMode& to) {
  ops::set_attribute(key, "mode", Value(std::string(to.mode)));
  ops::set_attribute(key, "coordinate_transformation_mode", Value(std::string(to.places)));
  ops::drop_attribute(key, "nearest_mode");
  // The blocked operator has one way alone, and does not say it.
  if (*to.nearest != '\0' && key.domain.empty())
    ops::set_attribute(key, "nearest_mode", Value(std::string(to.nearest)));
}

/// The sizes that a resize states instead of factors.
bool states_sizes(const Key& key, const Numbers& after) {
  const auto sizes = numbers_of(key.operand(3));
  return key.operand(2) == nullptr && sizes && *sizes == after;
}

std::optional<Key> vary_resize(const Key& key, Draw& draw) {
  const auto before = dims_of(key.operand(0));
  const auto after = dims_of(key.result(0));
  if (!before || !after || after->size() != before->size() || !usual(*before) || !usual(*after) ||
      std::any_of(before->begin(), before->end(), [](std::int64_t size) { return size < 1; }))
    return std::nullopt;
  const bool by_size = states_sizes(key, *after);
  std::optional<std::vector<double>> factors;
  if (by_size) {
    factors.emplace();
    for (std::size_t d = 0; d < before->size(); ++d)
      factors->push_back(static_cast<double>((*after)[d]) / static_cast<double>((*before)[d]));
  } else {
    factors = factors_of(key);
  }
  if (!factors || factors->size() != before->size() || (!by_size && key.operand(3) != nullptr))
    return std::nullopt;
  const auto resized = [&](std::int64_t size, double factor) {
    return static_cast<std::int64_t>(std::floor(static_cast<double>(size) * factor));
  };
  for (std::size_t d = 0; d < before->size(); ++d) {
    const double factor = (*factors)[d];
    if (!(factor >= 1.0 / 64 && factor <= 64) ||
        (!by_size && resized((*before)[d], factor) != (*after)[d]))
      return std::nullopt;
  }
  if (draw.happens(kOtherForm)) {
    const double other = draw.one_of(kFactors);
    for (double& factor : *factors) factor = factor > 1 ? other : factor;
  }
  const Numbers sizes = tied(*before, draw);
  Numbers results;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    results.push_back(resized(sizes[d], (*factors)[d]));
  if (std::any_of(results.begin(), results.end(), [](std::int64_t size) { return size < 1; }))
    return std::nullopt;
  Key out = key;
  if (by_size) {
    set_numbers(*tensor_of(out.operands[3]), results);
  } else {
    set_factors(out, *factors);
  }
  if (before->size() == 4 && key.attribute("mode") != nullptr && draw.happens(kOtherForm))
    set_mode(out, draw.one_of(kResizeModes));
  set_dims(out.operands.front(), sizes);
  set_dims(out.results.front(), results);
  out.canonicalise();
  return out;
}

/// Channels that become places of the image, or the other way.
std::optional<Key> vary_depth(const Key& key, Draw& draw) {
  const auto image = dims_of(key.operand(0));
  const auto size = ops::integer(key, "blocksize");
  if (!image || image->size() != 4 || !usual(*image) || !size || *size < 1 || *size > 64)
    return std::nullopt;
  const bool to_space = key.op == "DepthToSpace";
  const std::int64_t before = *size * *size;
  const std::int64_t by = draw.happens(kOtherForm) ? draw.one_of(kDepths) : *size;
  Numbers fine = *image;  // the side with the larger image
  if (to_space) {
    if (fine[1] % before != 0) return std::nullopt;
    fine[1] /= before;
  } else {
    if (fine[2] % *size != 0 || fine[3] % *size != 0) return std::nullopt;
    fine[2] /= *size;
    fine[3] /= *size;
  }
  fine = {fine[0], draw.tied(fine[1]), by * draw.tied(fine[2]), by * draw.tied(fine[3])};
  const Numbers deep = {fine[0], fine[1] * by * by, fine[2] / by, fine[3] / by};
  Key out = key;
  ops::set_attribute(out, "blocksize", Value(by));
  set_dims(out.operands.front(), to_space ? deep : fine);
  set_dims(out.results.front(), to_space ? fine : deep);
  return out;
}

/// Where a reduction says its axes.
enum class Axes : std::uint8_t { Attribute, One, Operand, None };

struct Reduced {
  Axes where = Axes::None;
  Numbers axes;
};

std::optional<Reduced> reduced_of(const Key& key) {
  if (const auto axes = ops::integers(key, "axes")) return Reduced{Axes::Attribute, *axes};
  if (const auto axis = ops::integer(key, "axis")) return Reduced{Axes::One, {*axis}};
  if (key.operand(1) == nullptr) return Reduced{};
  const auto axes = numbers_of(key.operand(1));
  if (!axes) return std::nullopt;
  return Reduced{Axes::Operand, *axes};
}

/// Over other axes, too: a run of neighbours. Of what is summed, how much is as likely to be 2 as
/// 2,000.
std::optional<Key> vary_reduction(const Key& key, Draw& draw) {
  const auto whole = dims_of(key.operand(0));
  auto reduced = reduced_of(key);
  if (!whole || whole->empty() || !reduced || !usual(*whole)) return std::nullopt;
  const auto is_axis = [&](std::int64_t axis) {
    return axis_index(axis, whole->size()).has_value();
  };
  if (!std::all_of(reduced->axes.begin(), reduced->axes.end(), is_axis)) return std::nullopt;
  const bool keeps = ops::integer(key, "keepdims").value_or(1) != 0;
  Numbers sizes = tied(*whole, draw);
  if (reduced->where != Axes::None && draw.happens(kOtherForm)) {
    const std::size_t first = draw.random().below(sizes.size());
    const std::size_t most = reduced->where == Axes::One ? 1 : sizes.size() - first;
    const std::size_t count = 1 + draw.random().below(most);
    reduced->axes.clear();
    for (std::size_t d = first; d < first + count; ++d)
      reduced->axes.push_back(static_cast<std::int64_t>(d));
  }
  std::vector<bool> gone(sizes.size(), reduced->axes.empty());
  for (const std::int64_t axis : reduced->axes) gone[*axis_index(axis, sizes.size())] = true;
  const bool any = draw.happens(kOtherForm);
  Numbers result;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (gone[d] && any && sizes[d] > 1) sizes[d] = draw.any(kMaxReduced);
    if (!gone[d]) result.push_back(sizes[d]);
    if (gone[d] && keeps) result.push_back(1);
  }
  Key out = key;
  set_dims(out.operands.front(), sizes);
  for (Entry& entry : out.results) set_dims(entry, result);
  if (reduced->where == Axes::Attribute)
    ops::set_attribute(out, "axes", Value::ints(reduced->axes));
  if (reduced->where == Axes::One) ops::set_attribute(out, "axis", Value(reduced->axes.front()));
  if (reduced->where == Axes::Operand) set_numbers(*tensor_of(out.operands[1]), reduced->axes);
  return out;
}

std::optional<Key> vary_transpose(const Key& key, Draw& draw) {
  const auto before = dims_of(key.operand(0));
  auto order = ops::integers(key, "perm");
  if (!before || before->empty() || !order || order->size() != before->size() || !usual(*before))
    return std::nullopt;
  Numbers sorted = *order;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t d = 0; d < sorted.size(); ++d) {
    if (sorted[d] != static_cast<std::int64_t>(d)) return std::nullopt;
  }
  if (draw.happens(kOtherForm)) {
    // Batches stay in front, as they do in most networks.
    Numbers behind(sorted.begin() + 1, sorted.end());
    base::shuffle(behind, draw.random());
    std::copy(behind.begin(), behind.end(), order->begin() + 1);
    order->front() = 0;
  }
  const Numbers sizes = tied(*before, draw);
  Numbers moved;
  for (const std::int64_t from : *order) moved.push_back(sizes[static_cast<std::size_t>(from)]);
  Key out = key;
  ops::set_attribute(out, "perm", Value::ints(*order));
  set_dims(out.operands.front(), sizes);
  set_dims(out.results.front(), moved);
  return out;
}

/// From blocks of channels to as many as there are, before or behind the places of the image.
std::optional<Key> vary_reorder_output(const Key& key, Draw& draw) {
  const auto blocked = dims_of(key.operand(0));
  const auto channels = ops::integer(key, "channels");
  const Value* tag = key.tag("block");
  if (!blocked || blocked->size() < 3 || !usual(*blocked) || !channels || *channels < 1 ||
      *channels > kMaxSize || tag == nullptr || tag->integer() == nullptr || *tag->integer() < 1 ||
      *tag->integer() > kMaxSize)
    return std::nullopt;
  const std::int64_t block = *tag->integer();
  const std::int64_t drawn = draw.size(*channels);
  Numbers in = tied(*blocked, draw);
  in[0] = (*blocked)[0];
  in[1] = (drawn + block - 1) / block * block;
  Numbers result = in;
  result[1] = drawn;
  if (ops::integer(key, "channels_last").value_or(0) != 0)
    std::rotate(result.begin() + 1, result.begin() + 2, result.end());
  Key out = key;
  ops::set_attribute(out, "channels", Value(drawn));
  set_dims(out.operands.front(), in);
  set_dims(out.results.front(), result);
  return out;
}

/// Weights of few bits in blocks along the inner length K; N columns.
std::optional<Key> vary_low_bits(const Key& key, Draw& draw) {
  const auto x = dims_of(key.operand(0));
  const auto y = dims_of(key.result(0));
  const auto inner = ops::integer(key, "K");
  const auto columns = ops::integer(key, "N");
  const auto block = ops::integer(key, "block_size");
  if (!x || !y || x->empty() || y->empty() || !inner || !columns || !block || *block < 1 ||
      *block > kMaxSize || !usual({*inner, *columns}) || !usual(*x) || x->back() != *inner ||
      y->back() != *columns || *inner % *block != 0 || *inner < 1 || *columns < 1)
    return std::nullopt;
  const std::int64_t new_inner = draw.size(*inner, *block);
  const std::int64_t new_columns = draw.size(*columns);
  Key out = key;
  for (std::size_t i = 1; i < out.operands.size(); ++i) {
    TensorEntry* tensor = tensor_of(out.operands[i]);
    if (tensor == nullptr) continue;
    const auto dims = dims_of(tensor);
    if (!dims || dims->empty()) return std::nullopt;
    const std::int64_t blocks = *inner / *block;
    const std::int64_t new_blocks = new_inner / *block;
    if (dims->size() > 1 && (*dims)[0] == *columns && (*dims)[1] == blocks) {
      Numbers changed = *dims;
      changed[0] = new_columns;
      changed[1] = new_blocks;
      tensor->shape = Shape::of(changed);
    } else if (dims->size() == 1 && (*dims)[0] == *columns * blocks) {
      tensor->shape = Shape::of({new_columns * new_blocks});
    } else {
      return std::nullopt;
    }
  }
  Numbers in = *x;
  Numbers result = *y;
  in.back() = new_inner;
  result.back() = new_columns;
  ops::set_attribute(out, "K", Value(new_inner));
  ops::set_attribute(out, "N", Value(new_columns));
  set_dims(out.operands.front(), in);
  set_dims(out.results.front(), result);
  return out;
}

/// Along another axis; of what is normalised, how much is as likely to be 2 as 2,000.
void vary_softmax(Key& key, Draw& draw) {
  const auto before = dims_of(key.operand(0));
  if (key.since.value_or(ops::kSoftmaxAlongOneAxis) < ops::kSoftmaxAlongOneAxis || !before ||
      before->size() < 2 || !usual(*before))
    return;
  const std::size_t axis = draw.random().below(before->size());
  Numbers sizes = *before;
  if (draw.happens(kOtherForm)) sizes[axis] = draw.any(kMaxReduced);
  ops::set_attribute(key, "axis", Value(static_cast<std::int64_t>(axis)));
  set_dims(key.operands.front(), sizes);
  for (Entry& entry : key.results) set_dims(entry, sizes);
}

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), op) != names.end();
}

/// With weights of two dimensions, which do not say how many rows there are.
void vary_rows(Key& key, Draw& draw) {
  const auto x = dims_of(key.operand(0));
  const auto y = dims_of(key.result(0));
  if (!x || !y || x->size() < 2 || x->size() != y->size() || !usual(*x)) return;
  const std::size_t at = x->size() - 2;
  if ((*x)[at] != (*y)[at] || ops::integer(key, "transA").value_or(0) != 0) return;
  const bool has_weights =
      std::any_of(key.operands.begin() + 1, key.operands.end(), [](const Entry& entry) {
        const auto* tensor = std::get_if<TensorEntry>(&entry);
        return tensor != nullptr && tensor->constant && tensor->shape.dims.size() >= 2;
      });
  if (!has_weights) return;
  const std::int64_t rows = draw.one_of(kRows);
  const auto with_rows = [&](Numbers dims) {
    dims[at] = rows;
    return dims;
  };
  // A sum that is added has the result's rows.
  for (std::size_t i = 1; i < key.operands.size(); ++i) {
    const auto dims = dims_of(tensor_of(key.operands[i]));
    if (dims && *dims == *y) set_dims(key.operands[i], with_rows(*dims));
  }
  set_dims(key.operands.front(), with_rows(*x));
  for (Entry& entry : key.results) set_dims(entry, with_rows(*y));
}

/// The second operand as large as the result, of each channel, of the last dimension, or one
/// number.
void vary_broadcast(Key& key, Draw& draw) {
  if (key.operands.size() != 2) return;
  const auto x = dims_of(key.operand(0));
  const auto y = dims_of(key.result(0));
  TensorEntry* other = tensor_of(key.operands[1]);
  if (!x || !y || *x != *y || x->size() < 2 || other == nullptr || other->value) return;
  Numbers small(x->size(), 1);
  switch (draw.random().below(4)) {
    case 0:
      small = *x;
      break;
    case 1:
      small[1] = (*x)[1];
      break;
    case 2:
      small.back() = x->back();
      break;
    default:
      break;
  }
  other->constant = other->constant && small != *x;
  other->shape = Shape::of(small);
}

}  // namespace

Variation variation_of(const Key& key) {
  const std::string_view op = key.op;
  if (is_one_of(op, {"Concat", "QLinearConcat"})) return vary_joined;
  if (op == "Split") return vary_split;
  if (op == "Slice") return vary_slice;
  if (op == "Pad") return vary_pad;
  if (is_one_of(op, {"Resize", "Upsample"})) return vary_resize;
  if (is_one_of(op, {"DepthToSpace", "SpaceToDepth"})) return vary_depth;
  if (op.starts_with("Reduce") || is_one_of(op, {"ArgMax", "ArgMin"})) return vary_reduction;
  if (op == "Transpose") return vary_transpose;
  if (op == "ReorderOutput") return vary_reorder_output;
  if (op == "MatMulNBits") return vary_low_bits;
  return nullptr;
}

void vary_form(Key& key, Draw& draw) {
  if (key.operands.empty() || !draw.happens(kOtherForm)) return;
  if (is_one_of(key.op, {"Gemm", "FusedGemm", "QGemm", "MatMul", "FusedMatMul", "MatMulNBits",
                         "DynamicQuantizeMatMul", "MatMulInteger", "MatMulIntegerToFloat"}))
    return vary_rows(key, draw);
  if (key.domain.empty() && is_one_of(key.op, {"Softmax", "LogSoftmax"}))
    return vary_softmax(key, draw);
  constexpr std::array<const char*, 4> kArithmetic = {"Add", "Sub", "Mul", "Div"};
  const bool arithmetic =
      key.domain.empty() && std::find(kArithmetic.begin(), kArithmetic.end(),
                                      std::string_view(key.op)) != kArithmetic.end();
  if (!arithmetic) return;
  if (draw.happens(0.5)) {
    key.op = draw.one_of(kArithmetic);
  } else {
    vary_broadcast(key, draw);
  }
}

void vary_types(Key& key, Draw& draw) {
  std::vector<TensorEntry*> unsigned_ones;
  std::vector<TensorEntry*> of_filters;  // constants of one number for each filter
  bool quantised_weights = false;
  for (std::vector<Entry>* entries : {&key.operands, &key.results}) {
    for (Entry& entry : *entries) {
      TensorEntry* tensor = tensor_of(entry);
      if (tensor == nullptr) continue;
      if (tensor->dtype == Dtype::U8) unsigned_ones.push_back(tensor);
      const bool is_weights = tensor->constant && tensor->shape.dims.size() >= 2;
      quantised_weights = quantised_weights || (is_weights && tensor->dtype == Dtype::I8);
      if (tensor->constant && tensor->shape.dims.size() == 1 &&
          (tensor->dtype == Dtype::F32 || tensor->dtype == Dtype::I8))
        of_filters.push_back(tensor);
    }
  }
  const bool requantises = key.op.starts_with("QLinear") || key.op == "QGemm";
  if (requantises && !unsigned_ones.empty() && draw.happens(kOtherType)) {
    for (TensorEntry* tensor : unsigned_ones) tensor->dtype = Dtype::I8;
  }
  if (requantises && quantised_weights && draw.happens(kOtherType)) {
    for (TensorEntry* tensor : of_filters) tensor->shape = Shape::of({});
  }
}

}  // namespace oplat::ir::variations
