// SPDX-License-Identifier: Apache-2.0
/// Hashes against published values, and their forms.
#include "base/hash.hpp"

#include <gtest/gtest.h>

#include <string>

namespace oplat::base {
namespace {

// XXH3's values for the empty input and "a", as its documentation and its other implementations
// give them.
TEST(Hash, IsXxh3) {
  EXPECT_EQ(hash128("").hex(), "99aa06d3014798d86001c324468d497f");
  EXPECT_EQ(hash128("a").hex(), "a96faf705af16834e6c632b61e964e1f");
  EXPECT_EQ(hash64(""), 0x2d06800538d394c2U);
  EXPECT_NE(hash64("a", 1), hash64("a", 2));
}

TEST(Hash128, FormsAreBigEndian) {
  const Hash128 hash{0x0102030405060708U, 0x090a0b0c0d0e0fffU};
  EXPECT_EQ(hash.hex(), "0102030405060708090a0b0c0d0e0fff");
  const auto bytes = hash.bytes();
  EXPECT_EQ(bytes[0], 1);
  EXPECT_EQ(bytes[7], 8);
  EXPECT_EQ(bytes[8], 9);
  EXPECT_EQ(bytes[15], 255);
  EXPECT_EQ(Hash128::from_bytes(std::string(bytes.begin(), bytes.end())), hash);
}

TEST(Hash128, NeedsSixteenBytes) {
  EXPECT_FALSE(Hash128::from_bytes(""));
  EXPECT_FALSE(Hash128::from_bytes(std::string(15, 'x')));
  EXPECT_FALSE(Hash128::from_bytes(std::string(17, 'x')));
}

TEST(Hash128, OrdersAsANumber) {
  EXPECT_LT((Hash128{0, ~std::uint64_t{0}}), (Hash128{1, 0}));
  EXPECT_LT((Hash128{1, 1}), (Hash128{1, 2}));
}

TEST(Hasher, EqualsTheHashOfTheWhole) {
  std::string data;
  for (int i = 0; i < 5000; ++i) data += static_cast<char>(i * 31 % 251);
  for (const std::size_t piece :
       {std::size_t{1}, std::size_t{7}, std::size_t{240}, std::size_t{1024}, data.size()}) {
    Hasher hasher;
    for (std::size_t at = 0; at < data.size(); at += piece)
      hasher.add(std::string_view(data).substr(at, piece));
    EXPECT_EQ(hasher.finish(), hash128(data)) << piece;
  }
  EXPECT_EQ(Hasher().finish(), hash128(""));
}

}  // namespace
}  // namespace oplat::base
