// SPDX-License-Identifier: Apache-2.0
#include "runtimes/rpc.hpp"

#include <gtest/gtest.h>

#include "runtimes/base64.hpp"
#include "runtimes/line_buffer.hpp"

namespace oplat::runtimes {
namespace {

TEST(RpcTest, ARequestIsReadAsItWasWritten) {
  const auto parsed = parse_request(request_line(7, "open", Json{{"key", "Relu{}()->()"}}));
  const auto& request = std::get<Request>(parsed);
  EXPECT_EQ(request.id, Json(7));
  EXPECT_EQ(request.method, "open");
  EXPECT_EQ(request.params.at("key"), "Relu{}()->()");
}

TEST(RpcTest, LinesHoldNoLineEnd) {
  EXPECT_EQ(request_line(1, "open", Json{{"key", "a\nb"}}).find('\n'), std::string::npos);
}

TEST(RpcTest, EveryCodeTravelsByName) {
  for (const Code code : {Code::Usage, Code::Input, Code::Missing, Code::Runtime, Code::Refused,
                          Code::GateNotMet, Code::Write, Code::Interrupted, Code::Internal}) {
    const auto reply = parse_reply(error_line(3, RpcError::Ours, Error{code, "what happened"}), 3);
    ASSERT_TRUE(reply);
    const auto& error = std::get<Error>(*reply);
    EXPECT_EQ(error.code, code);
    EXPECT_EQ(error.message, "what happened");
  }
}

TEST(RpcTest, AnErrorOfAnotherImplementationIsARuntimeError) {
  const auto reply = parse_reply(
      R"({"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"no such method"}})", 3);
  ASSERT_TRUE(reply);
  EXPECT_EQ(std::get<Error>(*reply).code, Code::Runtime);
}

TEST(RpcTest, RepliesThatAreNone) {
  for (const std::string& line :
       {std::string(""), std::string("null"), std::string("[]"), std::string("{}"),
        std::string("hello"), std::string(R"({"jsonrpc":"2.0","id":4,"result":{}})"),
        std::string(R"({"jsonrpc":"2.0","id":"3","result":{}})"),
        std::string(R"({"jsonrpc":"1.0","id":3,"result":{}})"),
        std::string(R"({"id":3,"result":{}})"), std::string(R"({"jsonrpc":"2.0","id":3})"),
        std::string(R"({"jsonrpc":"2.0","id":null,"result":{}})"),
        std::string(R"({"jsonrpc":"2.0","id":3,"result":1,"error":{"message":"both"}})"),
        R"({"jsonrpc":"2.0","id":3,"result":{}})" + std::string(1, '\0') + "more",
        std::string("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":\"\xff\"}"),
        std::string(1000, '[')}) {
    EXPECT_FALSE(parse_reply(line, 3)) << line;
  }
}

TEST(RpcTest, BadRequestsKeepTheirIdWhereTheyHaveOne) {
  EXPECT_EQ(std::get<BadRequest>(parse_request("{")).number, RpcError::Parse);
  EXPECT_EQ(std::get<BadRequest>(parse_request(R"({"jsonrpc":"2.0","id":5})")).id, Json(5));
  EXPECT_EQ(std::get<BadRequest>(parse_request(R"({"jsonrpc":"2.0","method":"hello"})")).id,
            Json(nullptr));
  EXPECT_EQ(std::get<BadRequest>(parse_request(R"({"id":5,"method":"hello"})")).number,
            RpcError::InvalidRequest);
}

TEST(Base64Test, VectorsOfTheRfc) {
  const std::vector<std::pair<std::string, std::string>> vectors{{"", ""},
                                                                 {"f", "Zg=="},
                                                                 {"fo", "Zm8="},
                                                                 {"foo", "Zm9v"},
                                                                 {"foob", "Zm9vYg=="},
                                                                 {"fooba", "Zm9vYmE="},
                                                                 {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(base64_encode(bytes), text);
    EXPECT_EQ(base64_decode(text), bytes);
  }
  EXPECT_EQ(base64_encode("\xff\xfe\xfd"), "//79");
}

TEST(Base64Test, RefusesWhatItWouldNotWrite) {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "====", "Z===", "Zm9v\n", "Zm-v",
                           "Zh==", "Zm9=", "=m9v", "Zg==Zg=="}) {
    EXPECT_FALSE(base64_decode(text)) << text;
  }
}

TEST(LineBufferTest, CutsLinesThatArriveInPieces) {
  LineBuffer lines(8);
  lines.add("ab");
  EXPECT_FALSE(lines.take());
  lines.add("c\nde\n\nf");
  EXPECT_EQ(lines.take(), "abc");
  EXPECT_EQ(lines.take(), "de");
  EXPECT_EQ(lines.take(), "");
  EXPECT_FALSE(lines.take());
  EXPECT_FALSE(lines.too_long());
  lines.add("2345678");
  EXPECT_FALSE(lines.take());
  EXPECT_FALSE(lines.too_long());
  lines.add("9\n");
  EXPECT_FALSE(lines.take());
  EXPECT_TRUE(lines.too_long());
}

TEST(LineBufferTest, ALineOfTheBoundPasses) {
  LineBuffer lines(3);
  lines.add("abc\n");
  EXPECT_FALSE(lines.too_long());
  EXPECT_EQ(lines.take(), "abc");
  EXPECT_TRUE(lines.empty());
}

}  // namespace
}  // namespace oplat::runtimes
