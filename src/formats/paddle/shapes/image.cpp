// SPDX-License-Identifier: Apache-2.0
/// Operators on images: windows that slide over them, sizes that change, normalisation.
#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.hpp"
#include "formats/paddle/shapes/call.hpp"
#include "ir/image.hpp"

namespace oplat::formats::paddle::shapes {

using namespace ir;  // NOLINT: the file is about keys

namespace {

Result<Image> image_of(const Call& call, std::string_view slot, std::string_view layout) {
  OPLAT_TRY(x, call.operand(slot));
  const Numbers& dims = x->dims;
  if (dims.size() < 3 || dims.size() > 5) {
    return fail(Code::Input,
                "{}: operand {} has the shape {}; expected an image of 3 to 5 dimensions",
                call.op(), slot, text(dims));
  }
  const std::string order = call.word(layout, "NCHW");
  Image image;
  image.channels_last = order == "NHWC" || order == "NDHWC" || order == "NLC" || order == "NWC";
  image.batch = dims.front();
  image.channels = image.channels_last ? dims.back() : dims[1];
  image.sizes = image.channels_last ? Numbers(dims.begin() + 1, dims.end() - 1)
                                    : Numbers(dims.begin() + 2, dims.end());
  return image;
}

/// What a window does along one dimension.
struct Slide {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;
  std::int64_t before = 0;
  std::int64_t after = 0;
};

Result<Numbers> per_dimension(const Call& call, std::string_view name, std::size_t count,
                              std::int64_t otherwise, std::int64_t least) {
  OPLAT_TRY(given, call.integers(name));
  Numbers numbers = given.value_or(Numbers(count, otherwise));
  if (numbers.size() == 1) numbers.resize(count, numbers.front());
  const bool sound = std::all_of(numbers.begin(), numbers.end(),
                                 [&](auto n) { return n >= least && n <= kMaxSize; });
  if (numbers.size() != count || !sound) {
    return fail(Code::Input, "{}: attribute {} is {}; expected {} numbers of at least {}",
                call.op(), name, text(numbers), count, least);
  }
  return numbers;
}

/// Padding as numbers: one a dimension, or before and after each; SAME and VALID are rules.
Status pad(const Call& call, const Numbers& sizes, bool may_dilate, std::vector<Slide>& slides) {
  const std::string rule = call.word("padding_algorithm", "EXPLICIT");
  if (rule == "VALID") return {};
  if (rule == "SAME") {
    for (std::size_t i = 0; i < slides.size(); ++i) {
      Slide& slide = slides[i];
      slide.dilation = may_dilate ? 1 : slide.dilation;
      const std::int64_t target = (sizes[i] + slide.stride - 1) / slide.stride;
      const std::int64_t needed =
          std::max<std::int64_t>(0, (target - 1) * slide.stride + slide.kernel - sizes[i]);
      slide.before = needed / 2;
      slide.after = needed - slide.before;
    }
    return {};
  }
  if (rule != "EXPLICIT") {
    return fail(Code::Input, "{}: padding_algorithm is '{}'; expected EXPLICIT, SAME or VALID",
                call.op(), base::printable(rule));
  }
  OPLAT_TRY(given, call.integers("paddings"));
  Numbers pads = given.value_or(Numbers(slides.size(), 0));
  const std::size_t count = slides.size();
  // Four numbers over an image of four dimensions too many: some exporters pad batch and channels
  // as well, with zeros.
  if (pads.size() == 2 * count + 4) pads.erase(pads.begin(), pads.begin() + 4);
  if (pads.size() != count && pads.size() != 2 * count) {
    return fail(Code::Input, "{}: attribute paddings is {}; expected {} or {} numbers", call.op(),
                text(pads), count, 2 * count);
  }
  for (std::size_t i = 0; i < count; ++i) {
    slides[i].before = pads.size() == count ? pads[i] : pads[2 * i];
    slides[i].after = pads.size() == count ? pads[i] : pads[2 * i + 1];
    if (std::abs(slides[i].before) > kMaxSize || std::abs(slides[i].after) > kMaxSize) {
      return fail(Code::Input, "{}: attribute paddings is {}", call.op(), text(pads));
    }
  }
  return {};
}

Result<Numbers> slide(const Call& call, const std::vector<Slide>& slides, const Numbers& sizes,
                      bool round_up) {
  Numbers result;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Slide& s = slides[i];
    const std::int64_t reach = s.dilation * (s.kernel - 1) + 1;
    const std::int64_t room = sizes[i] + s.before + s.after - reach;
    if (room < 0) {
      return fail(Code::Input, "{}: a window of {} does not fit an image of {} padded by {} and {}",
                  call.op(), reach, sizes[i], s.before, s.after);
    }
    result.push_back((room + (round_up ? s.stride - 1 : 0)) / s.stride + 1);
  }
  return result;
}

/// The filter [O,I/groups,spatial...] or, of transposed ones, [I,O/groups,spatial...].
Result<Numbers> filter_of(const Call& call, std::size_t spatial) {
  OPLAT_TRY(filter, call.operand("Filter"));
  const bool sound =
      std::all_of(filter->dims.begin(), filter->dims.end(), [](auto d) { return d >= 1; });
  if (filter->dims.size() != spatial + 2 || !sound) {
    return fail(Code::Input, "{}: the filter has the shape {}; expected {} dimensions", call.op(),
                text(filter->dims), spatial + 2);
  }
  return filter->dims;
}

Result<std::vector<Slide>> slides_of(const Call& call, const Numbers& kernels,
                                     const Numbers& sizes) {
  OPLAT_TRY(strides, per_dimension(call, "strides", sizes.size(), 1, 1));
  OPLAT_TRY(dilations, per_dimension(call, "dilations", sizes.size(), 1, 1));
  std::vector<Slide> slides(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    slides[i].kernel = kernels[i];
    slides[i].stride = strides[i];
    slides[i].dilation = dilations[i];
  }
  OPLAT_CHECK(pad(call, sizes, true, slides));
  return slides;
}

Status convolution(Call& call) {
  OPLAT_TRY(image, image_of(call, "Input", "data_format"));
  OPLAT_TRY(filter, filter_of(call, image.sizes.size()));
  OPLAT_TRY(groups, call.integer("groups", 1, 1));
  if (image.channels != filter[1] * groups || filter[0] % groups != 0) {
    return fail(Code::Input, "{}: a filter {} in {} groups does not fit an image of {} channels",
                call.op(), text(filter), groups, image.channels);
  }
  OPLAT_TRY(slides, slides_of(call, Numbers(filter.begin() + 2, filter.end()), image.sizes));
  OPLAT_TRY(sizes, slide(call, slides, image.sizes, false));
  image.channels = filter[0];
  image.sizes = std::move(sizes);
  call.give("Output", image.dims());
  return {};
}

Status transposed_convolution(Call& call) {
  OPLAT_TRY(image, image_of(call, "Input", "data_format"));
  OPLAT_TRY(filter, filter_of(call, image.sizes.size()));
  OPLAT_TRY(groups, call.integer("groups", 1, 1));
  if (image.channels != filter[0] || image.channels % groups != 0) {
    return fail(Code::Input, "{}: a filter {} in {} groups does not fit an image of {} channels",
                call.op(), text(filter), groups, image.channels);
  }
  OPLAT_TRY(slides, slides_of(call, Numbers(filter.begin() + 2, filter.end()), image.sizes));
  OPLAT_TRY(extra, call.integers("output_padding"));
  OPLAT_TRY(size, call.numbers("", "output_size", "output_size"));
  for (std::size_t i = 0; i < slides.size(); ++i) {
    const Slide& s = slides[i];
    std::int64_t length =
        (image.sizes[i] - 1) * s.stride - s.before - s.after + s.dilation * (s.kernel - 1) + 1;
    if (extra && extra->size() == slides.size()) length += (*extra)[i];
    if (size && size->size() == slides.size()) length = (*size)[i];
    image.sizes[i] = length;
  }
  image.channels = filter[1] * groups;
  call.give("Output", image.dims());
  return {};
}

Status pool(Call& call) {
  OPLAT_TRY(image, image_of(call, "X", "data_format"));
  const bool global = call.flag("global_pooling", false);
  const std::size_t count = image.sizes.size();
  if (global) {
    image.sizes.assign(count, 1);
  } else {
    OPLAT_TRY(kernels, per_dimension(call, "ksize", count, 1, 1));
    if (call.flag("adaptive", false)) {
      image.sizes = kernels;
    } else {
      OPLAT_TRY(strides, per_dimension(call, "strides", count, 1, 1));
      std::vector<Slide> slides(count);
      for (std::size_t i = 0; i < count; ++i)
        slides[i].kernel = kernels[i], slides[i].stride = strides[i];
      OPLAT_CHECK(pad(call, image.sizes, false, slides));
      OPLAT_TRY(sizes, slide(call, slides, image.sizes, call.flag("ceil_mode", false)));
      image.sizes = std::move(sizes);
    }
  }
  call.give("Out", image.dims());
  if (call.results("Mask") > 0) call.give("Mask", image.dims());
  return {};
}

/// Sizes from, in this order, a list of numbers, a tensor of them, a factor, the attributes out_d,
/// out_h and out_w.
Status interpolate(Call& call) {
  OPLAT_TRY(image, image_of(call, "X", "data_layout"));
  const std::size_t count = image.sizes.size();
  OPLAT_TRY(sizes, call.numbers("SizeTensor", "OutSize", ""));
  std::vector<double> factors = call.reals("scale");
  std::erase_if(factors, [](double f) { return !(f > 0); });
  if (factors.size() == 1) factors.resize(count, factors.front());
  if (sizes) {
    if (sizes->size() != count)
      return fail(Code::Input, "{}: has {} sizes for {} dimensions", call.op(), sizes->size(),
                  count);
    image.sizes = *sizes;
  } else if (call.has("Scale")) {
    return fail(Code::Missing, "{}: the values of operand Scale are not known", call.op());
  } else if (factors.size() == count) {
    for (std::size_t i = 0; i < count; ++i) {
      const double size = static_cast<double>(image.sizes[i]) * factors[i];
      if (!(size < static_cast<double>(kMaxSize)))
        return fail(Code::Input, "{}: a scale of {} leads to too large a size", call.op(),
                    factors[i]);
      image.sizes[i] = static_cast<std::int64_t>(size);
    }
  } else {
    constexpr std::array<std::string_view, 3> kNames = {"out_d", "out_h", "out_w"};
    for (std::size_t i = 0; i < count; ++i) {
      // An image of one dimension has a width, of two a height before it.
      OPLAT_TRY(size, call.integer(count == 1 ? kNames[2] : kNames[i + 3 - count], -1));
      image.sizes[i] = size;
    }
  }
  call.give("Out", image.dims());
  return {};
}

/// Pads before and after each dimension, the innermost first; those of pad2d the outermost.
Status pad_image(Call& call) {
  OPLAT_TRY(image, image_of(call, "X", "data_format"));
  OPLAT_TRY(pads, call.numbers("", "Paddings", "paddings"));
  const std::size_t count = image.sizes.size();
  if (!pads || pads->size() != 2 * count) {
    return fail(Code::Input, "{}: attribute paddings is {}; expected {} numbers", call.op(),
                text(pads.value_or(Numbers{})), 2 * count);
  }
  const bool outer_first = call.op() == "pad2d";
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = 2 * (outer_first ? i : count - 1 - i);
    image.sizes[i] += std::clamp((*pads)[at], -kMaxSize, kMaxSize) +
                      std::clamp((*pads)[at + 1], -kMaxSize, kMaxSize);
  }
  call.give("Out", image.dims());
  return {};
}

Status normalise(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  call.give("Y", x->dims);
  return {};
}

Status pixel_shuffle(Call& call) {
  OPLAT_TRY(image, image_of(call, "X", "data_format"));
  OPLAT_TRY(factor, call.integer("upscale_factor", 1, 1, 1 << 10));
  if (image.sizes.size() != 2 || image.channels % (factor * factor) != 0) {
    return fail(Code::Input, "{}: {} channels do not fit a factor of {}", call.op(), image.channels,
                factor);
  }
  image.channels /= factor * factor;
  for (std::int64_t& size : image.sizes) size *= factor;
  call.give("Out", image.dims());
  return {};
}

Status grid_sample(Call& call) {
  OPLAT_TRY(x, call.operand("X"));
  OPLAT_TRY(grid, call.operand("Grid"));
  if (x->dims.size() != grid->dims.size() || x->dims.size() < 4) {
    return fail(Code::Input, "{}: an image {} does not fit a grid {}", call.op(), text(x->dims),
                text(grid->dims));
  }
  Numbers dims = {x->dims[0], x->dims[1]};
  dims.insert(dims.end(), grid->dims.begin() + 1, grid->dims.end() - 1);
  call.give("Output", dims);
  return {};
}

constexpr std::array kImageOperators = {
    Operator{"conv2d", convolution},
    Operator{"depthwise_conv2d", convolution},
    Operator{"conv3d", convolution},
    Operator{"sparse_conv2d", convolution},
    Operator{"deformable_conv", convolution},
    Operator{"deformable_conv_v1", convolution},
    Operator{"conv2d_transpose", transposed_convolution},
    Operator{"depthwise_conv2d_transpose", transposed_convolution},
    Operator{"conv3d_transpose", transposed_convolution},
    Operator{"pool2d", pool},
    Operator{"pool3d", pool},
    Operator{"max_pool2d_with_index", pool},
    Operator{"max_pool3d_with_index", pool},
    Operator{"nearest_interp_v2", interpolate},
    Operator{"bilinear_interp_v2", interpolate},
    Operator{"bicubic_interp_v2", interpolate},
    Operator{"linear_interp_v2", interpolate},
    Operator{"trilinear_interp_v2", interpolate},
    Operator{"nearest_interp", interpolate},
    Operator{"bilinear_interp", interpolate},
    Operator{"pad2d", pad_image},
    Operator{"pad3d", pad_image},
    Operator{"batch_norm", normalise},
    Operator{"sync_batch_norm", normalise},
    Operator{"layer_norm", normalise},
    Operator{"group_norm", normalise},
    Operator{"instance_norm", normalise},
    Operator{"pixel_shuffle", pixel_shuffle},
    Operator{"grid_sampler", grid_sample},
};

}  // namespace

std::span<const Operator> image_operators() { return kImageOperators; }

}  // namespace oplat::formats::paddle::shapes
