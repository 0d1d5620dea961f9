#include "gui/view/pod_filter.h"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/time.h"

namespace drasim {
namespace pod_filter_test {

using view::PodFacts;
using view::PodFilter;

PodFacts Waiting() {
  PodFacts pod;
  pod.name = "pod-0004814";
  pod.wants = "7g.80gb";
  pod.tenant = "Alpha";
  pod.node = "";
  pod.verdict = "0/32 nodes are available: 32 waits for the driver.";
  pod.phase = PodPhase::kPending;
  pod.waits = SimDuration::Seconds(2 * 3600);
  pod.tries = 212;
  return pod;
}

PodFacts Running() {
  PodFacts pod;
  pod.name = "train, \"big\"";
  pod.wants = "2 x 1g.10gb + 3g.40gb";
  pod.node = "node-000017";
  pod.phase = PodPhase::kBound;
  pod.waits = SimDuration::Seconds(30);
  return pod;
}

// "W" for the waiting pod, "R" for the running one.
std::string Kept(absl::string_view text) {
  const absl::StatusOr<PodFilter> filter = PodFilter::Parse(text);
  if (!filter.ok()) return std::string(filter.status().message());
  std::string kept;
  if (filter->Matches(Waiting())) kept += 'W';
  if (filter->Matches(Running())) kept += 'R';
  return kept;
}

TEST(PodFilterTest, EveryKey) {
  EXPECT_EQ(Kept(""), "WR");
  EXPECT_EQ(Kept("  \t"), "WR");
  EXPECT_EQ(Kept("wants:7g.80gb"), "W");
  EXPECT_EQ(Kept("wants:3G.40gb"), "R");
  EXPECT_EQ(Kept("wants:3g"), "");
  EXPECT_EQ(Kept("wants:~3g"), "R");
  EXPECT_EQ(Kept("tenant:alpha"), "W");
  EXPECT_EQ(Kept("tenant:\"\""), "R");
  EXPECT_EQ(Kept("node:node-000017"), "R");
  EXPECT_EQ(Kept("node:~17"), "R");
  EXPECT_EQ(Kept("state:waiting"), "W");
  EXPECT_EQ(Kept("STATE:Waiting,running"), "WR");
  EXPECT_EQ(Kept("verdict:~driver"), "W");
  EXPECT_EQ(Kept("name:~train"), "R");
  EXPECT_EQ(Kept("name:\"train, \\\"big\\\"\""), "R");
  EXPECT_EQ(Kept("waits:>1h"), "W");
  EXPECT_EQ(Kept("waits:>=2h"), "W");
  EXPECT_EQ(Kept("waits:>2h"), "");
  EXPECT_EQ(Kept("waits:<=30s"), "R");
  EXPECT_EQ(Kept("waits:30s"), "R");
  EXPECT_EQ(Kept("waits:=2h,<1m"), "WR");
  EXPECT_EQ(Kept("tries:>100"), "W");
  EXPECT_EQ(Kept("tries:0"), "R");
}

TEST(PodFilterTest, KnowsWhetherItAsksForAState) {
  EXPECT_TRUE(PodFilter::Parse("wants:x -state:running").value().asks_for_state());
  EXPECT_FALSE(PodFilter::Parse("wants:x running").value().asks_for_state());
}

TEST(PodFilterTest, WordsNegationAndConjunction) {
  EXPECT_EQ(Kept("pod"), "W");
  EXPECT_EQ(Kept("NODE-0"), "R");
  EXPECT_EQ(Kept("-pod"), "R");
  EXPECT_EQ(Kept("-\"waits for\""), "R");
  EXPECT_EQ(Kept("\"waits for the\""), "W");
  EXPECT_EQ(Kept("-state:waiting"), "R");
  EXPECT_EQ(Kept("wants:7g.80gb waits:>1h tenant:alpha -node:x"), "W");
  EXPECT_EQ(Kept("wants:7g.80gb waits:<1h"), "");
  EXPECT_EQ(Kept("\"a:b\""), "");
}

TEST(PodFilterTest, ErrorsNameTheColumnAndWhatWasExpected) {
  EXPECT_EQ(Kept("pod want:x"),
            "column 5: unknown key 'want' (did you mean 'wants'?), expected one of name, wants, "
            "tenant, node, state, verdict, waits, tries");
  EXPECT_EQ(Kept("state:wating"),
            "column 7: unknown state 'wating' (did you mean 'waiting'?), expected one of waiting, "
            "starting, running, succeeded, dropped, failed, deleted");
  EXPECT_EQ(Kept("waits:>1"), "column 8: found '1', expected a duration such as 90s, 1h30m or 2d");
  EXPECT_EQ(Kept("waits:>"), "column 8: expected a duration such as 90s, 1h30m or 2d");
  EXPECT_EQ(Kept("tries:many"), "column 7: found 'many', expected a number of failed attempts");
  EXPECT_EQ(Kept("tenant:"), "column 8: expected a value, or \"\" for an empty one");
  EXPECT_EQ(Kept("tenant:a,"), "column 10: expected a value, or \"\" for an empty one");
  EXPECT_EQ(Kept("tenant:>a"),
            "column 8: found a comparison, expected a text: only waits and tries have an order");
  EXPECT_EQ(Kept("state:~wait"), "column 7: found '~', expected the name of a state");
  EXPECT_EQ(Kept("waits:~1h"), "column 7: found '~', expected one of >, >=, <, <=, = or a value");
  EXPECT_EQ(Kept("a \"b"), "column 3: this quote is never closed, expected another one");
  EXPECT_EQ(Kept("a\"b\""), "column 2: found a quote inside a word, expected it before the word");
  EXPECT_EQ(Kept("\"a\"b"), "column 4: expected a blank behind the closing quote");
  EXPECT_EQ(Kept("\"a\\n\""), "column 3: found a backslash, expected \\\" or \\\\ inside quotes");
  EXPECT_EQ(Kept("- a"), "column 2: expected a term behind '-'");
  EXPECT_EQ(Kept("\"\""), "column 1: expected a word between the quotes");
}

TEST(PodFilterTest, AnyTextEndsInAFilterOrAnErrorWithAColumn) {
  Random random(13, "filters");
  constexpr absl::string_view kPieces[] = {
      "wants:", "waits:", "state:", "tries:",  "-", "\"", "\\",   ",",  " ", "~",
      ">",      "<=",     "1h",     "waiting", "x", ":",  "\xff", "\n", "7", "name:"};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    const size_t pieces = random.Below(12);
    for (size_t i = 0; i < pieces; ++i) {
      const absl::string_view piece = kPieces[random.Below(std::size(kPieces))];
      text.append(piece.data(), piece.size());
    }
    const absl::StatusOr<PodFilter> filter = PodFilter::Parse(text);
    if (filter.ok()) {
      filter->Matches(Waiting());
      continue;
    }
    EXPECT_EQ(filter.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_TRUE(absl::StartsWith(filter.status().message(), "column ")) << text;
  }
  // Depth costs nothing.
  EXPECT_TRUE(PodFilter::Parse(std::string(1 << 20, '-')).ok());
}

}  // namespace pod_filter_test
}  // namespace drasim
