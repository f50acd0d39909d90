// SPDX-License-Identifier: Apache-2.0
/// The header of a .npy file is a Python dictionary literal; only the three entries that NumPy
/// defines are looked for.
#include "runtimes/onnxruntime/npy.hpp"

#include <array>
#include <optional>
#include <utility>

#include "base/text.hpp"

namespace oplat::runtimes::onnxruntime {
namespace {

using ir::Dtype;
constexpr std::array<std::pair<std::string_view, Dtype>, 12> kTypes = {{{"<f4", Dtype::F32},
                                                                        {"<f8", Dtype::F64},
                                                                        {"<f2", Dtype::F16},
                                                                        {"<i8", Dtype::I64},
                                                                        {"<i4", Dtype::I32},
                                                                        {"<i2", Dtype::I16},
                                                                        {"|i1", Dtype::I8},
                                                                        {"|u1", Dtype::U8},
                                                                        {"<u2", Dtype::U16},
                                                                        {"<u4", Dtype::U32},
                                                                        {"<u8", Dtype::U64},
                                                                        {"|b1", Dtype::Bool}}};

/// The text between `open` and `close` behind 'key':.
std::optional<std::string_view> field(std::string_view header, std::string_view key, char open,
                                      char close) {
  const std::size_t at = header.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t begin = header.find(open, at + key.size() + 1);
  if (begin == std::string_view::npos) return std::nullopt;
  const std::size_t end = header.find(close, begin + 1);
  if (end == std::string_view::npos) return std::nullopt;
  return header.substr(begin + 1, end - begin - 1);
}

}  // namespace

Result<NpyArray> parse_npy(std::string_view data, const std::string& file) {
  const auto wrong = [&](std::string_view what) {
    return fail(Code::Input, "{}: no .npy array that oplat reads: {}", file, what);
  };
  if (data.size() < 12 || data.substr(0, 6) != "\x93NUMPY")
    return wrong("it does not begin with the mark of NumPy arrays");
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(data[i]));
  };
  const bool wide = byte(6) >= 2;
  const std::size_t header_at = wide ? 12 : 10;
  const std::size_t header_size =
      byte(8) | byte(9) << 8U | (wide ? byte(10) << 16U | byte(11) << 24U : 0);
  if (header_size > data.size() - header_at) return wrong("its header is truncated");
  const std::string_view header = data.substr(header_at, header_size);
  const auto descr = field(header, "'descr'", '\'', '\'');
  const auto shape = field(header, "'shape'", '(', ')');
  if (!descr || !shape) return wrong("its header lacks 'descr' or 'shape'");
  if (header.find("'fortran_order': True") != std::string_view::npos)
    return wrong("Fortran order; save numpy.ascontiguousarray(x)");
  NpyArray array;
  bool known = false;
  for (const auto& [name, dtype] : kTypes) {
    if (name == *descr) array.dtype = dtype, known = true;
  }
  if (!known) return wrong(fmt::format("elements of type '{}'", base::printable(*descr)));
  std::int64_t count = 1;
  for (const std::string& part : base::split(*shape, ',')) {
    const std::size_t begin = part.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    const auto dim = base::parse_int(std::string_view(part).substr(begin));
    if (!dim || *dim < 0 || __builtin_mul_overflow(count, *dim, &count))
      return wrong("its shape is not a list of sizes");
    array.dims.push_back(*dim);
  }
  const std::string_view body = data.substr(header_at + header_size);
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(count, std::int64_t{*ir::bits(array.dtype) / 8}, &bytes) ||
      bytes != static_cast<std::int64_t>(body.size())) {
    return wrong(fmt::format("{} bytes of data for {} elements", body.size(), count));
  }
  array.bytes = std::string(body);
  return array;
}

}  // namespace oplat::runtimes::onnxruntime
