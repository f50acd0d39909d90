// SPDX-License-Identifier: Apache-2.0
/// The files next to a program that hold its parameters. Their bytes are not read, only counted.
#include <array>
#include <filesystem>

#include "base/lfs.hpp"
#include "base/text.hpp"
#include "formats/paddle/program.hpp"

namespace oplat::formats::paddle {
namespace {

namespace fs = std::filesystem;

std::uint64_t varint_bytes(std::uint64_t value) {
  std::uint64_t count = 1;
  while (value > 127) value >>= 7U, ++count;
  return count;
}

/// net.pdmodel and net.json have net.pdiparams; __model__ has __params__, or what people call it;
/// Paddle-Lite's model params.
std::vector<std::string> candidates(const base::Source& source) {
  const fs::path path(source.name());
  const std::string name = path.filename().string();
  if (name == "__model__" || name == "model") return {"__params__", "params", "weights"};
  return {path.stem().string() + ".pdiparams", path.stem().string() + ".params"};
}

}  // namespace

std::optional<std::uint64_t> stored_bytes(const Variable& variable) {
  if (!variable.dtype) return std::nullopt;
  const auto bits = ir::bits(*variable.dtype);
  const auto elements = ir::Shape::of(variable.dims).elements();
  if (!bits || !elements || *elements > (std::int64_t{1} << 50)) return std::nullopt;
  constexpr std::uint64_t kVersions = 4 + 4;
  constexpr std::uint64_t kLevels = 8;
  constexpr std::uint64_t kLength = 4;
  std::uint64_t bytes = kVersions + kLevels + kLength + 2;  // the element type's tag and number
  for (const std::int64_t dim : variable.dims) {
    if (dim < 0) return std::nullopt;
    bytes += 1 + varint_bytes(static_cast<std::uint64_t>(dim));
  }
  return bytes + static_cast<std::uint64_t>(*elements) * static_cast<std::uint64_t>(*bits) / 8;
}

bool is_parameter(const Variable& variable) {
  return variable.persistable && variable.stored && variable.tensor;
}

std::vector<std::string> parameter_files(const base::Source& source, const Program& program) {
  for (const std::string& name : candidates(source)) {
    if (source.sibling_path(name)) return {name};
  }
  // Exports of the first years have a file for each parameter.
  std::vector<std::string> names;
  if (fs::path(source.name()).filename() != "__model__") return names;
  for (const auto& [name, variable] : program.blocks.front().variables) {
    if (is_parameter(variable) && source.sibling_path(name)) names.push_back(name);
  }
  return names;
}

Status check_parameters(const base::Source& source, const Program& program) {
  const std::vector<std::string> files = parameter_files(source, program);
  const bool together =
      files.size() == 1 && !program.blocks.front().variables.contains(files.front());
  std::uint64_t sum = 0;
  std::size_t count = 0;
  for (const auto& [name, variable] : program.blocks.front().variables) {
    if (!is_parameter(variable)) continue;
    const auto bytes = stored_bytes(variable);
    if (!bytes) {
      return fail(Code::Input,
                  "{}: parameter '{}' has the shape {}, which a stored tensor cannot have",
                  source.name(), base::printable(name), dims_text(variable.dims));
    }
    sum += *bytes;
    ++count;
  }
  for (const std::string& file : files) {
    OPLAT_TRY(path, source.sibling_path(file));
    std::error_code error;
    const std::uint64_t size = fs::file_size(path, error);
    if (error)
      return fail(Code::Input, "{}: cannot read its length: {}", path.string(), error.message());
    if (base::is_lfs_pointer_file(path)) {
      return fail(Code::Input,
                  "{}: is a Git LFS pointer, not the parameters; fetch it with: git lfs pull",
                  path.string());
    }
    const std::uint64_t expected =
        together ? sum
                 : stored_bytes(program.blocks.front().variables.find(file)->second).value_or(0);
    if (size != expected) {
      return fail(Code::Input,
                  "{}: has {} bytes, but the {} of {} take {} with their headers; the files are "
                  "from different exports, or this one is truncated",
                  path.string(), size,
                  together ? fmt::format("{} parameters", count) : "parameter of this name",
                  source.name(), expected);
    }
  }
  return {};
}

}  // namespace oplat::formats::paddle
