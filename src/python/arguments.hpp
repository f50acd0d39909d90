// SPDX-License-Identifier: Apache-2.0
/// Keyword arguments that several calls share: how to predict, and how to measure.
#pragma once

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/campaign.hpp"
#include "app/predict.hpp"
#include "base/text.hpp"
#include "python/measure.hpp"
#include "python/models.hpp"

namespace oplat::python {

/// The value of an argument, or a TypeError.
template <class T>
T argument(const std::string& name, nanobind::handle value, const char* expected) {
  T converted{};
  if (!nanobind::try_cast(value, converted))
    throw nanobind::type_error(
        fmt::format("{}: expected {}, found {}", base::printable(name), expected, found_text(value))
            .c_str());
  return converted;
}

/// The TypeError that Python itself raises.
[[noreturn]] void raise_unexpected(std::string_view name);

/// Takes a list of numbers from 1 to `max` out of `given`, or a single one, each once; empty if it
/// is missing or None. Throws TypeError and UsageError.
std::vector<std::int64_t> take_numbers(nanobind::kwargs& given, const char* name, std::int64_t max);
/// Takes a value out of `given`; not valid if it is missing.
nanobind::object take(nanobind::kwargs& given, const char* name);
/// Throws TypeError if `given` has one of these names.
void refuse(const nanobind::kwargs& given, std::initializer_list<const char*> names);

/// The texts of keys, or of a single one: texts or oplat.Key. Throws TypeError and UsageError.
std::vector<std::string> key_texts(nanobind::handle keys);

// As on the command line.
inline constexpr std::int64_t kMaxThreads = 4096;
inline constexpr std::int64_t kMaxBatch = std::int64_t{1} << 31;

/// What a call that predicts asks for besides models.
struct Question {
  app::PredictRequest request;
  std::shared_ptr<base::TemporaryFolder> arrays;  ///< of GivenInputs
  nanobind::kwargs given;                         ///< the arguments that say it
};
/// By hand: a search makes thousands of calls that give few arguments, and nanobind converts the
/// defaults of the others anew in each.
Question question_of(const nanobind::kwargs& given);

/// What calls that measure take besides models, runtime and budget.
struct MeasuringArguments {
  app::RuntimeRequest runtime;
  app::CampaignOptions campaign;
  GivenInputs inputs;
  nanobind::object keys = nanobind::none();      ///< of profile()
  std::string space;                             ///< likewise: a space's name or file
  std::string like;                              ///< likewise: a folder of models
  nanobind::object progress = nanobind::none();  ///< a callable or None
  double level = 0.9;                            ///< of validate()
  bool measure = false;                          ///< likewise
  bool unfitted = false;                         ///< likewise
};
/// `others`: names that this call knows beyond those of all. Throws TypeError for any further one.
MeasuringArguments measuring_arguments(const std::string& runtime, const nanobind::object& budget,
                                       const nanobind::kwargs& given,
                                       std::span<const std::string_view> others);

/// Parts of signatures.
#define OPLAT_PREDICTING_MODEL                                                                \
  "shapes: oplat._types.Shapes | None = None, inputs: oplat._types.Inputs | None = None, "    \
  "device: str | None = None, runtime: str | None = None, version: str | None = None, "       \
  "precision: str | None = None, options: dict[str, str] | None = None, plan: str = 'auto', " \
  "level: float = 0.9, missing: typing.Literal['error', 'roofline', 'zero'] = 'error', "      \
  "estimator: typing.Literal['accurate', 'fast'] = 'accurate'"
#define OPLAT_PREDICTING_OPTIONS \
  OPLAT_PREDICTING_MODEL ", allow_setting_mismatch: bool = False, unfitted: bool = False"
#define OPLAT_PREDICTING \
  "*, threads: int | None = None, batch: int | None = None, " OPLAT_PREDICTING_OPTIONS
#define OPLAT_RUN_OPTIONS                                                                  \
  "precision: str = '', options: dict[str, str] | None = None, device: str = '', "         \
  "shapes: oplat._types.Shapes | None = None, inputs: oplat._types.Inputs | None = None, " \
  "cpu: int | None = None, worker: str | collections.abc.Sequence[str] | None = None, "    \
  "worker_arguments: collections.abc.Sequence[str] = (), "                                 \
  "progress: collections.abc.Callable[[Progress], object] | None = None"
#define OPLAT_CAMPAIGN_OPTIONS                                              \
  "seed: int = 1, blocks: int | None = None, target_error: float | None = " \
  "None, " OPLAT_RUN_OPTIONS
#define OPLAT_RETRY_OPTIONS "retry_refused: bool = False, retry_loaded: bool = False, "

}  // namespace oplat::python
