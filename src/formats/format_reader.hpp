// SPDX-License-Identifier: Apache-2.0
/// The seam behind which every model format stands (recipe: HACKING.md "Add a format").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/result.hpp"
#include "ir/graph.hpp"

namespace oplat::formats {

/// What the user says about a model's open dimensions.
struct ShapeOptions {
  std::map<std::string, std::vector<std::int64_t>> shapes;  ///< input name -> dims
  std::optional<std::int64_t> batch;
};

/// Looks for names of further files in a model's bytes as they come, so that a large model need not
/// be held.
class SiblingScan {
 public:
  virtual ~SiblingScan() = default;
  /// The next bytes of the model.
  virtual void add(std::string_view piece) = 0;
  /// After the last byte: whether the model surely is whole and names no other file. False says
  /// nothing: ask FormatReader::siblings().
  [[nodiscard]] virtual bool names_none() const = 0;
};

class FormatReader {
 public:
  virtual ~FormatReader() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// 0: surely not this format ... 100: surely this one. Looks at the bytes only.
  [[nodiscard]] virtual int probe(std::string_view bytes) const = 0;
  [[nodiscard]] virtual Result<ir::Graph> read(const base::Source& source,
                                               const ShapeOptions& options) const = 0;
  /// What a plan by rules asks of a model, in one go: the answers of the functions below.
  struct Whole {
    ir::Graph graph = {};
    ShapeOptions resolved = {};
    /// Of a dimension with the customary name of a batch, where the format has such names.
    std::optional<std::int64_t> named_batch = {};
    std::optional<std::int64_t> rewritten_batch = {};  ///< nothing else is there, then
    std::vector<std::string> siblings = {};
  };
  [[nodiscard]] virtual Result<Whole> read_whole(const base::Source& source,
                                                 const ShapeOptions& options) const {
    Whole whole;
    OPLAT_TRY(rewritten, rewritten_batch(source, options));
    whole.rewritten_batch = rewritten;
    if (rewritten) return whole;
    OPLAT_TRY(resolved, resolve(source, options));
    whole.resolved = std::move(resolved);
    OPLAT_TRY(graph, read(source, options));
    whole.graph = std::move(graph);
    OPLAT_TRY(others, siblings(source));
    whole.siblings = std::move(others);
    return whole;
  }
  /// Names of the further files that the model's bytes refer to, in order of first mention.
  [[nodiscard]] virtual Result<std::vector<std::string>> siblings(
      const base::Source& source) const = 0;
  /// The batch that the model fixes, where `options` ask for another one and the model is rewritten
  /// for it; else std::nullopt. Errors as read().
  [[nodiscard]] virtual Result<std::optional<std::int64_t>> rewritten_batch(
      const base::Source& source, const ShapeOptions& options) const {
    static_cast<void>(source);
    static_cast<void>(options);
    return std::optional<std::int64_t>();
  }
  /// Whether dimensions that are called a batch, or lead an input without a name, are open.
  [[nodiscard]] virtual Result<bool> leaves_batch_open(const base::Source& source) const {
    static_cast<void>(source);
    return true;  // what is open in other formats is the batch
  }
  /// nullptr: the format has no such scan.
  [[nodiscard]] virtual std::unique_ptr<SiblingScan> scan_siblings() const { return nullptr; }
  /// The same question in its only form: dimensions of just those inputs that the model leaves
  /// open, and no batch. So
  /// `--batch 1`, the shape written out and a model that fixes it ask the same. Errors as read().
  [[nodiscard]] virtual Result<ShapeOptions> resolve(const base::Source& source,
                                                     const ShapeOptions& options) const = 0;
};

/// Sizes that an input may be given, for messages: "1x3x224x224" of [-1,3,-1,-1]. -1 where open.
std::string example_shape(std::span<const std::int64_t> declared);
/// Every reader, most specific first (src/formats/registry.cpp).
std::span<const FormatReader* const> readers();
/// The reader that is surest of these bytes. Code::Input, saying what the file looks like, if none
/// is.
Result<const FormatReader*> reader_for(const base::Source& source);

}  // namespace oplat::formats
