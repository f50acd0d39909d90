// SPDX-License-Identifier: Apache-2.0
/// Files and batches as questions.
#include "compat/tinynas/questions.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <string_view>

#include "base/files.hpp"

namespace oplat::compat::tinynas {
namespace {

constexpr std::int64_t kT40Channels = 32;

std::int64_t rounded_up(std::int64_t channels, std::int64_t step) {
  return (channels + step - 1) / step * step;
}

/// The original knows no groups; rounded channels must still be whole groups of them.
void apply_t40(ConvTuple& conv) {
  conv = named_by_groups(conv);
  conv.fused = false;
  conv.batch = 1;
  const std::int64_t step = std::lcm(kT40Channels, std::max<std::int64_t>(1, conv.group));
  conv.in_c = rounded_up(conv.in_c, step);
  conv.out_c = rounded_up(conv.out_c, step);
}

/// Whether the time next to a listed convolution is that of a set. A library's row was measured at
/// its own batch. A tuple's batch is often 1 whatever was measured, as in the original, which is
/// told the batch apart; but one time is not that of several batches. The rules of a T40 say what
/// it makes of a convolution, not that it is another one.
bool is_time_of(const ConvQuestion& asked, std::int64_t batch, bool one_batch) {
  return batch == asked.conv.batch || (one_batch && !asked.library_row);
}

}  // namespace

Result<std::vector<ConvQuestion>> structure_questions(const std::string& path,
                                                      std::int64_t resolution, Rules rules) {
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(structure, read_structure(source));
  OPLAT_TRY(convs, convolutions(structure, resolution, rules));
  std::vector<ConvQuestion> questions;
  questions.reserve(convs.size());
  for (NamedConv& conv : convs)
    questions.push_back({std::move(conv.name), conv.conv, std::nullopt, false});
  return questions;
}

Result<std::vector<ConvQuestion>> listed_questions(const std::string& path,
                                                   std::vector<std::string>& warnings) {
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(listed, read_conv_list(source));
  std::vector<ConvQuestion> questions;
  questions.reserve(listed.size());
  std::size_t failed = 0;
  for (const ListedConv& one : listed) {
    const bool no_time = one.ms && *one.ms < 0;
    if (no_time) ++failed;
    // The original passes over the failed rows of a library; a tuple is a question whatever stands
    // next to it.
    if (no_time && one.library_row) continue;
    questions.push_back({"", one.conv, no_time ? std::nullopt : one.ms, one.library_row});
  }
  const std::size_t left_out = listed.size() - questions.size();
  if (left_out > 0)
    warnings.push_back(fmt::format("{}: {} failed profiles (-1) are left out", path, left_out));
  if (failed > left_out)
    warnings.push_back(fmt::format(
        "{}: {} times are -1 (failed profiles); those tuples are predicted, but not compared", path,
        failed - left_out));
  if (questions.empty()) return fail(Code::Input, "{}: holds no convolution to predict", path);
  return questions;
}

bool has_t40_rules(const std::string& device) {
  constexpr std::string_view kName = "T40";
  const auto is_word = [&](std::size_t i) {
    return i < device.size() && std::isalnum(static_cast<unsigned char>(device[i])) != 0;
  };
  for (std::size_t at = device.find(kName); at != std::string::npos;
       at = device.find(kName, at + 1)) {
    if (!is_word(at + kName.size()) && (at == 0 || !is_word(at - 1))) return true;
  }
  return false;
}

std::vector<ConvQuestions> at_batches(const std::vector<ConvQuestion>& convs,
                                      const std::vector<std::int64_t>& batches, bool t40,
                                      std::vector<std::string>& warnings) {
  std::vector<ConvQuestions> sets;
  if (batches.empty()) sets.push_back({std::nullopt, convs});
  for (const std::int64_t batch : batches) {
    ConvQuestions& set = sets.emplace_back(ConvQuestions{batch, convs});
    for (ConvQuestion& question : set.convs) question.conv.batch = batch;
  }
  std::size_t dropped = 0;
  for (ConvQuestions& set : sets) {
    if (t40) set.batch = 1;
    for (std::size_t i = 0; i < convs.size(); ++i) {
      ConvQuestion& question = set.convs[i];
      if (t40) apply_t40(question.conv);
      if (!question.real_ms || is_time_of(convs[i], question.conv.batch, sets.size() == 1))
        continue;
      question.real_ms.reset();
      ++dropped;
    }
  }
  if (dropped > 0)
    warnings.push_back(fmt::format(
        "{} measured times have another batch than asked for, and are not compared", dropped));
  return sets;
}

}  // namespace oplat::compat::tinynas
