// SPDX-License-Identifier: Apache-2.0
/// The names, sizes and kinds of element types.
#include "ir/dtype.hpp"

#include <algorithm>
#include <array>

namespace oplat::ir {
namespace {

enum class Kind : std::uint8_t { Float, Integer, Other };

struct Facts {
  Dtype dtype;
  std::string_view name;
  int bits;  ///< 0 where an element has no fixed size
  Kind kind;
};

constexpr std::array kFacts = {
    Facts{Dtype::F64, "f64", 64, Kind::Float},
    Facts{Dtype::F32, "f32", 32, Kind::Float},
    Facts{Dtype::F16, "f16", 16, Kind::Float},
    Facts{Dtype::BF16, "bf16", 16, Kind::Float},
    Facts{Dtype::F8E4M3FN, "f8e4m3fn", 8, Kind::Float},
    Facts{Dtype::F8E4M3FNUZ, "f8e4m3fnuz", 8, Kind::Float},
    Facts{Dtype::F8E5M2, "f8e5m2", 8, Kind::Float},
    Facts{Dtype::F8E5M2FNUZ, "f8e5m2fnuz", 8, Kind::Float},
    Facts{Dtype::F4E2M1, "f4e2m1", 4, Kind::Float},
    Facts{Dtype::I64, "i64", 64, Kind::Integer},
    Facts{Dtype::I32, "i32", 32, Kind::Integer},
    Facts{Dtype::I16, "i16", 16, Kind::Integer},
    Facts{Dtype::I8, "i8", 8, Kind::Integer},
    Facts{Dtype::I4, "i4", 4, Kind::Integer},
    Facts{Dtype::U64, "u64", 64, Kind::Integer},
    Facts{Dtype::U32, "u32", 32, Kind::Integer},
    Facts{Dtype::U16, "u16", 16, Kind::Integer},
    Facts{Dtype::U8, "u8", 8, Kind::Integer},
    Facts{Dtype::U4, "u4", 4, Kind::Integer},
    Facts{Dtype::Bool, "bool", 8, Kind::Other},
    Facts{Dtype::C64, "c64", 64, Kind::Other},
    Facts{Dtype::C128, "c128", 128, Kind::Other},
    Facts{Dtype::String, "string", 0, Kind::Other},
    Facts{Dtype::Any, "any", 0, Kind::Other},
};

const Facts& facts(Dtype dtype) {
  return *std::find_if(kFacts.begin(), kFacts.end(),
                       [&](const Facts& f) { return f.dtype == dtype; });
}

}  // namespace

std::string_view name(Dtype dtype) { return facts(dtype).name; }

std::optional<Dtype> parse_dtype(std::string_view text) {
  const auto found =
      std::find_if(kFacts.begin(), kFacts.end(), [&](const Facts& f) { return f.name == text; });
  if (found == kFacts.end()) return std::nullopt;
  return found->dtype;
}

std::optional<int> bits(Dtype dtype) {
  const int size = facts(dtype).bits;
  if (size == 0) return std::nullopt;
  return size;
}

bool is_float(Dtype dtype) { return facts(dtype).kind == Kind::Float; }

bool is_integer(Dtype dtype) { return facts(dtype).kind == Kind::Integer; }

}  // namespace oplat::ir
