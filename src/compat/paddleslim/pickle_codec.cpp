// SPDX-License-Identifier: Apache-2.0
/// PaddleSlim's latency tables: a pickled dict from key texts to ms, in files
/// <HW>_threads_<N>_power_mode_<M>.pkl. Each row keeps its text and number, "TEXT\tMS", whatever
/// its key says; such lines stand for rows that were left out, too.
#include <algorithm>
#include <array>
#include <unordered_map>
#include <utility>

#include "base/counted.hpp"
#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "compat/paddleslim/codecs.hpp"
#include "compat/paddleslim/key.hpp"
#include "compat/paddleslim/pickle.hpp"
#include "compat/paddleslim/runtime_text.hpp"
#include "compat/paddleslim/text_kernels.hpp"

namespace oplat::compat::paddleslim {
namespace {

constexpr double kNsPerMs = 1e6;
constexpr std::size_t kMaxPickleNotes = 10;
constexpr std::int64_t kMaxPickleThreads = 4096;
constexpr std::array<std::string_view, 3> kPrecisions = {"fp32", "fp16", "int8"};

/// What a file's name tells.
struct FileName {
  std::string device;
  std::int64_t threads = 1;
  std::int64_t power_mode = 0;
};

std::optional<FileName> parse_name(std::string_view name) {
  constexpr std::string_view kThreads = "_threads_";
  constexpr std::string_view kPower = "_power_mode_";
  constexpr std::string_view kEnd = ".pkl";
  if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos)
    name.remove_prefix(slash + 1);
  if (!name.ends_with(kEnd)) return std::nullopt;
  name.remove_suffix(kEnd.size());
  const std::size_t power = name.rfind(kPower);
  if (power == std::string_view::npos) return std::nullopt;
  const std::size_t threads = name.substr(0, power).rfind(kThreads);
  if (threads == std::string_view::npos || threads == 0) return std::nullopt;
  const std::size_t number = threads + kThreads.size();
  const auto count = base::parse_int(name.substr(number, power - number));
  const auto mode = base::parse_int(name.substr(power + kPower.size()));
  if (!count || *count < 1 || *count > kMaxPickleThreads || !mode || *mode < 0) return std::nullopt;
  return FileName{std::string(name.substr(0, threads)), *count, *mode};
}

table::Timing single_timing(double ns) {
  table::Timing timing;
  timing.median_ns = timing.ci_low_ns = timing.ci_high_ns = timing.min_ns = timing.p10_ns =
      timing.p90_ns = ns;
  timing.ci_level = 0;
  timing.blocks = timing.processes = 1;
  return timing;
}

std::string value_text(const PickleEntry& entry) {
  if (const auto* word = std::get_if<PickleWord>(&entry.value)) return std::string(name(*word));
  return base::float_text(std::get<double>(entry.value));
}
std::string line_of(const PickleEntry& entry) {
  return fmt::format("{}\t{}", entry.key, value_text(entry));
}

std::optional<PickleEntry> entry_of(std::string_view line) {
  const std::size_t tab = line.rfind('\t');
  if (tab == std::string_view::npos) return std::nullopt;
  PickleEntry entry{std::string(line.substr(0, tab)), 0.0, 0};
  const std::string_view value = line.substr(tab + 1);
  for (const PickleWord word : {PickleWord::None, PickleWord::True, PickleWord::False}) {
    if (value != name(word)) continue;
    entry.value = word;
    return entry;
  }
  const auto number = base::parse_double(value);
  if (!number) return std::nullopt;
  entry.value = *number;
  return entry;
}

/// Why the value is not a time; empty for one that is.
std::string complaint(const PickleEntry& entry) {
  const auto* ms = std::get_if<double>(&entry.value);
  if (ms != nullptr && base::is_kernel_time(*ms * kNsPerMs)) return {};
  return fmt::format("the latency is {}; expected {}", value_text(entry), base::kKernelTimesMs);
}

/// Entries that were refused: the first are told, all are counted.
class Refused {
 public:
  void add(const PickleEntry& entry, const std::string& why) {
    if (notes_.size() < kMaxPickleNotes) {
      notes_.push_back(
          fmt::format("byte {}: '{}': {}", entry.offset, base::printable(entry.key, 200), why));
    }
    ++count_;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] tl::unexpected<Error> error(std::string_view file) const {
    const std::string shown = base::printable(file, 400);
    std::string text = fmt::format("{}: {}; use --skip-bad-rows to skip {}", shown,
                                   base::counted(count_, "malformed row"),
                                   base::one_or_many(count_, "it", "them"));
    for (const std::string& note : notes_) text += fmt::format("\n  {}: {}", shown, note);
    if (count_ > notes_.size()) text += fmt::format("\n  and {} more", count_ - notes_.size());
    return fail(Code::Input, "{}", text);
  }
  [[nodiscard]] std::string first() const {
    return notes_.empty() ? std::string() : ", the first at " + notes_.front();
  }
  std::vector<std::string> take_notes() && { return std::move(notes_); }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> notes_;
};

/// A key as such a table says it: of Paddle-Lite's operators, or of those that the runtime `paddle`
/// measured. Texts that nobody understood are some format's own; a row that came from a pickle has
/// its text next to its key.
std::optional<std::string> text_of(const ir::Key& key) {
  if (is_paddle_text_alone(key)) return std::nullopt;
  return key.domain == "paddle_lite" ? paddle_text_of(key) : paddle_runtime_text(key);
}

class Paddleslim final : public table::TableCodec {
  std::string_view do_name() const override { return "paddleslim"; }
  std::string_view do_description() const override { return "pickled table of PaddleSlim"; }
  /// A pickled dict: its protocol's opcode, or how those of protocols 0 and 1 begin.
  bool do_looks_like(std::string_view bytes) const override {
    constexpr std::array<std::string_view, 5> kStarts = {"\x80", "(d", "}q", "}(", "}."};
    return std::any_of(kStarts.begin(), kStarts.end(),
                       [&](std::string_view start) { return bytes.starts_with(start); });
  }
  /// "RK3288" of RK3288_threads_4_power_mode_0.pkl.
  std::optional<std::string> do_device_of_file(std::string_view file_name) const override {
    const auto told = parse_name(file_name);
    return told ? std::optional(told->device) : std::nullopt;
  }

  Result<table::Setting> do_setting(std::string_view file_name,
                                    std::string_view precision) const override {
    table::Setting setting;
    setting.runtime = "paddle_lite";
    setting.precision = kPrecisions.front();
    if (!precision.empty()) {
      setting.precision = precision;
      for (char& c : setting.precision)
        c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      if (std::find(kPrecisions.begin(), kPrecisions.end(), setting.precision) ==
          kPrecisions.end()) {
        return fail(Code::Usage, "--precision {}: expected one of {} for a table of PaddleSlim",
                    base::printable(precision), fmt::join(kPrecisions, ", "));
      }
    }
    if (const auto told = parse_name(file_name)) {
      setting.threads = told->threads;
      setting.options["power_mode"] = std::to_string(told->power_mode);
    }
    return setting;
  }

  Result<table::ForeignRead> do_read(std::string_view bytes,
                                     const table::ReadOptions& options) const override {
    auto entries = read_pickled_dict(bytes);
    if (!entries) return fail_in(base::printable(options.name, 400), entries.error());
    // Of equal keys Python keeps the last.
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < entries->size(); ++i) last[(*entries)[i].key] = i;
    table::ForeignRead read;
    const ir::Dtype dtype = options.precision == "fp16" ? ir::Dtype::F16 : ir::Dtype::F32;
    Refused refused;
    std::string before;
    read.file.rows.reserve(entries->size());
    for (std::size_t i = 0; i < entries->size(); ++i) {
      const PickleEntry& entry = (*entries)[i];
      std::string why = complaint(entry);
      if (why.empty() && entry.key.empty()) why = "the key is empty";
      if (why.empty() && last.at(entry.key) != i) why = "the key appears again";
      if (!why.empty()) {
        refused.add(entry, why);
        before += line_of(entry) + '\n';
        continue;
      }
      table::ForeignRow row;
      row.key = ir::print(paddle_key_of(entry.key, dtype));
      row.outcome = single_timing(std::get<double>(entry.value) * kNsPerMs);
      row.before = std::exchange(before, {});
      row.text = line_of(entry);
      read.file.rows.push_back(std::move(row));
    }
    read.file.tail = std::move(before);
    if (refused.count() > 0 && !options.skip_bad_rows) return refused.error(options.name);
    if (read.file.rows.empty()) {
      return fail(Code::Input,
                  "{}: has no row with a latency ({} malformed{}); expected a dict such as {{'relu "
                  "in=(1, 8) out=(1, 8)': 0.004}}",
                  base::printable(options.name, 400), refused.count(), refused.first());
    }
    note_what_rows_tell(read);
    read.skipped = refused.count();
    read.notes = std::move(refused).take_notes();
    return read;
  }

  bool do_accepts(std::string_view key, bool timed) const override {
    if (!timed || !key.starts_with("paddle")) return false;
    const auto parsed = ir::parse(key);
    return parsed && text_of(*parsed).has_value();
  }

  /// A text says neither bias nor activation.
  std::string do_identity(std::string_view key) const override {
    const auto parsed = ir::parse(key);
    return (parsed ? text_of(*parsed) : std::nullopt).value_or(std::string(key));
  }

  Result<std::string> do_write(const table::ForeignFile& file,
                               const table::Setting& /*setting*/) const override {
    std::vector<PickleEntry> entries;
    const auto add_lines = [&](std::string_view lines) -> Status {
      for (const std::string& line : base::split(lines, '\n')) {
        if (line.empty()) continue;
        auto entry = entry_of(line);
        if (!entry)
          return fail(Code::Input, "'{}' is not a row of a latency table",
                      base::printable(line, 200));
        entries.push_back(*std::move(entry));
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
      // A profile that failed has no place in such a table.
      const auto* timing = std::get_if<table::Timing>(&row.outcome);
      if (timing == nullptr) continue;
      const auto key = ir::parse(row.key);
      const auto text = key ? text_of(*key) : std::nullopt;
      if (!text) {
        return fail(Code::Input, "a latency table cannot represent the key {}",
                    base::printable(row.key, 200));
      }
      entries.push_back({*text, timing->median_ns / kNsPerMs, 0});
    }
    OPLAT_CHECK(add_lines(file.tail));
    return write_pickled_dict(entries);
  }
};

}  // namespace

const table::TableCodec& pickle_codec() {
  static const Paddleslim codec;
  return codec;
}

}  // namespace oplat::compat::paddleslim
