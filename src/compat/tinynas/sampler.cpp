// SPDX-License-Identifier: Apache-2.0
/// Samples of a space: the original's grid, validity rules and order.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/text.hpp"
#include "compat/tinynas/lines.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::int64_t kMaxInputSize = 1'000'000;
constexpr std::int64_t kMaxGridPoints = 100'000;
constexpr double kMaxCombinations = 1e7;
constexpr double kMaxRatio = 1e6;

// The original's limits: elements of the input and the output, multiply-adds.
constexpr double kMaxElements = 128.0 * 240 * 240 * 128;
constexpr double kMaxMultiplyAdds = 78.0 * 78 * 3072 * 3072 * 4;
constexpr std::int64_t kSampledImageChannels = 3;
constexpr std::int64_t kMaxChannelsOfImages = 256;
constexpr std::int64_t kMinChannels = 8;
constexpr std::int64_t kMaxChannels = 4096;
constexpr std::int64_t kMaxDepthwiseKernel = 7;

/// key -> values of config.in, with the checks that every key has.
class ConfigReader {
 public:
  explicit ConfigReader(const base::Source& source) : source_(source) {}

  Status read() {
    OPLAT_CHECK(
        for_each_line(source_.bytes(), [&](std::string_view line, std::size_t number) -> Status {
          const auto found = words(line);
          if (found.empty() || found.front().starts_with('#')) return {};
          const std::string key(found.front());
          const auto wrong = [&](std::string_view what) {
            return fail(Code::Input, "{}:{}: {}", source_.name(), number, what);
          };
          if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
            const std::vector<std::string> known(kKeys.begin(), kKeys.end());
            const auto near = base::nearest_word(key, known);
            return wrong(fmt::format(
                "unknown key '{}'{}; expected one of {}", base::printable(key, 40),
                near ? fmt::format(" (do you mean {}?)", *near) : "", base::join(known, ", ")));
          }
          if (found.size() == 1) return wrong(fmt::format("'{}' has no value", key));
          std::vector<std::string> values(found.begin() + 1, found.end());
          if (!entries_.emplace(key, Entry{number, std::move(values)}).second)
            return wrong(fmt::format("'{}' is given twice", key));
          return {};
        }));
    std::vector<std::string> missing;
    for (const char* key : kKeys) {
      if (!entries_.contains(key)) missing.emplace_back(key);
    }
    if (missing.empty()) return {};
    return fail(Code::Input, "{}: lacks {}; add a line 'key value ...' for each", source_.name(),
                base::join(missing, ", "));
  }

  Result<std::vector<std::int64_t>> integers(const char* key, std::int64_t least,
                                             std::int64_t most) const {
    const Entry& entry = entries_.at(key);
    std::vector<std::int64_t> out;
    for (const std::string& text : entry.values) {
      const auto value = base::parse_int(text);
      if (!value || *value < least || *value > most) {
        return fail(Code::Input, "{}:{}: {} is '{}'; expected integers from {} to {}",
                    source_.name(), entry.line, key, base::printable(text, 24), least, most);
      }
      out.push_back(*value);
    }
    return out;
  }

  Result<std::int64_t> integer(const char* key, std::int64_t least, std::int64_t most) const {
    OPLAT_TRY(values, integers(key, least, most));
    if (values.size() != 1) {
      return fail(Code::Input, "{}:{}: {} has {} values; expected one", source_.name(),
                  entries_.at(key).line, key, values.size());
    }
    return values.front();
  }

  Result<std::vector<double>> ratios() const {
    const Entry& entry = entries_.at("channel_ratio");
    std::vector<double> out;
    for (const std::string& text : entry.values) {
      const auto value = base::parse_double(text);
      if (!value || !(*value > 0) || !(*value <= kMaxRatio)) {
        return fail(Code::Input,
                    "{}:{}: channel_ratio is '{}'; expected positive numbers, In_C / Out_C",
                    source_.name(), entry.line, base::printable(text, 24));
      }
      out.push_back(*value);
    }
    return out;
  }

 private:
  struct Entry {
    std::size_t line;
    std::vector<std::string> values;
  };
  static constexpr std::array kKeys = {"batch",
                                       "elmt_fused",
                                       "filter_size",
                                       "min_feature_size",
                                       "max_feature_size",
                                       "number_feature_size",
                                       "output_channel",
                                       "stride",
                                       "type",
                                       "channel_ratio"};

  const base::Source& source_;
  std::map<std::string, Entry> entries_;
};

bool valid(const ConvTuple& conv, const SamplingRules& rules) {
  if (conv.in_c % rules.channel_multiple != 0 || conv.out_c % rules.channel_multiple != 0)
    return false;
  const bool depthwise = conv.type == ConvType::Depthwise;
  if (!depthwise) {
    if (conv.in_c != kSampledImageChannels && conv.in_c < kMinChannels) return false;
    if (conv.in_c > kMaxChannels || conv.out_c > kMaxChannels) return false;
    if (conv.in_c == kSampledImageChannels && conv.out_c > kMaxChannelsOfImages) return false;
  }
  if (conv.stride == 2 && conv.in_h % 2 != 0) return false;
  if (depthwise && (conv.in_c != conv.out_c || conv.fused || conv.kernel > kMaxDepthwiseKernel))
    return false;
  const auto size = static_cast<double>(conv.in_h);
  const double pixels = static_cast<double>(conv.batch) * size * size;
  const double inputs = pixels * static_cast<double>(conv.in_c);
  // The original divides the output for stride 2 only.
  const double outputs = pixels * static_cast<double>(conv.out_c) / (conv.stride == 2 ? 4 : 1);
  if (inputs > kMaxElements || outputs > kMaxElements) return false;
  const double filter = static_cast<double>(conv.kernel) * static_cast<double>(conv.kernel);
  return outputs * filter * (depthwise ? 1.0 : static_cast<double>(conv.in_c)) <= kMaxMultiplyAdds;
}

template <class T>
std::vector<T> reversed(std::vector<T> values) {
  std::reverse(values.begin(), values.end());
  return values;
}

}  // namespace

Result<SamplingSpace> read_sampling_space(const base::Source& source) {
  ConfigReader reader(source);
  OPLAT_CHECK(reader.read());
  SamplingSpace space;
  OPLAT_TRY(batch, reader.integers("batch", 1, kMaxInputSize));
  OPLAT_TRY(fused, reader.integers("elmt_fused", 0, 1));
  OPLAT_TRY(kernel, reader.integers("filter_size", 1, kMaxInputSize));
  OPLAT_TRY(out_c, reader.integers("output_channel", 1, kMaxInputSize));
  OPLAT_TRY(stride, reader.integers("stride", 1, kMaxInputSize));
  OPLAT_TRY(type, reader.integers("type", 0, 1));
  OPLAT_TRY(ratio, reader.ratios());
  OPLAT_TRY(min_size, reader.integer("min_feature_size", 1, kMaxInputSize));
  OPLAT_TRY(max_size, reader.integer("max_feature_size", 1, kMaxInputSize));
  OPLAT_TRY(sizes, reader.integer("number_feature_size", 1, kMaxGridPoints));
  if (min_size > max_size) {
    return fail(Code::Input, "{}: min_feature_size {} is larger than max_feature_size {}",
                source.name(), min_size, max_size);
  }
  return SamplingSpace{batch, fused, kernel, min_size, max_size, sizes, out_c, stride, type, ratio};
}

std::vector<std::int64_t> size_grid(const SamplingSpace& space) {
  // The ends stand as they are, whatever number is asked for; what lies between is made even.
  std::vector<std::int64_t> sizes = {space.min_size};
  const double first = std::log2(static_cast<double>(space.min_size));
  const double last = std::log2(static_cast<double>(space.max_size));
  double exponent = first;
  for (std::int64_t i = 2; i < space.sizes; ++i) {
    // Summed up, not multiplied: the last bit decides which integer a size becomes.
    exponent += (last - first) / static_cast<double>(space.sizes - 1);
    const auto size = static_cast<std::int64_t>(std::exp2(exponent));
    sizes.push_back(size + size % 2);
  }
  sizes.push_back(space.max_size);
  return sizes;
}

Result<std::vector<ConvTuple>> sample(const SamplingSpace& space, const SamplingRules& rules) {
  const std::vector<std::int64_t> sizes = reversed(size_grid(space));
  double combinations =
      static_cast<double>(space.ratio.size() + 1) * static_cast<double>(sizes.size());
  for (const auto* axis :
       {&space.batch, &space.fused, &space.kernel, &space.out_c, &space.stride, &space.type}) {
    combinations *= static_cast<double>(axis->size());
  }
  if (combinations > kMaxCombinations) {
    return fail(Code::Input, "the space has {:.0f} combinations; the limit is {:.0f}", combinations,
                kMaxCombinations);
  }
  std::vector<ConvTuple> out;
  const auto add_ratios = [&](ConvTuple conv) {
    conv.in_c = kSampledImageChannels;
    if (valid(conv, rules)) out.push_back(conv);
    for (const double ratio : space.ratio) {
      conv.in_c = static_cast<std::int64_t>(ratio * static_cast<double>(conv.out_c));
      if (valid(conv, rules)) out.push_back(conv);
    }
  };
  ConvTuple conv;
  for (const std::int64_t fused : reversed(space.fused)) {
    conv.fused = fused == 1;
    for (const std::int64_t batch : reversed(space.batch)) {
      conv.batch = batch;
      for (const std::int64_t kernel : reversed(space.kernel)) {
        conv.kernel = kernel;
        for (const std::int64_t size : sizes) {
          conv.in_h = conv.in_w = size;
          for (const std::int64_t type : reversed(space.type)) {
            conv.type = type == 0 ? ConvType::Regular : ConvType::Depthwise;
            for (const std::int64_t out_c : reversed(space.out_c)) {
              conv.out_c = out_c;
              for (const std::int64_t stride : space.stride) {
                conv.stride = stride;
                add_ratios(conv);
              }
            }
          }
        }
      }
    }
  }
  return out;
}

}  // namespace oplat::compat::tinynas
