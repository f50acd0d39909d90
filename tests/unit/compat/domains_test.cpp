// SPDX-License-Identifier: Apache-2.0
/// The key domains, rule sets and families of foreign systems.
#include "compat/registry.hpp"

#include <gmock/gmock.h>

#include <set>

namespace oplat::compat {
namespace {

using ::testing::ElementsAre;

TEST(Domains, DomainsHaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (const ir::KeyDomain* domain : key_domains()) {
    EXPECT_TRUE(names.insert(domain->name()).second) << domain->name();
    EXPECT_EQ(catalogue().domain(domain->name()), domain);
  }
  EXPECT_THAT(names, ElementsAre("caffe2", "paddle", "paddle.onednn", "paddle_lite", "tinynas"));
}

/// An entry under another domain's name would be found, but not by who looks for the system.
TEST(Domains, OperatorsAreOfTheirDomain) {
  for (const ir::KeyDomain* domain : key_domains()) {
    EXPECT_FALSE(domain->operators().empty()) << domain->name();
    for (const ir::OperatorInfo& info : domain->operators())
      EXPECT_EQ(info.domain, domain->name()) << info.op;
  }
}

TEST(Domains, RuleSetsMakeKeysOfAKnownDomain) {
  EXPECT_FALSE(rule_sets().empty());
  for (const plan::RuleSet& set : rule_sets()) {
    // ONNX's own operators are of no further domain.
    if (set.makes == "onnx") continue;
    EXPECT_NE(catalogue().domain(set.makes), nullptr) << set.name;
  }
}

}  // namespace
}  // namespace oplat::compat
