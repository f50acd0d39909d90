// SPDX-License-Identifier: Apache-2.0
/// Fact by fact.
#include "measure/device_facts.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "base/units.hpp"

namespace oplat::measure {
namespace {

constexpr std::size_t kWholeIsa = 400;

class Collector {
 public:
  void text(const char* fact, const std::string& recorded, const std::string& here) {
    if (recorded.empty() || here.empty() || recorded == here) return;
    found.push_back(
        {fact, base::printable(recorded, kWholeIsa), base::printable(here, kWholeIsa), true});
  }
  void bytes(const char* fact, std::int64_t recorded, std::int64_t here, double tolerance,
             bool decides) {
    if (recorded <= 0 || here <= 0) return;
    const auto a = static_cast<double>(recorded), b = static_cast<double>(here);
    if (std::abs(a - b) <= tolerance * std::max(a, b)) return;
    found.push_back({fact, base::bytes_text(a), base::bytes_text(b), decides});
  }
  void number(const char* fact, std::int64_t recorded, std::int64_t here) {
    if (recorded <= 0 || here <= 0 || recorded == here) return;
    found.push_back({fact, std::to_string(recorded), std::to_string(here), false});
  }
  std::vector<FactDifference> found;
};

}  // namespace

std::vector<FactDifference> differing_facts(const table::Device& recorded,
                                            const table::Device& here) {
  Collector facts;
  facts.text("cpu", recorded.cpu, here.cpu);
  facts.text("architecture", recorded.architecture, here.architecture);
  facts.text("isa", recorded.isa, here.isa);
  facts.bytes("l1d", recorded.l1d_bytes, here.l1d_bytes, 0, true);
  facts.bytes("l2", recorded.l2_bytes, here.l2_bytes, 0, true);
  facts.bytes("llc", recorded.llc_bytes, here.llc_bytes, 0, true);
  facts.number("cores", recorded.cores, here.cores);
  facts.bytes("memory", recorded.memory_bytes, here.memory_bytes, kMemoryTolerance, false);
  return std::move(facts.found);
}

}  // namespace oplat::measure
