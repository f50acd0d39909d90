// SPDX-License-Identifier: Apache-2.0
/// Paddle's numbers for element types, attributes that say nothing, and places in messages.
#include <algorithm>
#include <array>

#include "base/lfs.hpp"
#include "base/text.hpp"
#include "formats/paddle/program.hpp"

namespace oplat::formats::paddle {
namespace {

struct Element {
  int number;
  ir::Dtype dtype;
};

/// VarType::Type.
constexpr std::array kElements = {
    Element{0, ir::Dtype::Bool},    Element{1, ir::Dtype::I16},
    Element{2, ir::Dtype::I32},     Element{3, ir::Dtype::I64},
    Element{4, ir::Dtype::F16},     Element{5, ir::Dtype::F32},
    Element{6, ir::Dtype::F64},     Element{19, ir::Dtype::U64},
    Element{20, ir::Dtype::U8},     Element{21, ir::Dtype::I8},
    Element{22, ir::Dtype::BF16},   Element{23, ir::Dtype::C64},
    Element{24, ir::Dtype::C128},   Element{25, ir::Dtype::String},
    Element{29, ir::Dtype::String}, Element{32, ir::Dtype::F8E4M3FN},
    Element{33, ir::Dtype::F8E5M2}, Element{36, ir::Dtype::U16},
    Element{37, ir::Dtype::U32},    Element{38, ir::Dtype::U64},
};

/// Of any operator: where it came from, which library runs it, what training wants to know, what
/// one library fused.
constexpr std::array<std::string_view, 41> kSilent = {
    "op_role",
    "op_role_var",
    "op_namescope",
    "op_callstack",
    "op_device",
    "op_dist_attr",
    "with_quant_attr",
    "struct_name",
    "use_cudnn",
    "use_mkldnn",
    "use_onednn",
    "use_quantizer",
    "use_addto",
    "mkldnn_data_type",
    "onednn_data_type",
    "workspace_size_MB",
    "exhaustive_search",
    "cudnn_exhaustive_search",
    "force_fp32_output",
    "fuse_activation",
    "fuse_alpha",
    "fuse_beta",
    "fuse_brelu",
    "fuse_brelu_threshold",
    "fuse_relu",
    "fuse_relu_before_depthwise_conv",
    "fuse_residual_connection",
    "fuse_with_relu",
    "fused_reshape_Out",
    "fused_reshape_X",
    "fused_reshape_Y",
    "fused_transpose_Out",
    "fused_transpose_X",
    "fused_transpose_Y",
    "head_number",
    "Scale_in",
    "Scale_in_eltwise",
    "Scale_out",
    "Scale_weights",
    "Scale_x",
    "Scale_y",
};

bool is_plain_text(std::string_view text) {
  constexpr std::size_t kMaxBytes = 1024;
  return text.size() <= kMaxBytes && std::all_of(text.begin(), text.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x80;
         });
}

bool is_plain(const ir::Value& value) {
  return value.text() == nullptr || is_plain_text(*value.text());
}

}  // namespace

std::optional<ir::Dtype> dtype_of(int number) {
  const auto* const at = std::find_if(kElements.begin(), kElements.end(),
                                      [&](const Element& e) { return e.number == number; });
  return at == kElements.end() ? std::nullopt : std::optional(at->dtype);
}

std::optional<int> number_of(ir::Dtype dtype) {
  const auto* const at = std::find_if(kElements.begin(), kElements.end(),
                                      [&](const Element& e) { return e.dtype == dtype; });
  return at == kElements.end() ? std::nullopt : std::optional(at->number);
}

bool is_telling(std::string_view op, const ir::NamedValue& attribute) {
  constexpr std::size_t kMaxTellingElements = 64;
  const auto& [name, value] = attribute;
  if (std::find(kSilent.begin(), kSilent.end(), name) != kSilent.end()) return false;
  // Everything that is exported is for inference; two operators do something else in training, and
  // say so.
  if (name == "is_test" && op != "dropout" && op != "batch_norm") return false;
  if (value.unknown() || !is_plain_text(name) || !is_plain(value)) return false;
  const ir::List* list = value.list();
  return list == nullptr || (list->size() <= kMaxTellingElements &&
                             std::all_of(list->begin(), list->end(), [](const auto& v) {
                               return !v.unknown() && is_plain(v);
                             }));
}

Result<Program> parse_program(const std::string& name, const std::string& bytes) {
  if (bytes.empty())
    return fail(Code::Input, "{}: the file is empty; expected a Paddle program", name);
  if (base::is_lfs_pointer(bytes)) {
    return fail(Code::Input,
                "{}: is a Git LFS pointer, not the program; fetch it with: git lfs pull", name);
  }
  return probe_pir(bytes) > 0 ? parse_pir(name, bytes) : parse_desc(name, bytes);
}

std::string place(const std::string& file, std::size_t index, const Operator& op) {
  return fmt::format("{}: operator {} ({})", file, index,
                     base::printable(op.shown.empty() ? op.type : op.shown));
}

std::string dims_text(const Dims& dims) { return fmt::format("[{}]", fmt::join(dims, ",")); }

}  // namespace oplat::formats::paddle
