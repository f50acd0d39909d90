// SPDX-License-Identifier: Apache-2.0
#include "compat/mmt/pickle.hpp"

#include <gtest/gtest.h>

#include "compat/mmt/codec.hpp"
#include "ir/key.hpp"

namespace oplat::compat::mmt {
namespace {

using namespace std::string_literals;

Attributes block(double avg) {
  return Attributes::parse(fmt::format(
      R"({{"input_shape":[1,64,56,56],"init_param":{{"stride":[2,1],"pair":{{"tuple":[1,2.5]}}}},)"
      R"("mnn_fname":"a.mnn","avg":{},"max":1.5,"min":0.25,"repr":"Block-64-","set_path":"/x"}})",
      avg));
}

std::string written(const std::vector<Attributes>& operators) {
  const auto bytes = write_operators(operators);
  EXPECT_TRUE(bytes.has_value());
  return bytes.value_or("");
}

/// protocol 2, one ops_meta with the attributes that `state` makes.
std::string pickle_of(const std::string& state) {
  return "\x80\x02](cmmt.utils\nops_meta\n)\x81"s + state + "be.";
}

std::string error_of(const std::string& bytes) {
  const auto read = read_operators(bytes);
  return read ? "" : read.error().message;
}

TEST(MmtPickle, WhatIsWrittenIsReadAgain) {
  const std::vector<Attributes> operators = {block(0.5), block(0.75)};
  const auto read = read_operators(written(operators));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->size(), 2U);
  EXPECT_EQ((*read)[0].attributes, operators[0]);
  EXPECT_EQ((*read)[1].attributes, operators[1]);
  EXPECT_EQ((*read)[0].attributes.begin().key(), "input_shape");
}

TEST(MmtPickle, OtherGlobalsAreRefusedByNameAndOffset) {
  EXPECT_NE(error_of("\x80\x02](cos\nsystem\n)\x81}be.").find("byte 4: the global os.system"),
            std::string::npos);
  EXPECT_NE(error_of("\x80\x04](\x8c\x02os\x8c\x06system\x93)\x81}be.").find("os.system"),
            std::string::npos);
  EXPECT_NE(error_of("\x80\x02](cmmt.utils\nops_meta\n)R}be.").find("REDUCE"), std::string::npos);
  EXPECT_NE(error_of("\x80\x02](cmmt.utils\nops_meta\nK\x01\x85\x81}be.").find("arguments"),
            std::string::npos);
}

/// MMT 1 and 2.0 keep the class of an operator in the table.
TEST(MmtPickle, TheClassOfAnOperatorIsAName) {
  const std::string attributes = "}(X\x09\0\0\0classnamectorch.nn\nReLU\nX\x03\0\0\0avgK\x02u"s;
  const auto read = read_operators(pickle_of(attributes));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  const Attributes expected =
      Attributes::parse(R"({"classname":{"global":["torch.nn","ReLU"]},"avg":2})");
  EXPECT_EQ((*read)[0].attributes, expected);
  const std::string again = written({expected});
  EXPECT_NE(again.find("ctorch.nn\nReLU\n"), std::string::npos);
  EXPECT_EQ(again[1], '\x03');
  EXPECT_EQ((*read_operators(again))[0].attributes, expected);
  const Attributes nested = Attributes::parse(R"({"classname":{"global":["a","B.C"]}})");
  EXPECT_EQ(written({nested})[1], '\x04');
}

TEST(MmtPickle, AnyOtherUseOfAGlobalIsRefused) {
  const std::string global = "ctorch.nn\nReLU\n";
  const std::string key = "X\x09\0\0\0classname"s;
  for (const std::string& attributes :
       {"}(X\x01\0\0\0a"s + global + "u", "}(" + key + "](" + global + "eu",
        "}(" + global + "K\x01u", "}(" + key + global + ")\x81u"s,
        "}(" + key + global + "K\x01" + "bu"s, global}) {
    EXPECT_NE(error_of(pickle_of(attributes)).find("the global torch.nn.ReLU could run code"),
              std::string::npos)
        << attributes;
  }
  EXPECT_NE(error_of(pickle_of("}(" + key + "ca\rb\nC\nu")).find("not the name of a class"),
            std::string::npos);
  // As data, {"global": ...} is a dict like any other.
  const auto read = read_operators(pickle_of("}(" + key + "}X\x06\0\0\0globalK\x01su"s));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_TRUE((*read)[0].attributes["classname"].contains("dict"));
  for (const char* bad : {R"(["a"])", R"(["a","b\nc"])", R"([1,2])"}) {
    const Attributes operators =
        Attributes::parse(fmt::format(R"({{"classname":{{"global":{}}}}})", bad));
    EXPECT_FALSE(write_operators(std::vector<Attributes>{operators}).has_value()) << bad;
  }
}

TEST(MmtPickle, WhatIsNotAListOfOperatorsIsRefused) {
  for (const std::string& bytes :
       {""s, "\x80\x02N."s, "\x80\x02]("s, "\x80\x01]."s, "\x80\x02]K\x01"s + "a.", "\x80\x02].x"s,
        pickle_of("N"), pickle_of("}(K\x01K\x02u"), pickle_of("}(X\x01"s + "\0\0\0au"s),
        "\x80\x02](h\x05"s + "e.",
        "\x80\x02"
        "e."s,
        "\x80\x02(a."s, "\x80\x02\x86."s, pickle_of("}(X\xff\xff\xff\xff"s),
        pickle_of("}(X\x01\0\0\0\xffK\x01u"s)}) {
    EXPECT_NE(error_of(bytes).find(bytes.empty() ? "empty" : "byte "), std::string::npos) << bytes;
  }
}

TEST(MmtPickle, CyclesAndBombsEnd) {
  // A list that holds itself, as an attribute.
  EXPECT_NE(error_of(pickle_of("}X\x01\0\0\0a]q\x01h\x01"s + "as")).find("levels"),
            std::string::npos);
  // Lists of ten references each, nested: 10^11 elements.
  std::string lists = "(";  // a tuple of all of them, so that none is left on the stack
  lists += "](K\x01"s + "eq\x01"s;
  for (char i = 1; i < 12; ++i) {
    lists += "](";
    for (int n = 0; n < 10; ++n) lists += "h"s + i;
    lists += "eq"s + static_cast<char>(i + 1);
  }
  EXPECT_NE(error_of(pickle_of("}X\x01\0\0\0a"s + lists + "ts")).find("more than"),
            std::string::npos);
}

TEST(MmtCodec, TheFirstOfEqualOperatorsCounts) {
  Attributes other = block(4.0);
  other["init_param"] = nullptr;
  const auto read = codec().read(written({block(0.5), other}), {"t.pkl", "low", false});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->file.rows.size(), 1U);
  EXPECT_EQ(read->file.rows[0].key, "torch:module{repr=\"Block-64-\"}(f32[1,64,56,56])->()");
  EXPECT_TRUE(ir::parse(read->file.rows[0].key).has_value());
  EXPECT_EQ(std::get<table::Timing>(read->file.rows[0].outcome).median_ns, 5e5);
  EXPECT_EQ(std::get<table::Timing>(read->file.rows[0].outcome).min_ns, 2.5e5);
  ASSERT_EQ(read->warnings.size(), 1U);
  EXPECT_NE(read->warnings[0].find("different parameters"), std::string::npos);
}

/// What oplat.mmt.meter writes; MMT itself says nothing of its setting.
TEST(MmtCodec, TheSettingOfTimesIsTold) {
  Attributes one = block(0.5);
  one["measured"] = {{"by", "MNN 3.6.1"}, {"threads", 1}, {"precision", "normal"}, {"runs", 30}};
  Attributes other = one;
  other["repr"] = "Block-65-";
  other["mnn_fname"] = "b.mnn";
  const auto read = codec().read(written({one, other}), {"t.pkl", "low", false});
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->told.threads, 1);
  EXPECT_EQ(read->told.precision, "normal");
  EXPECT_EQ(read->told.version, "3.6.1");
  other["measured"]["threads"] = 2;
  const auto mixed = codec().read(written({one, other}), {"t.pkl", "low", false});
  ASSERT_FALSE(mixed.has_value());
  EXPECT_NE(mixed.error().message.find("different settings"), std::string::npos);
  EXPECT_FALSE(codec().read(written({block(0.5)}), {"t.pkl", "low", false})->told.threads);
}

TEST(MmtCodec, OperatorsOfOneFileAreNamed) {
  Attributes other = block(0.5);
  other["repr"] = "Block-65-";
  const auto read = codec().read(written({block(0.5), other}), {"t.pkl", "low", false});
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->warnings.size(), 1U);
  EXPECT_NE(read->warnings[0].find("one file, a.mnn"), std::string::npos);
}

TEST(MmtCodec, MalformedOperatorsAreNamedOrSkipped) {
  Attributes bad = block(0.5);
  bad["input_shape"] = {1, 0};
  Attributes negative = block(-1.0);
  negative["repr"] = "n";
  const std::string bytes = written({bad, block(0.5), negative});
  const auto strict = codec().read(bytes, {"t.pkl", "low", false});
  ASSERT_FALSE(strict.has_value());
  EXPECT_NE(strict.error().message.find("2 malformed rows"), std::string::npos);
  EXPECT_NE(strict.error().message.find("dimension 0"), std::string::npos);
  const auto lenient = codec().read(bytes, {"t.pkl", "low", true});
  ASSERT_TRUE(lenient.has_value());
  EXPECT_EQ(lenient->file.rows.size(), 1U);
  const auto again = codec().write(lenient->file);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(read_operators(*again)->size(), 3U);
}

TEST(MmtCodec, RowsOfOplatAreWrittenAsOperators) {
  table::ForeignFile file;
  table::ForeignRow row;
  row.key = "torch:module{repr=Block}(f32[1,8])->()";
  table::Timing timing;
  timing.median_ns = timing.p90_ns = 2e6;
  timing.min_ns = 1e6;
  row.outcome = timing;
  file.rows.push_back(row);
  const auto bytes = codec().write(file);
  ASSERT_TRUE(bytes.has_value());
  const auto read = read_operators(*bytes);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ((*read)[0].attributes["avg"], 2.0);
  EXPECT_EQ((*read)[0].attributes["repr"], "Block");
  EXPECT_TRUE(codec().accepts(row.key));
  EXPECT_FALSE(codec().accepts("Relu/14{}(f32[1])->(&0)"));
  EXPECT_FALSE(codec().accepts("torch:module{repr=?}(f32[1])->()"));
}

}  // namespace
}  // namespace oplat::compat::mmt
