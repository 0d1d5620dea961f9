#include "traces/csv_splitter.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "tests/traces/naive_csv.h"
#include "traces/byte_source.h"

namespace drasim {
namespace csv_splitter_test {

std::vector<std::vector<std::string>> Fields(const std::vector<NaiveRow>& rows) {
  std::vector<std::vector<std::string>> fields;
  for (const NaiveRow& row : rows) {
    EXPECT_EQ(row.bad, "");
    fields.push_back(row.fields);
  }
  return fields;
}

std::vector<std::vector<std::string>> Split(absl::string_view text,
                                            const CsvOptions& options = {}) {
  return Fields(RealSplit(text, options, ByteSourceOptions()));
}

using Table = std::vector<std::vector<std::string>>;

// The error of the first row, as "kind at line:column what".
std::string FirstError(absl::string_view text, const CsvOptions& options = {}) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source = OpenMemory("test", text);
  CsvSplitter splitter(source->get(), options);
  if (splitter.Next() != CsvSplitter::Result::kBadRow) return "no error";
  const CsvError& error = splitter.error();
  return absl::StrCat(error.kind, " at ", error.at.line, ":", error.at.column, " ", error.what);
}

// Inputs with everything that the format knows, for the tests of chunk seams.
std::vector<std::pair<std::string, CsvOptions>> Samples() {
  CsvOptions plain;
  CsvOptions hash;
  hash.comment = "##";
  CsvOptions tab;
  tab.separator = '\t';
  CsvOptions blank;
  blank.separator = ' ';
  blank.comment = ";";
  CsvOptions tight = hash;
  tight.max_row_bytes = 8;
  return {
      {"name,cpu\na,1\nb,2\n", plain},
      {"a,b\r\nc,d\r\n\r\ne,f\r", plain},
      {"\xEF\xBB\xBFname,\"x,\"\"y\"\"\",z\r\n\"multi\nline\",2,\"\"\r\nlast,,", plain},
      {"a\"b,c\n\"q\"x,1\n\"open,\n1,2\n3,4", plain},
      {"## one\n#,two\n##\na,##b\n# #,c\n##", hash},
      {"a b\tc,d\t\te\n\t\n\"t\tt\"\tu\n", tab},
      {"; head\n  1   2\t3 \r\n\n   \n4 5 ;6\n;\n7", blank},
      {"12345678\n123456789\nab\n\"1234567\"\n\"12345\"\n\"\n## 45678\n## 4567\nx,\"y", tight},
      {std::string("a,\0b\n\xFF,\xC3\xA9\n", 10), plain},
      {"\xEF\xBB", plain},
      {"\xEF\xBB\xBF", plain},
      {"\n\n\n", plain},
  };
}

TEST(CsvSplitterTest, SplitsRowsAndFields) {
  EXPECT_EQ(Split("a,b,c\nd,e,f\n"), (Table{{"a", "b", "c"}, {"d", "e", "f"}}));
  EXPECT_EQ(Split("a"), (Table{{"a"}}));
  EXPECT_EQ(Split(",\n"), (Table{{"", ""}}));
  EXPECT_EQ(Split("a,\n,b"), (Table{{"a", ""}, {"", "b"}}));
}

TEST(CsvSplitterTest, AcceptsAnyLineEnd) {
  EXPECT_EQ(Split("a,b\r\nc,d\r\n"), (Table{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(Split("a,b\nc,d"), (Table{{"a", "b"}, {"c", "d"}}));
  EXPECT_EQ(Split("a,b\r\nc,d\r"), (Table{{"a", "b"}, {"c", "d"}}));
  // A carriage return elsewhere is an ordinary character, and only one is part of the line end.
  EXPECT_EQ(Split("a\rb,c\r\r\n"), (Table{{"a\rb", "c\r"}}));
}

TEST(CsvSplitterTest, SkipsBlankLinesCommentsAndByteOrderMark) {
  CsvOptions options;
  options.comment = "#";
  EXPECT_EQ(Split("\xEF\xBB\xBF# x,\"y\n\na,b\n\r\n#\nc,#d\n#", options),
            (Table{{"a", "b"}, {"c", "#d"}}));
  EXPECT_EQ(Split("#a\n"), (Table{{"#a"}}));
  EXPECT_EQ(Split(""), Table());
}

TEST(CsvSplitterTest, UndoesQuotes) {
  EXPECT_EQ(Split("\"a,b\",\"c\"\"d\"\"\",\"\"\n"), (Table{{"a,b", "c\"d\"", ""}}));
  EXPECT_EQ(Split("x,\"two\r\nlines\"\r\ny,z"), (Table{{"x", "two\r\nlines"}, {"y", "z"}}));
  // Not at the front of a field, a quote is an ordinary character.
  EXPECT_EQ(Split("5\",a\"b\"\n"), (Table{{"5\"", "a\"b\""}}));
  // A row of one empty quoted field is not a blank line.
  EXPECT_EQ(Split("\"\"\n"), (Table{{""}}));
}

TEST(CsvSplitterTest, BlankSeparatorMeansRuns) {
  CsvOptions options;
  options.separator = ' ';
  EXPECT_EQ(Split("  1   -1\t\"2\" \n3\r\n", options), (Table{{"1", "-1", "\"2\""}, {"3"}}));
}

TEST(CsvSplitterTest, ReportsPositions) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      OpenMemory("test", "\xEF\xBB\xBFid,x\n\n\"a\nbc\",dd,\"e\"\r\nf\n");
  ASSERT_TRUE(source.ok());
  CsvSplitter splitter(source->get(), CsvOptions());
  ASSERT_EQ(splitter.Next(), CsvSplitter::Result::kRow);
  EXPECT_EQ(splitter.position(1), (CsvPosition{1, 4}));
  EXPECT_EQ(splitter.end_position(), (CsvPosition{1, 5}));
  ASSERT_EQ(splitter.Next(), CsvSplitter::Result::kRow);
  EXPECT_EQ(splitter.line(), 3);
  EXPECT_EQ(splitter.position(0), (CsvPosition{3, 1}));
  EXPECT_EQ(splitter.position(1), (CsvPosition{4, 5}));
  EXPECT_EQ(splitter.position(2), (CsvPosition{4, 8}));
  EXPECT_EQ(splitter.end_position(), (CsvPosition{4, 11}));
  ASSERT_EQ(splitter.Next(), CsvSplitter::Result::kRow);
  EXPECT_EQ(splitter.line(), 5);
  EXPECT_EQ(splitter.Next(), CsvSplitter::Result::kEnd);
  EXPECT_EQ(splitter.Next(), CsvSplitter::Result::kEnd);
}

TEST(CsvSplitterTest, ExplainsBadRows) {
  EXPECT_EQ(FirstError("a,\"b\"c\n"),
            "text after a closing quote at 1:6 found 'c' after a closing quote, expected a "
            "separator or the end of the row");
  EXPECT_EQ(FirstError("a,\"b\"\r,c\n"),
            "text after a closing quote at 1:6 found '\\r' after a closing quote, expected a "
            "separator or the end of the row");
  EXPECT_EQ(FirstError("a,\"x\n\ny"),
            "unclosed quote at 1:3 found an opening quote, expected a closing one before the end "
            "of the input");
  CsvOptions options;
  options.max_row_bytes = 4;
  EXPECT_EQ(FirstError("ab,cd\n", options),
            "row too long at 1:1 found more than 4 bytes, expected the end of the row before that");
  EXPECT_EQ(FirstError("ab,c\n", options), "no error");
  EXPECT_EQ(FirstError("ab,c", options), "no error");
}

TEST(CsvSplitterTest, GoesOnAfterTheFirstLineOfABadRow) {
  const std::vector<NaiveRow> rows = RealSplit("\"a\nb,1\n\"c\"d\ne,2\n", {}, {});
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].bad, "text after a closing quote");
  EXPECT_EQ(rows[0].positions[0], (CsvPosition{3, 2}));
  EXPECT_EQ(rows[1].fields, (std::vector<std::string>{"b", "1"}));
  EXPECT_EQ(rows[1].line, 2);
  EXPECT_EQ(rows[2].bad, "text after a closing quote");
  EXPECT_EQ(rows[3].fields, (std::vector<std::string>{"e", "2"}));
  EXPECT_EQ(rows[3].line, 4);
}

TEST(CsvSplitterTest, LongestRowIsOneMebibyte) {
  const size_t limit = CsvOptions().max_row_bytes;
  EXPECT_EQ(limit, size_t{1048576});
  const std::string longest = absl::StrCat("a,", std::string(limit - 2, 'x'));
  const Table rows = Split(absl::StrCat(longest, "\nb,c\n"));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0][1].size(), limit - 2);
  EXPECT_EQ(rows[1], (std::vector<std::string>{"b", "c"}));
  EXPECT_EQ(FirstError(absl::StrCat(longest, "y\nb,c\n")),
            "row too long at 1:1 found more than 1048576 bytes, expected the end of the row before "
            "that");
  EXPECT_EQ(FirstError(absl::StrCat("\"", longest, "\"")).substr(0, 19), "row too long at 1:1");
}

TEST(CsvSplitterTest, ManyFieldsInOneRow) {
  const std::string row(1000, ',');
  const Table rows = Split(absl::StrCat(row, "\n", row, "\n"));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[1], std::vector<std::string>(1001));
}

TEST(CsvSplitterTest, EverySeamGivesTheSameRows) {
  for (const auto& [text, options] : Samples()) {
    const std::vector<NaiveRow> expected = NaiveSplit(text, options);
    const std::vector<NaiveRow> whole = RealSplit(text, options, ByteSourceOptions());
    EXPECT_EQ(whole, expected) << text << "\nfound\n"
                               << NaiveText(whole) << "expected\n"
                               << NaiveText(expected);
    for (const size_t buffer_bytes : {size_t{1}, size_t{70}, size_t{4096}}) {
      CsvOptions small = options;
      small.buffer_bytes = buffer_bytes;
      for (size_t seam = 1; seam <= text.size(); ++seam) {
        ByteSourceOptions chunks;
        chunks.first_chunk_bytes = seam;
        EXPECT_EQ(RealSplit(text, small, chunks), expected) << text << "\nseam " << seam;
        chunks.chunk_bytes = seam;
        EXPECT_EQ(RealSplit(text, small, chunks), expected) << text << "\nchunks of " << seam;
      }
    }
  }
}

TEST(CsvSplitterTest, RandomTextEqualsTheNaiveSplitter) {
  constexpr absl::string_view kAlphabet = "ab,,,\"\"\n\r# \t";
  Random random(7, "csv");
  for (int round = 0; round < 4000; ++round) {
    CsvOptions options;
    if (random.Below(4) == 0) options.separator = random.Below(2) == 0 ? ' ' : '\t';
    if (random.Below(3) == 0) options.comment = random.Below(2) == 0 ? "#" : "##";
    if (random.Below(3) == 0) options.max_row_bytes = random.Below(40);
    options.buffer_bytes = 1 + random.Below(200);
    std::string text;
    const uint64_t size = 1 + random.Below(300);
    // Long runs without structure reach over whole blocks.
    const uint64_t plain_of_8 = random.Below(8);
    for (uint64_t i = 0; i < size; ++i) {
      text.push_back(random.Below(8) < plain_of_8 ? 'x'
                                                  : kAlphabet[random.Below(kAlphabet.size())]);
    }
    ByteSourceOptions chunks;
    chunks.chunk_bytes = random.Below(100);
    const std::vector<NaiveRow> expected = NaiveSplit(text, options);
    const std::vector<NaiveRow> found = RealSplit(text, options, chunks);
    ASSERT_EQ(found, expected) << "round " << round << "\n"
                               << text << "\nfound\n"
                               << NaiveText(found) << "expected\n"
                               << NaiveText(expected);
  }
}

TEST(CsvSplitterTest, BothMasksAgree) {
  Random random(8, "mask");
  constexpr absl::string_view kBytes = ",;\n\"\r x\xFF";
  for (int round = 0; round < 2000; ++round) {
    char block[64];
    for (char& c : block) c = kBytes[random.Below(kBytes.size())];
    const char separator = random.Below(2) == 0 ? ',' : ';';
    uint64_t expected = 0;
    for (size_t i = 0; i < 64; ++i) {
      if (block[i] == separator || block[i] == '\n' || block[i] == '"') expected |= 1ull << i;
    }
    EXPECT_EQ(internal::StructuralMask(block, separator), expected);
    EXPECT_EQ(internal::StructuralMaskPortable(block, separator), expected);
  }
}

// A source that breaks off.
class BrokenSource final : public ByteSource {
 public:
  BrokenSource() : ByteSource("broken") {}
  absl::StatusOr<size_t> Read(char* out, size_t capacity) override {
    if (given_ || capacity < 3) return absl::DataLossError("broken: no more");
    given_ = true;
    out[0] = 'a';
    out[1] = '\n';
    out[2] = 'b';
    return 3;
  }

 private:
  bool given_ = false;
};

TEST(CsvSplitterTest, PassesOnTheErrorOfTheSource) {
  BrokenSource source;
  CsvSplitter splitter(&source, CsvOptions());
  ASSERT_EQ(splitter.Next(), CsvSplitter::Result::kRow);
  EXPECT_EQ(splitter.field(0), "a");
  EXPECT_EQ(splitter.Next(), CsvSplitter::Result::kFailed);
  EXPECT_EQ(splitter.status().message(), "broken: no more");
  EXPECT_EQ(splitter.Next(), CsvSplitter::Result::kFailed);
}

}  // namespace csv_splitter_test
}  // namespace drasim
