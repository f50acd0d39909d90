// SPDX-License-Identifier: Apache-2.0
/// Device logs into library lines.
#include <map>
#include <set>

#include "base/kernel_time.hpp"
#include "base/text.hpp"
#include "compat/tinynas/lines.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::size_t kMaxNotes = 20;
constexpr std::string_view kIteration = "iter-";
constexpr std::string_view kTime = "run time_ms:";
constexpr std::string_view kUnit = "ms";
constexpr std::string_view kFailure = "failed: ";
constexpr std::size_t kMaxDigits = 18;
constexpr std::size_t kMaxSampleBytes = 1024;
constexpr std::size_t kMaxQuoted = 60;
/// Bad lines beyond so many have a text that says less: only the first few are shown, and a log may
/// have millions.
constexpr std::size_t kMaxBadTexts = 1000;
constexpr std::size_t kMaxOfReason = 200;
/// What is less would be 0 in six decimals.
constexpr double kMinInDecimals = 5e-7;
constexpr double kNsPerMs = 1e6;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// What is at one "iter-" of a line.
struct Iteration {
  std::optional<std::int64_t> number;
  bool announces = false;      ///< a sample: at the line's start, or with a digit behind
  std::string_view rest;       ///< of the line, behind the colon
  std::string_view wrong;      ///< why it is no "iter-N:"; empty where it is one
  std::string_view from_here;  ///< the line from "iter-" on
};

Iteration read_iteration(std::string_view from_here, bool at_start) {
  Iteration out;
  out.from_here = from_here;
  const std::string_view behind = out.from_here.substr(kIteration.size());
  std::size_t digits = 0;
  while (digits < behind.size() && is_digit(behind[digits])) ++digits;
  // A console may put something before a sample's line, and the program may print the word.
  out.announces = digits > 0 || at_start;
  if (digits == 0) {
    out.wrong = "no number after 'iter-'";
    return out;
  }
  if (digits > kMaxDigits) {
    out.wrong = "a number of more than 18 digits";
    return out;
  }
  out.number = base::parse_int(behind.substr(0, digits));
  if (digits == behind.size()) {
    out.wrong = "the line ends after its number";
  } else if (behind[digits] != ':') {
    out.wrong = "no colon after the number";
  } else {
    out.rest = behind.substr(digits + 1);
  }
  return out;
}

class Collector {
 public:
  CollectedLog collect(const base::Source& source) {
    (void)for_each_line(source.bytes(), [&](std::string_view line, std::size_t number) -> Status {
      take(line, number);
      return {};
    });
    close();
    for (BadLine& one : bad_) {
      if (one.number && stands_again(*one.number, one.line)) continue;
      add(out_.bad, bad_count_,
          one.text.empty() ? fmt::format("line {}: no sample", one.line) : std::move(one.text));
    }
    bad_count_ += more_bad_;
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
  struct BadLine {
    std::size_t line = 0;
    std::optional<std::int64_t> number;
    std::string text;
  };
  struct Row {
    std::int64_t number = 0;
    std::size_t line = 0;
    ConvTuple conv;
    std::optional<double> ms;
    bool answered = false;  ///< a time line came, good or not
  };

  /// As read_log.py prints it, but for what it would print as 0.
  static std::string text_of(double ms) {
    return ms > kMinInDecimals ? fmt::format("{:.6f}", ms) : fmt::format("{:.6g}", ms);
  }

  static void add(std::vector<std::string>& list, std::size_t& count, std::string text) {
    if (++count <= kMaxNotes) list.push_back(std::move(text));
  }
  static void finish(std::vector<std::string>& list, std::size_t count) {
    if (count > kMaxNotes) list.push_back(fmt::format("and {} more", count - kMaxNotes));
  }
  template <class... Args>
  void note(std::size_t line, fmt::format_string<Args...> format, Args&&... args) {
    add(out_.notes, note_count_,
        fmt::format("line {}: {}", line, fmt::format(format, std::forward<Args>(args)...)));
  }

  void take(std::string_view line, std::size_t number) {
    if (line.find(kIteration) != std::string_view::npos) {
      take_iterations(line, number);
    } else if (const std::size_t at = line.find(kTime); at != std::string_view::npos) {
      take_time(line.substr(at + kTime.size()), number);
    } else if (line.starts_with(kFailure)) {
      take_failure(line.substr(kFailure.size()));
    }
  }

  /// Whatever it says, the sample before it ends here: a time behind a line that was not understood
  /// may be another's.
  void take_iterations(std::string_view line, std::size_t number) {
    close();
    std::optional<Iteration> passed_over;
    const std::size_t start = line.find_first_not_of(" \t");
    for (std::size_t at = line.find(kIteration); at != std::string_view::npos;
         at = line.find(kIteration, at + 1)) {
      const Iteration iteration = read_iteration(line.substr(at), at == start);
      if (iteration.wrong.empty()) {
        if (passed_over && passed_over->announces) take_other(*passed_over, number);
        take_sample(iteration, number);
        return;
      }
      if (!passed_over || (!passed_over->announces && iteration.announces)) passed_over = iteration;
    }
    take_other(*passed_over, number);
  }

  /// An "iter-" that begins no sample.
  void take_other(const Iteration& iteration, std::size_t line) {
    const std::string found = base::printable(iteration.from_here, kMaxQuoted);
    if (iteration.announces) {
      malformed(
          iteration.number, line,
          fmt::format("{}: '{}'; expected 'iter-N: {}'", iteration.wrong, found, kSampleForm));
    } else {
      note(line, "{}: '{}'; not a sample, but the sample before it ends here", iteration.wrong,
           found);
    }
  }

  void malformed(std::optional<std::int64_t> number, std::size_t line, std::string_view what) {
    if (number) bad_numbers_.insert(*number);
    if (bad_.size() < kMaxBadTexts) {
      bad_.push_back({line, number,
                      fmt::format("line {}: {}{}", line,
                                  number ? fmt::format("iter-{}: ", *number) : "", what)});
    } else if (number) {
      bad_.push_back({line, number, {}});
    } else {
      ++more_bad_;
    }
  }

  /// Whether a sample of the number is in this line or a later one.
  [[nodiscard]] bool stands_again(std::int64_t number, std::size_t line) const {
    const auto known = by_number_.find(number);
    return known != by_number_.end() && rows_[known->second].line >= line;
  }

  void take_sample(const Iteration& iteration, std::size_t line) {
    const std::int64_t number = *iteration.number;
    const auto conv =
        iteration.rest.size() > kMaxSampleBytes
            ? fail(Code::Input, "{} bytes; expected '{}'", iteration.rest.size(), kSampleForm)
            : tuple_of_sample_fields(words(iteration.rest));
    if (!conv) {
      malformed(number, line, conv.error().message);
      return;
    }
    if (bad_numbers_.erase(number) > 0)
      note(line, "iter-{} appears here again, after a line without a sample", number);
    const auto known = by_number_.find(number);
    if (known != by_number_.end() && !rows_[known->second].ms &&
        rows_[known->second].conv == *conv) {
      ++out_.repeated;
      open_ = known->second;
      rows_[*open_].line = line;
      rows_[*open_].answered = false;
      return;
    }
    open_ = rows_.size();
    by_number_[number] = rows_.size();
    rows_.push_back({number, line, *conv, std::nullopt, false});
  }

  void take_time(std::string_view text, std::size_t line) {
    if (!open_) {
      note(line, "a time without a sample before it");
      return;
    }
    Row& row = rows_[*open_];
    if (row.answered) {
      note(line, "a second time for iter-{}; the first one counts", row.number);
      return;
    }
    row.answered = true;
    const auto found = words(text);
    const auto ms = found.empty() ? std::nullopt : base::parse_double(found.front());
    if (!ms || !base::is_kernel_time(*ms * kNsPerMs)) {
      note(line, "iter-{}: the time is '{}'; expected {}; the sample counts as failed", row.number,
           found.empty() ? std::string() : base::printable(found.front(), 24),
           base::kKernelTimesMs);
      return;
    }
    // A line that was cut within its number looks like a time, a shorter one.
    if (found.size() < 2 || found[1] != kUnit) {
      note(line,
           "iter-{}: the time is '{}' without its unit {}, so the line may be truncated; the "
           "sample counts as failed",
           row.number, base::printable(found.front(), 24), kUnit);
      return;
    }
    row.ms = *ms;
  }

  /// "failed: time limit of 600 s", as the script for trtexec writes it. The measured program may
  /// print the word, too, and a time then.
  void take_failure(std::string_view reason) {
    if (open_ && failure_.empty()) failure_ = base::printable(reason, kMaxOfReason);
  }

  void close() {
    if (open_ && !rows_[*open_].answered) {
      note(rows_[*open_].line, "iter-{}: {}; the sample counts as failed", rows_[*open_].number,
           failure_.empty() ? "no time follows" : failure_);
    }
    open_.reset();
    failure_.clear();
  }

  std::vector<Row> rows_;
  std::map<std::int64_t, std::size_t> by_number_;
  std::vector<BadLine> bad_;            ///< by line
  std::set<std::int64_t> bad_numbers_;  ///< of those whose sample has not come again yet
  std::size_t more_bad_ = 0;            ///< lines without a number that are only counted
  std::optional<std::size_t> open_;
  std::string failure_;  ///< of the open sample: why it failed, unless a time follows all the same
  std::size_t note_count_ = 0;
  std::size_t bad_count_ = 0;
  CollectedLog out_;
};

}  // namespace

CollectedLog collect_log(const base::Source& source) { return Collector().collect(source); }

}  // namespace oplat::compat::tinynas
