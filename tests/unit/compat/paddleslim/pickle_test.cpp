// SPDX-License-Identifier: Apache-2.0
/// PaddleSlim's pickled tables: what of a pickle is read, what is refused and why, and that nothing
/// is lost on the way.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "compat/paddleslim/codecs.hpp"
#include "compat/paddleslim/key.hpp"
#include "compat/paddleslim/pickle.hpp"

namespace oplat::compat::paddleslim {
namespace {

using std::string_literals::operator""s;

constexpr char kRelu[] = "relu in=(1, 8) out=(1, 8)";

std::string pickle_error_of(const std::string& bytes) {
  const auto read = read_pickled_dict(bytes);
  if (read) return "(no error)";
  EXPECT_EQ(static_cast<int>(read.error().code), static_cast<int>(Code::Input));
  return read.error().message;
}

/// A pickle of protocol 3 that sets what `items` push.
std::string dict_of(const std::string& items) { return "\x80\x03}("s + items + "u."; }

std::string text_of(const std::string& key) {
  return "X"s + static_cast<char>(key.size()) + "\0\0\0"s + key;
}

const table::TableCodec& codec() { return pickle_codec(); }

TEST(Pickle, EveryProtocolOfPythonIsRead) {
  // What pickle.dumps() makes of {relu: 0.25, 'cast': 3, 'range': -70000, 'shape': True}, protocols
  // 0, 1, 3 and 5.
  const std::string pickles[] = {
      "(dp0\nVrelu in=(1, 8) out=(1, "
      "8)\np1\nF0.25\nsVcast\np2\nI3\nsVrange\np3\nI-70000\nsVshape\np4\nI01\ns.",
      "}q\0(X\x19\0\0\0relu in=(1, 8) out=(1, 8)q\1G?\xd0\0\0\0\0\0\0X\4\0\0\0castq\2K\3X\5\0\0\0rangeq\3J\x90\xee\xfe\xffX\5\0\0\0shapeq\4I01\nu."s,
      "\x80\3}q\0(X\x19\0\0\0relu in=(1, 8) out=(1, 8)q\1G?\xd0\0\0\0\0\0\0X\4\0\0\0castq\2K\3X\5\0\0\0rangeq\3J\x90\xee\xfe\xffX\5\0\0\0shapeq\4\x88u."s,
      "\x80\5\x95I\0\0\0\0\0\0\0}\x94(\x8c\x19relu in=(1, 8) out=(1, 8)\x94G?\xd0\0\0\0\0\0\0\x8c\4cast\x94K\3\x8c\5range\x94J\x90\xee\xfe\xff\x8c\5shape\x94\x88u."s,
  };
  for (const std::string& bytes : pickles) {
    const auto read = read_pickled_dict(bytes);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    ASSERT_EQ(read->size(), 4U);
    EXPECT_EQ((*read)[0].key, kRelu);
    EXPECT_EQ(std::get<double>((*read)[0].value), 0.25);
    EXPECT_EQ((*read)[1].key, "cast");
    EXPECT_EQ(std::get<double>((*read)[1].value), 3);
    EXPECT_EQ(std::get<double>((*read)[2].value), -70000);
    EXPECT_EQ(std::get<PickleWord>((*read)[3].value), PickleWord::True);
  }
}

TEST(Pickle, RarerInstructionsAreRead) {
  const auto values = [](const std::string& items) {
    std::vector<double> all;
    const auto read = read_pickled_dict(dict_of(items));
    EXPECT_TRUE(read.has_value()) << read.error().message;
    for (const PickleEntry& entry : read.value_or(std::vector<PickleEntry>()))
      all.push_back(std::get<double>(entry.value));
    return all;
  };
  EXPECT_EQ(values("U\1aM\1\2"s), std::vector<double>{513});
  EXPECT_EQ(values("T\1\0\0\0aL-12L\n"s), std::vector<double>{-12});
  EXPECT_EQ(values("\x8d\1\0\0\0\0\0\0\0a\x8a\2\0\xff"s), std::vector<double>{-256});
  EXPECT_EQ(values("S'a'\n\x8b\1\0\0\0\5"s), std::vector<double>{5});
  EXPECT_EQ(values("S\"b'\"\n\x8a\0"s), std::vector<double>{0});
  // A number remembered and taken twice, as equal objects are pickled.
  EXPECT_EQ(values("Va\nF1.5\nr\1\1\0\0Vb\nj\1\1\0\0Vc\ng257\n"s),
            (std::vector<double>{1.5, 1.5, 1.5}));
  EXPECT_EQ(values(""), std::vector<double>{});
  // A dict made of what lies above a mark.
  EXPECT_EQ(read_pickled_dict("(Va\nF1.5\nVb\nF2\nd.").value().size(), 2U);
}

TEST(Pickle, WhatCouldRunCodeIsRefusedByName) {
  const std::pair<std::string, std::string> cases[] = {{"cposix\nsystem\n", "GLOBAL"},
                                                       {"\x93", "STACK_GLOBAL"},
                                                       {"R", "REDUCE"},
                                                       {"b", "BUILD"},
                                                       {"iposix\nsystem\n", "INST"},
                                                       {"o", "OBJ"},
                                                       {"\x81", "NEWOBJ"},
                                                       {"\x92", "NEWOBJ_EX"},
                                                       {"Pname\n", "PERSID"},
                                                       {"Q", "BINPERSID"},
                                                       {"\x82\1"s, "EXT1"},
                                                       {"\x83\1\0"s, "EXT2"},
                                                       {"\x84\1\0\0\0"s, "EXT4"}};
  for (const auto& [code, name] : cases) {
    EXPECT_NE(pickle_error_of(dict_of(code)).find("byte 4: " + name + " could run code"),
              std::string::npos)
        << pickle_error_of(dict_of(code));
  }
}

TEST(Pickle, OtherObjectsAreRefusedByName) {
  const std::pair<std::string, std::string> cases[] = {
      {"]", "EMPTY_LIST"},   {"l", "LIST"},           {"a", "APPEND"},
      {")", "EMPTY_TUPLE"},  {"\x85", "TUPLE1"},      {"C\1a", "SHORT_BINBYTES"},
      {"\x8f", "EMPTY_SET"}, {"\x97", "NEXT_BUFFER"}, {"2", "DUP"},
      {"0", "POP"}};
  for (const auto& [code, name] : cases) {
    EXPECT_EQ(pickle_error_of(dict_of(code)),
              "byte 4: " + name + "; expected a dict of str to float");
  }
  EXPECT_EQ(pickle_error_of(dict_of("!")), "byte 4: 0x21 is not an instruction of a pickle");
}

TEST(Pickle, MalformedOnesNameThePlace) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "is empty"},
      {"\x80\x03}", "byte 3: the file ends without STOP"},
      {"\x80\x06}.", "protocol 6; expected 0 to 5"},
      {"\x80\x03N.", "the pickle is None; expected a dict"},
      {".", "the pickle is nothing; expected a dict"},
      {"}.x", "1 bytes follow the end"},
      {"\x95\xff\0\0\0\0\0\0\0}."s, "a frame has 255 bytes, but only 2 are left"},
      {dict_of("X\0\0\0\x40"s), "bytes are announced"},
      {dict_of("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"s),
       "18446744073709551615 bytes are announced"},
      {dict_of("X\1"), "bytes are announced, but only"},
      {dict_of("V" + std::string(70'000, 'a') + "\n"), "a line has more than 65536 bytes"},
      {dict_of("X\x70\x11\1\0"s + std::string(70'000, 'a')),
       "a string of 70000 bytes; the limit for a key is 65536"},
      {dict_of("\x8b\xff\xff\xff\x7f"s), "an integer of 2147483647 bytes"},
      {dict_of("Va\nIx\n"), "'x' is not a number"},
      {dict_of("Va\nI1.5\n"), "'1.5' is not a number"},
      {dict_of("V\\u0041\nK\1"), "holds an escape"},
      {dict_of("Sabc\nK\1"), "in quotes"},
      {dict_of(text_of("caf\xc3\xa9") + "K\1"), "holds byte 0xc3; expected printable ASCII"},
      {dict_of(text_of("a\tb") + "K\1"), "holds byte 0x09"},
      {dict_of("K\1K\2"), "a key is a number; expected a string"},
      {dict_of("NK\2"), "a key is None; expected a string"},
      {dict_of("Va\nVb\n"), "the value of 'a' is a string; expected a number"},
      {dict_of("Va\n"), "a key without a value"},
      {dict_of("}"), "a second dict"},
      // A dict that holds itself.
      {"}p0\n(Va\ng0\nu.", "the value of 'a' is a dict; expected a number"},
      {"}p0\n(g0\nK\1u.", "a key is a dict; expected a string"},
      {dict_of("h\7"), "no value was stored as 7"},
      {dict_of("gx\n"), "not a valid memo index"},
      {"p0\n.", "the stack is empty"},
      {"(q\0}."s, "the stack is empty"},
      {"(u.", "SETITEMS finds no dict"},
      {"u.", "no MARK before it"},
      {"s.", "SETITEM finds 0 objects"},
      {"NVa\nK\1s.", "an entry is set in None; expected a dict"},
      {"}(.", "the pickle is a mark; expected a dict"},
  };
  for (const auto& [bytes, expected] : cases) {
    EXPECT_NE(pickle_error_of(bytes).find(expected), std::string::npos)
        << pickle_error_of(bytes) << "\nexpected: " << expected;
  }
}

TEST(Pickle, CountsAreBounded) {
  std::string marks = "}";
  marks.append(2'100'000, '(');
  EXPECT_NE(pickle_error_of(marks).find("more than 2001000 objects"), std::string::npos)
      << pickle_error_of(marks).substr(0, 200);
  // One long text, taken for every key.
  std::string again = "}(V" + std::string(60'000, 'a') + "\nq" + '\0';
  for (int i = 0; i < 10'000; ++i) again += "K\1h"s + '\0';
  again += "K\1u.";
  EXPECT_NE(pickle_error_of(again).find("keys have more bytes than the file"), std::string::npos)
      << pickle_error_of(again).substr(0, 200);
}

TEST(Pickle, EntriesAreWrittenInBatches) {
  std::vector<PickleEntry> entries;
  for (int i = 0; i < 2001; ++i) entries.push_back({"relu " + std::to_string(i), i * 0.1, 0});
  entries.push_back({"none", PickleWord::None, 0});
  const auto back = read_pickled_dict(write_pickled_dict(entries));
  ASSERT_TRUE(back.has_value()) << back.error().message;
  ASSERT_EQ(back->size(), entries.size());
  for (std::size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ((*back)[i].key, entries[i].key);
    EXPECT_EQ((*back)[i].value, entries[i].value);
  }
  EXPECT_EQ(write_pickled_dict({}), "\x80\x03}.");
}

TEST(Paddleslim, TheNameTellsDeviceAndSetting) {
  const auto setting = codec().setting("RK3288_threads_4_power_mode_3.pkl", "").value();
  EXPECT_EQ(setting.runtime, "paddle_lite");
  EXPECT_EQ(setting.precision, "fp32");
  EXPECT_EQ(setting.threads, 4);
  EXPECT_EQ(setting.options.at("power_mode"), "3");
  EXPECT_EQ(codec().setting("mine.pkl", "INT8").value().precision, "int8");
  EXPECT_TRUE(codec().setting("mine.pkl", "").value().options.empty());
  EXPECT_FALSE(codec().setting("mine.pkl", "fp8").has_value());
  const auto device = [](const char* name) { return codec().device_of_file(name); };
  EXPECT_EQ(device("folder/my_threads_phone_threads_4_power_mode_0.pkl"), "my_threads_phone");
  for (const char* name :
       {"_threads_4_power_mode_0.pkl", "A_threads_0_power_mode_0.pkl", "A_threads_4_power_mode_0",
        "A_threads_4_power_mode_x.pkl", "A_threads_99999_power_mode_0.pkl", "a.pkl"}) {
    EXPECT_EQ(device(name), std::nullopt) << name;
  }
  EXPECT_EQ(evaluator_codec().device_of_file("A_threads_4_power_mode_0.pkl"), std::nullopt);
}

TEST(Paddleslim, RowsKeepTheirOwnTextAndNumber) {
  const std::string bytes = dict_of(text_of(kRelu) + "G?\xd0\0\0\0\0\0\0"s + text_of("my_op in=3") +
                                    "F0.30000000000000004\n");
  const auto read = codec().read(bytes, {"a.pkl", "fp32", false});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->file.rows.size(), 2U);
  EXPECT_EQ(read->file.rows[0].key, "paddle_lite:relu{}(f32[1,8])->(f32[1,8])");
  EXPECT_EQ(std::get<table::Timing>(read->file.rows[0].outcome).median_ns, 250'000);
  EXPECT_EQ(read->file.rows[0].text, std::string(kRelu) + "\t0.25");
  EXPECT_EQ(read->file.rows[1].text, "my_op in=3\t0.30000000000000004");
  const auto back = read_pickled_dict(codec().write(read->file).value()).value();
  EXPECT_EQ(back[1].key, "my_op in=3");
  EXPECT_EQ(std::get<double>(back[1].value), 0.30000000000000004);
}

TEST(Paddleslim, MeasuredRowsAreSaidInTheFormatsOwnWords) {
  const std::string key = "paddle_lite:relu{}(f32[1,8])->(f32[1,8])";
  EXPECT_TRUE(codec().accepts(key));
  EXPECT_FALSE(codec().accepts("Relu/14{}(f32[1,8])->(f32[1,8])"));
  EXPECT_FALSE(codec().accepts("paddle_lite:relu{}(f32[1,8])->()"));
  table::ForeignFile file;
  table::Timing timing;
  timing.median_ns = 4000;
  file.rows = {{key, timing, {}, {}}, {key, table::Failed{"no time"}, {}, {}}};
  const auto back = read_pickled_dict(codec().write(file).value()).value();
  ASSERT_EQ(back.size(), 1U) << "a failed row has no place there";
  EXPECT_EQ(back[0].key, kRelu);
  EXPECT_EQ(std::get<double>(back[0].value), 0.004);
  file.rows[0].text = "no number here";
  EXPECT_FALSE(codec().write(file).has_value());
}

TEST(Paddleslim, RowsWithoutATimeAreNamedOrLeftOut) {
  const std::string bytes =
      dict_of(text_of("a") + "Fnan\n" + text_of("b") + "F-1.5\n" + text_of("c") + "K\1" +
              text_of("d") + "N" + text_of("c") + "K\2" + text_of("e") + "K\0"s + text_of("") +
              "K\1" + text_of("f") + "Finf\n" + text_of("g") + "F1e304\n");
  const auto strict = codec().read(bytes, {"a.pkl", "fp32", false});
  ASSERT_FALSE(strict.has_value());
  for (const char* expected :
       {"a.pkl: 8 malformed rows; use --skip-bad-rows",
        "'a': the latency is nan; expected 1e-9 to 3.2e10 ms", "'b': the latency is -1.5",
        "'d': the latency is None", "byte 27: 'c': the key appears again",
        "'e': the latency is 0.0", "'': the key is empty", "'f': the latency is inf",
        "'g': the latency is 1e+304"}) {
    EXPECT_NE(strict.error().message.find(expected), std::string::npos)
        << strict.error().message << "\nexpected: " << expected;
  }
  const auto lenient = codec().read(bytes, {"a.pkl", "fp32", true});
  ASSERT_TRUE(lenient.has_value()) << lenient.error().message;
  EXPECT_EQ(lenient->skipped, 8U);
  ASSERT_EQ(lenient->file.rows.size(), 1U);
  EXPECT_EQ(std::get<table::Timing>(lenient->file.rows[0].outcome).median_ns, 2'000'000)
      << "the last of equal keys, as in Python";
  const auto before = read_pickled_dict(bytes).value();
  const auto after = read_pickled_dict(codec().write(lenient->file).value()).value();
  ASSERT_EQ(after.size(), before.size());
  for (std::size_t i = 0; i < after.size(); ++i) EXPECT_EQ(after[i].key, before[i].key);
  EXPECT_FALSE(codec().read(dict_of(text_of("a") + "N"), {"a.pkl", "fp32", true}).has_value())
      << "no row with a time";
}

TEST(Paddleslim, EveryTextOfARealTableComesBack) {
  const std::string path = OPLAT_SHARED_DIR "/data/paddleslim/rk3288_threads_4_power_mode_0.pkl";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no " << path << " here";
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto entries = read_pickled_dict(bytes);
  ASSERT_TRUE(entries.has_value()) << entries.error().message;
  ASSERT_EQ(entries->size(), 2200U);
  for (const PickleEntry& entry : *entries) {
    const ir::Key key = paddle_key_of(entry.key);
    EXPECT_NE(key.op, "other") << entry.key;
    EXPECT_EQ(paddle_text_of(key), entry.key);
  }
  const auto read = codec().read(bytes, {path, "fp32", false});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(codec().device_of_file(path), "rk3288");
  const auto back = read_pickled_dict(codec().write(read->file).value()).value();
  ASSERT_EQ(back.size(), entries->size());
  for (std::size_t i = 0; i < back.size(); ++i) {
    EXPECT_EQ(back[i].key, (*entries)[i].key);
    EXPECT_EQ(back[i].value, (*entries)[i].value);
  }
}

}  // namespace
}  // namespace oplat::compat::paddleslim
