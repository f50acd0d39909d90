// SPDX-License-Identifier: Apache-2.0
/// What makes two questions about a model's plan the same question.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "formats/format_reader.hpp"
#include "plan/records.hpp"

namespace oplat::plan {

/// Counts up when the same model and setting would give other kernels or key texts than before,
/// which voids every cached plan: not where few models change and those of older tables go on
/// answering as they did (docs/adr/0026). 2: views that copy, values that lengths and axes had in
/// the run, and initialisers that are graph inputs are in the keys.
inline constexpr int kPlanFormat = 2;

/// Hash of the model file's bytes and of those of the files that it refers to. Who also parses the
/// file hashes the bytes that were parsed: between two readings it may have been replaced, and a
/// plan of the one content must not be stored under the hash of the other.
Result<std::string> model_hash(const base::Source& source);
/// The same where the names of those files are known.
Result<std::string> model_hash(const base::Source& source,
                               const std::vector<std::string>& siblings);
/// The same of a file that is not open.
Result<std::string> model_hash(const std::filesystem::path& path);

/// FormatReader::resolve of a file; costs nothing if no option is given.
Result<formats::ShapeOptions> resolve_shapes(const base::Source& source,
                                             const formats::ShapeOptions& options);
Result<formats::ShapeOptions> resolve_shapes(const std::filesystem::path& path,
                                             const formats::ShapeOptions& options);

/// What `--input` says, with a file's hash in place of its name: data decide what If and Loop
/// execute.
Result<std::map<std::string, std::string>> resolve_inputs(
    const std::map<std::string, std::string>& inputs);

/// Plan::identity: hash of model, shapes and inputs (both resolved), setting, ISA and plan format.
/// `isa` is Device::isa. An earlier `format` gives what earlier plans of the same question are
/// called.
std::string identity(std::string_view model_hash, const formats::ShapeOptions& shapes,
                     const Setting& setting, std::string_view isa,
                     const std::map<std::string, std::string>& inputs = {},
                     int format = kPlanFormat);

}  // namespace oplat::plan
