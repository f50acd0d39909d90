// SPDX-License-Identifier: Apache-2.0
/// Device logs into library lines.
#include <map>

#include "formats/tinynas/lines.hpp"
#include "oplat/base/kernel_time.hpp"
#include "oplat/base/text.hpp"
#include "oplat/formats/tinynas.hpp"

namespace oplat::formats::tinynas {
namespace {

constexpr std::size_t kMostNotes = 20;
constexpr std::string_view kIteration = "iter-";
constexpr std::string_view kTime = "run time_ms:";
constexpr std::string_view kUnit = "ms";
constexpr std::size_t kSampleFields = 9;  // and the 0 that stands for the time
constexpr std::size_t kMostDigits = 18;
/// What is less would be 0 in six decimals.
constexpr double kLeastInDecimals = 5e-7;
constexpr double kNsPerMs = 1e6;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "iter-N: rest" within a line, if it is one.
struct Iteration {
  std::int64_t number = 0;
  std::string_view rest;
  bool cut = false;  ///< the line ends before the colon
};

std::optional<Iteration> find_iteration(std::string_view line) {
  for (std::size_t at = line.find(kIteration); at != std::string_view::npos; at = line.find(kIteration, at + 1)) {
    const std::size_t start = at + kIteration.size();
    std::size_t end = start;
    while (end < line.size() && is_digit(line[end])) ++end;
    if (end == start || end - start > kMostDigits) continue;
    const auto number = base::parse_int(line.substr(start, end - start));
    if (end < line.size() && line[end] == ':') return Iteration{*number, line.substr(end + 1), false};
    // A console may put something before the line, and the program may print the word; only a line of its own was cut.
    if (at == 0 && end == line.size()) return Iteration{*number, {}, true};
  }
  return std::nullopt;
}

Result<ir::ConvTuple> read_sample(const Iteration& iteration) {
  if (iteration.cut) return fail(Code::Input, "the line ends after its number");
  const auto fields = words(iteration.rest);
  if (fields.size() != kSampleFields && fields.size() != kSampleFields + 1) {
    return fail(Code::Input, "{} fields; expected Conv_type Batch In_C In_H In_W Out_C Kernel Stride ElmtFused 0", fields.size());
  }
  return tuple_of_library_fields(std::span(fields).first(kSampleFields));
}

class Collector {
 public:
  CollectedLog collect(const base::Source& source) {
    (void)for_each_line(source.bytes(), [&](std::string_view line, std::size_t number) -> Status {
      take(line, number);
      return {};
    });
    close();
    for (const auto& [number, text] : bad_) add(out_.bad, bad_count_, text);
    for (const Row& row : rows_) {
      out_.library += library_key_text(row.conv);
      out_.library += row.ms ? ' ' + text_of(*row.ms) + '\n' : " -1\n";
      if (!row.ms) ++out_.failed;
    }
    out_.samples = rows_.size();
    finish(out_.notes, note_count_);
    finish(out_.bad, bad_count_);
    return std::move(out_);
  }

 private:
  struct Row {
    std::int64_t number = 0;
    std::size_t line = 0;
    ir::ConvTuple conv;
    std::optional<double> ms;
    bool answered = false;  ///< a time line came, good or not
  };

  /// As read_log.py prints it, but for what it would print as 0.
  static std::string text_of(double ms) {
    return ms > kLeastInDecimals ? fmt::format("{:.6f}", ms) : fmt::format("{:.6g}", ms);
  }

  static void add(std::vector<std::string>& list, std::size_t& count, std::string text) {
    if (++count <= kMostNotes) list.push_back(std::move(text));
  }
  static void finish(std::vector<std::string>& list, std::size_t count) {
    if (count > kMostNotes) list.push_back(fmt::format("and {} more", count - kMostNotes));
  }
  template <class... Args>
  void note(std::size_t line, fmt::format_string<Args...> format, Args&&... args) {
    add(out_.notes, note_count_, fmt::format("line {}: {}", line, fmt::format(format, std::forward<Args>(args)...)));
  }

  void take(std::string_view line, std::size_t number) {
    if (const auto iteration = find_iteration(line)) {
      close();
      take_sample(*iteration, number);
    } else if (const std::size_t at = line.find(kTime); at != std::string_view::npos) {
      take_time(line.substr(at + kTime.size()), number);
    }
  }

  void take_sample(const Iteration& iteration, std::size_t line) {
    const auto conv = read_sample(iteration);
    if (!conv) {
      bad_[iteration.number] = fmt::format("line {}: iter-{}: {}", line, iteration.number, conv.error().message);
      return;
    }
    if (bad_.erase(iteration.number) > 0) note(line, "iter-{} stands here again, after a line that was cut", iteration.number);
    const auto known = by_number_.find(iteration.number);
    if (known != by_number_.end() && !rows_[known->second].ms && rows_[known->second].conv == *conv) {
      ++out_.repeated;
      open_ = known->second;
      rows_[*open_].line = line;
      rows_[*open_].answered = false;
      return;
    }
    open_ = rows_.size();
    by_number_[iteration.number] = rows_.size();
    rows_.push_back({iteration.number, line, *conv, std::nullopt, false});
  }

  void take_time(std::string_view text, std::size_t line) {
    if (!open_) {
      note(line, "a time without a sample before it");
      return;
    }
    Row& row = rows_[*open_];
    if (row.answered) {
      note(line, "a second time for iter-{}; the first counts", row.number);
      return;
    }
    row.answered = true;
    const auto found = words(text);
    const auto ms = found.empty() ? std::nullopt : base::parse_double(found.front());
    if (!ms || !base::is_kernel_time(*ms * kNsPerMs)) {
      note(line, "iter-{}: the time is '{}'; expected {}; the sample counts as failed", row.number,
           found.empty() ? std::string() : base::printable(found.front(), 24), base::kKernelTimesMs);
      return;
    }
    // A line that was cut within its number looks like a time, a shorter one.
    if (found.size() < 2 || found[1] != kUnit) {
      note(line, "iter-{}: the time is '{}' without its unit {}, as of a line that was cut; the sample counts as failed", row.number,
           base::printable(found.front(), 24), kUnit);
      return;
    }
    row.ms = *ms;
  }

  void close() {
    if (open_ && !rows_[*open_].answered) {
      note(rows_[*open_].line, "iter-{}: no time follows; the sample counts as failed", rows_[*open_].number);
    }
    open_.reset();
  }

  std::vector<Row> rows_;
  std::map<std::int64_t, std::size_t> by_number_;
  std::map<std::int64_t, std::string> bad_;
  std::optional<std::size_t> open_;
  std::size_t note_count_ = 0;
  std::size_t bad_count_ = 0;
  CollectedLog out_;
};

}  // namespace

CollectedLog collect_log(const base::Source& source) { return Collector().collect(source); }

}  // namespace oplat::formats::tinynas
