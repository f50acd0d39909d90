// SPDX-License-Identifier: Apache-2.0
/// Lists of convolutions, samples of a space, device logs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "compat/tinynas/op_profiler.hpp"

namespace oplat::compat::tinynas {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

base::Source text(const std::string& bytes) { return base::Source::from_bytes("file", bytes); }

TEST(ConvList, ThreeFormsSayTheSame) {
  const auto list = read_conv_list(
      text("# samples\n{Regular,1,16,5,5,8,3,2,1} 0.5\r\nRegular 1 16 5 5 8 3 2 1 0\n\n"
           "Regular\t2\t1\t3\t1\t16\t5\t8\nRegular 2 1 3 1 16 5 8 0.5\n('Regular', 2, 1, 3, 1, 16, "
           "5, 8) 0"));
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->size(), 5U);
  for (const ListedConv& one : *list)
    EXPECT_EQ(library_key_text(one.conv), "{Regular,1,16,5,5,8,3,2,1}");
  EXPECT_EQ((*list)[0].ms, 0.5);
  EXPECT_EQ((*list)[3].ms, 0.5);
  for (const std::size_t i : {1U, 2U, 4U}) EXPECT_FALSE((*list)[i].ms);
  EXPECT_EQ((*list)[4].line, 7U);
}

TEST(ConvList, GroupsAndFailedProfiles) {
  const auto list =
      read_conv_list(text("Regular 1 0 3 1 16 5 8 group=4 0.25\nRegular 1 0 3 1 16 5 8 0.25 "
                          "group=4\n{Depthwise,1,8,5,5,8,3,1,0} -1\n"));
  ASSERT_TRUE(list) << list.error().message;
  for (const std::size_t i : {0U, 1U}) {
    EXPECT_EQ((*list)[i].conv.group, 4);
    EXPECT_EQ((*list)[i].ms, 0.25);
  }
  EXPECT_EQ((*list)[2].ms, -1);
}

TEST(ConvList, BadLinesAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"{Regular,1,16,5,5,8,3,2,1 0.5", "file:1: no '}'"},
      {"\n{Regular,1,16,5,5,8,3,2} 0.5", "file:2: 8 fields between braces"},
      {"{Regular,1,16,5,5,8,3,2,1}", "0 words after"},
      {"{Regular,1,16,5,5,8,3,2,1} 1 2", "2 words after"},
      {"{Grouped,1,16,5,5,8,3,2,1} 1", "Conv_type is 'Grouped'"},
      {"{Regular,0,16,5,5,8,3,2,1} 1", "Batch is '0'"},
      {"{Regular,1,-16,5,5,8,3,2,1} 1", "In_C is '-16'"},
      {"{Regular,1,16,5,5,8,3,2,2} 1", "ElmtFused is '2'"},
      {"{Regular,1,16,5,5,8,3,2,1} nan", "the time is 'nan'"},
      {"{Regular,1,16,5,5,8,3,2,1} inf", "the time is 'inf'"},
      {"{Regular,1,16,5,5,8,3,2,1} -2", "the time is '-2'"},
      {"Regular 1 0 1 1 16 5", "7 fields in 'Regular 1 0 1 1 16 5'; expected '{Conv_type,Batch"},
      {"(", "0 fields in '('"},
      {"Regular 1 0 x 1 16 5 8", "Kernel is 'x'"},
      {"Regular 1 0 3 32 64 56 64 0.3 0.4",
       "10 fields in 'Regular 1 0 3 32 64 56 64 0.3 0.4'; expected"},
      {"Regular 1 0 3 32 64 56 64 0.3 0.4 group=4", "11 fields in"},
      {"Regular 1 16 5 5 0 1 1 0 0",
       "Out_C is '0'; expected an integer from 1 to 1000000; ten fields are 'Conv_type Batch"},
      // A tuple with a word too many has numbers where a sample has them, in columns of another
      // order.
      {"Regular 1 1 3 32 64 56 64 0 2.5",
       "10 fields in 'Regular 1 1 3 32 64 56 64 0 2.5'; expected"},
      {"Regular 1 1 3 32 64 56 64 0 2.5",
       "'Conv_type Batch In_C In_H In_W Out_C Kernel Stride ElmtFused 0', or 'Conv_type Stride"},
      {"Regular 1 16 5 5 8 1 1 0 0.0", "10 fields in"},
      {"Regular 1 1 3 32 64 56 64 0 0",
       "In_H is 3, but In_W is 32; a sample has one size for both; ten fields are"},
      {"Regular 1 1 3 32 64 56 64 0 0",
       "eight or nine 'Conv_type Stride ElmtFused Kernel Batch In_C In_H Out_C [ms]"},
      {"Regular 1 0 1 1 16 5 8 group=3", "group=3 does not divide 16"}};
  for (const auto& [line, why] : cases) {
    const auto list = read_conv_list(text(line));
    ASSERT_FALSE(list) << line;
    EXPECT_THAT(list.error().message, HasSubstr(why));
  }
}

TEST(ConvList, ATimeBesideATupleMayBe0) {
  const auto list =
      read_conv_list(text("Regular 1 1 3 32 64 56 64 0\nRegular 1 1 3 32 64 56 64 2.5\n"));
  ASSERT_TRUE(list) << list.error().message;
  for (const ListedConv& one : *list)
    EXPECT_EQ(library_key_text(one.conv), "{Regular,32,64,56,56,64,3,1,1}");
  EXPECT_FALSE((*list)[0].ms);
  EXPECT_EQ((*list)[1].ms, 2.5);
}

TEST(ConvList, AByteOrderMarkIsPassedOver) {
  const auto list =
      read_conv_list(text("\xEF\xBB\xBF{Regular,1,16,5,5,8,3,2,1} 0.5\nRegular 2 1 3 1 16 5\n"));
  ASSERT_FALSE(list);
  EXPECT_THAT(list.error().message, HasSubstr("file:2: 7 fields"));
  const auto commented = read_conv_list(text("\xEF\xBB\xBF# a comment\nRegular 2 1 3 1 16 5 8"));
  ASSERT_TRUE(commented) << commented.error().message;
  EXPECT_EQ(commented->size(), 1U);
}

std::string config(const std::string& ratio = "1 0.5", const std::string& sizes = "7 56 4") {
  const auto parts = base::split(sizes, ' ');
  return fmt::format(
      "batch 1\nelmt_fused 0 1\nfilter_size 1 3\nmin_feature_size {}\nmax_feature_size "
      "{}\nnumber_feature_size {}\n"
      "output_channel 32 64\nstride 1 2\ntype 0\nchannel_ratio {}\n",
      parts[0], parts[1], parts[2], ratio);
}

TEST(Sampling, GridIsEvenBetweenItsEnds) {
  const auto grid = [](const std::string& sizes) {
    return size_grid(*read_sampling_space(text(config("1", sizes))));
  };
  EXPECT_THAT(grid("7 56 4"), ElementsAre(7, 14, 28, 56));
  // The original's shipped space.
  EXPECT_THAT(grid("7 256 16"),
              ElementsAre(7, 8, 12, 14, 18, 24, 30, 38, 48, 60, 78, 98, 124, 158, 202, 256));
  EXPECT_THAT(grid("5 320 27"), ::testing::Contains(6).Times(2));  // duplicates stay
  EXPECT_THAT(grid("8 8 1"), ElementsAre(8, 8));
}

TEST(Sampling, OrderAndRules) {
  const auto space = read_sampling_space(text(config("1 0.5", "7 8 2")));
  ASSERT_TRUE(space) << space.error().message;
  const auto samples = sample(*space, {});
  ASSERT_TRUE(samples);
  // Per fused and kernel: size 8 before 7, 64 before 32; of 64: 64 and 32, of 32: only 32; stride 2
  // needs an even size.
  std::vector<std::string> of_one;
  for (std::size_t i = 0; i < 9 && i < samples->size(); ++i)
    of_one.push_back(sample_text((*samples)[i]));
  EXPECT_THAT(of_one, ElementsAre("Regular 1 64 8 8 64 3 1 1 0", "Regular 1 32 8 8 64 3 1 1 0",
                                  "Regular 1 64 8 8 64 3 2 1 0", "Regular 1 32 8 8 64 3 2 1 0",
                                  "Regular 1 32 8 8 32 3 1 1 0", "Regular 1 32 8 8 32 3 2 1 0",
                                  "Regular 1 64 7 7 64 3 1 1 0", "Regular 1 32 7 7 64 3 1 1 0",
                                  "Regular 1 32 7 7 32 3 1 1 0"));
  EXPECT_EQ(samples->size(), 36U);
  const auto all = sample(*space, {1});
  ASSERT_TRUE(all);
  // Size 8: 2 strides x (3, 64, 32 of 64; 3, 32, 16 of 32) = 12; size 7: 6; times fused and
  // kernels.
  EXPECT_EQ(all->size(), 72U);
  EXPECT_EQ(sample_text(all->front()), "Regular 1 3 8 8 64 3 1 1 0");
}

TEST(Sampling, AByteOrderMarkIsPassedOver) {
  const auto space = read_sampling_space(text("\xEF\xBB\xBF" + config()));
  ASSERT_TRUE(space) << space.error().message;
  EXPECT_THAT(space->batch, ElementsAre(1));
}

TEST(Sampling, BadSpacesAreNamed) {
  const auto refused = [](const std::string& bytes) {
    const auto space = read_sampling_space(text(bytes));
    EXPECT_FALSE(space);
    return space ? std::string() : space.error().message;
  };
  EXPECT_THAT(refused("batch 1\nstrides 1\n"),
              HasSubstr("file:2: unknown key 'strides' (do you mean stride?)"));
  EXPECT_THAT(refused("batch 1\n"), HasSubstr("lacks elmt_fused, filter_size"));
  EXPECT_THAT(refused("batch\n"), HasSubstr("file:1: 'batch' has no value"));
  EXPECT_THAT(refused(config() + "batch 2\n"), HasSubstr("file:11: 'batch' is given twice"));
  EXPECT_THAT(refused(config("x")), HasSubstr("file:10: channel_ratio is 'x'"));
  EXPECT_THAT(refused(config("-1")), HasSubstr("channel_ratio is '-1'"));
  EXPECT_THAT(refused(config("nan")), HasSubstr("channel_ratio is 'nan'"));
  EXPECT_THAT(refused(config("1", "0 8 2")), HasSubstr("min_feature_size is '0'"));
  EXPECT_THAT(refused(config("1", "7 8.5 2")), HasSubstr("max_feature_size is '8.5'"));
  EXPECT_THAT(refused(config("1", "9 8 2")),
              HasSubstr("min_feature_size 9 is larger than max_feature_size 8"));
  auto huge = read_sampling_space(text(config("1", "7 8 100000")));
  ASSERT_TRUE(huge);
  for (int i = 0; i < 100; ++i) huge->out_c.push_back(32);
  const auto samples = sample(*huge, {});
  ASSERT_FALSE(samples);
  EXPECT_THAT(samples.error().message, HasSubstr("combinations"));
}

TEST(DeviceLog, TimesAreFailuresWhereTheyAreMissing) {
  const CollectedLog log = collect_log(text(
      "boot\niter-1: Regular 1 3 8 8 32 3 2 0 0\nnoise\nrun time_ms: 4.5 ms\n"
      "iter-2: Regular 1 32 8 8 32 3 1 1 0\n"
      "iter-3: Depthwise 1 32 8 8 32 3 1 0 0\nrun time_ms: 0.0123456789 ms\nrun time_ms: 9 ms\n"
      "iter-4: Regular 1 32 8 8 64 3 1 1 0\nrun time_ms: nan ms\niter-5: Regular 1 32 8 8 96 3 1 1 "
      "0\n"));
  EXPECT_EQ(log.library,
            "{Regular,1,3,8,8,32,3,2,0} 4.500000\n{Regular,1,32,8,8,32,3,1,1} "
            "-1\n{Depthwise,1,32,8,8,32,3,1,0} 0.012346\n"
            "{Regular,1,32,8,8,64,3,1,1} -1\n{Regular,1,32,8,8,96,3,1,1} -1\n");
  EXPECT_EQ(log.samples, 5U);
  EXPECT_EQ(log.failed, 3U);
  EXPECT_TRUE(log.bad.empty());
  EXPECT_THAT(log.notes, ElementsAre(HasSubstr("line 5: iter-2: no time follows"),
                                     HasSubstr("line 8: a second time for iter-3"),
                                     HasSubstr("line 10: iter-4: the time is 'nan'"),
                                     HasSubstr("line 11: iter-5: no time")));
}

TEST(DeviceLog, ATimeThatSixDecimalsCannotSayHasMore) {
  const CollectedLog log =
      collect_log(text("iter-1: Regular 1 3 8 8 32 3 2 0 0\nrun time_ms: 4e-7 ms\n"
                       "iter-2: Regular 1 3 8 8 64 3 2 0 0\nrun time_ms: 6e-7 ms\n"
                       "iter-3: Regular 1 3 8 8 96 3 2 0 0\nrun time_ms: 1e-12 ms\n"));
  EXPECT_EQ(log.library,
            "{Regular,1,3,8,8,32,3,2,0} 4e-07\n{Regular,1,3,8,8,64,3,2,0} "
            "0.000001\n{Regular,1,3,8,8,96,3,2,0} -1\n");
  EXPECT_THAT(log.notes,
              ElementsAre(HasSubstr("iter-3: the time is '1e-12'; expected 1e-9 to 3.2e10 ms")));
}

TEST(DeviceLog, ASecondTryTakesThePlaceOfAFailedOne) {
  const CollectedLog log = collect_log(text(
      "iter-1: Regular 1 3 8 8 32 3 2 0 0\niter-2: Regular 1 3 8 8 64 3 2 0 0\nrun time_ms: 2 ms\n"
      "iter-1: Regular 1 3 8 8 32 3 2 0 0\nrun time_ms: 1 ms\niter-2: Regular 1 3 8 8 64 3 2 0 0\n"
      "run time_ms: 3 ms\n"));
  // The second sample had its time: both stay.
  EXPECT_EQ(log.library,
            "{Regular,1,3,8,8,32,3,2,0} 1.000000\n{Regular,1,3,8,8,64,3,2,0} "
            "2.000000\n{Regular,1,3,8,8,64,3,2,0} 3.000000\n");
  EXPECT_EQ(log.repeated, 1U);
  EXPECT_EQ(log.failed, 0U);
}

TEST(DeviceLog, BadLinesAreNamedUnlessTheyComeAgain) {
  const CollectedLog log =
      collect_log(text("run time_ms: 1 ms\niter-1: Regular 1 3\nrun time_ms: 1 ms\niter-2: Regular "
                       "1 3 8 8 x 3 2 0 0\niter-3\n"
                       "iter-1: Regular 1 3 8 8 32 3 2 0 0\nrun time_ms: 1 ms\n"));
  EXPECT_EQ(log.library, "{Regular,1,3,8,8,32,3,2,0} 1.000000\n");
  EXPECT_THAT(log.bad, ElementsAre(HasSubstr("line 4: iter-2: Out_C is 'x'"),
                                   HasSubstr("line 5: iter-3: the line ends")));
  EXPECT_THAT(log.notes, ElementsAre(HasSubstr("line 1: a time without a sample"),
                                     HasSubstr("line 3: a time without a sample"),
                                     HasSubstr("line 6: iter-1 appears here again")));
}

/// A sample, a line that is not understood, and a time: whose is it?
CollectedLog log_around(const std::string& line, const std::string& first_time) {
  return collect_log(
      text("iter-1: Regular 1 3 8 8 32 3 2 0 0\n" + first_time + line +
           "\nrun time_ms: 2 ms\niter-3: Regular 1 32 8 8 32 3 1 0 0\nrun time_ms: 3 ms\n"));
}

TEST(DeviceLog, ATimeNeverGoesToTheSampleBeforeItsOwn) {
  const std::pair<const char*, const char*> cases[] = {
      {"iter-2 Regular 1 32 8 8 64 3 1 1 0",
       "iter-2: no colon after the number: 'iter-2 Regular 1 32 8 8 64 3 1 1 0'; expected 'iter-N: "
       "Conv_type Batch"},
      {"iter-1234567890123456789: Regular 1 32 8 8 64 3 1 1 0",
       "a number of more than 18 digits: 'iter-1234567890123456789: Reg"},
      {"iter-: Regular 1 32 8 8 64 3 1 1 0", "no number after 'iter-'"},
      {" iter-x: Regular 1 32 8 8 64 3 1 1 0", "no number after 'iter-'"},
      {"iter-", "no number after 'iter-'"},
      {"console: iter-2 Regular", "iter-2: no colon"},
      {"iter-2", "iter-2: the line ends after its number"},
      {"console: iter-2", "iter-2: the line ends after its number"},
      {"iter-2: Regular 1 32 8 8 64 3 1 1",
       "iter-2: 9 fields; expected 'Conv_type Batch In_C In_H In_W Out_C Kernel Stride ElmtFused "
       "0'"},
      {"iter-2: Regular 1 32 8 8 64 3 1 1 0 0", "iter-2: 11 fields"},
      {"iter-2: Regular 1 25614 14 64 3 1 1 0", "iter-2: 9 fields"},  // 256 14 14
      {"iter-2: Regular 1 25614 14 64 3 1 1 0 0",
       "iter-2: In_H is 14, but In_W is 64; a sample has one size for both"},
      {"iter-2: Regular 1 32 8 9 64 3 1 1 0",
       "iter-2: In_H is 8, but In_W is 9; a sample has one size for both"},
      {"iter-2: Regular 1 32 8 8 64 3 1 1 0.5", "iter-2: the last field is '0.5'; expected 0"},
      {"iter-2: Regular 1 32 8 8 64 3 1 1 iter-3", "iter-2: the last field is 'iter-3'"}};
  for (const auto& [line, why] : cases) {
    const CollectedLog without = log_around(line, "");
    EXPECT_EQ(without.library,
              "{Regular,1,3,8,8,32,3,2,0} -1\n{Regular,1,32,8,8,32,3,1,0} 3.000000\n")
        << line;
    EXPECT_THAT(without.bad, ElementsAre(HasSubstr("line 2: " + std::string(why))));
    EXPECT_THAT(without.notes, ElementsAre(HasSubstr("line 1: iter-1: no time follows"),
                                           HasSubstr("line 3: a time without a sample")))
        << line;
    const CollectedLog with = log_around(line, "run time_ms: 1 ms\n");
    EXPECT_EQ(with.library,
              "{Regular,1,3,8,8,32,3,2,0} 1.000000\n{Regular,1,32,8,8,32,3,1,0} 3.000000\n")
        << line;
    EXPECT_THAT(with.bad, ElementsAre(HasSubstr("line 3: " + std::string(why))));
    EXPECT_THAT(with.notes, ElementsAre(HasSubstr("line 4: a time without a sample"))) << line;
  }
}

TEST(DeviceLog, AWordOfTheProgramEndsASampleToo) {
  const CollectedLog log = log_around("done in multi-iter-mode", "");
  EXPECT_EQ(log.library, "{Regular,1,3,8,8,32,3,2,0} -1\n{Regular,1,32,8,8,32,3,1,0} 3.000000\n");
  EXPECT_TRUE(log.bad.empty());
  EXPECT_THAT(log.notes, ElementsAre(HasSubstr("line 1: iter-1: no time follows"),
                                     HasSubstr("line 2: no number after 'iter-': 'iter-mode'; not "
                                               "a sample, but the sample before it ends here"),
                                     HasSubstr("line 3: a time without a sample")));
}

TEST(DeviceLog, ALineWithTwoSamplesNamesTheOneThatIsLost) {
  const CollectedLog log = collect_log(text(
      "iter-1 Regular 1 3 8 8 32 3 2 0 0iter-2: Regular 1 32 8 8 32 3 1 0 0\nrun time_ms: 2 ms\n"
      "a-iter-b iter-3: Regular 1 32 8 8 64 3 1 0 0\nrun time_ms: 3 ms\niter-4 iter-5: Regular "
      "1\n"));
  EXPECT_EQ(log.library,
            "{Regular,1,32,8,8,32,3,1,0} 2.000000\n{Regular,1,32,8,8,64,3,1,0} 3.000000\n");
  EXPECT_THAT(log.bad, ElementsAre(HasSubstr("line 1: iter-1: no colon"),
                                   HasSubstr("line 5: iter-4: no colon"),
                                   HasSubstr("line 5: iter-5: 2 fields")));
  EXPECT_TRUE(log.notes.empty());
}

TEST(DeviceLog, ASampleThatWasCutTwiceIsNamedTwice) {
  const CollectedLog log =
      collect_log(text("iter-1: Regular 1 3 8 8 32 3 2 0 0\nrun time_ms: 1 ms\niter-2: "
                       "Regular\niter-2 Regular\niter-1: Depth\n"));
  EXPECT_THAT(log.bad, ElementsAre(HasSubstr("line 3: iter-2"), HasSubstr("line 4: iter-2"),
                                   HasSubstr("line 5: iter-1")));
}

TEST(DeviceLog, TheReasonOfAFailureIsSaid) {
  const CollectedLog log =
      collect_log(text("iter-1: Regular 1 3 8 8 32 3 2 0 0\nfailed: time limit of 3 s\niter-2: "
                       "Regular 1 3 8 8 64 3 2 0 0\n"
                       "failed: to lock clocks\nrun time_ms: 3 ms\niter-3: Regular 1 3 8 8 96 3 2 "
                       "0 0\nrun time_ms: 4 ms\nfailed: to stop\n"));
  EXPECT_EQ(log.library,
            "{Regular,1,3,8,8,32,3,2,0} -1\n{Regular,1,3,8,8,64,3,2,0} "
            "3.000000\n{Regular,1,3,8,8,96,3,2,0} 4.000000\n");
  EXPECT_THAT(log.notes,
              ElementsAre("line 1: iter-1: time limit of 3 s; the sample counts as failed"));
}

TEST(DeviceLog, MillionsOfBadLinesAreCountedAndFewAreKept) {
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += i % 2 == 0 ? "iter-\n" : fmt::format("iter-{}\n", i);
  bytes += "iter-7: " + std::string(2000, '1') + "\n";
  const CollectedLog log = collect_log(text(bytes));
  ASSERT_EQ(log.bad.size(), 21U);
  EXPECT_THAT(log.bad.front(), HasSubstr("line 1: no number after 'iter-'"));
  EXPECT_EQ(log.bad.back(), "and 4981 more");
}

TEST(DeviceLog, AByteOrderMarkIsPassedOver) {
  const CollectedLog log = collect_log(
      text("\xEF\xBB\xBF"
           "failed: no sample yet\niter-2: Regular 1 3 8 8 64 3 2 0 0\nrun time_ms: 3 ms\n"));
  EXPECT_EQ(log.library, "{Regular,1,3,8,8,64,3,2,0} 3.000000\n");
  EXPECT_TRUE(log.notes.empty());
}

TEST(DeviceLog, NotesAreCounted) {
  std::string bytes;
  for (int i = 1; i <= 30; ++i) bytes += fmt::format("iter-{}: Regular 1 3 8 8 32 3 2 0 0\n", i);
  const CollectedLog log = collect_log(text(bytes));
  EXPECT_EQ(log.failed, 30U);
  ASSERT_EQ(log.notes.size(), 21U);
  EXPECT_EQ(log.notes.back(), "and 10 more");
}

TEST(Bench, PrecisionsAndLines) {
  EXPECT_EQ(trtexec_flags("fp16"), "--fp16");
  EXPECT_EQ(trtexec_flags("INT8"), "--int8");
  EXPECT_EQ(trtexec_flags("FP32"), "--noTF32");
  EXPECT_FALSE(trtexec_flags("INT4"));
  EXPECT_THAT(bench_script("--fp16", "l.fp16"), HasSubstr("precision_flags=\"--fp16\"\n"));
  EXPECT_THAT(bench_script("--fp16", "l.fp16"), HasSubstr("collect $quoted --out l.fp16\""));
}

}  // namespace
}  // namespace oplat::compat::tinynas
