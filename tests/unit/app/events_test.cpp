// SPDX-License-Identifier: Apache-2.0
#include "app/events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace oplat::app {
namespace {

TEST(Events, AreSilentAndNeverCancelUnlessOverridden) {
  Events events;
  events.progress({.done = 1, .total = 2, .eta_s = 3.0, .what = "measuring"});
  events.warn("a warning");
  EXPECT_FALSE(events.cancelled());
}

TEST(Events, CollectedOnesKeepWarningsInOrder) {
  CollectedEvents events;
  events.warn("first");
  events.warn("second");
  EXPECT_THAT(events.warnings, ::testing::ElementsAre("first", "second"));
}

}  // namespace
}  // namespace oplat::app
