// SPDX-License-Identifier: Apache-2.0
/// TinyNAS's latency libraries as rows: each line is a key of the domain "tinynas" and a time
/// without a cache state.
#include <utility>

#include "base/parallel.hpp"
#include "base/text.hpp"
#include "compat/tinynas/codec.hpp"
#include "compat/tinynas/conv_tuple.hpp"
#include "compat/tinynas/executed_conv.hpp"
#include "compat/tinynas/library.hpp"
#include "table/text_rows.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::string_view kFailed = "the profile failed (-1)";

/// One number, of which nothing else is known: one block whose spread nobody has seen, and an
/// interval that claims nothing.
table::Timing conv_timing(double ns) {
  table::Timing timing;
  timing.median_ns = timing.ci_low_ns = timing.ci_high_ns = timing.min_ns = timing.p10_ns =
      timing.p90_ns = ns;
  timing.ci_level = 0;
  timing.blocks = timing.processes = 1;
  return timing;
}

/// The tuple that comes back from its key; see conv_tuple_of.
ConvTuple as_its_key_says(ConvTuple conv) {
  if (conv.type == ConvType::Depthwise) {
    conv.in_c = conv.out_c;
    if (conv.out_c == 1) conv.type = ConvType::Regular;
  }
  return conv;
}

/// Of a library's own keys, and of the convolutions that ONNX Runtime executes in their place.
std::optional<ConvTuple> tuple_of(std::string_view key) {
  constexpr std::string_view kExecuted = "com.microsoft.nchwc:Conv/";
  const bool executed = key.starts_with(kExecuted);
  if (!executed && !key.starts_with("tinynas:Conv{")) return std::nullopt;
  const auto parsed = ir::parse(key);
  if (!parsed) return std::nullopt;
  if (executed) return executed_conv_tuple_of(*parsed);
  auto conv = conv_tuple_of(*parsed);
  // A line has no field for groups.
  if (conv && conv->group != 1) return std::nullopt;
  return conv;
}

table::ForeignRow foreign_row(const LibraryRow& row, ir::Dtype dtype) {
  table::ForeignRow made;
  made.key = key_text_of(row.conv, dtype);
  if (row.ns) {
    made.outcome = conv_timing(*row.ns);
  } else {
    made.outcome = table::Failed{std::string(kFailed)};
  }
  made.before = row.before;
  if (library_line(as_its_key_says(row.conv), row.ns) != row.text)
    made.text = std::string(row.text);
  return made;
}

/// Adds a piece that must begin on a line of its own.
void add_lines(std::string& out, std::string_view piece) {
  if (!piece.empty() && !out.empty() && out.back() != '\n') out += '\n';
  out += piece;
}

class Tinynas final : public table::TableCodec {
  std::string_view do_name() const override { return "tinynas"; }
  std::string_view do_description() const override {
    return "latency library of TinyNAS's op_profiler";
  }
  /// "{Regular,1,16,5,5,8,1,1,0} 0.5"
  bool do_looks_like(std::string_view bytes) const override {
    const std::string_view line = bytes.substr(0, bytes.find('\n'));
    const std::size_t end = line.find("} ");
    return line.size() > 1 && line[0] == '{' && line[1] != '"' && end != std::string_view::npos &&
           table::ns_of_ms(table::trimmed(line.substr(end + 1)));
  }

  Result<table::Setting> do_setting(std::string_view file_name,
                                    std::string_view precision) const override {
    constexpr std::string_view kKnown = "FP32, FP16, FP16_DAMOYOLO, INT8, INT4";
    std::string word(precision);
    if (word.empty()) {
      const auto told = precision_of_library(file_name);
      if (!told) {
        return fail(Code::Usage,
                    "{}: the name does not end in the precision as conv_data.out.fp16 does; set "
                    "--precision to one of {}",
                    base::printable(file_name, 200), kKnown);
      }
      word = *told;
    }
    if (!dtype_of_precision(word)) {
      return fail(Code::Usage, "--precision {}: expected one of {} for a library of TinyNAS",
                  base::printable(word), kKnown);
    }
    table::Setting setting;
    setting.runtime = "tensorrt";
    setting.precision = base::lower(word);
    return setting;
  }

  Result<table::ForeignRead> do_read(std::string_view bytes,
                                     const table::ReadOptions& options) const override {
    const auto dtype = dtype_of_precision(options.precision);
    if (!dtype)
      return fail(Code::Usage, "'{}' is not a precision of a library",
                  base::printable(options.precision));
    OPLAT_TRY(library, read_tinynas_library(bytes, options.name, options.skip_bad_rows));
    table::ForeignRead read;
    read.skipped = library.skipped;
    read.notes = std::move(library.notes);
    read.file.tail = library.tail;
    read.file.head = library.rows.front().before;
    read.file.rows.resize(library.rows.size());
    base::for_parts(library.rows.size(), base::usable_cores(),
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; ++i)
                        read.file.rows[i] = foreign_row(library.rows[i], *dtype);
                    });
    read.file.rows.front().before.clear();  // the head of the file
    return read;
  }

  bool do_accepts(std::string_view key, bool /*timed*/) const override {
    return tuple_of(key).has_value();
  }

  /// A line says neither activation nor layout.
  std::string do_identity(std::string_view key) const override {
    const auto conv = tuple_of(key);
    return conv ? library_line(*conv, std::nullopt) : std::string(key);
  }

  Result<std::string> do_write(const table::ForeignFile& file,
                               const table::Setting& /*setting*/) const override {
    std::string out = file.head;
    for (const table::ForeignRow& row : file.rows) {
      add_lines(out, row.before);
      if (row.text) {
        add_lines(out, *row.text);
        continue;
      }
      const auto conv = tuple_of(row.key);
      if (!conv)
        return fail(Code::Input, "a library cannot represent the key {}",
                    base::printable(row.key, 200));
      const auto* timing = std::get_if<table::Timing>(&row.outcome);
      add_lines(out, library_line(*conv, timing == nullptr ? std::nullopt
                                                           : std::optional(timing->median_ns)));
    }
    add_lines(out, file.tail);
    return out;
  }
};

}  // namespace

const table::TableCodec& library_codec() {
  static const Tinynas codec;
  return codec;
}

}  // namespace oplat::compat::tinynas
