#include "model/text/utf8.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"

namespace drasim {
namespace {

bool IsSurrogate(char32_t code) { return code >= 0xD800 && code <= 0xDFFF; }

TEST(Utf8Test, EveryScalarValueComesBack) {
  std::string text;
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (IsSurrogate(code)) continue;
    text.clear();
    AppendUtf8(code, &text);
    size_t position = 0;
    char32_t read = ~code;
    ASSERT_TRUE(DecodeUtf8(text, &position, &read)) << static_cast<uint32_t>(code);
    ASSERT_EQ(position, text.size());
    ASSERT_EQ(read, code);
  }
}

// The lengths of RFC 3629, section 3.
TEST(Utf8Test, EncodesAsTheStandardShows) {
  std::string text;
  for (const char32_t code : {U'A', U'\u2262', U'\u0391', U'.', U'\U000233B4'}) {
    AppendUtf8(code, &text);
  }
  EXPECT_EQ(text, "A\xE2\x89\xA2\xCE\x91.\xF0\xA3\x8E\xB4");
}

TEST(Utf8Test, RefusesWhatIsNotWellFormed) {
  const absl::string_view bad[] = {
      "\x80",              // a continuation byte first
      "\xC3",              // cut off
      "\xE2\x89",          //
      "\xF0\xA3\x8E",      //
      "\xC3(",             // no continuation
      "\xC0\xAF",          // overlong forms
      "\xE0\x9F\xBF",      //
      "\xF0\x8F\xBF\xBF",  //
      "\xED\xA0\x80",      // a surrogate
      "\xF4\x90\x80\x80",  // above U+10FFFF
      "\xF8\x88\x80\x80\x80",
  };
  for (const absl::string_view bytes : bad) {
    size_t position = 0;
    char32_t read = U'x';
    EXPECT_FALSE(DecodeUtf8(bytes, &position, &read)) << bytes.size();
    EXPECT_EQ(position, 0U);
    EXPECT_EQ(read, U'x');
    EXPECT_FALSE(IsUtf8(absl::StrCat("text before ", bytes)));
  }
  EXPECT_TRUE(IsUtf8(""));
  EXPECT_TRUE(IsUtf8("\xEF\xBF\xBF"));
}

}  // namespace
}  // namespace drasim
