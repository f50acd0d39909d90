// SPDX-License-Identifier: Apache-2.0
/// The list of foreign systems: every format is found by its name, and told from the others by how
/// its files begin.
#include "compat/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace oplat::compat {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Registry, FormatsAreListedByNameAndFoundByIt) {
  const std::vector<std::string> names = table::codec_names(codecs());
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  for (const std::string& name : names) {
    const auto found = find_codec(name);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ((*found)->name(), name);
    EXPECT_FALSE((*found)->description().empty());
  }
}

TEST(Registry, AnUnknownFormatIsAnsweredWithTheKnownOnes) {
  const auto found = find_codec("spreadsheet");
  ASSERT_FALSE(found);
  EXPECT_EQ(static_cast<int>(found.error().code), static_cast<int>(Code::Usage));
  for (const std::string& name : table::codec_names(codecs()))
    EXPECT_THAT(found.error().message, HasSubstr(name));
}

/// The formats that a file of these bytes looks like.
std::vector<std::string> likely(std::string_view bytes) {
  std::vector<std::string> names;
  for (const table::TableCodec* codec : codecs())
    if (codec->looks_like(bytes)) names.emplace_back(codec->name());
  return names;
}

TEST(Registry, AFileLooksLikeOneFormat) {
  EXPECT_THAT(likely("{Regular,1,16,5,5,8,1,1,0} 0.011776\n"), ElementsAre("tinynas"));
  EXPECT_THAT(likely("{\"op_type\": \"Int8Relu\", \"runtime_us_p50\": 4}\n"), ElementsAre("lut"));
  EXPECT_THAT(likely("\x80\x03}q"), ElementsAre("paddleslim"));
  EXPECT_THAT(likely("lite\tphone\t2022\nrelu,1,1,8,8\t0.5\n"), ElementsAre("paddle-evaluator"));
  EXPECT_THAT(likely("dev_info armv7/v8 thread_num power_mode\n"), ElementsAre("paddle-lookup"));
  EXPECT_THAT(likely("I 1 2\n===== Detailed Dispatch Profiler Summary: N/A\n"),
              ElementsAre("paddle-lite-profile"));
  EXPECT_THAT(likely(""), ElementsAre());
  EXPECT_THAT(likely("SQLite format 3"), ElementsAre());
  EXPECT_EQ(table::likely_codec(codecs(), "no table at all"), nullptr);
}

}  // namespace
}  // namespace oplat::compat
