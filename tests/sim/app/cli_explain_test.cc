// drasim explain as a user types it.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_explain_test {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class CliExplainTest : public CliTest {
 protected:
  // p-2 wants two T4s more than there are.
  CliExplainTest() {
    dir_.Write("pods.csv",
               absl::StrCat(kPodHeader, kPodRows, "p-3,500,1024,3,1000,T4,LS,Running,7,30,8\n"));
    const ProcessResult run = RunTiny({"--mode", "replay", "--out", "out"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
  }
};

TEST_F(CliExplainTest, TellsWhyAPodWaited) {
  const std::string text = Succeed({"explain", "out", "--pod", "p-3"});
  EXPECT_THAT(text, StartsWith("pod p-3\nwants 0.5 CPUs, 1Gi of memory, 3 GPUs, GPU model T4"));
  EXPECT_THAT(text, HasSubstr("attempt 1"));
  EXPECT_EQ(Succeed({"explain", "out/ledger", "--pod=default/p-3", "--format", "text"}), text);
  EXPECT_THAT(Succeed({"explain", "--pod", "p-3", "--at", "7s", "--brief", "out"}),
              HasSubstr("\nat 7s: "));
  EXPECT_EQ(JsonAt(Succeed({"explain", "out", "--pod", "p-3", "--format", "json"}), "schema"),
            "\"drasim.explain/v1\"");
  EXPECT_THAT(Succeed({"explain", "out", "--pod", "p-3", "--format", "csv"}),
              StartsWith("seconds,until_seconds,event,attempt,last_attempt,node,summary,text\n"
                         "7,7,arrived,,,,,"));
}

TEST_F(CliExplainTest, BadUsage) {
  ExpectRefused({"explain", "out"},
                "explain needs --pod NAMESPACE/NAME, or NAME in the namespace default; the name of "
                "a gang stands for its pods");
  ExpectRefused({"explain", "--pod", "p-3"},
                "explain needs one ledger (a file or a run's folder), or --cluster FILE; found "
                "none");
  ExpectRefused({"explain", "out", "out", "--pod", "p-3"},
                "explain needs one ledger (a file or a run's folder), or --cluster FILE; found "
                "out, out");
  ExpectRefused({"explain", "out", "--pod", "p-3", "--format", "yaml"},
                "--format: found 'yaml', expected text, json or csv");
  ExpectRefused({"explain", "out", "--pod", "p-3", "--at", "soon"},
                "--at: found 'soon', expected a duration such as 5ms, 1.5s or 2h");
  ExpectRefused({"explain", "out", "--pod", "p-3", "--at="},
                "--at: found '', expected a duration such as 5ms, 1.5s or 2h");
  ExpectRefused({"explain", "out", "--pod", "p-33"},
                "--pod: no pod of out/ledger is called 'p-33' (did you mean 'p-3'?)");
  ExpectRefused({"explain", "--cluster", "nodes.yaml", "--pod", "p-3", "--at", "1s"},
                "--at is about a run; the files of --cluster show a cluster at one moment");
}

}  // namespace cli_explain_test
}  // namespace drasim
