#include "model/text/json_writer.h"

#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace json_writer_test {

std::string Quoted(absl::string_view value) {
  JsonWriter json;
  json.String(value);
  return json.text();
}

TEST(JsonWriterTest, WritesNestedValuesInTheOrderOfTheCalls) {
  JsonWriter json;
  json.BeginObject();
  json.Key("name").String("run");
  json.Key("nodes").Int(1213);
  json.Key("by_case").BeginArray().Double(0.5).Double(-2).Null().EndArray();
  json.Key("cluster").BeginObject();
  json.Key("full").Bool(true);
  json.Key("parts").BeginArray();
  json.BeginObject().Key("a").Int(1).EndObject();
  json.BeginArray().Int(2).Int(3).EndArray();
  json.EndArray();
  json.EndObject();
  json.Key("a").Bool(false);
  json.EndObject();
  EXPECT_EQ(json.text(), TestText("WritesNestedValuesInTheOrderOfTheCalls"));
}

TEST(JsonWriterTest, EmptyContainersStayOnOneLine) {
  EXPECT_EQ(JsonWriter().BeginObject().EndObject().text(), "{}\n");
  EXPECT_EQ(JsonWriter().BeginArray().EndArray().text(), "[]\n");
  JsonWriter json;
  json.BeginObject();
  json.Key("o").BeginObject().EndObject();
  json.Key("a").BeginArray().EndArray();
  json.EndObject();
  EXPECT_EQ(json.text(), "{\n  \"o\": {},\n  \"a\": []\n}\n");
  JsonWriter list;
  list.BeginArray().BeginArray().EndArray().BeginObject().EndObject().EndArray();
  EXPECT_EQ(list.text(), "[\n  [],\n  {}\n]\n");
}

TEST(JsonWriterTest, ArraysOfStrings) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject();
  json.Key("some").Strings({"a", "\"b\""});
  json.Key("none").Strings({});
  json.EndObject();
  EXPECT_EQ(json.text(), "{\"some\": [\"a\", \"\\\"b\\\"\"], \"none\": []}\n");
}

TEST(JsonWriterTest, AScalarIsADocument) {
  EXPECT_EQ(JsonWriter().Int(-5).text(), "-5\n");
  EXPECT_EQ(JsonWriter().Null().text(), "null\n");
  EXPECT_EQ(JsonWriter().Bool(false).text(), "false\n");
}

TEST(JsonWriterTest, IntegersKeepEveryDigit) {
  EXPECT_EQ(JsonWriter().Int(std::numeric_limits<int64_t>::min()).text(), "-9223372036854775808\n");
  EXPECT_EQ(JsonWriter().Int(std::numeric_limits<int64_t>::max()).text(), "9223372036854775807\n");
  EXPECT_EQ(JsonWriter().Uint(std::numeric_limits<uint64_t>::max()).text(),
            "18446744073709551615\n");
}

TEST(JsonWriterTest, DoublesAreTheShortestTextThatReadsBack) {
  EXPECT_EQ(JsonWriter().Double(95.23).text(), "95.23\n");
  EXPECT_EQ(JsonWriter().Double(0).text(), "0\n");
  EXPECT_EQ(JsonWriter().Double(0.1 + 0.2).text(), "0.30000000000000004\n");
  EXPECT_EQ(JsonWriter().Double(1e30).text(), "1e+30\n");
  EXPECT_EQ(JsonWriter().Double(-1.5e-9).text(), "-1.5e-09\n");
}

TEST(JsonWriterTest, EscapesWhatJsonForbidsInStrings) {
  EXPECT_EQ(Quoted(""), "\"\"\n");
  EXPECT_EQ(Quoted("say \"hi\""), "\"say \\\"hi\\\"\"\n");
  EXPECT_EQ(Quoted("a\\b/c"), "\"a\\\\b/c\"\n");
  EXPECT_EQ(Quoted("one\ntwo"), "\"one\\ntwo\"\n");
  EXPECT_EQ(Quoted("\t\r"), "\"\\u0009\\u000d\"\n");
  EXPECT_EQ(Quoted(absl::string_view("\0\x1f", 2)), "\"\\u0000\\u001f\"\n");
  EXPECT_EQ(Quoted("\x7f"), "\"\x7f\"\n");
  EXPECT_EQ(Quoted("\xc2\xb1 \xe2\x82\xac"), "\"\xc2\xb1 \xe2\x82\xac\"\n");
}

TEST(JsonWriterTest, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(Quoted("a\xff-b"), "\"a\\ufffd-b\"\n");
  EXPECT_EQ(Quoted("\xc2"), "\"\\ufffd\"\n");
  EXPECT_EQ(Quoted("\xed\xa0\x80"), "\"\\ufffd\\ufffd\\ufffd\"\n");
}

TEST(JsonWriterTest, ADocumentBeginsWithItsSchema) {
  JsonWriter json;
  json.BeginDocument("diff").Key("same").Bool(true).EndObject();
  EXPECT_EQ(json.text(), "{\n  \"schema\": \"drasim.diff/v1\",\n  \"same\": true\n}\n");
}

TEST(JsonWriterTest, OneLineHoldsTheWholeDocument) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject().Key("a").Int(1);
  json.Key("b").BeginArray().Int(2).Int(3).EndArray();
  json.Key("c").BeginObject().EndObject().EndObject();
  EXPECT_EQ(json.text(), "{\"a\": 1, \"b\": [2, 3], \"c\": {}}\n");
}

TEST(JsonWriterTest, EveryControlCharacterIsEscaped) {
  for (int c = 0; c < 0x20; ++c) {
    const char raw = static_cast<char>(c);
    const std::string text = Quoted(absl::string_view(&raw, 1));
    for (const char written : text.substr(0, text.size() - 1)) {
      EXPECT_GE(static_cast<unsigned char>(written), 0x20) << c;
    }
  }
}

TEST(JsonWriterTest, KeysAreEscapedToo) {
  JsonWriter json;
  json.BeginObject().Key("a\"b\n").Int(1).EndObject();
  EXPECT_EQ(json.text(), "{\n  \"a\\\"b\\n\": 1\n}\n");
}

TEST(JsonWriterDeathTest, OpenBracketsAreDefects) {
  JsonWriter open;
  open.BeginObject();
  EXPECT_DEATH(open.text(), "CHECK failed");
  JsonWriter outer;
  outer.BeginArray().BeginObject().EndObject();
  EXPECT_DEATH(outer.text(), "CHECK failed");
}

TEST(JsonWriterDeathTest, AnEndWithoutABeginIsADefect) {
  EXPECT_DEATH(JsonWriter().EndObject().text(), "CHECK failed");
  EXPECT_DEATH(JsonWriter().BeginArray().EndArray().EndArray().text(), "CHECK failed");
}

TEST(JsonWriterDeathTest, AnEndOfTheOtherKindIsADefect) {
  EXPECT_DEATH(JsonWriter().BeginObject().EndArray().text(), "CHECK failed");
  EXPECT_DEATH(JsonWriter().BeginArray().EndObject().text(), "CHECK failed");
}

}  // namespace json_writer_test
}  // namespace drasim
