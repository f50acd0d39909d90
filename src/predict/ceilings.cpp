// SPDX-License-Identifier: Apache-2.0
/// The best rates among rows.
#include "predict/ceilings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <unordered_set>

#include "ir/moved_work.hpp"
#include "plan/records.hpp"

namespace oplat::predict {
namespace {

/// A kernel of this size finishes its work in less time than any runtime known needs to reach it.
constexpr double kTinyBytes = 4096;
constexpr double kTinyFlops = 16384;
/// Below this many times a node's own time, a rate says more about the node than about the work.
constexpr double kLongInNodes = 5;
/// A row whose reuse_bytes are above this multiple of its own bytes was measured with its weights
/// driven out.
constexpr double kDrivenOut = 1.5;
constexpr std::size_t kFewRates = 20;
/// Rows of fewer operations a byte (casts, activations) are held up by their bytes on any device:
/// they say nothing of its arithmetic.
constexpr double kMinIntensity = 1;

/// What a key says, the same for all its rows.
struct KeyWork {
  bool dispatch = false;    ///< the kernel that is measured to know the dispatch of a node
  ir::Work work;            ///< as far as bytes are moved
  double stored_bytes = 0;  ///< what a row touches between two calls
  std::optional<ir::Dtype> dtype;
};

struct Measured {
  KeyWork key;
  std::optional<double> reuse_bytes;
  double ns = 0;
};

std::optional<KeyWork> key_work(std::string_view text, const ir::Catalogue& catalogue) {
  const auto key = ir::parse(text);
  if (!key) return std::nullopt;
  KeyWork one{text == plan::kDispatchKey, ir::moved_work(*key, catalogue),
              ir::work(*key, catalogue).bytes(), work_dtype(*key)};
  if (!one.work.complete || !std::isfinite(one.work.bytes()) || one.work.bytes() <= 0)
    return std::nullopt;
  if (one.work.flops && !std::isfinite(*one.work.flops)) one.work.flops.reset();
  return one;
}

bool is_time(double ns) { return std::isfinite(ns) && ns > 0; }

std::optional<double> node_time(const std::vector<Measured>& rows) {
  std::vector<double> tiny, dispatch;
  for (const Measured& row : rows) {
    if (row.key.dispatch) dispatch.push_back(row.ns);
    if (row.key.work.bytes() <= kTinyBytes && row.key.work.flops.value_or(0) <= kTinyFlops)
      tiny.push_back(row.ns);
  }
  std::vector<double>& times = dispatch.empty() ? tiny : dispatch;
  if (times.empty()) return std::nullopt;
  const auto at =
      times.begin() + static_cast<std::ptrdiff_t>(times.size() / (dispatch.empty() ? 4 : 2));
  std::nth_element(times.begin(), at, times.end());
  return *at;
}

/// `rates` is not empty.
double best(std::vector<double> rates) {
  const std::size_t left_out =
      rates.size() < kFewRates ? 0 : std::max<std::size_t>(2, rates.size() / 1000);
  const auto at = rates.begin() + static_cast<std::ptrdiff_t>(left_out);
  std::nth_element(rates.begin(), at, rates.end(), std::greater<>());
  return *at;
}

/// Ends of the levels, nearest first.
std::vector<std::optional<double>> level_ends(const table::Device& device) {
  std::vector<std::optional<double>> ends;
  if (device.l2_bytes > 0 && device.l2_bytes < device.llc_bytes)
    ends.emplace_back(static_cast<double>(device.l2_bytes));
  if (device.llc_bytes > 0) ends.emplace_back(static_cast<double>(device.llc_bytes));
  ends.emplace_back(std::nullopt);
  return ends;
}

/// The bytes that came from the level at which the row stands: all of them, or only the weights
/// where other things were touched between two uses of them. 0: none did.
double bytes_from_level(const Measured& row) {
  const double stored = row.key.stored_bytes;
  return row.reuse_bytes.value_or(stored) > kDrivenOut * stored ? row.key.work.bytes_weights
                                                                : row.key.work.bytes();
}

std::vector<MemoryLevel> memory_levels(const std::vector<Measured>& rows, double shortest_ns,
                                       const table::Device& device) {
  const auto ends = level_ends(device);
  std::vector<std::vector<double>> rates(ends.size());
  for (const Measured& row : rows) {
    const double bytes = bytes_from_level(row);
    if (row.ns < shortest_ns || bytes <= 0) continue;
    const double reuse = row.reuse_bytes.value_or(row.key.stored_bytes);
    std::size_t level = 0;
    while (ends[level] && reuse > *ends[level]) ++level;
    rates[level].push_back(bytes / row.ns);
  }
  std::vector<MemoryLevel> levels;
  for (std::size_t i = ends.size(); i-- > 0;) {
    if (rates[i].empty()) continue;
    double rate = best(std::move(rates[i]));
    // What memory gives, a cache gives too: few rows may stand in the cache.
    if (!levels.empty()) rate = std::max(rate, levels.back().bytes_per_ns);
    levels.push_back({ends[i], rate});
  }
  std::reverse(levels.begin(), levels.end());
  // Nothing is known of what lies beyond the last level that has rows.
  if (!levels.empty()) levels.back().up_to_bytes.reset();
  return levels;
}

std::optional<double> usable_time(const table::StoredRow& stored) {
  const auto* timing = std::get_if<table::Timing>(&stored.row.outcome);
  if (timing == nullptr) return std::nullopt;
  return timing->median_ns;
}

/// Gathers rows of the selection, each once.
class Gatherer {
 public:
  explicit Gatherer(const Selection& selection) : selection_(selection) {}

  void add(const table::StoredRow& stored) {
    const auto& settings = selection_.setting_ids;
    const auto ns = usable_time(stored);
    if (!ns || stored.device != selection_.device_id ||
        std::find(settings.begin(), settings.end(), stored.setting) == settings.end() ||
        !seen_.insert(stored.id).second)
      return;
    ++count_;
    if (!is_time(*ns)) return;
    if (const auto& work = work_of(stored.row.key))
      rows_.push_back({*work, stored.row.reuse_bytes, *ns});
  }
  /// Rows of a kernel, those in every cache state.
  Status add_rows_of(const table::Table& table, std::string_view key) {
    for (const table::SettingId setting : selection_.setting_ids) {
      OPLAT_TRY(rows, table.rows_of(key, selection_.device_id, setting));
      for (const table::StoredRow& row : rows) add(row);
    }
    return {};
  }
  [[nodiscard]] const std::vector<Measured>& rows() const { return rows_; }
  [[nodiscard]] std::int64_t count() const { return count_; }

 private:
  /// Rows of one key are read one after the other.
  const std::optional<KeyWork>& work_of(const std::string& key) {
    if (key != last_key_) {
      last_key_ = key;
      last_work_ = key_work(key, *selection_.catalogue);
    }
    return last_work_;
  }

  const Selection& selection_;
  std::unordered_set<table::RowId> seen_;
  std::vector<Measured> rows_;
  std::int64_t count_ = 0;
  std::string last_key_;
  std::optional<KeyWork> last_work_;
};

/// The largest id up to which rows seem to stand, at most 2^40: they count up from 1 and are not
/// removed. To count rows would be to read the whole of an index.
Result<table::RowId> last_row(const table::Table& table) {
  constexpr table::RowId kMaxRows = table::RowId{1} << 40;
  table::RowId held = 0, free = 1;
  while (free < kMaxRows) {
    OPLAT_TRY(row, table.row(free));
    if (!row) break;
    held = free;
    free *= 2;
  }
  while (held + 1 < free) {
    const table::RowId middle = held + (free - held) / 2;
    OPLAT_TRY(row, table.row(middle));
    (row ? held : free) = middle;
  }
  return held;
}

Status sample(const table::Table& table, std::int64_t most, Gatherer& gatherer) {
  OPLAT_TRY(last, last_row(table));
  if (last <= most) {
    std::int64_t visited = 0;
    return table.each_row({}, [&](const table::StoredRow& row) {
      gatherer.add(row);
      return ++visited < most;
    });
  }
  for (std::int64_t i = 0; i < most; ++i) {
    const double step = static_cast<double>(i) / static_cast<double>(most);
    OPLAT_TRY(stored, table.row(1 + static_cast<table::RowId>(step * static_cast<double>(last))));
    if (stored) gatherer.add(*stored);
  }
  return {};
}

}  // namespace

std::optional<double> Ceilings::bytes_per_ns(double reuse_bytes) const {
  for (const MemoryLevel& level : memory)
    if (!level.up_to_bytes || reuse_bytes <= *level.up_to_bytes) return level.bytes_per_ns;
  return std::nullopt;
}

namespace {

Ceilings ceilings_of_known(const std::vector<Measured>& known, std::int64_t rows,
                           const table::Device& device) {
  Ceilings ceilings;
  ceilings.rows = rows;
  ceilings.node_ns = node_time(known);
  const double shortest_ns = kLongInNodes * ceilings.node_ns.value_or(0);
  std::map<ir::Dtype, std::vector<double>> rates;
  for (const Measured& row : known)
    if (row.ns >= shortest_ns && row.key.dtype &&
        row.key.work.flops.value_or(0) >= kMinIntensity * row.key.work.bytes())
      rates[*row.key.dtype].push_back(*row.key.work.flops / row.ns);
  for (auto& [dtype, some] : rates) ceilings.flops_per_ns[dtype] = best(std::move(some));
  ceilings.memory = memory_levels(known, shortest_ns, device);
  return ceilings;
}

}  // namespace

Ceilings ceilings_of(std::span<const TimedKey> rows, const table::Device& device,
                     const ir::Catalogue& catalogue) {
  std::vector<Measured> known;
  for (const TimedKey& row : rows) {
    if (!is_time(row.median_ns)) continue;
    if (auto work = key_work(row.key, catalogue))
      known.push_back({*std::move(work), row.reuse_bytes, row.median_ns});
  }
  return ceilings_of_known(known, static_cast<std::int64_t>(rows.size()), device);
}

namespace {

/// The device with the sizes of caches that were measured in place of those that it reports.
table::Device as_measured(const Selection& selection) {
  table::Device device = selection.device;
  if (!selection.memory || selection.memory->levels.size() < 2) return device;
  const auto& levels = selection.memory->levels;
  const auto bytes = [&](std::size_t level) {
    return static_cast<std::int64_t>(levels[level].capacity_bytes.value_or(0));
  };
  device.l2_bytes = levels.size() > 2 ? bytes(0) : 0;
  device.llc_bytes = bytes(levels.size() - 2);
  return device;
}

}  // namespace

struct CeilingRows::Impl {
  explicit Impl(const Selection& chosen) : selection(chosen), shared(selection) {}
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  Selection selection;
  Gatherer shared;  ///< of every prediction
};

CeilingRows::CeilingRows(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CeilingRows::CeilingRows(CeilingRows&&) noexcept = default;
CeilingRows& CeilingRows::operator=(CeilingRows&&) noexcept = default;
CeilingRows::~CeilingRows() = default;

Result<CeilingRows> CeilingRows::read(const table::Table& table, const Selection& selection,
                                      std::int64_t max_rows) {
  auto impl = std::make_unique<Impl>(selection);
  OPLAT_CHECK(impl->shared.add_rows_of(table, plan::kDispatchKey));
  OPLAT_CHECK(sample(table, max_rows, impl->shared));
  return CeilingRows(std::move(impl));
}

Result<Ceilings> CeilingRows::of(const table::Table& table, const Prediction& prediction) const {
  Gatherer all = impl_->shared;
  std::unordered_set<std::string_view> keys;
  for (const KernelPrediction& kernel : prediction.kernels)
    if (keys.insert(kernel.key).second) OPLAT_CHECK(all.add_rows_of(table, kernel.key));
  return ceilings_of_known(all.rows(), all.count(), as_measured(impl_->selection));
}

Result<Ceilings> find_ceilings(const table::Table& table, const Selection& selection,
                               const Prediction& prediction, std::int64_t max_rows) {
  OPLAT_TRY(rows, CeilingRows::read(table, selection, max_rows));
  return rows.of(table, prediction);
}

std::optional<ir::Dtype> work_dtype(const ir::Key& key) {
  std::optional<ir::Dtype> dtype;
  for (std::size_t i = 0; i < key.operands.size(); ++i) {
    const ir::TensorEntry* operand = key.operand(i);
    if (operand == nullptr) continue;
    if (!dtype) dtype = operand->dtype;
    if (operand->constant && operand->shape.ranked && operand->shape.dims.size() >= 2) {
      dtype = operand->dtype;
      break;
    }
  }
  return dtype == ir::Dtype::U8 ? ir::Dtype::I8 : dtype;
}

}  // namespace oplat::predict
