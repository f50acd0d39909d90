// SPDX-License-Identifier: Apache-2.0
/// Bounds from the best rows, and rows of unknown batch against the others.
#include "estimate/sanity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <unordered_map>

#include "base/units.hpp"
#include "ir/description.hpp"
#include "ir/moved_work.hpp"

namespace oplat::estimate {
namespace {

/// Rates that one row in a hundred reaches, and three at least, are not outliers.
constexpr double kBestShare = 0.01;
constexpr std::size_t kMinBest = 3;
constexpr std::size_t kMinSanityRows = 30;
constexpr double kFlopsMargin = 1.5;
constexpr double kBytesMargin = 3;
/// Multiplications that Winograd's F(6x6, 3x3) saves.
constexpr double kMaxSaved = 5.0625;
/// Pairs that are compared with each other; a table of so many rows of unknown batch is none that
/// anybody measured.
constexpr std::size_t kMaxPairs = 20'000'000;

struct Facts {
  bool parsed = false;
  bool batch_unknown = false;
  bool more_unknown = false;
  std::string text;   ///< with a batch of 1
  std::string group;  ///< operator and attributes: rows of one group differ in their sizes alone
  std::vector<double> sizes;
  std::optional<double> flops;
  std::optional<double> bytes;
  std::string wrong;
};

/// Sets unknown batches to 1; whether there were any.
bool set_batch(ir::Key& key) {
  bool set = false;
  for (auto* entries : {&key.operands, &key.results}) {
    for (ir::Entry& entry : *entries) {
      auto* tensor = std::get_if<ir::TensorEntry>(&entry);
      if (tensor == nullptr || tensor->constant || !tensor->shape.ranked ||
          tensor->shape.dims.empty() || tensor->shape.dims[0])
        continue;
      tensor->shape.dims[0] = 1;
      set = true;
    }
  }
  return set;
}

bool sizes_unknown(const ir::Key& key) {
  for (const auto* entries : {&key.operands, &key.results}) {
    for (const ir::Entry& entry : *entries) {
      const auto* tensor = std::get_if<ir::TensorEntry>(&entry);
      if (tensor != nullptr && (!tensor->shape.ranked ||
                                !std::all_of(tensor->shape.dims.begin(), tensor->shape.dims.end(),
                                             [](const ir::Dim& dim) { return dim.has_value(); }))) {
        return true;
      }
    }
  }
  return false;
}

double min_operations(const ir::Contraction& product, double flops) {
  if (product.stride != 1 || product.in_c == 1) return flops;
  return flops / std::clamp(product.kernel_h * product.kernel_w, 1.0, kMaxSaved);
}

Facts facts_of(const CheckedRow& row, const ir::Catalogue& catalogue) {
  Facts facts;
  auto key = ir::parse(row.key);
  if (!key) return facts;
  facts.parsed = true;
  facts.batch_unknown = set_batch(*key);
  facts.more_unknown = sizes_unknown(*key);
  if (const ir::KeyDomain* domain = catalogue.domain(key->domain))
    facts.wrong = domain->wrong_sizes(*key).value_or("");
  facts.text = ir::print(*key);
  facts.group = facts.text.substr(0, facts.text.find('('));
  if (facts.more_unknown) return facts;
  for (const auto* entries : {&key->operands, &key->results}) {
    for (const ir::Entry& entry : *entries) {
      const auto* tensor = std::get_if<ir::TensorEntry>(&entry);
      facts.group += tensor == nullptr ? "-" : fmt::format(" {}", tensor->shape.dims.size());
      if (tensor == nullptr) continue;
      for (const ir::Dim& dim : tensor->shape.dims)
        facts.sizes.push_back(static_cast<double>(*dim));
    }
  }
  const ir::Work work = ir::moved_work(*key, catalogue);
  double unread = 0;
  if (work.flops && *work.flops > 0) {
    facts.flops = work.flops;
    const auto description = ir::describe(*key, catalogue, {});
    if (description && description->contraction) {
      const ir::Contraction& product = *description->contraction;
      facts.flops = min_operations(product, *work.flops);
      // Weights that only ever meet padding are not read.
      unread = work.bytes_weights * (1 - product.share_inside);
    }
  }
  const ir::OperatorInfo* info = catalogue.find(key->domain, key->op);
  const bool still = info != nullptr && (ir::is_view(*key, catalogue) || info->moves_little);
  if (!still && work.complete && work.bytes() > unread) facts.bytes = work.bytes() - unread;
  return facts;
}

std::optional<double> best_rate(std::vector<double> rates, double margin) {
  if (rates.size() < kMinSanityRows) return std::nullopt;
  const auto at =
      std::max(kMinBest, static_cast<std::size_t>(kBestShare * static_cast<double>(rates.size()))) -
      1;
  std::nth_element(rates.begin(), rates.begin() + static_cast<std::ptrdiff_t>(at), rates.end(),
                   std::greater<>());
  return margin * rates[at];
}

class Checker {
 public:
  Checker(std::span<const CheckedRow> rows, const ir::Catalogue& catalogue,
          const SanityRequest& request)
      : rows_(rows), request_(request) {
    for (const CheckedRow& row : rows) facts_.push_back(facts_of(row, catalogue));
    faults_.resize(rows.size());
  }

  Sanity run() {
    Sanity sanity;
    for (const Facts& facts : facts_)
      ++(facts.parsed && !facts.more_unknown ? sanity.examined : sanity.unknown);
    bound(sanity);
    compare_twins();
    compare_sizes();
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (faults_[i]) sanity.suspects.push_back(*std::move(faults_[i]));
    }
    return sanity;
  }

 private:
  void blame(std::size_t row, Fault fault, std::string reason) {
    if (!faults_[row]) faults_[row] = SuspectRow{row, fault, std::move(reason)};
  }

  void bound(Sanity& sanity) {
    std::vector<double> flops, bytes;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (!facts_[i].wrong.empty()) blame(i, Fault::Sizes, facts_[i].wrong);
      if (facts_[i].batch_unknown || faults_[i]) continue;
      if (facts_[i].flops) flops.push_back(*facts_[i].flops / rows_[i].ns);
      if (facts_[i].bytes) bytes.push_back(*facts_[i].bytes / rows_[i].ns);
    }
    sanity.flops_per_ns = request_.peak_flops_per_ns ? request_.peak_flops_per_ns
                                                     : best_rate(std::move(flops), kFlopsMargin);
    sanity.bytes_per_ns = request_.peak_bytes_per_ns ? request_.peak_bytes_per_ns
                                                     : best_rate(std::move(bytes), kBytesMargin);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double ns = rows_[i].ns;
      if (sanity.flops_per_ns && facts_[i].flops && *facts_[i].flops > *sanity.flops_per_ns * ns) {
        blame(i, Fault::TooFast,
              fmt::format("{} for {:.3g} million operations is {:.4g} GFLOP/s; the limit is {:.4g}",
                          base::duration_text(ns), *facts_[i].flops / 1e6, *facts_[i].flops / ns,
                          *sanity.flops_per_ns));
      }
      if (sanity.bytes_per_ns && facts_[i].bytes && *facts_[i].bytes > *sanity.bytes_per_ns * ns) {
        blame(i, Fault::TooFast,
              fmt::format("{} for {} is {:.4g} GB/s; the limit is {:.4g}", base::duration_text(ns),
                          base::bytes_text(*facts_[i].bytes), *facts_[i].bytes / ns,
                          *sanity.bytes_per_ns));
      }
    }
  }

  /// Of two that disagree it is the row that does not say its batch that is in doubt.
  void compare_twins() {
    std::unordered_map<std::string_view, std::size_t> known;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (facts_[i].parsed && !facts_[i].batch_unknown && !faults_[i])
        known.emplace(facts_[i].text, i);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const auto twin = facts_[i].batch_unknown ? known.find(facts_[i].text) : known.end();
      if (twin == known.end()) continue;
      const double ratio = rows_[i].ns / rows_[twin->second].ns;
      if (ratio <= request_.max_ratio && 1 / ratio <= request_.max_ratio) continue;
      blame(i, Fault::Twin,
            fmt::format("{}, but {} with a batch of 1", base::duration_text(rows_[i].ns),
                        base::duration_text(rows_[twin->second].ns)));
    }
  }

  /// Whether one kernel is no smaller in any size than the other.
  [[nodiscard]] bool covers(std::size_t large, std::size_t small) const {
    const auto& a = facts_[large].sizes;
    const auto& b = facts_[small].sizes;
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(), std::greater_equal<>());
  }
  [[nodiscard]] bool clash(std::size_t a, std::size_t b) const {
    const double most = request_.max_ratio;
    return (rows_[b].ns > most * rows_[a].ns && covers(a, b)) ||
           (rows_[a].ns > most * rows_[b].ns && covers(b, a));
  }
  [[nodiscard]] std::string clash_text(std::size_t row, std::size_t other) const {
    return fmt::format("{}, but {} for the {} kernel of {}", base::duration_text(rows_[row].ns),
                       base::duration_text(rows_[other].ns),
                       covers(row, other) ? "smaller" : "larger", rows_[other].key);
  }

  void compare_sizes() {
    struct Group {
      std::vector<std::size_t> known, unknown;
    };
    std::map<std::string_view, Group> groups;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (facts_[i].sizes.empty() || faults_[i]) continue;
      Group& group = groups[facts_[i].group];
      (facts_[i].batch_unknown ? group.unknown : group.known).push_back(i);
    }
    std::size_t pairs = 0;
    for (auto& [name, group] : groups) {
      pairs += group.unknown.size() * (group.known.size() + group.unknown.size());
      if (pairs > kMaxPairs) return;
      for (const std::size_t row : group.unknown) {
        const auto other = std::find_if(group.known.begin(), group.known.end(),
                                        [&](std::size_t one) { return clash(row, one); });
        if (other != group.known.end()) blame(row, Fault::Order, clash_text(row, *other));
      }
      std::erase_if(group.unknown, [&](std::size_t row) { return faults_[row].has_value(); });
      settle(group.unknown);
    }
  }

  /// Among rows that all do not say their batch, the one that disagrees with most is in doubt
  /// first.
  void settle(const std::vector<std::size_t>& rows) {
    std::vector<std::vector<std::size_t>> clashes(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (!clash(rows[i], rows[j])) continue;
        clashes[i].push_back(j);
        clashes[j].push_back(i);
      }
    }
    while (true) {
      const auto worst =
          std::max_element(clashes.begin(), clashes.end(),
                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
      if (worst == clashes.end() || worst->empty()) return;
      const auto at = static_cast<std::size_t>(worst - clashes.begin());
      blame(rows[at], Fault::Order, clash_text(rows[at], rows[worst->front()]));
      for (const std::size_t other : *worst) std::erase(clashes[other], at);
      worst->clear();
    }
  }

  std::span<const CheckedRow> rows_;
  const SanityRequest& request_;
  std::vector<Facts> facts_;
  std::vector<std::optional<SuspectRow>> faults_;
};

/// "domain:op"
std::string_view operator_of_text(std::string_view key) {
  return key.substr(0, key.find_first_of("{/@"));
}

bool batch_unknown(std::string_view key) {
  auto parsed = ir::parse(key);
  return parsed && set_batch(*parsed);
}

std::vector<CheckedRow> checked(std::span<const Sample> samples) {
  std::vector<CheckedRow> rows;
  rows.reserve(samples.size());
  for (const Sample& sample : samples) rows.push_back({sample.key, std::exp(sample.log_ns)});
  return rows;
}

}  // namespace

std::string_view name(Fault fault) {
  switch (fault) {
    case Fault::Sizes:
      return "sizes";
    case Fault::TooFast:
      return "too fast";
    case Fault::Twin:
      return "twin";
    case Fault::Order:
      return "order";
  }
  return "";
}

Sanity check_rows(std::span<const CheckedRow> rows, const ir::Catalogue& catalogue,
                  const SanityRequest& request) {
  return Checker(rows, catalogue, request).run();
}

std::optional<std::string> key_with_batch_one(std::string_view key) {
  // Most keys know all their sizes; looking for the byte is cheaper than parsing.
  if (key.find('?') == std::string_view::npos) return std::nullopt;
  auto parsed = ir::parse(key);
  if (!parsed || !set_batch(*parsed) || sizes_unknown(*parsed)) return std::nullopt;
  return ir::print(*parsed);
}

std::vector<Sample> stand_ins(std::span<const Sample> samples, const ir::Catalogue& catalogue) {
  std::vector<std::pair<std::size_t, std::string>> candidates;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (auto key = key_with_batch_one(samples[i].key)) candidates.emplace_back(i, *std::move(key));
  }
  if (candidates.empty()) return {};
  std::vector<bool> suspect(samples.size(), false);
  for (const SuspectRow& row : check_rows(checked(samples), catalogue).suspects)
    suspect[row.row] = true;
  std::unordered_map<std::string_view, bool> own;
  for (const Sample& sample : samples) own.emplace(sample.key, true);
  std::erase_if(candidates, [&](const auto& candidate) {
    return suspect[candidate.first] || own.contains(candidate.second);
  });
  // Where rows of known batch are many, others add the noise of another campaign and little else.
  std::unordered_map<std::string_view, std::ptrdiff_t> surplus;
  for (const auto& [i, key] : candidates) ++surplus[operator_of_text(key)];
  for (const Sample& sample : samples) {
    if (const auto at = surplus.find(operator_of_text(sample.key));
        at != surplus.end() && !batch_unknown(sample.key))
      --at->second;
  }
  std::vector<Sample> out;
  for (auto& [i, key] : candidates) {
    if (surplus.at(operator_of_text(key)) <= 0) continue;
    out.push_back(samples[i]);
    out.back().key = std::move(key);
  }
  return out;
}

TrainingSet training_set(std::span<const Sample> rows, bool exclude_suspects,
                         const ir::Catalogue& catalogue) {
  TrainingSet out;
  std::vector<bool> suspect(rows.size(), false);
  if (exclude_suspects) {
    for (const SuspectRow& row : check_rows(checked(rows), catalogue).suspects)
      suspect[row.row] = true;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!suspect[i]) out.samples.push_back(rows[i]);
  }
  out.excluded = rows.size() - out.samples.size();
  for (Sample& stand_in : stand_ins(out.samples, catalogue)) {
    out.samples.push_back(std::move(stand_in));
    ++out.stand_ins;
  }
  return out;
}

}  // namespace oplat::estimate
