// SPDX-License-Identifier: Apache-2.0
/// The one list of foreign systems. Explicit: no static initialisers.
#include "compat/registry.hpp"

#include <array>
#include <string>
#include <vector>

#include "compat/mmt/codec.hpp"
#include "compat/mobile_vision/codec.hpp"
#include "compat/mobile_vision/domain.hpp"
#include "compat/mobile_vision/families.hpp"
#include "compat/paddleslim/codecs.hpp"
#include "compat/paddleslim/domains.hpp"
#include "compat/paddleslim/rules.hpp"
#include "compat/tinynas/codec.hpp"
#include "compat/tinynas/domain.hpp"
#include "plan/onnxruntime/optimise.hpp"

namespace oplat::compat {

std::span<const std::string_view> systems() {
  static constexpr std::string_view kSystems[] = {"tinynas", "mobile_vision", "paddleslim", "mmt"};
  return kSystems;
}

table::CodecList codecs() {
  static const table::TableCodec* const all[] = {
      &mobile_vision::lut_codec(),    &mmt::codec(),
      &paddleslim::evaluator_codec(), &paddleslim::profile_codec(),
      &paddleslim::lookup_codec(),    &paddleslim::pickle_codec(),
      &tinynas::library_codec()};
  return all;
}

Result<const table::TableCodec*> find_codec(std::string_view name) {
  return table::find_codec(codecs(), name);
}

std::span<const ir::KeyDomain* const> key_domains() {
  static const std::array<const ir::KeyDomain*, 5> domains = {
      &tinynas::conv_domain(), &mobile_vision::caffe2_domain(), &paddleslim::lite_domain(),
      &paddleslim::runtime_domain(), &paddleslim::onednn_domain()};
  return domains;
}

const ir::Catalogue& catalogue() {
  static const ir::Catalogue catalogue(key_domains());
  return catalogue;
}

std::span<const plan::RuleSet> rule_sets() {
  struct BuiltIn {
    const char* file;
    std::string_view (*text)();
  };
  static constexpr std::array kBuiltIn = {BuiltIn{"paddle-lite.yaml", paddleslim::lite_rules},
                                          BuiltIn{"onnxruntime.yaml", plan::ort::rules_text}};
  static const std::vector<plan::RuleSet> sets = [] {
    std::vector<plan::RuleSet> all;
    for (const BuiltIn& one : kBuiltIn) {
      auto read = plan::read_rules(base::Source::from_bytes(one.file, std::string(one.text())));
      // The texts are compiled in, and tests read each of them: one that fails offers no rules.
      if (read) all.insert(all.end(), read->begin(), read->end());
    }
    return all;
  }();
  return sets;
}

std::span<const search::Family* const> block_families() {
  static const std::array<const search::Family*, 2> families = {&mobile_vision::int8_family(),
                                                                &mobile_vision::fp32_family()};
  return families;
}

}  // namespace oplat::compat
