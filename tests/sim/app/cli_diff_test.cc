// drasim diff as data: the decisions in which two runs part.
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"
#include "tests/testing/data_text.h"

namespace drasim {
namespace cli_diff_test {

class CliDiffTest : public CliTest {
 protected:
  // A run of 30 pods on 6 nodes into a folder of that name.
  void RunInto(const std::string& folder, const std::vector<std::string>& more) const {
    std::vector<std::string> args = {
        "run",     "--set", "cluster.nodes=6", "--set",   "workload.generated.pods=30",
        "--limit", "30",    "--quiet",         "--order", "trace",
        "--out",   folder};
    args.insert(args.end(), more.begin(), more.end());
    Succeed(args);
  }
  // The diff of two runs that differ.
  std::string Differs(const std::string& a, const std::string& b) const {
    const ProcessResult result = Run({"diff", a, b, "--json"});
    EXPECT_EQ(result.exit_code, 1) << result.err;
    return result.out;
  }
};

// The node of the other run stands behind the five best ones.
TEST_F(CliDiffTest, TellsPodNodesCandidatesAndScores) {
  RunInto("fgd", {"--policy", "fgd"});
  RunInto("best-fit", {"--policy", "best-fit"});
  const std::string json = Differs("fgd", "best-fit");
  EXPECT_EQ(json.substr(json.find("  \"decision\"")), TestText("Decision"));
  EXPECT_EQ(Run({"diff", "fgd", "best-fit", "--format", "json"}).out, json);
  EXPECT_FALSE(absl::StrContains(Succeed({"diff", "fgd", "fgd", "--json"}), "decision"));
}

TEST_F(CliDiffTest, SaysWhyADecisionIsUnknown) {
  RunInto("a", {"--policy", "fgd"});
  RunInto("b", {"--policy", "fgd", "--limit", "20"});
  // Where one workload ends, the other has an arrival, which nobody decided.
  const std::string ended = Differs("a", "b");
  EXPECT_TRUE(absl::StrContains(
      ended, "\"unknown\": \"a/ledger: pod 'pod-0000020' has not been tried by then\""))
      << ended;
  EXPECT_TRUE(absl::StrContains(ended, "\"unknown\": \"the record concerns no pod\"")) << ended;

  // Inputs that are gone.
  for (const char* policy : {"fgd", "least-allocated"}) {
    EXPECT_EQ(RunTiny({"--policy", policy, "--out", policy, "--quiet"}).exit_code, 0);
  }
  dir_.Write("pods.csv", kPodHeader);
  const std::string gone = Differs("fgd", "least-allocated");
  EXPECT_TRUE(absl::StrContains(gone, "\"placed\": null")) << gone;
  EXPECT_FALSE(absl::StrContains(gone, "\"unknown\": null")) << gone;
}

TEST_F(CliDiffTest, ErrorsAreJsonToo) {
  const ProcessResult result = Run({"diff", "nowhere", "nowhere", "--json"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(absl::StartsWith(result.err, "{\"schema\": \"drasim.error/v1\", ")) << result.err;
}

}  // namespace cli_diff_test
}  // namespace drasim
