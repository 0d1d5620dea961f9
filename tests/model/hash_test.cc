#include "model/hash.h"

#include <cstdint>
#include <string>

#include "gtest/gtest.h"

namespace drasim {
namespace hash_test {

// The published test vectors of FNV-1a, 64 bits.
TEST(HashTest, IsFnv1a) {
  EXPECT_EQ(Fnv1a(""), 0xcbf29ce484222325U);
  EXPECT_EQ(Fnv1a("a"), 0xaf63dc4c8601ec8cU);
  EXPECT_EQ(Fnv1a("foobar"), 0x85944171f73967e8U);
  EXPECT_EQ(Fnv1a("bar", Fnv1a("foo")), Fnv1a("foobar"));
  EXPECT_NE(Fnv1a("\xff"), Fnv1a("\x7f"));
}

TEST(HashTest, MixWordIsPinned) {
  EXPECT_EQ(MixWord(0, 0), 0xc9d874ca57d9e055U);
  EXPECT_EQ(MixWord(kFnvOffset, 0), 0x76fad9863d856f97U);
  EXPECT_EQ(MixWord(kFnvOffset, 1), 0x5fe3db79a63f6125U);
  EXPECT_EQ(MixWord(1, kFnvOffset), 0xc806e2b0ae7b276cU);
  EXPECT_EQ(MixWord(~uint64_t{0}, ~uint64_t{0}), 0x36278b35a8261faaU);
  EXPECT_EQ(MixWord(MixWord(kFnvOffset, 1), 2), 0x83697980ae5ec950U);
  EXPECT_EQ(MixWord(MixWord(kFnvOffset, 2), 1), 0xa3353a92f8496e24U);
}

TEST(HashTest, HexHashHasSixteenLowerCaseDigits) {
  EXPECT_EQ(HexHash(0), "0000000000000000");
  EXPECT_EQ(HexHash(0x0123456789abcdefU), "0123456789abcdef");
  EXPECT_EQ(HexHash(~uint64_t{0}), "ffffffffffffffff");
}

}  // namespace hash_test
}  // namespace drasim
