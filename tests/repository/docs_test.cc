// Every command that a document shows prints what the document shows.
#include <cstddef>
#include <iostream>
#include <string>

#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/repository/page_runner.h"
#include "tests/repository/pages.h"
#include "tests/repository/shown_commands.h"

namespace drasim {
namespace docs_test {

bool HasSlowBlock(absl::string_view page) {
  for (const docs::Block& block : docs::BlocksOf(page)) {
    if (block.IsSlow()) return true;
  }
  return false;
}

// Skips itself, after all that can be run, where a command lacks its trace.
void RunPages(bool slow) {
  size_t commands = 0;
  size_t skipped = 0;
  for (const auto& [path, text] : docs::Pages()) {
    if (slow && !HasSlowBlock(text)) continue;
    const docs::PageResult result = docs::PageRunner(path, slow).Run(text);
    for (const std::string& finding : result.findings) ADD_FAILURE() << finding;
    for (const std::string& line : result.skipped) std::cout << line << "\n";
    commands += result.commands;
    skipped += result.skipped.size();
  }
  EXPECT_GT(commands, slow ? 10u : 20u);
  if (skipped > 0 && !::testing::Test::HasFailure()) {
    GTEST_SKIP() << skipped << " block(s) of commands without their data";
  }
}

TEST(DocsTest, CommandsPrintWhatIsShown) { RunPages(false); }

// Minutes. `make soak` runs it, by the name docs_slow.
TEST(DocsTest, DISABLED_SlowCommandsPrintWhatIsShown) { RunPages(true); }

}  // namespace docs_test
}  // namespace drasim
