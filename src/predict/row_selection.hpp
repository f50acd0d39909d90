// SPDX-License-Identifier: Apache-2.0
/// Which rows answer a filter: device, runtime, version, precision and threads, filled from the
/// table where it leaves no choice.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "ir/catalogue.hpp"
#include "predict/composition_fit.hpp"
#include "table/table.hpp"

namespace oplat::predict {

/// What the user said; what is missing is filled from the table where it holds one value.
struct RowFilter {  // "= {}" lets a caller name only the fields that it sets
  std::optional<std::string> device = {};
  std::optional<std::string> runtime = {};
  std::optional<std::string> version = {};
  std::optional<std::string> precision = {};
  std::optional<std::int64_t> threads = {};
  std::optional<std::string> build =
      {};  ///< of the installed runtime: another one is a warning, no mismatch
  std::map<std::string, std::string> options =
      {};  ///< those that matter, an empty value: not set; further ones of a table are not compared
  bool exact_options = false;  ///< further ones are compared, as not set
  bool allow_setting_mismatch = false;
  /// whether the composition that was fitted to whole models counts, or start values
  bool fitted = true;
  /// whether who asks knows --allow-setting-mismatch, so that an error may name it
  bool has_mismatch_flag = true;
  friend bool operator==(const RowFilter&, const RowFilter&) = default;
};

/// A field answered from rows that were measured otherwise.
struct Mismatch {
  std::string field;  ///< "device", "runtime", "version", "precision", "threads", "option NAME"
  std::string asked;
  std::string used;
  /// Standard deviation of the logarithm that this adds to the prediction (in quadrature): threads
  /// |ln(asked / used)|, perfect scaling being the most that could be missed; device, runtime and
  /// precision 0.7, a factor of two either way; version and options 0.1. Start values.
  double sd_log = 0;
  friend bool operator==(const Mismatch&, const Mismatch&) = default;
};

/// What is known of networks and the sums of their kernels before any was measured on a machine.
struct SumSpread {
  double sd_log = 0;     ///< standard deviation of the logarithm, beyond kCompositionSd
  bool compared = true;  ///< false: a guess, since nobody measured networks in this setting
  /// What a byte of results that caches lose takes more inside a model (docs/adr/0088); 0 if nobody
  /// fitted it.
  double evicted_byte_ns = 0;
  double kernel_ns = 0;  ///< likewise, what each executed kernel takes more
};

/// The rows that answer.
struct Selection {
  table::DeviceId device_id = 0;
  table::Device device;
  std::vector<table::SettingId>
      setting_ids;         ///< the chosen build first, then other builds of the same setting
  table::Setting setting;  ///< of setting_ids.front()
  std::vector<Mismatch> mismatch;
  std::vector<std::string> warnings;
  const ir::Catalogue* catalogue = nullptr;  ///< never null of select_rows(), see there
  /// of the table for this device and setting; nothing: none, or not of these rows
  std::optional<CompositionFit> fit;
  /// What was measured of the device's memory; nothing: its reported sizes are assumed.
  std::optional<table::MemoryHierarchy> memory = std::nullopt;
  SumSpread sum_spread = {};  ///< of the setting's runtime; programs fill it (app::select_rows)
};

/// Whether rows of this device and setting are all that the filter asks for; its build is not
/// compared.
bool matches(const RowFilter& filter, const table::Device& device, const table::Setting& setting);

/// Code::Usage: several values fit, all listed with the flag that chooses. Code::Refused: nothing
/// fits, the nearest is named; with `allow_setting_mismatch` that one answers.
/// `catalogue`: of the rows' keys; whoever predicts from the selection uses it, so it must outlive
/// them. Programs hand over compat::catalogue().
Result<Selection> select_rows(const table::Table& table, const RowFilter& filter,
                              const ir::Catalogue& catalogue);

/// The record of how kernels add up for this device and setting, of the newest format that the
/// table holds (decode_composition()); nothing: none.
Result<std::optional<table::FoundFit>> find_composition(const table::Table& table,
                                                        table::DeviceId device,
                                                        table::SettingId setting);

}  // namespace oplat::predict
