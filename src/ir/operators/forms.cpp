// SPDX-License-Identifier: Apache-2.0
/// Loops of operators that know no ranks.
#include "ir/operators/forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/axis.hpp"
#include "ir/dtype.hpp"
#include "ir/operators/arguments.hpp"
#include "ir/operators/matmul.hpp"

namespace oplat::ir::ops {
namespace {

using DimSizes = std::vector<double>;
using Names = std::initializer_list<std::string_view>;

/// Masks of operands fit a word.
constexpr std::size_t kMaxOperands = 16;

std::optional<DimSizes> sizes_of(const TensorEntry* tensor) {
  if (tensor == nullptr || !tensor->shape.ranked) return std::nullopt;
  DimSizes sizes;
  for (const Dim& dim : tensor->shape.dims) {
    // Nothing is done with a tensor of no elements, which is another kind of call.
    if (!dim || *dim < 1) return std::nullopt;
    sizes.push_back(static_cast<double>(*dim));
  }
  return sizes;
}

double product_of(const DimSizes& sizes, std::size_t from, std::size_t to) {
  double all = 1;
  for (std::size_t i = from; i < to; ++i) all *= sizes[i];
  return all;
}

std::string said(const Value& value) {
  if (const auto* number = value.integer()) return std::to_string(*number);
  if (const auto* text = value.text()) return *text;
  // A factor of one may be left out; which other factor it is changes nothing.
  if (const auto* real = value.real()) return *real == 1 ? "one" : "real";
  if (const auto* list = value.list()) {
    std::string text = "[";
    for (const Value& each : *list) text += said(each) + ' ';
    return text + ']';
  }
  return "?";
}

/// Operators whose loops differ by an instruction that costs the same: in ONNX Runtime a mean is a
/// sum that is divided once for each result, a minimum is a maximum with the other comparison.
constexpr std::pair<std::string_view, std::string_view> kAlike[] = {
    {"Sub", "Add"}, {"Mul", "Add"}, {"ReduceMean", "ReduceSum"}, {"ReduceMin", "ReduceMax"}};

std::string_view loops_of(const Key& key) {
  if (!key.domain.empty()) return key.op;
  const auto* const found = std::find_if(std::begin(kAlike), std::end(kAlike),
                                         [&](const auto& each) { return each.first == key.op; });
  return found == std::end(kAlike) ? std::string_view(key.op) : found->second;
}

/// What tells a slice: operator, tags, attributes but for those that the loops say, types.
class Form {
 public:
  enum class Constants { Said, Unsaid };

  explicit Form(const Key& key, Names unsaid = {}, Constants constants = Constants::Unsaid)
      : key_(key), constants_(constants) {
    description_.slice = key.domain + ":";
    description_.slice.append(loops_of(key));
    for (const auto& [name, value] : key.tags) add(name, value);
    for (const auto& [name, value] : key.attributes) {
      if (std::find(unsaid.begin(), unsaid.end(), name) == unsaid.end()) add(name, value);
    }
  }

  /// Types of the operands up to `count` and of the results.
  Form& types(std::size_t count = kMaxOperands) {
    for (std::size_t i = 0; i < std::min(count, key_.operands.size()); ++i) add(key_.operands[i]);
    description_.slice += "->";
    for (const Entry& entry : key_.results) add(entry);
    return *this;
  }
  Form& loop(std::string_view kind, double length) {
    description_.slice.append(" ").append(kind);
    description_.numbers.push_back(length);
    return *this;
  }
  Form& word(std::string_view text) {
    description_.slice.append(" ").append(text);
    return *this;
  }
  /// The length of a loop that other slices of the family have; 1 where this one lacks it.
  Form& number(double length) {
    description_.numbers.push_back(length);
    return *this;
  }
  /// The operand is walked across rows of so many elements.
  Form& stride(double elements) {
    const auto* tensor = std::get_if<TensorEntry>(&key_.operands.front());
    const auto bits_of = tensor == nullptr ? std::nullopt : bits(tensor->dtype);
    if (elements > 1 && bits_of) description_.stride_bytes = elements * *bits_of / 8;
    return *this;
  }
  /// The numbers mean the same in every slice of the family.
  Form& aligned() {
    description_.aligned = true;
    return *this;
  }
  std::optional<Description> done() { return std::move(description_); }

 private:
  void add(const std::string& name, const Value& value) {
    description_.slice.append(" ").append(name).append("=").append(said(value));
  }
  void add(const Entry& entry) {
    std::string& slice = description_.slice;
    const auto* tensor = std::get_if<TensorEntry>(&entry);
    if (tensor == nullptr) {
      slice += std::holds_alternative<AbsentEntry>(entry) ? " -" : " &";
      return;
    }
    slice.append(" ").append(name(tensor->dtype));
    if (constants_ == Constants::Said && tensor->constant) slice += 'c';
    // Of one number that decides the algorithm, such as an exponent; lists are sizes.
    if (!tensor->value) return;
    if (const auto* real = tensor->value->real()) slice += fmt::format("={:g}", *real);
    // Of zero points only whether they are zero: that has kernels of its own.
    const bool zero_point = tensor->dtype == Dtype::U8 || tensor->dtype == Dtype::I8;
    if (const auto* number = tensor->value->integer(); number && (!zero_point || *number == 0))
      slice += fmt::format("={}", *number);
  }

  const Key& key_;
  Constants constants_;
  Description description_;
};

/// Dimensions of more than one element, neighbours of one kind as one loop.
void add_loops(Form& form, const DimSizes& sizes,
               const std::function<std::string(std::size_t)>& kind_of) {
  std::string kind;
  double length = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    const std::string own = kind_of(i);
    if (own != kind) {
      if (!kind.empty()) form.loop(kind, length);
      kind = own;
      length = 1;
    }
    length *= sizes[i];
  }
  // A kernel of one element is a loop of one.
  form.loop(kind.empty() ? "one" : kind, length);
}

/// The axes that a reduction says; empty: all. std::nullopt if they are not known.
std::optional<std::vector<std::int64_t>> axes_of(const Key& key) {
  if (const auto axes = integers(key, "axes")) return axes;
  if (const auto axis = integer(key, "axis")) return std::vector<std::int64_t>{*axis};
  const TensorEntry* operand = key.operand(1);
  return operand == nullptr ? std::vector<std::int64_t>{} : numbers_of(operand);
}

/// Loops before, along and behind an axis.
struct Around {
  double before = 1;
  double along = 1;
  double behind = 1;
};

std::optional<Around> around(const TensorEntry* tensor, std::int64_t axis) {
  const auto sizes = sizes_of(tensor);
  const auto place = sizes ? axis_index(axis, sizes->size()) : std::nullopt;
  if (!place) return std::nullopt;
  return Around{product_of(*sizes, 0, *place), (*sizes)[*place],
                product_of(*sizes, *place + 1, sizes->size())};
}

std::optional<Description> describe_joined(const Key& key, const TensorEntry* joined,
                                           std::size_t parts) {
  const auto loops = around(joined, integer(key, "axis").value_or(0));
  if (!loops) return std::nullopt;
  // The parts have one type, and how many there are is a number.
  const auto dtype = std::string(name(joined->dtype));
  return Form(key, {"axis", "num_outputs"})
      .loop(dtype + " before", loops->before)
      .loop("parts", static_cast<double>(parts))
      .loop("from", loops->along * loops->behind)
      .done();
}

}  // namespace

std::optional<Description> describe_elementwise(const Key& key) {
  const auto result = sizes_of(key.result(0));
  if (!result || key.operands.size() > kMaxOperands) return std::nullopt;
  std::vector<std::uint32_t> present(result->size(), 0);
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    if (std::holds_alternative<AbsentEntry>(key.operands[i])) continue;
    const auto sizes = sizes_of(key.operand(i));
    if (!sizes || sizes->size() > result->size()) return std::nullopt;
    const std::size_t lead = result->size() - sizes->size();
    for (std::size_t d = 0; d < sizes->size(); ++d) {
      if ((*sizes)[d] == 1) continue;
      if ((*sizes)[d] != (*result)[lead + d]) return std::nullopt;
      present[lead + d] |= 1U << i;
    }
  }
  Form form(key);
  form.types();
  add_loops(form, *result, [&](std::size_t i) { return std::to_string(present[i]); });
  return form.done();
}

std::optional<Description> describe_reduction(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto axes = axes_of(key);
  if (!sizes || !axes) return std::nullopt;
  const bool none = axes->empty() && integer(key, "noop_with_empty_axes").value_or(0) != 0;
  std::vector<bool> reduced(sizes->size(), axes->empty() && !none);
  for (const std::int64_t axis : *axes) {
    const auto place = axis_index(axis, sizes->size());
    if (!place) return std::nullopt;
    reduced[*place] = true;
  }
  // One reduced loop, as nearly all have: what is kept before and behind it may be of one element.
  std::string pattern;
  std::array<double, 3> loops{1, 1, 1};  // before, reduced, behind
  bool one_run = true;
  for (std::size_t i = 0; i < sizes->size(); ++i) {
    if ((*sizes)[i] == 1) continue;
    const char own = reduced[i] ? 'R' : 'K';
    const bool behind = pattern.find('R') != std::string::npos;
    if (pattern.empty() || pattern.back() != own) {
      one_run = one_run && !(own == 'R' && behind);
      pattern += own;
    }
    loops[own == 'R' ? 1 : behind ? 2 : 0] *= (*sizes)[i];
  }
  Form form(key, {"axes", "axis", "keepdims", "noop_with_empty_axes"});
  if (one_run && pattern.find('R') != std::string::npos) {
    form.word(pattern).types(1);
    for (const double length : loops) form.number(length);
    return form.stride(loops[2]).aligned().done();
  }
  form.types(1);
  add_loops(form, *sizes, [&](std::size_t i) { return reduced[i] ? "R" : "K"; });
  return form.done();
}

std::optional<Description> describe_global_pool(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  if (!sizes || sizes->size() < 3) return std::nullopt;
  Form form(key);
  return form.types(1)
      .loop("K", product_of(*sizes, 0, 2))
      .loop("R", product_of(*sizes, 2, sizes->size()))
      .done();
}

std::optional<Description> describe_transpose(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto perm = integers(key, "perm");
  if (!sizes || !perm || perm->size() != sizes->size()) return std::nullopt;
  std::vector<std::size_t> order;  // of dimensions that are loops, as the result has them
  std::vector<bool> seen(sizes->size(), false);
  for (const std::int64_t axis : *perm) {
    if (axis < 0 || axis >= static_cast<std::int64_t>(sizes->size())) return std::nullopt;
    const auto place = static_cast<std::size_t>(axis);
    if (seen[place]) return std::nullopt;
    seen[place] = true;
    if ((*sizes)[place] > 1) order.push_back(place);
  }
  // Ranks of the loops in the operand, so that neighbours differ by one.
  std::vector<std::size_t> loops = order;
  std::sort(loops.begin(), loops.end());
  const auto rank_of = [&](std::size_t place) {
    return static_cast<std::size_t>(std::lower_bound(loops.begin(), loops.end(), place) -
                                    loops.begin());
  };
  struct Run {
    std::size_t first;
    double length;
  };
  std::vector<Run> runs;
  std::size_t last = 0;
  for (const std::size_t place : order) {
    const std::size_t rank = rank_of(place);
    if (!runs.empty() && rank == last + 1) {
      runs.back().length *= (*sizes)[place];
    } else {
      runs.push_back({rank, (*sizes)[place]});
    }
    last = rank;
  }
  std::vector<Run> in_operand = runs;
  std::sort(in_operand.begin(), in_operand.end(),
            [](const Run& a, const Run& b) { return a.first < b.first; });
  Form form(key, {"perm"});
  form.types(1);
  for (const Run& run : runs) {
    const auto at = std::find_if(in_operand.begin(), in_operand.end(),
                                 [&](const Run& each) { return each.first == run.first; });
    form.loop(std::to_string(at - in_operand.begin()), run.length);
  }
  if (runs.empty()) form.loop("one", 1);
  // Neighbours in the result are as far apart as all that lies behind them in the operand.
  if (!order.empty()) form.stride(product_of(*sizes, order.back() + 1, sizes->size()));
  return form.done();
}

std::optional<Description> describe_concat(const Key& key) {
  return describe_joined(key, key.result(0), key.operands.size());
}

std::optional<Description> describe_split(const Key& key) {
  return describe_joined(key, key.operand(0), key.results.size());
}

std::optional<Description> describe_qlinear_concat(const Key& key) {
  constexpr std::size_t kTriple = 3;
  if (key.operands.size() < 2) return std::nullopt;
  auto joined = describe_joined(key, key.result(0), (key.operands.size() - 2) / kTriple);
  if (!joined) return std::nullopt;
  // Parts of the result's scale are copied, each byte of the others is looked up.
  double looked_up = 0;
  for (std::size_t i = kTriple; i < key.operands.size(); i += kTriple) {
    const TensorEntry* scale = key.operand(i);
    if (scale == nullptr || !scale->value || scale->value->real() == nullptr) return std::nullopt;
    looked_up += *scale->value->real() != 1 ? 1 : 0;
  }
  joined->slice += " looked up";
  joined->numbers.push_back(looked_up);
  return joined;
}

std::optional<Description> describe_slice(const Key& key) {
  const auto whole = sizes_of(key.operand(0));
  const auto part = sizes_of(key.result(0));
  if (!whole || !part || whole->size() != part->size()) return std::nullopt;
  std::optional<std::size_t> axis;
  for (std::size_t d = 0; d < whole->size(); ++d) {
    if ((*whole)[d] == (*part)[d]) continue;
    if (axis) return std::nullopt;
    axis = d;
  }
  const std::size_t at = axis.value_or(0);
  const double step = std::floor((*whole)[at] / (*part)[at]);
  const TensorEntry* steps = key.operand(4);
  Form form(key);
  return form.types(1)
      .loop("before", product_of(*whole, 0, at))
      .loop("along", (*part)[at])
      .loop("behind", product_of(*whole, at + 1, whole->size()))
      .loop("of", (*whole)[at])
      .loop("step", steps == nullptr ? 1 : step)
      .done();
}

std::optional<Description> describe_expand(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() > to->size()) return std::nullopt;
  const std::size_t lead = to->size() - from->size();
  Form form(key);
  form.types(1);
  add_loops(form, *to, [&](std::size_t i) {
    return i >= lead && (*from)[i - lead] == (*to)[i] ? "own" : "repeated";
  });
  return form.done();
}

std::optional<Description> describe_copy(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  if (!sizes || key.tag("copied") == nullptr) return std::nullopt;
  Form form(key, {"axis", "axes", "allowzero"});
  return form.types(1).loop("elements", product_of(*sizes, 0, sizes->size())).done();
}

std::optional<Description> describe_recurrent(const Key& key) {
  const auto x = sizes_of(key.operand(0));
  const auto weights = sizes_of(key.operand(1));
  const auto hidden = integer(key, "hidden_size");
  if (!x || x->size() != 3 || !weights || weights->size() != 3 || !hidden || *hidden < 1)
    return std::nullopt;
  const bool batch_first = integer(key, "layout").value_or(0) != 0;
  Form form(key, {"activations", "direction", "hidden_size", "layout", "input_forget"});
  form.types(2);
  // Of one direction; those of two come twice.
  if (const Value* functions = key.attribute("activations");
      functions != nullptr && functions->list() != nullptr) {
    const List& all = *functions->list();
    const auto count = all.size() / static_cast<std::size_t>(std::max(1.0, weights->front()));
    for (std::size_t i = 0; i < std::min(count, all.size()); ++i) form.word(said(all[i]));
  }
  return form.loop("directions", weights->front())
      .loop("steps", (*x)[batch_first ? 1 : 0])
      .loop("batch", (*x)[batch_first ? 0 : 1])
      .loop("input", (*x)[2])
      .loop("hidden", static_cast<double>(*hidden))
      .done();
}

std::optional<Description> describe_gather(const Key& key) {
  const auto loops = around(key.operand(0), integer(key, "axis").value_or(0));
  const auto indices = sizes_of(key.operand(1));
  if (!loops || !indices) return std::nullopt;
  Form form(key, {"axis"}, Form::Constants::Said);
  return form.types()
      .loop("before", loops->before)
      .loop("indices", product_of(*indices, 0, indices->size()))
      .loop("behind", loops->behind)
      .loop("axis", loops->along)
      .done();
}

std::optional<Description> describe_resize(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() != to->size() || from->size() < 2) return std::nullopt;
  const std::size_t rows = from->size() - 2;
  if (!std::equal(from->begin(), from->begin() + static_cast<std::ptrdiff_t>(rows), to->begin()))
    return std::nullopt;
  const bool nearest = key.attribute("mode") == nullptr || is_word(key, "mode", "nearest");
  // Nearest places are copied in a loop of its own where they are twice as many (upsample.cc).
  Form form(key, nearest ? Names{"scales", "exclude_outside"}
                         : Names{"scales", "exclude_outside", "coordinate_transformation_mode",
                                 "nearest_mode"});
  if (is_word(key, "coordinate_transformation_mode", "tf_crop_and_resize")) form.word("cropped");
  return form.types(1)
      .loop("images", product_of(*from, 0, rows))
      .loop("height", (*from)[rows])
      .loop("width", (*from)[rows + 1])
      .loop("to", (*to)[rows])
      .loop("to", (*to)[rows + 1])
      .done();
}

std::optional<Description> describe_softmax(const Key& key) {
  const bool along_one = key.since.value_or(kSoftmaxAlongOneAxis) >= kSoftmaxAlongOneAxis;
  auto loops = around(key.operand(0), integer(key, "axis").value_or(along_one ? -1 : 1));
  if (!loops) return std::nullopt;
  if (!along_one) {
    loops->along *= loops->behind;
    loops->behind = 1;
  }
  Form form(key, {"axis"});
  // Along the last axis nothing is strided, which is another loop.
  const bool last = loops->behind == 1;
  return form.types(1)
      .loop(last ? "rows" : "before", loops->before)
      .loop("along", loops->along)
      .loop("behind", loops->behind)
      .stride(loops->behind)
      .done();
}

std::optional<Description> describe_layer_norm(const Key& key) {
  const auto sizes = sizes_of(key.operand(0));
  const auto place =
      sizes ? axis_index(integer(key, "axis").value_or(-1), sizes->size()) : std::nullopt;
  if (!place) return std::nullopt;
  Form form(key, {"axis", "stash_type"});
  return form.types()
      .loop("rows", product_of(*sizes, 0, *place))
      .loop("along", product_of(*sizes, *place, sizes->size()))
      .done();
}

std::optional<Description> describe_product(const Key& key) {
  const auto product = contraction_of_product(key);
  if (!product) return std::nullopt;
  // A factor costs nothing next to a product, and sizes of packed weights are among the loops.
  Form form(key, {"alpha", "K", "N"}, Form::Constants::Said);
  form.types();
  // One operand for all products of a batch is read once.
  form.loop(product->groups > 1 ? "products" : "one", product->groups)
      .loop("rows", product->out_h)
      .loop("inner", product->in_c)
      .loop("columns", product->out_c);
  return form.done();
}

std::optional<Description> describe_reorder(const Key& key) {
  const auto from = sizes_of(key.operand(0));
  const auto to = sizes_of(key.result(0));
  if (!from || !to || from->size() != 4 || to->size() != 4) return std::nullopt;
  // Only the plain side may have its channels last.
  const bool last = integer(key, "channels_last").value_or(0) != 0;
  const bool into = key.op == "ReorderInput";
  const auto channels = [&](const DimSizes& sizes, bool plain) {
    return sizes[plain && last ? 3 : 1];
  };
  const double before = channels(*from, into);
  const double after = channels(*to, !into);
  Form form(key, {"channels"});
  return form.types(1)
      .loop("batch", from->front())
      .loop("from", before)
      .loop("to", after)
      .loop("places", product_of(*from, 1, 4) / before)
      .stride(last ? 0 : product_of(*from, 1, 4) / before)
      .done();
}

}  // namespace oplat::ir::ops
