// SPDX-License-Identifier: Apache-2.0
/// Element types and small constants.
#include "formats/onnx/types.hpp"

#include <array>
#include <cstring>
#include <utility>

namespace oplat::formats::onnx {
namespace {

using ir::Dtype;

// Index: ONNX's TensorProto.DataType.
constexpr std::array<std::optional<Dtype>, 24> kTypes = {
    std::nullopt,      Dtype::F32,    Dtype::U8,         Dtype::I8,   Dtype::U16,  Dtype::I16,
    Dtype::I32,        Dtype::I64,    Dtype::String,     Dtype::Bool, Dtype::F16,  Dtype::F64,
    Dtype::U32,        Dtype::U64,    Dtype::C64,        Dtype::C128, Dtype::BF16, Dtype::F8E4M3FN,
    Dtype::F8E4M3FNUZ, Dtype::F8E5M2, Dtype::F8E5M2FNUZ, Dtype::U4,   Dtype::I4,   Dtype::F4E2M1};

template <class T>
T read_as(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

/// Element i of a 4-bit type, whose pair is in `byte`: the first of two in the lower half.
std::int64_t nibble(Dtype dtype, unsigned byte, std::size_t i) {
  const std::int64_t half = i % 2 == 0 ? byte & 0xFU : byte >> 4U & 0xFU;
  return dtype == Dtype::I4 && half > 7 ? half - 16 : half;
}

/// Element i of dense little-endian data.
std::optional<ir::Value> dense_element(Dtype dtype, const std::string& raw, std::size_t i) {
  const char* base = raw.data();
  switch (dtype) {
    case Dtype::F32:
      return ir::Value(static_cast<double>(read_as<float>(base + 4 * i)));
    case Dtype::F64:
      return ir::Value(read_as<double>(base + 8 * i));
    case Dtype::I64:
    case Dtype::U64:  // above 2^63 - 1 as the negative number of the same bits
      return ir::Value(read_as<std::int64_t>(base + 8 * i));
    case Dtype::I32:
      return ir::Value(std::int64_t{read_as<std::int32_t>(base + 4 * i)});
    case Dtype::U32:
      return ir::Value(std::int64_t{read_as<std::uint32_t>(base + 4 * i)});
    case Dtype::I16:
      return ir::Value(std::int64_t{read_as<std::int16_t>(base + 2 * i)});
    case Dtype::U16:
      return ir::Value(std::int64_t{read_as<std::uint16_t>(base + 2 * i)});
    case Dtype::I8:
      return ir::Value(std::int64_t{read_as<std::int8_t>(base + i)});
    case Dtype::U8:
      return ir::Value(std::int64_t{read_as<std::uint8_t>(base + i)});
    case Dtype::Bool:
      return ir::Value(std::int64_t{base[i] != 0});
    case Dtype::I4:
    case Dtype::U4:
      return ir::Value(nibble(dtype, static_cast<unsigned char>(base[i / 2]), i));
    default:
      return std::nullopt;
  }
}

/// Element i of the typed repeated fields, where ONNX keeps small types in int32_data.
std::optional<ir::Value> typed_element(Dtype dtype, const wire::Tensor& t, int i) {
  switch (dtype) {
    case Dtype::F32:
      if (i < t.float_data_size()) return ir::Value(static_cast<double>(t.float_data(i)));
      break;
    case Dtype::F64:
      if (i < t.double_data_size()) return ir::Value(t.double_data(i));
      break;
    case Dtype::I64:
      if (i < t.int64_data_size()) return ir::Value(std::int64_t{t.int64_data(i)});
      break;
    case Dtype::U32:
    case Dtype::U64:
      if (i < t.uint64_data_size()) return ir::Value(static_cast<std::int64_t>(t.uint64_data(i)));
      break;
    case Dtype::I32:
    case Dtype::I16:
    case Dtype::I8:
    case Dtype::U16:
    case Dtype::U8:
    case Dtype::Bool:
      if (i < t.int32_data_size()) return ir::Value(std::int64_t{t.int32_data(i)});
      break;
    case Dtype::I4:
    case Dtype::U4:
      if (i / 2 < t.int32_data_size())
        return ir::Value(nibble(dtype, static_cast<unsigned>(t.int32_data(i / 2)) & 0xFFU,
                                static_cast<std::size_t>(i)));
      break;
    default:
      break;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Dtype> dtype_of(std::int32_t onnx_type) {
  if (onnx_type < 0 || static_cast<std::size_t>(onnx_type) >= kTypes.size()) return std::nullopt;
  return kTypes[static_cast<std::size_t>(onnx_type)];
}

std::int32_t onnx_type_of(Dtype dtype) {
  for (std::size_t i = 1; i < kTypes.size(); ++i) {
    if (kTypes[i] == dtype) return static_cast<std::int32_t>(i);
  }
  return 0;
}

std::string own_domain(const std::string& onnx_domain) {
  return onnx_domain == "ai.onnx" ? std::string() : onnx_domain;
}

std::optional<std::int64_t> element_count(const wire::Tensor& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t dim : tensor.dims()) {
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count)) return std::nullopt;
  }
  return count;
}

std::optional<std::int64_t> dense_bytes(const wire::Tensor& tensor) {
  const auto dtype = dtype_of(tensor.data_type());
  const auto count = element_count(tensor);
  if (!dtype || !count) return std::nullopt;
  const auto bits = ir::bits(*dtype);
  std::int64_t total = 0;
  if (!bits || __builtin_mul_overflow(*count, std::int64_t{*bits}, &total)) return std::nullopt;
  return total / 8 + (total % 8 != 0 ? 1 : 0);
}

std::optional<ir::Value> element_at(const wire::Tensor& tensor, std::int64_t i) {
  const auto dtype = dtype_of(tensor.data_type());
  const auto count = element_count(tensor);
  constexpr std::int64_t kMaxIndex = std::int64_t{1} << 31;
  if (!dtype || !count || i < 0 || i >= *count || i >= kMaxIndex) return std::nullopt;
  if (!tensor.has_raw_data()) return typed_element(*dtype, tensor, static_cast<int>(i));
  const auto bits = ir::bits(*dtype);
  if (!bits || *bits % 8 != 0) return std::nullopt;
  const std::size_t end = (static_cast<std::size_t>(i) + 1) * static_cast<std::size_t>(*bits / 8);
  if (tensor.raw_data().size() < end) return std::nullopt;
  return dense_element(*dtype, tensor.raw_data(), static_cast<std::size_t>(i));
}

std::optional<ir::List> small_elements(const wire::Tensor& tensor, std::int64_t most) {
  const auto dtype = dtype_of(tensor.data_type());
  const auto count = element_count(tensor);
  if (!dtype || !count || *count > most) return std::nullopt;
  const bool raw = tensor.has_raw_data();
  if (raw && static_cast<std::int64_t>(tensor.raw_data().size()) != dense_bytes(tensor))
    return std::nullopt;
  ir::List elements;
  for (std::int64_t i = 0; i < *count; ++i) {
    auto element = raw ? dense_element(*dtype, tensor.raw_data(), static_cast<std::size_t>(i))
                       : typed_element(*dtype, tensor, static_cast<int>(i));
    if (!element) return std::nullopt;
    elements.push_back(std::move(*element));
  }
  return elements;
}

std::optional<ir::Value> equal_element(const wire::Tensor& tensor) {
  const auto dtype = dtype_of(tensor.data_type());
  const auto count = element_count(tensor);
  if (!dtype || !count || *count < 1) return std::nullopt;
  if (tensor.has_raw_data()) {
    const std::string& raw = tensor.raw_data();
    if (static_cast<std::int64_t>(raw.size()) != dense_bytes(tensor)) return std::nullopt;
    if (*dtype == Dtype::I4 || *dtype == Dtype::U4) {
      const auto first = dense_element(*dtype, raw, 0);
      for (std::int64_t i = 1; i < *count; ++i) {
        if (dense_element(*dtype, raw, static_cast<std::size_t>(i)) != first) return std::nullopt;
      }
      return first;
    }
    const std::size_t width = raw.size() / static_cast<std::size_t>(*count);
    // Packed types share bytes between elements.
    if (width == 0 || raw.size() % static_cast<std::size_t>(*count) != 0) return std::nullopt;
    if (std::memcmp(raw.data(), raw.data() + width, raw.size() - width) != 0) return std::nullopt;
    return dense_element(*dtype, raw, 0);
  }
  auto first = typed_element(*dtype, tensor, 0);
  if (!first) return std::nullopt;
  for (std::int64_t i = 1; i < *count; ++i) {
    if (typed_element(*dtype, tensor, static_cast<int>(i)) != first) return std::nullopt;
  }
  return first;
}

}  // namespace oplat::formats::onnx
