// SPDX-License-Identifier: Apache-2.0
/// Fits of every kind, as a table holds them. The first byte says which: L what was learned of
/// kernels (grid and sparse models), C a composition, R a spread of rows. Checksums are set right,
/// so that what stands before them is looked at. What is read answers, and is written again.
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "compat/registry.hpp"
#include "compat/tinynas/conv_tuple.hpp"
#include "estimate/learned/fitted_model.hpp"
#include "estimate/learned/states.hpp"
#include "estimate/row_spread.hpp"
#include "predict/composition_fit.hpp"

namespace {

using namespace oplat;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kFootprintBytes = 8 * oplat::estimate::kStates;
constexpr std::size_t kKindBytes = 4;
constexpr std::size_t kChecksumBytes = 8;

const std::vector<oplat::ir::Description>& questions() {
  static const std::vector<oplat::ir::Description> kQuestions = [] {
    std::vector<oplat::ir::Description> questions;
    compat::tinynas::ConvTuple conv;
    conv.batch = 2;
    conv.in_c = conv.out_c = 48;
    conv.in_h = conv.in_w = 20;
    conv.kernel = 3;
    conv.stride = 1;
    for (const ir::Key& key : {compat::tinynas::key_of(conv, ir::Dtype::F32),
                               ir::parse("test:copy{}(f32[5000])->(f32[5000])").value(),
                               ir::parse("Relu/14{}(f32[1,16])->(&0)").value()}) {
      auto description = ir::describe(key, compat::catalogue(), {});
      if (!description) std::abort();
      estimate::append_state(*description, 0);
      questions.push_back(std::move(*description));
    }
    return questions;
  }();
  return kQuestions;
}

void ask_learned(std::string blob) {
  using namespace oplat::estimate;
  (void)age_of_fit(blob);
  if (blob.size() < kFootprintBytes + kKindBytes + kChecksumBytes) return;
  std::string model = blob.substr(kFootprintBytes);
  const std::string_view body(model.data() + kKindBytes,
                              model.size() - kKindBytes - kChecksumBytes);
  const std::uint64_t sum = oplat::base::hash64(body);
  for (std::size_t i = 0; i < kChecksumBytes; ++i)
    model[model.size() - kChecksumBytes + i] = static_cast<char>(sum >> (8 * i) & 0xff);
  const auto fitted = FittedModel::load(model);
  if (!fitted) {
    if (fitted.error().code != oplat::Code::Input && fitted.error().code != oplat::Code::Refused)
      std::abort();
    return;
  }
  for (const auto& question : questions()) {
    for (const auto profile : {Profile::Accurate, Profile::Fast}) {
      (void)fitted->answer(question, profile);
      (void)fitted->space().beyond(question);
    }
  }
  const std::string saved = fitted->save();
  const auto again = FittedModel::load(saved);
  if (!again || again->save() != saved) std::abort();
}

void ask_composition(std::string_view text) {
  const auto fit = oplat::predict::decode_composition(text);
  if (!fit) {
    if (fit.error().code != oplat::Code::Input) std::abort();
    return;
  }
  const auto again = oplat::predict::decode_composition(oplat::predict::encode(*fit));
  if (!again || !(*again == *fit)) std::abort();
}

void ask_row_spread(std::string_view bytes) {
  const auto spread = oplat::estimate::RowSpread::load(bytes);
  if (!spread) return;
  for (const double log_ns : {0.0, 5.0, 12.0, 30.0}) {
    const double sd = spread->at(log_ns);
    if (!(sd >= 0) || !std::isfinite(sd)) std::abort();
  }
  const auto again = oplat::estimate::RowSpread::load(spread->save());
  if (!again || again->save() != spread->save()) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0]) {
    case 'L':
      ask_learned(std::string(rest));
      break;
    case 'C':
      ask_composition(rest);
      break;
    case 'R':
      ask_row_spread(rest);
      break;
    default:
      break;
  }
  return 0;
}
