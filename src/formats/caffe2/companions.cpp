// SPDX-License-Identifier: Apache-2.0
/// Files next to a net: the init net whose fills give the parameters' shapes, or a drawing that
/// shows every blob's.
#include <filesystem>

#include "base/lfs.hpp"
#include "base/text.hpp"
#include "formats/caffe2/lut_query.hpp"
#include "formats/caffe2/net.hpp"

namespace oplat::formats::caffe2 {
namespace {

constexpr std::int64_t kMaxCompanionDim = std::int64_t{1} << 30;
constexpr int kMaxRank = 16;
/// Enough for the shape that a Reshape reads.
constexpr int kMaxValues = kMaxRank;
constexpr std::uint64_t kMaxDrawingBytes = std::uint64_t{256} << 20;

struct Fill {
  std::string_view op;
  std::optional<ir::Dtype> dtype;  ///< nothing: its argument dtype says
};

const Fill* find_fill(std::string_view op) {
  using ir::Dtype;
  static constexpr Fill kFills[] = {
      {"GivenTensorFill", Dtype::F32},
      {"GivenTensorIntFill", Dtype::I32},
      {"GivenTensorInt64Fill", Dtype::I64},
      {"GivenTensorBoolFill", Dtype::Bool},
      {"GivenTensorDoubleFill", Dtype::F64},
      {"GivenTensorInt16Fill", Dtype::I16},
      {"GivenTensorStringFill", Dtype::String},
      {"GivenTensorByteStringToUInt8Fill", Dtype::U8},
      {"Int8GivenTensorFill", Dtype::U8},
      {"Int8GivenIntTensorFill", Dtype::I32},
      {"ConstantFill", std::nullopt},
      {"XavierFill", Dtype::F32},
      {"MSRAFill", Dtype::F32},
      {"UniformFill", Dtype::F32},
      {"GaussianFill", Dtype::F32},
      {"UniformIntFill", Dtype::I32},
  };
  for (const Fill& fill : kFills) {
    if (fill.op == op) return &fill;
  }
  return nullptr;
}

bool is_sound(const Dims& dims) {
  if (dims.size() > kMaxRank) return false;
  for (const std::int64_t dim : dims) {
    if (dim < 1 || dim > kMaxCompanionDim) return false;
  }
  return ir::Shape::of(dims).elements().has_value();
}

/// File names next to the net, by its own: model.pb -> model_init.pb; predict_net.pb ->
/// init_net.pb.
void candidates(const base::Source& source, std::vector<std::string>& inits,
                std::vector<std::string>& drawings) {
  const std::string stem = std::filesystem::path(source.name()).stem().string();
  std::vector<std::string> stems;
  if (const auto at = stem.rfind("predict"); at != std::string::npos) {
    stems.push_back(std::string(stem).replace(at, std::string_view("predict").size(), "init"));
  }
  stems.push_back(stem + "_init");
  const bool text = source.name().ends_with("txt");
  for (const std::string& each : stems) {
    for (const bool as_text : {text, !text}) inits.push_back(each + (as_text ? ".pbtxt" : ".pb"));
  }
  drawings = {stem + "_def.svg", stem + ".svg"};
}

}  // namespace

Result<std::map<std::string, Parameter>> parameters_of(const std::string& name,
                                                       const wire::Net& init) {
  std::map<std::string, Parameter> parameters;
  for (int i = 0; i < init.op_size(); ++i) {
    const wire::Operator& op = init.op(i);
    const Fill* fill = find_fill(op.type());
    if (fill == nullptr || op.output_size() != 1) continue;
    Parameter parameter;
    parameter.dtype = fill->dtype ? fill->dtype : ir::Dtype::F32;
    bool shaped = false;
    for (const wire::Argument& argument : op.arg()) {
      if (argument.name() == "shape") {
        parameter.dims.assign(argument.ints().begin(), argument.ints().end());
        shaped = true;
      } else if (argument.name() == "dtype" && !fill->dtype && argument.has_i()) {
        const bool small = argument.i() >= 0 && argument.i() < 64;
        parameter.dtype = small ? dtype_of_caffe2(static_cast<int>(argument.i())) : std::nullopt;
      } else if (argument.name() == "values" && argument.ints_size() > 0 &&
                 argument.ints_size() <= kMaxValues) {
        parameter.values = Dims(argument.ints().begin(), argument.ints().end());
      }
    }
    if (!shaped) continue;
    if (!is_sound(parameter.dims)) {
      return fail(
          Code::Input,
          "{}: operator {} ({}) fills '{}' with the shape [{}]; expected dimensions from 1 to {}",
          name, i, base::printable(op.type()), base::printable(op.output(0)),
          fmt::join(parameter.dims, ","), kMaxCompanionDim);
    }
    parameters[op.output(0)] = std::move(parameter);
  }
  return parameters;
}

std::vector<std::string> companion_files(const base::Source& source,
                                         std::vector<std::string>* looked_for) {
  std::vector<std::string> inits;
  std::vector<std::string> drawings;
  candidates(source, inits, drawings);
  std::vector<std::string> pointer;  // of Git LFS: named, if there is no other file
  for (const auto* list : {&inits, &drawings}) {
    for (const std::string& name : *list) {
      if (looked_for != nullptr) looked_for->push_back(name);
      const auto path = source.sibling_path(name);
      if (!path) continue;
      if (!base::is_lfs_pointer_file(*path)) return {name};
      if (pointer.empty()) pointer = {name};
    }
  }
  return pointer;
}

Result<Companions> read_companions(const base::Source& source) {
  Companions companions;
  companions.found = companion_files(source, &companions.looked_for);
  for (const std::string& name : companions.found) {
    OPLAT_TRY(path, source.sibling_path(name));
    if (name.ends_with(".svg")) {
      OPLAT_TRY(svg, base::read_file(path, kMaxDrawingBytes));
      OPLAT_TRY(drawing, read_drawing(path.string(), svg));
      companions.drawing = std::move(drawing);
    } else {
      OPLAT_TRY(bytes, base::read_file(path));
      OPLAT_TRY(init, parse_net(path.string(), bytes));
      OPLAT_TRY(parameters, parameters_of(path.string(), init));
      companions.parameters = std::move(parameters);
    }
  }
  return companions;
}

}  // namespace oplat::formats::caffe2
