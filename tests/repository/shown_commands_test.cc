// Whether documents show commands only where docs_test.cc runs them, and keep their other rules
// (PagesTest); and whether the harness finds what it is meant to find (ShownCommandsTest).
#include "tests/repository/shown_commands.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/repository/page_runner.h"
#include "tests/repository/pages.h"

namespace drasim {
namespace shown_commands_test {

using docs::Difference;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

using Texts = std::vector<std::string>;

// --- The documents ---

TEST(PagesTest, TheyAreThere) {
  const std::map<std::string, std::string> pages = docs::Pages();
  for (const char* path : {"README.md", "CONTRIBUTING.md", "docs/scenarios.md", "docs/tour/mig.md",
                           "notebooks/README.md"}) {
    EXPECT_EQ(pages.count(path), 1u) << path;
  }
}

TEST(PagesTest, EveryCommandIsCheckedOrListed) {
  for (const auto& [path, text] : docs::Pages()) {
    EXPECT_THAT(docs::CommandsOutsideConsole(path, text), IsEmpty());
  }
}

TEST(PagesTest, EveryListedExceptionIsShown) {
  const std::map<std::string, std::string> pages = docs::Pages();
  for (const docs::Unchecked& unchecked : docs::kUnchecked) {
    bool shown = false;
    for (const auto& [path, text] : pages) {
      for (const docs::Block& block : docs::BlocksOf(text)) {
        for (const std::string& line : block.lines) {
          if (docs::UncheckedBy(absl::StripPrefix(line, "$ ")) == &unchecked) shown = true;
        }
      }
    }
    EXPECT_TRUE(shown) << unchecked.begins << ": no document shows such a command";
  }
}

TEST(PagesTest, ReadmeIsShort) { EXPECT_LE(docs::WordCount(docs::Pages()["README.md"]), 1500u); }

TEST(PagesTest, LinksLeadSomewhere) {
  EXPECT_THAT(docs::DeadLinks(docs::Pages(),
                              [](const std::string& path) {
                                return std::filesystem::exists(
                                    std::filesystem::path(DRASIM_SOURCE_DIR) / path);
                              }),
              IsEmpty());
}

TEST(PagesTest, ContributingNamesFilesThatAreThere) {
  const std::vector<std::string> paths =
      docs::PathsInTables(docs::Pages()["CONTRIBUTING.md"], "## Where do I change ...");
  EXPECT_GT(paths.size(), 30u);
  for (const std::string& path : paths) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(DRASIM_SOURCE_DIR) / path)) << path;
  }
}

// --- The rules on samples ---

TEST(ShownCommandsTest, Blocks) {
  const std::vector<docs::Block> blocks = docs::BlocksOf(
      "text\n```console slow\n$ a\n```\n1. item\n\n   ```yaml b.yaml\n   c:\n     d\n\n   ```\n"
      "```\nfree\n```\n");
  ASSERT_THAT(blocks, SizeIs(3));
  EXPECT_TRUE(blocks[0].IsSlow());
  EXPECT_EQ(blocks[0].line, 3u);
  EXPECT_TRUE(blocks[1].IsFile());
  EXPECT_EQ(blocks[1].note, "b.yaml");
  EXPECT_EQ(blocks[1].Text(), "c:\n  d\n\n");
  EXPECT_FALSE(blocks[2].IsFile() || blocks[2].IsConsole());
}

TEST(ShownCommandsTest, CommandsAndTheirOutput) {
  const std::vector<docs::ShownCommand> commands =
      docs::CommandsOf(docs::BlocksOf("```console\n$ one \\\n    --more\nx\n\ny\n$ two\n```\n")[0]);
  ASSERT_THAT(commands, SizeIs(2));
  EXPECT_EQ(commands[0].text, "one \\\n    --more");
  EXPECT_THAT(commands[0].output, ElementsAre("x", "", "y"));
  EXPECT_EQ(commands[1].line, 7u);
  EXPECT_THAT(commands[1].output, IsEmpty());
}

TEST(ShownCommandsTest, CommandsOutsideOfConsoleBlocks) {
  const auto findings = [](absl::string_view page) {
    return absl::StrJoin(docs::CommandsOutsideConsole("a.md", page), "\n");
  };
  EXPECT_EQ(findings("```\ndrasim compare\n```\n"),
            "a.md:2: a command outside of a console block: drasim compare");
  EXPECT_EQ(findings("```\nx\n$ ls\n```\n"), "a.md:3: a command outside of a console block: $ ls");
  EXPECT_EQ(findings("```console fast\n$ ls\n```\n"), "a.md:2: console fast: expected slow");
  EXPECT_EQ(findings("```console\nls\n```\n"), "a.md:2: no command");
  EXPECT_EQ(findings("```\nmake demo\n```\n```\ndrasim: error: no\n```\ndrasim run\n"), "");
}

TEST(ShownCommandsTest, ChangedFiguresAreDifferences) {
  EXPECT_EQ(Difference({"a 1", "b 2"}, {"a 1", "b 2", ""}), "");
  EXPECT_EQ(Difference({"a 1", "b 2"}, {"a 1", "b 3"}), "shown:   b 2\nprinted: b 3");
  EXPECT_EQ(Difference({"a 1", "b 2"}, {"a 1"}), "shown:   b 2\nprinted: (nothing more)");
  EXPECT_EQ(Difference({"a 1"}, {"a 1", "b 2"}), "printed, not shown: b 2");
  EXPECT_EQ(Difference({"a 1"}, {"drasim: run: 12 %, 7 s left", "a 1  "}), "");
  EXPECT_EQ(Difference({"a 1"}, {"drasim: run: 12 rows left", "a 1"}),
            "shown:   a 1\nprinted: drasim: run: 12 rows left");
}

TEST(ShownCommandsTest, OmittedLines) {
  const Texts printed = {"a", "b", "c", "b", "d", "e"};
  EXPECT_EQ(Difference({"a", "..."}, printed), "");
  EXPECT_EQ(Difference({"...", "e"}, printed), "");
  EXPECT_EQ(Difference({"..."}, {}), "");
  EXPECT_EQ(Difference({"a", "...", "b", "d", "...", "e"}, printed), "");
  EXPECT_EQ(Difference({"a", "b", "...", "d", "..."}, printed), "");
  EXPECT_EQ(Difference({"b", "..."}, printed), "shown:   b\nprinted: a");
  EXPECT_EQ(Difference({"a", "...", "d"}, printed), "shown, not printed at the end:\nd");
  EXPECT_EQ(Difference({"a", "...", "d", "...", "b", "..."}, printed), "shown, not printed:\nb");
  EXPECT_EQ(Difference({"a", "...", "f", "..."}, printed), "shown, not printed:\nf");
  EXPECT_EQ(Difference({"a", "b", "...", "b", "c", "b", "d", "e"}, printed),
            "shown, not printed at the end:\nb\nc\nb\nd\ne");
}

TEST(ShownCommandsTest, Links) {
  const std::map<std::string, std::string> pages = {
      {"a.md", "# One `two`, three?\n[x](docs/b.md#it-is) [y](#one-two-three) [z](c.txt)\n"},
      {"docs/b.md", "## It is\n[up](../a.md#four)\n[w](https://x) [no](d.md)\n```\n[q](r)\n```\n"}};
  const auto exists = [&](const std::string& path) {
    return pages.count(path) > 0 || path == "c.txt";
  };
  EXPECT_THAT(docs::DeadLinks(pages, exists),
              ElementsAre("docs/b.md:2: ../a.md#four", "docs/b.md:3: d.md"));
}

TEST(ShownCommandsTest, PathsInTables) {
  const char* const kPage =
      "# A\n| x | a/no.cc |\n## B\n\n| What | Where |\n|---|---|\n"
      "| one/two | a/b.cc, c.h; `Register...` of d/NAME.cc: e.inc |\n| three | m/f: g.cc does |\n"
      "## C\n| x | a/no.cc |\n";
  EXPECT_THAT(docs::PathsInTables(kPage, "## B"),
              ElementsAre("a/b.cc", "a/c.h", "d/e.inc", "m/f", "m/f/g.cc"));
}

// --- The harness with the real program ---

constexpr char kSamplePage[] =
    "```yaml tiny.yaml\nname: tiny\nmode: replay\n"
    "cluster: {nodes: 1, node: {cpu: \"8\", memory: 8Gi}}\n"
    "workload: {jobs: [{name: a, cpu: \"1\", run_time: 90s}]}\n```\n"
    "```console\n$ drasim validate tiny.yaml\ntiny.yaml: a valid scenario\n"
    "$ drasim run tiny.yaml --out out\n$ drasim run tiny.yaml | \\\n    grep makespan\n"
    "makespan: 90.0 s\n```\n"
    "```yaml\nmode: replay\n```\n"
    "```console slow\n$ false\n```\n";

TEST(ShownCommandsTest, APageIsRun) {
  docs::PageRunner runner("a.md", false);
  const docs::PageResult result = runner.Run(kSamplePage);
  EXPECT_THAT(result.findings, IsEmpty());
  EXPECT_EQ(result.commands, 3u);
}

TEST(ShownCommandsTest, AChangedFigureIsFound) {
  docs::PageRunner runner("a.md", false);
  EXPECT_THAT(
      runner.Run(absl::StrReplaceAll(kSamplePage, {{"makespan: 90.0", "makespan: 91.0"}})).findings,
      ElementsAre("a.md:11: drasim run tiny.yaml | \\\n    grep makespan\n"
                  "shown:   makespan: 91.0 s\nprinted: makespan: 90.0 s"));
}

TEST(ShownCommandsTest, FailuresAndBadScenariosAreFound) {
  docs::PageRunner slow("a.md", true);
  EXPECT_THAT(slow.Run(kSamplePage).findings, ElementsAre("a.md:19: false\nexit code 1:\n"));
  docs::PageRunner runner("a.md", false);
  EXPECT_THAT(runner.Run("```yaml\nmood: replay\n```\n").findings,
              ElementsAre(HasSubstr("a.md:2: drasim: error: block.yaml:1:1: mood: ")));
}

}  // namespace shown_commands_test
}  // namespace drasim
