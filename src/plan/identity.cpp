// SPDX-License-Identifier: Apache-2.0
/// Hashes of models and of questions about them.
#include "plan/identity.hpp"

#include <memory>

#include "base/hash.hpp"

namespace oplat::plan {

namespace {

/// Of a file that surely names no other one, read in pieces; std::nullopt: that is not known.
Result<std::optional<std::string>> hash_in_pieces(const std::filesystem::path& path) {
  base::Hasher hasher;
  std::unique_ptr<formats::SiblingScan> scan;
  bool first = true;
  OPLAT_CHECK(base::each_piece(path, [&](std::string_view piece) {
    if (first) {
      // The format shows in the first bytes, or else the whole file is asked.
      const base::Source begin = base::Source::from_bytes(path.string(), std::string(piece));
      if (const auto reader = formats::reader_for(begin)) scan = (*reader)->scan_siblings();
      first = false;
    }
    if (!scan) return false;
    scan->add(piece);
    hasher.add(piece);
    return true;
  }));
  if (!scan || !scan->names_none()) return std::optional<std::string>();
  return std::optional(hasher.finish().hex());
}

}  // namespace

Result<std::string> model_hash(const std::filesystem::path& path) {
  OPLAT_TRY(hash, hash_in_pieces(path));
  if (hash) return *std::move(hash);
  OPLAT_TRY(source, base::Source::open(path));
  return model_hash(source);
}

Result<std::string> model_hash(const base::Source& source) {
  OPLAT_TRY(reader, formats::reader_for(source));
  OPLAT_TRY(siblings, reader->siblings(source));
  return model_hash(source, siblings);
}

Result<std::string> model_hash(const base::Source& source,
                               const std::vector<std::string>& siblings) {
  base::Hasher hasher;
  hasher.add(source.bytes());
  for (const std::string& name : siblings) {
    OPLAT_TRY(sibling, source.sibling_path(name));
    OPLAT_TRY(hash, base::hash_file(sibling));
    hasher.add(name);
    hasher.add(hash.hex());
  }
  return hasher.finish().hex();
}

Result<formats::ShapeOptions> resolve_shapes(const std::filesystem::path& path,
                                             const formats::ShapeOptions& options) {
  if (options.shapes.empty() && !options.batch) return options;
  OPLAT_TRY(source, base::Source::open(path));
  return resolve_shapes(source, options);
}

Result<formats::ShapeOptions> resolve_shapes(const base::Source& source,
                                             const formats::ShapeOptions& options) {
  if (options.shapes.empty() && !options.batch) return options;
  OPLAT_TRY(reader, formats::reader_for(source));
  return reader->resolve(source, options);
}

Result<std::map<std::string, std::string>> resolve_inputs(
    const std::map<std::string, std::string>& inputs) {
  std::map<std::string, std::string> resolved;
  for (const auto& [name, data] : inputs) {
    if (data == "zeros" || data == "ones" || data.starts_with("uniform:")) {
      resolved.emplace(name, data);
    } else {
      OPLAT_TRY(hash, base::hash_file(data));
      resolved.emplace(name, "file:" + hash.hex());
    }
  }
  return resolved;
}

std::string identity(std::string_view model_hash, const formats::ShapeOptions& shapes,
                     const Setting& setting, std::string_view isa,
                     const std::map<std::string, std::string>& inputs, int format) {
  // One field a line; names and values of options hold no line breaks (the worker's own legal
  // values).
  std::string text = fmt::format("oplat.plan/{}\n{}\n{}\n{}\n{}\n{}\n{}\nthreads={}\n", format,
                                 model_hash, isa, setting.runtime, setting.version, setting.build,
                                 setting.precision, setting.threads);
  for (const auto& [name, value] : setting.options)
    text += fmt::format("option {}={}\n", name, value);
  if (shapes.batch) text += fmt::format("batch={}\n", *shapes.batch);
  for (const auto& [name, dims] : shapes.shapes)
    text += fmt::format("shape {}={}\n", name, fmt::join(dims, "x"));
  for (const auto& [name, data] : inputs) text += fmt::format("input {}={}\n", name, data);
  return base::hash128(text).hex();
}

}  // namespace oplat::plan
