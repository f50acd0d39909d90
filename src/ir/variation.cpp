// SPDX-License-Identifier: Apache-2.0
/// Drawing sizes, and what results follow from them.
///
/// Three kinds of operators are varied. Convolutions and pools have roles for their dimensions:
/// channels in and out, groups, places of an image, whose number in the result follows from window,
/// stride and padding; some convolutions get another window, dilation or number of groups, too.
/// Recurrent layers have a length, a batch, an input and a hidden size, in multiples of which their
/// weights come. All others have no roles: equal numbers are taken as one size, which changes
/// wherever it stands. That is right for products, sums, normalisations and transpositions, where
/// each dimension of a result is one of an operand.
///
/// Example: MatMul [197,768] x [768,192] has the sizes 197, 768 and 192; with 160, 512 and 208 it
/// is [160,512] x [512,208] -> [160,208].
///
/// Nothing rests on the results being right: a worker refuses a kernel whose results have other
/// shapes than its key says.
#include "ir/variation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "ir/operators/arguments.hpp"
#include "ir/work.hpp"

namespace oplat::ir {
namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kMostKept = 4;
constexpr std::int64_t kMaxUnit = 16;
constexpr double kKept = 1.0 / 3;
/// Convolutions that get another form. Which forms networks have differs more between designers
/// than sizes do, and each is a kernel of its own in a library.
constexpr double kOtherForm = 0.25;
constexpr std::array<std::int64_t, 4> kWindows = {3, 5, 7, 9};
constexpr std::array<std::int64_t, 5> kSignalWindows = {3, 5, 9, 17, 33};
constexpr std::array<std::int64_t, 4> kDilations = {2, 4, 8, 16};
constexpr std::array<std::int64_t, 5> kGroups = {2, 4, 8, 16, 32};
constexpr double kMostFlops = 2147483648.0;
constexpr double kMostBytes = 268435456.0;
constexpr std::int64_t kMaxSize = 1 << 20;

/// The largest power of two up to kMaxUnit that divides it, if the size is larger than that.
std::int64_t unit_of(std::int64_t size) {
  std::int64_t unit = 1;
  while (2 * unit <= kMaxUnit && 2 * unit <= size && size % (2 * unit) == 0) unit *= 2;
  return unit;
}

/// A size as another designer would have chosen it.
std::int64_t drawn(std::int64_t size, std::int64_t unit, double spread, base::Random& random) {
  if (size <= kMostKept || random.uniform() < kKept) return size;
  const double wanted = static_cast<double>(size) * std::exp(spread * random.normal());
  const double units = std::round(wanted / static_cast<double>(unit));
  return static_cast<std::int64_t>(std::clamp(units, 1.0, static_cast<double>(kMaxSize / unit))) *
         unit;
}

/// Keys come from files of anybody's: what is multiplied below is no larger than this.
bool usual(const Numbers& numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](std::int64_t number) { return number >= 0 && number <= kMaxSize; });
}

std::optional<Numbers> dims_of(const TensorEntry* tensor) {
  if (tensor == nullptr || !tensor->shape.ranked) return std::nullopt;
  Numbers dims;
  for (const Dim& dim : tensor->shape.dims) {
    if (!dim) return std::nullopt;
    dims.push_back(*dim);
  }
  return dims;
}

TensorEntry* tensor_of(Entry& entry) { return std::get_if<TensorEntry>(&entry); }

/// Where a window operator has its weights and its channels.
struct Window {
  std::optional<std::size_t> weights;  ///< operand
  bool channels_last = false;
};

std::optional<Window> window_of(const Key& key) {
  const std::string_view op = key.op;
  const bool last = ops::integer(key, "channels_last") == 1;
  if (op == "Conv" || op == "FusedConv" || op == "ConvInteger") return Window{1, false};
  if (op == "NhwcFusedConv" || op == "NhwcConv") return Window{1, true};
  if (op == "QLinearConv") return Window{3, last};
  if (op == "MaxPool" || op == "AveragePool" || op == "LpPool") return Window{{}, false};
  if (op == "NhwcMaxPool") return Window{{}, true};
  if (op == "QLinearAveragePool") return Window{{}, last};
  return std::nullopt;
}

/// Places of a window along one dimension; 0 if it does not fit.
std::int64_t places(std::int64_t size, std::int64_t pads, std::int64_t kernel,
                    std::int64_t dilation, std::int64_t stride, bool rounds_up) {
  const std::int64_t room = size + pads - (dilation * (kernel - 1) + 1);
  if (room < 0 || stride < 1) return 0;
  return (rounds_up ? room + stride - 1 : room) / stride + 1;
}

class WindowVariation {
 public:
  WindowVariation(const Key& key, const Window& window) : key_(key), window_(window) {}

  std::optional<Key> draw(double spread, base::Random& random) {
    if (!read()) return std::nullopt;
    const auto places_before = places_of(space_);
    // What the formula does not give for the kernel as it is, it does not give for another.
    if (!places_before || *places_before != result_space_) return std::nullopt;
    const std::int64_t inputs = channels_;
    const std::int64_t filters = filters_;
    if (!window_.weights) {
      channels_ = filters_ = drawn(channels_, unit_of(channels_), spread, random);
    } else if (group_ > 1 && group_ == channels_) {
      channels_ = group_ = drawn(channels_, unit_of(channels_), spread, random);
      filters_ = filters / inputs * channels_;
    } else {
      const std::int64_t in = inputs / group_;
      const std::int64_t out = filters / group_;
      channels_ = drawn(in, unit_of(in), spread, random) * group_;
      // Blocks of networks often keep their channels.
      const bool together = inputs == filters && random.uniform() < kKept;
      filters_ = together ? channels_ : drawn(out, unit_of(out), spread, random) * group_;
    }
    draw_space(spread, random);
    if (window_.weights && random.uniform() < kOtherForm) draw_form(random);
    return write();
  }

 private:
  [[nodiscard]] std::size_t channel_at() const {
    return window_.channels_last ? space_.size() + 1 : 1;
  }
  [[nodiscard]] std::size_t space_at() const { return window_.channels_last ? 1 : 2; }

  bool read() {
    const auto image = dims_of(key_.operand(0));
    const auto result = dims_of(key_.result(0));
    const auto kernel = ops::integers(key_, "kernel_shape");
    const auto strides = ops::integers(key_, "strides");
    const auto pads = ops::integers(key_, "pads");
    if (!image || !result || !kernel || !strides || !pads || kernel->empty()) return false;
    const std::size_t rank = kernel->size();
    if (image->size() != rank + 2 || result->size() != rank + 2 || strides->size() != rank ||
        pads->size() != 2 * rank)
      return false;
    kernel_ = *kernel;
    strides_ = *strides;
    pads_ = *pads;
    dilations_ = ops::integers(key_, "dilations").value_or(Numbers(rank, 1));
    if (dilations_.size() != rank) return false;
    if (!usual(kernel_) || !usual(strides_) || !usual(pads_) || !usual(dilations_) ||
        !usual(*image) || !usual(*result))
      return false;
    space_.assign(rank, 0);
    result_space_.assign(rank, 0);
    for (std::size_t i = 0; i < rank; ++i) {
      space_[i] = (*image)[space_at() + i];
      result_space_[i] = (*result)[space_at() + i];
    }
    channels_ = (*image)[channel_at()];
    filters_ = (*result)[channel_at()];
    group_ = ops::integer(key_, "group").value_or(1);
    if (group_ < 1 || channels_ < 1 || filters_ < 1 || channels_ % group_ != 0 ||
        filters_ % group_ != 0)
      return false;
    if (!window_.weights) return filters_ == channels_;
    const auto weights = dims_of(key_.operand(*window_.weights));
    return weights && weights->size() == rank + 2 && (*weights)[0] == filters_ &&
           (*weights)[1] == channels_ / group_;
  }

  [[nodiscard]] std::optional<Numbers> places_of(const Numbers& space) const {
    const bool rounds_up = ops::integer(key_, "ceil_mode").value_or(0) != 0;
    Numbers out;
    for (std::size_t i = 0; i < space.size(); ++i) {
      out.push_back(places(space[i], pads_[i] + pads_[space.size() + i], kernel_[i], dilations_[i],
                           strides_[i], rounds_up));
      if (out.back() < 1) return std::nullopt;
    }
    return out;
  }

  /// Pads that keep the size of the image at stride 1.
  [[nodiscard]] Numbers keeping() const {
    Numbers pads(2 * kernel_.size());
    for (std::size_t i = 0; i < kernel_.size(); ++i) {
      const std::int64_t reach = dilations_[i] * (kernel_[i] - 1);
      pads[i] = reach / 2;
      pads[kernel_.size() + i] = reach - reach / 2;
    }
    return pads;
  }

  /// Another window, dilation or number of groups, where the kernel's own leaves room for it.
  void draw_form(base::Random& random) {
    const auto one_of = [&](const auto& choices) {
      return choices[random.below(std::size(choices))];
    };
    const bool square = std::all_of(kernel_.begin(), kernel_.end(),
                                    [&](std::int64_t size) { return size == kernel_.front(); });
    const bool keeps = pads_ == keeping();
    const bool plain = std::all_of(strides_.begin(), strides_.end(),
                                   [](std::int64_t stride) { return stride == 1; });
    const std::size_t form = random.below(3);
    if (form == 0 && square && keeps && kernel_.front() > 1) {
      const std::int64_t size = kernel_.size() == 1 ? one_of(kSignalWindows) : one_of(kWindows);
      std::fill(kernel_.begin(), kernel_.end(), size);
      pads_ = keeping();
    } else if (form == 1 && plain && keeps && kernel_.front() > 1) {
      std::fill(dilations_.begin(), dilations_.end(), one_of(kDilations));
      pads_ = keeping();
    } else if (form == 2) {
      draw_groups(one_of(kGroups), random);
    }
  }

  [[nodiscard]] std::int64_t block() const {
    const Value* value = key_.tag("block");
    return value != nullptr && value->integer() != nullptr
               ? std::max<std::int64_t>(1, *value->integer())
               : 1;
  }

  /// Channels of a group fill the blocks of a blocked layout; with others ONNX Runtime leaves a
  /// convolution as it is (nchwc_transformer.cc), and so does this in half of the cases.
  void draw_groups(std::int64_t groups, base::Random& random) {
    unblocked_ = block() > 1 && can_be_unblocked() && random.uniform() < 0.5;
    const std::int64_t unit = unblocked_ ? 1 : block();
    if (group_ == 1 && channels_ % (groups * unit) == 0 && filters_ % (groups * unit) == 0) {
      group_ = groups;
    } else if (unblocked_ && group_ == channels_ && filters_ == channels_ && channels_ > block()) {
      channels_ = filters_ = group_ = channels_ - block() / 4;
    }
    unblocked_ = unblocked_ && (channels_ / group_) % block() != 0;
  }

  /// Without a sum to add, and with an activation that all convolutions fuse.
  [[nodiscard]] bool can_be_unblocked() const {
    const Value* activation = key_.attribute("activation");
    const bool common =
        activation == nullptr || (activation->text() != nullptr && *activation->text() == "Relu");
    return common && key_.operands.size() <= 3;
  }

  /// Images stay square.
  void draw_space(double spread, base::Random& random) {
    std::map<std::int64_t, std::int64_t> sizes;
    for (std::int64_t& size : space_) {
      const auto [at, added] = sizes.emplace(size, 0);
      if (added) at->second = drawn(size, 1, spread, random);
      size = at->second;
    }
  }

  std::optional<Key> write() const {
    const auto result_space = places_of(space_);
    if (!result_space) return std::nullopt;
    Key out = key_;
    const std::int64_t filters_before = dims_of(key_.result(0))->at(channel_at());
    const Numbers result_before = *dims_of(key_.result(0));
    Numbers result = result_before;
    result[channel_at()] = filters_;
    for (std::size_t i = 0; i < space_.size(); ++i) result[space_at() + i] = (*result_space)[i];
    for (std::size_t i = 0; i < out.operands.size(); ++i) {
      TensorEntry* tensor = tensor_of(out.operands[i]);
      if (tensor == nullptr) continue;
      const auto dims = dims_of(tensor);
      if (!dims) return std::nullopt;
      if (i == 0) {
        Numbers image = *dims;
        image[channel_at()] = channels_;
        for (std::size_t d = 0; d < space_.size(); ++d) image[space_at() + d] = space_[d];
        tensor->shape = Shape::of(image);
      } else if (window_.weights && i == *window_.weights) {
        Numbers weights = *dims;
        weights[0] = filters_;
        weights[1] = channels_ / group_;
        for (std::size_t d = 0; d < kernel_.size(); ++d) weights[2 + d] = kernel_[d];
        tensor->shape = Shape::of(weights);
      } else if (*dims == result_before) {
        tensor->shape = Shape::of(result);
      } else if (dims->size() == 1 && dims->front() == filters_before && filters_before > 1) {
        tensor->shape = Shape::of({filters_});
      } else if (tensor->shape.elements().value_or(2) > 1) {
        return std::nullopt;
      }
    }
    for (std::size_t i = 0; i < out.results.size(); ++i) {
      if (TensorEntry* tensor = tensor_of(out.results[i])) {
        if (dims_of(tensor) != result_before) return std::nullopt;
        tensor->shape = Shape::of(result);
      }
    }
    if (group_ != 1) ops::set_attribute(out, "group", Value(group_));
    if (!window_.weights) return out;
    ops::set_attribute(out, "kernel_shape", Value::ints(kernel_));
    ops::set_attribute(out, "pads", Value::ints(pads_));
    if (key_.attribute("dilations") != nullptr) {
      ops::set_attribute(out, "dilations", Value::ints(dilations_));
    } else if (std::any_of(dilations_.begin(), dilations_.end(),
                           [](std::int64_t dilation) { return dilation != 1; })) {
      return std::nullopt;
    }
    if (unblocked_) {
      const bool fused = key_.attribute("activation") != nullptr;
      out.domain = fused ? "com.microsoft" : "";
      out.op = fused ? "FusedConv" : "Conv";
      out.since = fused ? 1 : 11;
      std::erase_if(out.tags, [](const NamedValue& tag) { return tag.first == "block"; });
    }
    out.canonicalise();
    return out;
  }

  const Key& key_;
  Window window_;
  Numbers kernel_, strides_, pads_, dilations_, space_, result_space_;
  std::int64_t channels_ = 1;
  std::int64_t filters_ = 1;
  std::int64_t group_ = 1;
  bool unblocked_ = false;
};

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
std::optional<Key> vary_recurrent(const Key& key, std::int64_t gates, double spread,
                                  base::Random& random) {
  constexpr std::size_t kPeepholes = 7;
  const auto image = dims_of(key.operand(0));
  const auto hidden_before = ops::integer(key, "hidden_size");
  const auto weights = dims_of(key.operand(1));
  if (!image || image->size() != 3 || !hidden_before || !weights || weights->size() != 3 ||
      ops::integer(key, "layout").value_or(0) != 0 || key.operand(kPeepholes) != nullptr ||
      !usual(*image) || !usual(*weights) || !usual({*hidden_before}))
    return std::nullopt;
  const std::int64_t directions = weights->front();
  const std::int64_t length = drawn((*image)[0], 1, spread, random);
  const std::int64_t batch = (*image)[1];
  const std::int64_t hidden = drawn(*hidden_before, unit_of(*hidden_before), spread, random);
  // Stacked layers keep their size.
  const std::int64_t input = (*image)[2] == *hidden_before
                                 ? hidden
                                 : drawn((*image)[2], unit_of((*image)[2]), spread, random);
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
    return *number > kMostKept || *number < -kMostKept;
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

std::optional<Key> vary_linked(const Key& key, double spread, base::Random& random) {
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
      if (added) at->second = drawn(size, unit_of(size), spread, random);
      size = at->second;
      return true;
    });
    if (!done) return std::nullopt;
  }
  for (Entry& entry : out.results) {
    TensorEntry* tensor = tensor_of(entry);
    if (tensor == nullptr) continue;
    const bool done = change(*tensor, [&](std::int64_t& size) {
      if (size <= kMostKept) return true;
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
  const auto window = window_of(key);
  const auto gates = gates_of(key);
  auto out = window  ? WindowVariation(key, *window).draw(spread, random)
             : gates ? vary_recurrent(key, *gates, spread, random)
                     : vary_linked(key, spread, random);
  if (!out || *out == key) return std::nullopt;
  const Work work = ir::work(*out, catalogue);
  if (!work.complete || work.bytes() > kMostBytes || work.flops.value_or(0) > kMostFlops)
    return std::nullopt;
  return out;
}

}  // namespace oplat::ir
