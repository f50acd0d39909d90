// SPDX-License-Identifier: Apache-2.0
/// Times and sizes for people, and durations that people type.
#include "base/units.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace oplat::base {
namespace {

TEST(DurationText, ShowsThreeDigitsInTheUnitThatFits) {
  EXPECT_EQ(duration_text(0), "0.00 ns");
  EXPECT_EQ(duration_text(0.5), "0.50 ns");
  EXPECT_EQ(duration_text(9.99), "9.99 ns");
  EXPECT_EQ(duration_text(812), "812 ns");
  EXPECT_EQ(duration_text(12'345), "12.3 us");
  EXPECT_EQ(duration_text(4'560'000), "4.56 ms");
  EXPECT_EQ(duration_text(1.234e9), "1.23 s");
  EXPECT_EQ(duration_text(4.2e12), "4200 s");
  EXPECT_EQ(duration_text(1e308), "1.00e+299 s");
  EXPECT_EQ(duration_text(-1500), "-1.50 us");
}

TEST(DurationText, RoundingNeverShowsFourDigits) {
  EXPECT_EQ(duration_text(9.996), "10.0 ns");
  EXPECT_EQ(duration_text(99.96), "100 ns");
  EXPECT_EQ(duration_text(999.4), "999 ns");
  EXPECT_EQ(duration_text(999.6), "1.00 us");
  EXPECT_EQ(duration_text(999'600), "1.00 ms");
  EXPECT_EQ(duration_text(999'600'000), "1.00 s");
}

TEST(BytesText, CountsIn1024) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(512), "512 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(1024), "1.00 KiB");
  EXPECT_EQ(bytes_text(12'595), "12.3 KiB");
  EXPECT_EQ(bytes_text(4.56 * 1024 * 1024), "4.56 MiB");
  EXPECT_EQ(bytes_text(3.0 * 1024 * 1024 * 1024), "3.00 GiB");
  EXPECT_EQ(bytes_text(2.5e15), "2274 TiB");
}

TEST(ClockText, RoundsDown) {
  EXPECT_EQ(clock_text(0), "0:00");
  EXPECT_EQ(clock_text(59.99), "0:59");
  EXPECT_EQ(clock_text(245), "4:05");
  EXPECT_EQ(clock_text(3723), "1:02:03");
  EXPECT_EQ(clock_text(360'000), "100:00:00");
  EXPECT_EQ(clock_text(-3), "0:00");
}

TEST(ParseDuration, KnowsEveryUnit) {
  EXPECT_EQ(parse_duration_ns("800ns"), 800.0);
  EXPECT_EQ(parse_duration_ns("250us"), 250e3);
  EXPECT_EQ(parse_duration_ns("10ms"), 10e6);
  EXPECT_EQ(parse_duration_ns("90s"), 90e9);
  EXPECT_EQ(parse_duration_ns("30m"), 1800e9);
  EXPECT_EQ(parse_duration_ns("1.5h"), 5400e9);
}

TEST(ParseDuration, RefusesTheRestAndNamesTheUnits) {
  for (const char* text : {"", "10", "ms", "-5ms", "0s", "0.0ms", "10 ms", "ten ms", "1.2.3s",
                           "5min", "10MS", "1e3ms", "10ms "}) {
    const auto result = parse_duration_ns(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, Code::Usage);
    EXPECT_NE(result.error().message.find("10ms, 90s, 30m"), std::string::npos)
        << result.error().message;
  }
  EXPECT_FALSE(parse_duration_ns(std::string(400, '9') + "h"));
}

TEST(MoreTime, IsRoundedAsAForecastMayBe) {
  EXPECT_EQ(more_time_text(0.2), "about 1 more second");
  EXPECT_EQ(more_time_text(11.2), "about 12 more seconds");
  EXPECT_EQ(more_time_text(44), "about 40 more seconds");
  EXPECT_EQ(more_time_text(232), "about 4 more minutes");
  EXPECT_EQ(more_time_text(6000), "about 1.7 more hours");
}

}  // namespace
}  // namespace oplat::base
