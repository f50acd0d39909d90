// SPDX-License-Identifier: Apache-2.0
/// Inputs by specification or by consumer.
#include "runtimes/onnxruntime/inputs.hpp"

#include <algorithm>
#include <chrono>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "formats/random_data.hpp"
#include "runtimes/onnxruntime/npy.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

constexpr std::int64_t kMaxElements = std::int64_t{1} << 31;

Result<std::int64_t> element_count(const std::string& name, const std::vector<std::int64_t>& dims) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > kMaxElements) {
      return fail(Code::Usage, "input '{}' of shape {} is too large", name, fmt::join(dims, "x"));
    }
  }
  return count;
}

/// Applies "zeros", "ones", "uniform:LO:HI" or a file.
Status specify(InputData& input, const std::string& specification, std::int64_t count,
               std::uint64_t seed) {
  if (specification == "zeros") {
    input.bytes.assign(input.bytes.size(), '\0');
    return {};
  }
  if (specification == "ones" || specification.starts_with("uniform:")) {
    double low = 1;
    double high = 1;
    if (specification != "ones") {
      const std::vector<std::string> parts = base::split(specification, ':');
      const auto lo = parts.size() == 3 ? base::parse_double(parts[1]) : std::nullopt;
      const auto hi = parts.size() == 3 ? base::parse_double(parts[2]) : std::nullopt;
      if (!lo || !hi || *lo > *hi)
        return fail(Code::Usage, "--input {}={}: write uniform:LO:HI with two numbers, LO <= HI",
                    input.name, specification);
      low = *lo, high = *hi;
    }
    if (!ir::is_float(input.dtype)) {
      constexpr double kMaxInteger = 0x1p62;
      if (!(low >= 0 && high < kMaxInteger) ||
          low != static_cast<double>(static_cast<std::int64_t>(low)) ||
          (specification != "ones" && low != 0)) {
        return fail(Code::Usage,
                    "--input {}={}: integers are drawn from 0 to HI; write uniform:0:HI",
                    input.name, specification);
      }
      const auto limit = static_cast<std::int64_t>(high) + 1;
      if (specification == "ones") {
        const auto bits = ir::bits(input.dtype).value_or(8);
        const std::size_t width = static_cast<std::size_t>(std::max(8, bits) / 8);
        input.bytes.assign(input.bytes.size(), '\0');
        for (std::size_t i = 0; i < input.bytes.size(); i += width) input.bytes[i] = 1;
        return {};
      }
      input.bytes = formats::random_data(input.dtype, count, {0, 0, false, limit, true}, seed);
      return {};
    }
    input.bytes = formats::random_data(input.dtype, count, {low, high, false, 2, false}, seed);
    return {};
  }
  OPLAT_TRY(data, base::read_file(specification));
  OPLAT_TRY(array, parse_npy(data, specification));
  if (array.dtype != input.dtype || array.dims != input.dims) {
    return fail(Code::Usage, "--input {}={}: the file holds {} {}, the input is {} {}", input.name,
                specification, ir::name(array.dtype), fmt::join(array.dims, "x"),
                ir::name(input.dtype), fmt::join(input.dims, "x"));
  }
  input.bytes = std::move(array.bytes);
  return {};
}

}  // namespace

bool is_data_file(std::string_view specification) {
  return specification != "zeros" && specification != "ones" &&
         !specification.starts_with("uniform:");
}

Result<std::vector<InputData>> model_inputs(
    const std::vector<formats::onnx::InputInfo>& inputs,
    const std::vector<formats::DecisiveInput>& decisive,
    const std::map<std::string, std::string>& specifications, std::uint64_t seed) {
  for (const auto& [name, specification] : specifications) {
    const bool known = std::any_of(inputs.begin(), inputs.end(),
                                   [&name = name](const auto& i) { return i.name == name; });
    if (!known) {
      std::vector<std::string> names;
      for (const auto& input : inputs) names.push_back(input.name);
      return fail(Code::Usage, "--input {}: no input of that name; the model's inputs are: {}",
                  base::printable(name), base::join(names, ", "));
    }
  }
  std::map<std::string_view, const formats::DecisiveInput*> by_name;
  for (const formats::DecisiveInput& one : decisive) by_name.emplace(one.name, &one);
  std::vector<InputData> all;
  for (const auto& info : inputs) {
    InputData input{info.name, info.dtype, {}, {}};
    for (const ir::Dim& dim : info.shape.dims) input.dims.push_back(dim.value_or(1));
    OPLAT_TRY(count, element_count(info.name, input.dims));
    const formats::DataRange range{-1, 1, false, 2, false};
    const std::uint64_t input_seed = base::hash64(info.name, seed);
    const auto found = by_name.find(info.name);
    const bool decides = found != by_name.end() && found->second->fill.has_value();
    input.bytes =
        decides ? formats::filled_data(info.dtype, count, *found->second->fill, range, input_seed)
                : formats::random_data(info.dtype, count, range, input_seed);
    if (const auto at = specifications.find(info.name); at != specifications.end())
      OPLAT_CHECK(specify(input, at->second, count, input_seed));
    all.push_back(std::move(input));
  }
  return all;
}

Result<std::vector<InputData>> kernel_inputs(const std::vector<formats::onnx::KernelInput>& inputs,
                                             std::uint64_t seed) {
  std::vector<InputData> all;
  for (const auto& info : inputs) {
    OPLAT_TRY(count, element_count(info.name, info.dims));
    const formats::DataRange range = formats::operand_range(info.signs);
    const std::uint64_t input_seed = base::hash64(info.name, seed);
    all.push_back({info.name, info.dtype, info.dims,
                   info.fill
                       ? formats::filled_data(info.dtype, count, *info.fill, range, input_seed)
                       : formats::random_data(info.dtype, count, range, input_seed)});
  }
  return all;
}

std::size_t vary_inputs(Session& session, const InputMaker& make, std::uint64_t seed,
                        std::size_t most, const std::function<bool()>& is_good) {
  constexpr std::size_t kBytes = std::size_t{4} << 20U;
  constexpr std::size_t kBytesOfTwo = std::size_t{256} << 20U;
  constexpr std::chrono::milliseconds kLongest{100};
  const std::vector<InputData>& first = session.inputs();
  std::size_t bytes = 0;
  for (const InputData& input : first) {
    // A large one is kept by the runtime alone; one of no elements has no bytes anyway.
    const bool has_elements =
        std::find(input.dims.begin(), input.dims.end(), 0) == input.dims.end();
    if (input.bytes.empty() && has_elements) return 0;
    bytes += input.bytes.size();
  }
  if (bytes == 0 || 2 * bytes > kBytesOfTwo) return 0;
  const std::size_t sets = std::min(std::max<std::size_t>(kBytes / bytes, 2), most + 1);
  const auto until = std::chrono::steady_clock::now() + kLongest;
  const auto is_same = [](const InputData& a, const InputData& b) { return a.bytes == b.bytes; };
  std::size_t runs = 0;
  for (std::size_t set = 1; set < sets && std::chrono::steady_clock::now() < until; ++set) {
    auto inputs = make(base::mix_seed(seed, set));
    if (!inputs ||
        std::equal(first.begin(), first.end(), inputs->begin(), inputs->end(), is_same) ||
        !session.add_inputs(std::move(*inputs)))
      break;
    ++runs;
    if (session.run() && (!is_good || is_good())) continue;
    session.drop_last_inputs();
    break;
  }
  return runs;
}

}  // namespace oplat::runtimes::onnxruntime
