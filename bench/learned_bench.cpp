// SPDX-License-Identifier: Apache-2.0
/// Times answers of a table of convolutions that has a fit (oplat fit): asked before, and never
/// asked. usage: learned_bench TABLE
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <variant>
#include <vector>

#include "base/version.hpp"
#include "compat/registry.hpp"
#include "compat/tinynas/conv_tuple.hpp"
#include "estimate/chain.hpp"
#include "predict/prediction.hpp"

namespace {

using namespace oplat;
using Clock = std::chrono::steady_clock;

/// As many convolutions as a ResNet-50 has.
constexpr std::size_t kNetwork = 53;
constexpr int kRepeats = 2000;
constexpr std::size_t kNeverAsked = 4000;

double microseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

/// Convolutions of the table, and some at heights between its levels.
struct Questions {
  std::vector<std::string> measured;
  std::vector<std::string> between;
};

Result<Questions> read_questions(const table::Table& table) {
  Questions questions;
  std::size_t number = 0;
  OPLAT_CHECK(table.each_row({}, [&](const table::StoredRow& stored) {
    const auto key = ir::parse(stored.row.key);
    auto conv = key ? compat::tinynas::conv_tuple_of(*key) : std::nullopt;
    if (!conv || !std::holds_alternative<table::Timing>(stored.row.outcome)) return true;
    if (conv->in_h < 8 || ++number % 11 != 0 || questions.between.size() >= kNeverAsked)
      return true;
    if (questions.measured.size() < kNetwork) questions.measured.push_back(stored.row.key);
    if (stored.row.key.find("(f32[") == std::string::npos) return true;
    conv->in_h += 1;
    conv->in_w = conv->in_h;
    questions.between.push_back(compat::tinynas::key_text_of(*conv, ir::Dtype::F32));
    return true;
  }));
  if (questions.measured.size() < kNetwork || questions.between.size() < kNetwork)
    return fail(Code::Refused, "the table has too few convolutions in fp32");
  return questions;
}

Result<double> asked_before(const estimate::Chain& chain, const std::vector<std::string>& keys) {
  std::vector<estimate::Query> queries;
  for (const std::string& key : keys) queries.push_back({key, std::nullopt, false});
  std::vector<std::optional<estimate::Estimate>> answers(keys.size());
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    std::fill(answers.begin(), answers.end(), std::nullopt);
    const Clock::time_point begin = Clock::now();
    OPLAT_CHECK(estimate::estimate_all(chain, queries, answers));
    times.push_back(microseconds(begin));
  }
  return median(std::move(times));
}

Result<double> never_asked(const estimate::Chain& chain, const std::vector<std::string>& keys) {
  std::vector<double> times;
  for (const std::string& key : keys) {
    const estimate::Query query{key, std::nullopt, false};
    std::optional<estimate::Estimate> answer;
    const Clock::time_point begin = Clock::now();
    OPLAT_CHECK(estimate::estimate_all(chain, {&query, 1}, {&answer, 1}));
    times.push_back(microseconds(begin));
    if (!answer) return fail(Code::Refused, "{} has no answer; run oplat fit first", key);
  }
  return median(std::move(times));
}

Status run(const std::string& path) {
  OPLAT_TRY(table, table::Table::open(path, table::Mode::Read));
  OPLAT_TRY(selection, predict::select_rows(table, {}, compat::catalogue()));
  const estimate::RowSource rows{
      &table, selection.device_id, selection.setting_ids, {}, selection.catalogue};
  OPLAT_TRY(questions, read_questions(table));
  for (const auto profile : {estimate::Profile::Fast, estimate::Profile::Accurate}) {
    const char* name = profile == estimate::Profile::Fast ? "fast" : "accurate";
    OPLAT_TRY(chain, estimate::make_chain(rows, {.profile = profile}));
    OPLAT_TRY(first, never_asked(chain, {questions.between.front()}));
    OPLAT_TRY(between, never_asked(chain, questions.between));
    const std::vector<std::string> known(questions.between.begin(),
                                         questions.between.begin() + kNetwork);
    OPLAT_TRY(measured, asked_before(chain, questions.measured));
    OPLAT_TRY(learned, asked_before(chain, known));
    fmt::print(
        "{{\"commit\": \"{}\", \"profile\": \"{}\", \"first_answer_ms\": {:.1f}, "
        "\"never_asked_us\": {:.2f}, \"network_measured_us\": {:.2f}, "
        "\"network_asked_before_us\": {:.2f}}}\n",
        base::commit(), name, first / 1000, between, measured, learned);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: learned_bench TABLE\n", stderr);
    return 2;
  }
  const Status status = run(argv[1]);
  if (status) return 0;
  fmt::print(stderr, "learned_bench: {}\n", status.error().message);
  return 1;
}
