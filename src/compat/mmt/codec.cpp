// SPDX-License-Identifier: Apache-2.0
/// What MMT measured, as rows. MMT finds a module by its repr and the shape of its input, and of
/// several such rows takes the first; so does this codec, and says so. The original wrote each
/// operator to a file whose name it shortened ("1000" and "100" both became "10"), so
/// that one overwrote another and both were timed as the last one: rows that share a file are
/// named.
#include "compat/mmt/codec.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/counted.hpp"
#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "compat/mmt/pickle.hpp"
#include "ir/key.hpp"

namespace oplat::compat::mmt {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr std::size_t kMaxNotes = 10;
constexpr std::int64_t kThreads = 4;  // that MMT gives to MNN
constexpr std::string_view kHead = "\x80";
/// Those of the runtime `mnn`; first that of MNNV2Basic, which MMT runs.
constexpr std::array<std::string_view, 4> kPrecisions = {"low", "model", "normal", "low_bf16"};

table::Timing timing_of(double avg_ms, double min_ms) {
  table::Timing timing;
  const double ns = avg_ms * kNsPerMs;
  timing.median_ns = timing.ci_low_ns = timing.ci_high_ns = timing.p10_ns = timing.p90_ns = ns;
  timing.min_ns = min_ms > 0 && min_ms <= avg_ms ? min_ms * kNsPerMs : ns;
  timing.ci_level = 0;
  timing.blocks = timing.processes = 1;
  return timing;
}

/// A module by what MMT finds it by.
ir::Key key_of(const std::string& repr, const std::vector<std::int64_t>& shape) {
  ir::Key key;
  key.domain = "torch";
  key.op = "module";
  key.attributes = {{"repr", repr}};
  ir::TensorEntry input;
  input.shape = ir::Shape::of(shape);
  key.operands = {std::move(input)};
  return key;
}

bool is_module(const ir::Key& key) {
  return key.domain == "torch" && key.op == "module" && key.operand(0) != nullptr &&
         key.attribute("repr") != nullptr && key.attribute("repr")->text() != nullptr &&
         !ir::has_unknown(key);
}

struct Operator {
  std::string repr;
  std::vector<std::int64_t> shape;
  double avg_ms = 0;
  double min_ms = 0;
  std::string file;
  std::string parameters;
  table::SettingFacts told;  ///< of `measured`, which oplat.mmt.meter adds
};

/// "MNN 3.6.1", with threads and precision; nothing of it where MMT measured.
table::SettingFacts facts_of(const Attributes& measured) {
  constexpr std::string_view kRuntime = "MNN ";
  table::SettingFacts told;
  if (!measured.is_object()) return told;
  if (const auto by = measured.find("by"); by != measured.end() && by->is_string()) {
    const auto& text = by->get_ref<const std::string&>();
    if (text.starts_with(kRuntime)) told.version = text.substr(kRuntime.size());
  }
  const auto threads = measured.find("threads");
  if (threads != measured.end() && threads->is_number_integer() && *threads >= 1)
    told.threads = threads->get<std::int64_t>();
  if (const auto word = measured.find("precision");
      word != measured.end() && word->is_string() &&
      std::find(kPrecisions.begin(), kPrecisions.end(), word->get_ref<const std::string&>()) !=
          kPrecisions.end())
    told.precision = word->get<std::string>();
  return told;
}

std::string setting_text(const table::SettingFacts& told) {
  return fmt::format("MNN{}{}, {} threads, precision {}", told.version.empty() ? "" : " ",
                     base::printable(told.version, 40), told.threads.value_or(kThreads),
                     told.precision.value_or(std::string(kPrecisions.front())));
}

/// Code::Input says which attribute is missing or wrong.
Result<Operator> operator_of(const Attributes& attributes) {
  Operator found;
  const auto repr = attributes.find("repr");
  if (repr == attributes.end() || !repr->is_string() || repr->get<std::string>().empty())
    return fail(Code::Input, "its attribute repr is not a text");
  found.repr = repr->get<std::string>();
  const auto shape = attributes.find("input_shape");
  const bool tuple = shape != attributes.end() && shape->is_object() && shape->contains("tuple");
  if (shape == attributes.end() || !(shape->is_array() || tuple))
    return fail(Code::Input, "its attribute input_shape is not a list");
  for (const Attributes& dim : tuple ? shape->front() : *shape) {
    if (!dim.is_number_integer() || dim.get<std::int64_t>() < 1 ||
        dim.get<std::int64_t>() > kMaxDimension)
      return fail(Code::Input, "its input_shape has the dimension {}; expected 1 to 2^31",
                  base::printable(dim.dump(), 40));
    found.shape.push_back(dim.get<std::int64_t>());
  }
  const auto avg = attributes.find("avg");
  if (avg == attributes.end() || !avg->is_number())
    return fail(Code::Input, "its attribute avg is not a number");
  found.avg_ms = avg->get<double>();
  if (const auto min = attributes.find("min"); min != attributes.end() && min->is_number())
    found.min_ms = min->get<double>();
  if (const auto file = attributes.find("mnn_fname"); file != attributes.end() && file->is_string())
    found.file = file->get<std::string>();
  if (const auto parameters = attributes.find("init_param"); parameters != attributes.end())
    found.parameters = parameters->dump();
  if (const auto measured = attributes.find("measured"); measured != attributes.end())
    found.told = facts_of(*measured);
  return found;
}

class Mmt final : public table::TableCodec {
  std::string_view do_name() const override { return "mmt"; }
  std::string_view do_description() const override {
    return "latency table of MMT (mnn-meter), meta_latency.pkl";
  }
  bool do_looks_like(std::string_view bytes) const override {
    constexpr std::size_t kBegin = 64;
    return bytes.starts_with(kHead) &&
           bytes.substr(0, kBegin).find("mmt.utils") != std::string_view::npos;
  }

  Result<table::Setting> do_setting(std::string_view /*file_name*/,
                                    std::string_view precision) const override {
    table::Setting setting;
    setting.runtime = "mnn";
    setting.precision = precision.empty() ? kPrecisions.front() : precision;
    if (std::find(kPrecisions.begin(), kPrecisions.end(), setting.precision) == kPrecisions.end()) {
      return fail(Code::Usage, "--precision {}: expected one of {} for a table of MMT",
                  base::printable(precision), fmt::join(kPrecisions, ", "));
    }
    setting.threads = kThreads;
    return setting;
  }

  Result<table::ForeignRead> do_read(std::string_view bytes,
                                     const table::ReadOptions& options) const override {
    const std::string name = base::printable(options.name, 400);
    auto operators = read_operators(bytes);
    if (!operators) return fail_in(name, operators.error());
    table::ForeignRead read;
    std::map<std::string, std::string> first;            // key -> parameters
    std::unordered_map<std::string, std::string> files;  // -> key
    std::string before;
    std::size_t unmeasured = 0;
    const auto leave_out = [&](const Attributes& attributes) {
      before += attributes.dump() + '\n';
    };
    for (const PickledOperator& pickled : *operators) {
      const auto note = [&](const std::string& why) {
        if (read.notes.size() < kMaxNotes)
          read.notes.push_back(fmt::format("byte {}: {}", pickled.offset, why));
        ++read.skipped;
        leave_out(pickled.attributes);
      };
      const auto found = operator_of(pickled.attributes);
      if (!found) {
        note(found.error().message);
        continue;
      }
      const std::string shown = base::printable(found->repr, 100);
      if (found->avg_ms == 0) {
        ++unmeasured;
        leave_out(pickled.attributes);
        continue;
      }
      if (!base::is_kernel_time(found->avg_ms * kNsPerMs)) {
        note(fmt::format("'{}': the latency is {}; expected {}", shown,
                         base::float_text(found->avg_ms), base::kKernelTimesMs));
        continue;
      }
      const std::string key = ir::print(key_of(found->repr, found->shape));
      if (const auto [known, added] = first.emplace(key, found->parameters); !added) {
        if (known->second != found->parameters) {
          read.warnings.push_back(fmt::format(
              "'{}' stands for operators with different parameters; the first counts, as in MMT: "
              "make __repr__ name all of them",
              shown));
        }
        leave_out(pickled.attributes);
        continue;
      }
      if (!found->file.empty()) {
        if (const auto [other, added] = files.emplace(found->file, shown); !added) {
          read.warnings.push_back(
              fmt::format("'{}' and '{}' were timed from one file, {}: both times are those of the "
                          "last one that was exported; measure them again",
                          other->second, shown, base::printable(found->file, 100)));
        }
      }
      if (read.file.rows.empty()) {
        read.told = found->told;
      } else if (setting_text(read.told) != setting_text(found->told)) {
        return fail(Code::Input,
                    "{}: its operators were measured in different settings ({}; '{}': {}); measure "
                    "them again in one",
                    name, setting_text(read.told), shown, setting_text(found->told));
      }
      table::ForeignRow row;
      row.key = key;
      row.outcome = timing_of(found->avg_ms, found->min_ms);
      row.before = std::exchange(before, {});
      row.text = pickled.attributes.dump();
      read.file.rows.push_back(std::move(row));
    }
    read.file.tail = std::move(before);
    return checked(std::move(read), name, unmeasured, options.skip_bad_rows);
  }

  static Result<table::ForeignRead> checked(table::ForeignRead read, const std::string& name,
                                            std::size_t unmeasured, bool skip_bad_rows) {
    if (read.skipped > 0 && !skip_bad_rows) {
      std::string text = fmt::format("{}: {}; use --skip-bad-rows to skip {}", name,
                                     base::counted(read.skipped, "malformed row"),
                                     base::one_or_many(read.skipped, "it", "them"));
      for (const std::string& note : read.notes) text += fmt::format("\n  {}: {}", name, note);
      return fail(Code::Input, "{}", text);
    }
    if (read.file.rows.empty()) {
      return fail(Code::Input,
                  "{}: has no operator with a latency ({} not measured yet); meta_latency.pkl has "
                  "them, meta.pkl has not",
                  name, unmeasured);
    }
    if (unmeasured > 0) {
      read.warnings.push_back(fmt::format("{} of {} operators are not measured yet and left out",
                                          unmeasured, unmeasured + read.file.rows.size()));
    }
    return read;
  }

  bool do_accepts(std::string_view key, bool timed) const override {
    if (!timed || !key.starts_with("torch:module")) return false;
    const auto parsed = ir::parse(key);
    return parsed && is_module(*parsed);
  }

  Result<std::string> do_write(const table::ForeignFile& file,
                               const table::Setting& /*setting*/) const override {
    std::vector<Attributes> operators;
    const auto add_lines = [&](std::string_view lines) -> Status {
      for (const std::string& line : base::split(lines, '\n')) {
        if (line.empty()) continue;
        Attributes parsed = Attributes::parse(line, nullptr, false);
        if (!parsed.is_object())
          return fail(Code::Input, "'{}' is not an operator of MMT", base::printable(line, 200));
        operators.push_back(std::move(parsed));
      }
      return {};
    };
    OPLAT_CHECK(add_lines(file.head));
    for (const table::ForeignRow& row : file.rows) {
      OPLAT_CHECK(add_lines(row.before));
      if (row.text) {
        OPLAT_CHECK(add_lines(*row.text));
        continue;
      }
      const auto* timing = std::get_if<table::Timing>(&row.outcome);
      if (timing == nullptr) continue;
      OPLAT_TRY(made, attributes_of(row, *timing));
      operators.push_back(std::move(made));
    }
    OPLAT_CHECK(add_lines(file.tail));
    return write_operators(operators);
  }

  /// A row that MMT did not measure, as MMT would have it.
  static Result<Attributes> attributes_of(const table::ForeignRow& row,
                                          const table::Timing& timing) {
    const auto key = ir::parse(row.key);
    if (!key || !is_module(*key)) {
      return fail(Code::Input, "a table of MMT cannot represent the key {}",
                  base::printable(row.key, 200));
    }
    auto shape = Attributes::array();
    for (const ir::Dim& dim : key->operand(0)->shape.dims) shape.push_back(dim.value_or(0));
    Attributes made;
    made["input_shape"] = std::move(shape);
    made["init_param"] = nullptr;
    made["mnn_fname"] = "";
    made["avg"] = timing.median_ns / kNsPerMs;
    made["max"] = row.slowest_ns.value_or(timing.p90_ns) / kNsPerMs;
    made["min"] = timing.min_ns / kNsPerMs;
    made["repr"] = *key->attribute("repr")->text();
    made["set_path"] = "";
    return made;
  }
};

}  // namespace

const table::TableCodec& codec() {
  static const Mmt kCodec;
  return kCodec;
}

}  // namespace oplat::compat::mmt
