// The quick parser beside the whole one: equal trees, or none.
#include "model/text/yaml_block.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <iterator>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/text/yaml_tree.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace yaml_block_test {

constexpr YamlBlockLimits kLimits = {1'000'000, 64};

// Positions count from `begin`.
std::string Dump(const YamlNode* node, size_t begin) {
  if (node == nullptr) return "nothing";
  std::string text = absl::StrCat(static_cast<int>(node->kind), "@", node->position - begin, " '",
                                  node->text, "'");
  for (const YamlNode* child : node->children) absl::StrAppend(&text, "(", Dump(child, begin), ")");
  return text;
}

std::string Quick(absl::string_view text) {
  std::deque<YamlNode> nodes;
  return Dump(ParseYamlBlocks(text, kLimits, &nodes), 0);
}

// A directive is beyond the quick parser.
std::string Whole(absl::string_view text) {
  const bool marked = text.substr(0, 4) == "---\n";
  const std::string head = marked ? "%YAML 1.2\n" : "%YAML 1.2\n---\n";
  const absl::StatusOr<YamlTree> tree = YamlTree::Parse(absl::StrCat(head, text), "f");
  return tree.ok() ? Dump(tree->root(), head.size()) : std::string(tree.status().message());
}

TEST(YamlBlockTest, ReadsWhatKubectlPrints) {
  for (const auto& [text] : TestRows<1>("ReadsWhatKubectlPrints")) {
    EXPECT_NE(Quick(text), "nothing") << text;
    EXPECT_EQ(Quick(text), Whole(text)) << text;
  }
}

TEST(YamlBlockTest, LeavesTheRest) {
  for (const auto& [text] : TestRows<1>("LeavesTheRest")) EXPECT_EQ(Quick(text), "nothing") << text;
}

TEST(YamlBlockTest, KeepsLimits) {
  std::deque<YamlNode> nodes;
  EXPECT_NE(ParseYamlBlocks("a: 1\nb: 2\n", {5, 64}, &nodes), nullptr);
  nodes.clear();
  EXPECT_EQ(ParseYamlBlocks("a: 1\nb: 2\n", {4, 64}, &nodes), nullptr);
  nodes.clear();
  EXPECT_NE(ParseYamlBlocks("a:\n  b:\n    c: 1\n", {100, 3}, &nodes), nullptr);
  nodes.clear();
  EXPECT_EQ(ParseYamlBlocks("a:\n  b:\n    c: 1\n", {100, 2}, &nodes), nullptr);
  nodes.clear();
  EXPECT_EQ(ParseYamlBlocks("a:\n  b: {}\n", {100, 2}, &nodes), nullptr);
}

// Texts out of pieces that mean something, in places where they may mean something else.
TEST(YamlBlockTest, WhatItReadsIsWhatTheWholeParserReads) {
  constexpr absl::string_view kPieces[] = {
      "a:",   " ",        "  ",    "\n",   "\n  ",    "\n    ", "- ",    "-",
      "b",    "'x y'",    "\"z\"", ": ",   "{}",      "{",      "}",     "[",
      "]",    ", ",       ",",     "c: d", "[]",      "|\n  ",  "|-\n ", "# c",
      "1",    "\n\n",     "''",    "\\n",  "\"",      "'",      "k: v",  "\n- k: v",
      "\na:", "\n  b: c", "\\ ",   "\\\n", "\\u00e4", "\n  -",  "\n  - "};
  Random random(7, "yaml");
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text;
    const uint64_t pieces = 2 + random.Below(9);
    for (uint64_t k = 0; k < pieces; ++k) {
      absl::StrAppend(&text, kPieces[random.Below(std::size(kPieces))]);
    }
    const std::string quick = Quick(text);
    // Whole has a mark of its own.
    if (quick == "nothing" || absl::StrContains(text, "---")) continue;
    ++read;
    ASSERT_EQ(quick, Whole(text)) << text;
  }
  EXPECT_GT(read, 1000);
}

}  // namespace yaml_block_test
}  // namespace drasim
