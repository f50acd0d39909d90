// SPDX-License-Identifier: Apache-2.0
/// Convolutions and pools have roles for their dimensions: channels in and out, groups, places of
/// an image, whose number in the result follows from window, step and padding.
///
/// Half of them get another form, too: which windows, groups and activations networks have differs
/// more between designers than sizes do, and each is a kernel of its own in a library.
#include "ir/variations/windows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/operators/arguments.hpp"

namespace oplat::ir::variations {
namespace {

constexpr double kOtherFormOfWindow = 0.5;
/// Of the windows that are drawn: along one side of the image alone.
constexpr double kOneSided = 0.25;
/// Processors have blocks of 8 or 16 channels; more than this is nothing that a layout has.
constexpr std::int64_t kMaxBlock = 64;
/// Blocks of networks often keep their channels.
constexpr double kChannelsStayEqual = 1.0 / 3;
constexpr std::array<std::int64_t, 6> kWindows = {3, 5, 7, 9, 11, 13};
constexpr std::array<std::int64_t, 7> kSignalWindows = {3, 5, 9, 17, 33, 51, 85};
constexpr std::array<std::int64_t, 4> kPoolWindows = {2, 3, 5, 7};
constexpr std::array<std::int64_t, 4> kDilations = {2, 4, 8, 16};
constexpr std::array<std::int64_t, 6> kGroups = {2, 4, 8, 16, 32, 64};
constexpr std::array<std::int64_t, 3> kSteps = {1, 2, 4};

/// What ONNX Runtime fuses into a convolution (conv_activation_fusion.cc).
struct Activation {
  std::string_view name;  ///< empty: none
  std::vector<double> parameters = {};
};
const std::array<Activation, 8>& activations() {
  static const std::array<Activation, 8> all = {{{""},
                                                 {"Relu"},
                                                 {"LeakyRelu", {0.1}},
                                                 {"Clip", {0, 6}},
                                                 {"HardSigmoid", {0.16666667, 0.5}},
                                                 {"HardSwish"},
                                                 {"Sigmoid"},
                                                 {"Tanh"}}};
  return all;
}

/// Where a window operator has its weights and its channels.
struct Window {
  std::optional<std::size_t> weights;  ///< operand
  bool channels_last = false;
  bool transposed = false;
};

std::optional<Window> window_of(const Key& key) {
  const std::string_view op = key.op;
  const bool last = ops::integer(key, "channels_last") == 1;
  if (op == "Conv" || op == "FusedConv" || op == "ConvInteger") return Window{1, false};
  if (op == "ConvTranspose") return Window{1, false, true};
  if (op == "NhwcFusedConv" || op == "NhwcConv") return Window{1, true};
  if (op == "QLinearConv") return Window{3, last};
  if (op == "MaxPool" || op == "AveragePool" || op == "LpPool") return Window{{}, false};
  if (op == "NhwcMaxPool") return Window{{}, true};
  if (op == "QLinearAveragePool") return Window{{}, last};
  return std::nullopt;
}

/// Along one dimension.
struct Along {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t pads = 0;  ///< before and behind together
  std::int64_t more = 0;  ///< results that a transposed one adds
};

/// Places of a window; 0 if it does not fit.
std::int64_t places(std::int64_t size, const Along& along, bool rounds_up) {
  const std::int64_t room = size + along.pads - (along.dilation * (along.kernel - 1) + 1);
  if (room < 0 || along.stride < 1) return 0;
  return (rounds_up ? room + along.stride - 1 : room) / along.stride + 1;
}

/// Results of a window that is laid down at each place.
std::int64_t results_of_transposed(std::int64_t size, const Along& along) {
  return (size - 1) * along.stride - along.pads + along.dilation * (along.kernel - 1) + 1 +
         along.more;
}

class WindowVariation {
 public:
  WindowVariation(const Key& key, const Window& window) : key_(key), window_(window) {}

  std::optional<Key> make(Draw& draw) {
    if (!read()) return std::nullopt;
    const auto places_before = places_of(space_);
    // What the formula does not give for the kernel as it is, it does not give for another.
    if (!places_before || *places_before != result_space_) return std::nullopt;
    const std::int64_t inputs = channels_;
    const std::int64_t filters = filters_;
    if (!window_.weights) {
      channels_ = filters_ = draw.size(channels_);
    } else if (group_ > 1 && group_ == channels_) {
      channels_ = group_ = draw.size(channels_);
      filters_ = filters / inputs * channels_;
    } else {
      const std::int64_t in = inputs / group_;
      const std::int64_t out = filters / group_;
      channels_ = draw.size(in) * group_;
      const bool together = inputs == filters && draw.happens(kChannelsStayEqual);
      filters_ = together ? channels_ : draw.size(out) * group_;
    }
    draw_space(draw);
    if (draw.happens(kOtherFormOfWindow)) draw_form(draw);
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
    more_ = ops::integers(key_, "output_padding").value_or(Numbers(rank, 0));
    if (dilations_.size() != rank || more_.size() != rank) return false;
    if (!usual(kernel_) || !usual(strides_) || !usual(pads_) || !usual(dilations_) ||
        !usual(more_) || !usual(*image) || !usual(*result) || block() > kMaxBlock)
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
    return weights && weights->size() == rank + 2 && has_channels(*weights);
  }

  /// [filters, channels of a group, ...], transposed [channels, filters of a group, ...].
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> channels_of_weights() const {
    return window_.transposed ? std::pair(channels_, filters_ / group_)
                              : std::pair(filters_, channels_ / group_);
  }
  [[nodiscard]] bool has_channels(const Numbers& weights) const {
    return std::pair(weights[0], weights[1]) == channels_of_weights();
  }

  [[nodiscard]] std::optional<Numbers> places_of(const Numbers& space) const {
    const bool rounds_up = ops::integer(key_, "ceil_mode").value_or(0) != 0;
    Numbers out;
    for (std::size_t i = 0; i < space.size(); ++i) {
      const Along along = {kernel_[i], strides_[i], dilations_[i],
                           pads_[i] + pads_[space.size() + i], more_[i]};
      out.push_back(window_.transposed ? results_of_transposed(space[i], along)
                                       : places(space[i], along, rounds_up));
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

  [[nodiscard]] bool is_square() const {
    return std::all_of(kernel_.begin(), kernel_.end(),
                       [&](std::int64_t size) { return size == kernel_.front(); });
  }

  /// Another window, step, dilation, activation or number of groups, where the kernel's own leaves
  /// room for it.
  void draw_form(Draw& draw) {
    if (window_.transposed) return draw_transposed(draw);
    if (!window_.weights) return draw_pool(draw);
    const bool keeps = pads_ == keeping();
    const bool plain = std::all_of(strides_.begin(), strides_.end(),
                                   [](std::int64_t stride) { return stride == 1; });
    enum Form { kWindow, kSize, kDilation, kStep, kGroup, kActivation, kForms };
    switch (draw.random().below(kForms)) {
      case kWindow:
        if (!is_square() || !keeps || kernel_.front() == 1) return;
        std::fill(kernel_.begin(), kernel_.end(),
                  kernel_.size() == 1 ? draw.one_of(kSignalWindows) : draw.one_of(kWindows));
        if (kernel_.size() == 2 && draw.happens(kOneSided)) kernel_[draw.random().below(2)] = 1;
        pads_ = keeping();
        return;
      case kSize:
        // As many channels, and images, as any network's: those of the space go together.
        if (group_ == channels_) {
          channels_ = group_ = filters_ = block() * draw.any(1024 / block());
        }
        return;
      case kDilation:
        if (!plain || !keeps || kernel_.front() == 1) return;
        std::fill(dilations_.begin(), dilations_.end(), draw.one_of(kDilations));
        pads_ = keeping();
        return;
      case kStep:
        if (keeps && kernel_.front() > 1)
          std::fill(strides_.begin(), strides_.end(), draw.one_of(kSteps));
        return;
      case kGroup:
        return draw_groups(draw.one_of(kGroups), draw);
      default:
        return draw_activation(draw);
    }
  }

  void draw_pool(Draw& draw) {
    if (!is_square()) return;
    const std::int64_t size = draw.one_of(kPoolWindows);
    const std::int64_t step = draw.one_of(std::array<std::int64_t, 2>{1, 2});
    std::fill(kernel_.begin(), kernel_.end(), size);
    std::fill(strides_.begin(), strides_.end(), step);
    std::fill(pads_.begin(), pads_.end(), size % 2 == 1 ? size / 2 : 0);
  }

  /// Windows of 2 to 16 that make an image 2 to 8 times as large, or leave it.
  void draw_transposed(Draw& draw) {
    struct Upward {
      std::int64_t kernel, stride, pad;
    };
    constexpr std::array<Upward, 6> kUpwards = {
        {{2, 2, 0}, {4, 2, 1}, {3, 1, 1}, {4, 4, 0}, {8, 4, 2}, {16, 8, 4}}};
    const Upward to = draw.one_of(kUpwards);
    std::fill(kernel_.begin(), kernel_.end(), to.kernel);
    std::fill(strides_.begin(), strides_.end(), to.stride);
    std::fill(pads_.begin(), pads_.end(), to.pad);
    std::fill(dilations_.begin(), dilations_.end(), 1);
    std::fill(more_.begin(), more_.end(), 0);
  }

  [[nodiscard]] std::int64_t block() const {
    const Value* value = key_.tag("block");
    return value != nullptr && value->integer() != nullptr
               ? std::max<std::int64_t>(1, *value->integer())
               : 1;
  }

  /// Channels of a group fill the blocks of a blocked layout; with others ONNX Runtime leaves a
  /// convolution as it is (nchwc_transformer.cc), and so does this in half of the cases.
  void draw_groups(std::int64_t groups, Draw& draw) {
    unblocked_ = block() > 1 && can_be_unblocked() && draw.happens(0.5);
    const std::int64_t unit = unblocked_ ? 1 : block();
    if (group_ == 1 && channels_ % (groups * unit) == 0 && filters_ % (groups * unit) == 0) {
      group_ = groups;
    } else if (group_ == 1 && !unblocked_ && channels_ > kMaxKept) {
      // More channels, so that each group has its blocks.
      channels_ = filters_ = groups * std::max(unit, kMaxKept);
      group_ = groups;
    } else if (unblocked_ && group_ == channels_ && filters_ == channels_ && channels_ > block()) {
      channels_ = filters_ = group_ = channels_ - block() / 4;
    }
    unblocked_ = unblocked_ && (channels_ / group_) % block() != 0;
  }

  [[nodiscard]] std::string_view activation() const {
    const Value* value = key_.attribute("activation");
    return value == nullptr || value->text() == nullptr ? std::string_view() : *value->text();
  }

  /// Without a sum to add, and with an activation that all convolutions fuse.
  [[nodiscard]] bool can_be_unblocked() const {
    return (activation().empty() || activation() == "Relu") && key_.operands.size() <= 3;
  }

  void draw_activation(Draw& draw) {
    if (key_.op != "Conv" && key_.op != "FusedConv") return;
    // The runtime's own operators alone have one.
    if (key_.domain.empty()) return;
    const std::size_t first = key_.op == "FusedConv" ? 1 : 0;
    activation_ = first + draw.random().below(activations().size() - first);
  }

  /// Images stay square.
  void draw_space(Draw& draw) {
    std::map<std::int64_t, std::int64_t> sizes;
    for (std::int64_t& size : space_) {
      const auto [at, added] = sizes.emplace(size, 0);
      if (added) at->second = draw.size(size, 1);
      size = at->second;
    }
  }

  [[nodiscard]] Shape image_like(Numbers dims) const {
    dims[channel_at()] = channels_;
    for (std::size_t d = 0; d < space_.size(); ++d) dims[space_at() + d] = space_[d];
    return Shape::of(dims);
  }
  [[nodiscard]] Shape weights_like(Numbers dims) const {
    std::tie(dims[0], dims[1]) = channels_of_weights();
    for (std::size_t d = 0; d < kernel_.size(); ++d) dims[2 + d] = kernel_[d];
    return Shape::of(dims);
  }

  std::optional<Key> write() const {
    const auto result_space = places_of(space_);
    if (!result_space || !usual(*result_space)) return std::nullopt;
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
        tensor->shape = image_like(*dims);
      } else if (window_.weights && i == *window_.weights) {
        tensor->shape = weights_like(*dims);
      } else if (*dims == result_before) {
        tensor->shape = Shape::of(result);
      } else if (dims->size() == 1 && dims->front() == filters_before && filters_before > 1) {
        tensor->shape = Shape::of({filters_});
      } else if (tensor->shape.elements().value_or(2) > 1) {
        return std::nullopt;
      }
    }
    for (Entry& entry : out.results) {
      if (TensorEntry* tensor = tensor_of(entry)) {
        if (dims_of(tensor) != result_before) return std::nullopt;
        tensor->shape = Shape::of(result);
      }
    }
    if (!put_attributes(out)) return std::nullopt;
    out.canonicalise();
    return out;
  }

  bool put_attributes(Key& out) const {
    if (group_ != 1) ops::set_attribute(out, "group", Value(group_));
    ops::set_attribute(out, "kernel_shape", Value::ints(kernel_));
    ops::set_attribute(out, "pads", Value::ints(pads_));
    ops::set_attribute(out, "strides", Value::ints(strides_));
    if (window_.transposed && key_.attribute("output_padding") != nullptr)
      ops::set_attribute(out, "output_padding", Value::ints(more_));
    if (key_.attribute("dilations") != nullptr) {
      ops::set_attribute(out, "dilations", Value::ints(dilations_));
    } else if (std::any_of(dilations_.begin(), dilations_.end(),
                           [](std::int64_t dilation) { return dilation != 1; })) {
      return false;
    }
    if (activation_) put_activation(out, activations()[*activation_]);
    if (unblocked_) {
      const bool fused = out.attribute("activation") != nullptr;
      out.domain = fused ? "com.microsoft" : "";
      out.op = fused ? "FusedConv" : "Conv";
      out.since = fused ? 1 : 11;
      std::erase_if(out.tags, [](const NamedValue& tag) { return tag.first == "block"; });
    }
    return true;
  }

  static void put_activation(Key& out, const Activation& activation) {
    ops::drop_attribute(out, "activation");
    ops::drop_attribute(out, "activation_params");
    if (activation.name.empty()) return;
    ops::set_attribute(out, "activation", Value(std::string(activation.name)));
    if (!activation.parameters.empty())
      ops::set_attribute(out, "activation_params",
                         Value(List(activation.parameters.begin(), activation.parameters.end())));
  }

  const Key& key_;
  Window window_;
  Numbers kernel_, strides_, pads_, dilations_, more_, space_, result_space_;
  std::int64_t channels_ = 1;
  std::int64_t filters_ = 1;
  std::int64_t group_ = 1;
  bool unblocked_ = false;
  std::optional<std::size_t> activation_;  ///< another one than the key's
};

}  // namespace

bool has_window(const Key& key) { return window_of(key).has_value(); }

std::optional<Key> vary_window(const Key& key, Draw& draw) {
  const auto window = window_of(key);
  return window ? WindowVariation(key, *window).make(draw) : std::nullopt;
}

}  // namespace oplat::ir::variations
