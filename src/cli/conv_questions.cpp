// SPDX-License-Identifier: Apache-2.0
/// Files and batches as questions.
#include "cli/conv_questions.hpp"

#include "oplat/base/files.hpp"

namespace oplat::cli {
namespace {

constexpr std::int64_t kT40Channels = 32;

std::int64_t rounded_up(std::int64_t channels) { return (channels + kT40Channels - 1) / kT40Channels * kT40Channels; }

void apply_t40(ir::ConvTuple& conv) {
  conv.fused = false;
  conv.batch = 1;
  conv.in_c = rounded_up(conv.in_c);
  conv.out_c = rounded_up(conv.out_c);
}

}  // namespace

Result<std::vector<ConvQuestion>> structure_questions(const std::string& path, std::int64_t resolution,
                                                      formats::tinynas::Rules rules) {
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(structure, formats::tinynas::read_structure(source));
  OPLAT_TRY(convs, formats::tinynas::convolutions(structure, resolution, rules));
  std::vector<ConvQuestion> questions;
  questions.reserve(convs.size());
  for (formats::tinynas::NamedConv& conv : convs) questions.push_back({std::move(conv.name), conv.conv, std::nullopt});
  return questions;
}

Result<std::vector<ConvQuestion>> listed_questions(const std::string& path, std::vector<std::string>& warnings) {
  OPLAT_TRY(source, base::Source::open(path));
  OPLAT_TRY(listed, formats::tinynas::read_conv_list(source));
  std::vector<ConvQuestion> questions;
  questions.reserve(listed.size());
  std::size_t failed = 0;
  for (const formats::tinynas::ListedConv& one : listed) {
    const bool no_time = one.ms && *one.ms < 0;
    if (no_time) ++failed;
    // The original passes over the failed rows of a library; a tuple is a question whatever stands beside it.
    if (no_time && one.library_row) continue;
    questions.push_back({"", one.conv, no_time ? std::nullopt : one.ms});
  }
  const std::size_t left_out = listed.size() - questions.size();
  if (left_out > 0) warnings.push_back(fmt::format("{}: {} failed profiles (-1) are left out", path, left_out));
  if (failed > left_out)
    warnings.push_back(fmt::format("{}: {} times are -1, of failed profiles; those tuples are predicted, but compared with nothing", path,
                                   failed - left_out));
  if (questions.empty()) return fail(Code::Input, "{}: names no convolution to predict", path);
  return questions;
}

bool has_t40_rules(const std::string& device) { return device.find("T40") != std::string::npos; }

std::vector<ConvQuestions> at_batches(const std::vector<ConvQuestion>& convs, const std::vector<std::int64_t>& batches,
                                      bool t40) {
  std::vector<ConvQuestions> sets;
  if (batches.empty()) sets.push_back({std::nullopt, convs});
  for (const std::int64_t batch : batches) {
    ConvQuestions& set = sets.emplace_back(ConvQuestions{batch, convs});
    for (ConvQuestion& question : set.convs) question.conv.batch = batch;
  }
  for (ConvQuestions& set : sets) {
    if (t40) set.batch = 1;
    for (std::size_t i = 0; i < convs.size(); ++i) {
      ConvQuestion& question = set.convs[i];
      if (t40) apply_t40(question.conv);
      // The time of another convolution is no time of this one.
      if (!(question.conv == convs[i].conv)) question.real_ms.reset();
    }
  }
  return sets;
}

}  // namespace oplat::cli
