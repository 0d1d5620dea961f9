// drasim report, as a user runs it. tests/gui/view has the contents of the page.
#include <filesystem>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_report_test {

class CliReportTest : public CliTest {
 protected:
  void RunOnce(const std::string& out, const std::string& policy) const {
    const ProcessResult run =
        RunTiny({"--mode", "replay", "--policy", policy, "--out", out, "--quiet"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }
};

TEST_F(CliReportTest, WritesOnePage) {
  RunOnce("a", "best-fit");
  EXPECT_EQ(Succeed({"report", "a", "--out", "a.html"}), "report on 1 run written to a.html\n");
  const std::string page = dir_.Read("a.html");
  EXPECT_TRUE(absl::StartsWith(page, "<!DOCTYPE html>\n"));
  for (const char* part : {"Key figures", "Pods waiting", "Waits", "n-1", "drasim 0.1.0"}) {
    EXPECT_TRUE(absl::StrContains(page, part)) << part;
  }
  EXPECT_FALSE(absl::StrContains(page, "<script"));
  // The file of a run and its folder are the same, on standard output, too.
  EXPECT_EQ(Succeed({"report", "a/ledger", "--out", "-"}), page);
  EXPECT_FALSE(dir_.Has("a.html.tmp"));
}

TEST_F(CliReportTest, ReportsOnAFill) {
  ASSERT_EQ(RunTiny({"--out", "fill", "--quiet"}).exit_code, 0);
  Succeed({"report", "fill", "--out", "fill.html"});
  EXPECT_TRUE(absl::StrContains(dir_.Read("fill.html"), "Over load"));
}

TEST_F(CliReportTest, ComparesAndChoosesMoments) {
  RunOnce("a", "best-fit");
  RunOnce("b", "fgd");
  EXPECT_EQ(Succeed({"report", "a", "b", "--out", "ab.html", "--at", "5s,6s", "--at=1h"}),
            "report on 2 runs written to ab.html\n");
  const std::string page = dir_.Read("ab.html");
  for (const char* part : {"A against B", "scheduler.policy", "At 5s", "At 6s", "At the end"}) {
    EXPECT_TRUE(absl::StrContains(page, part)) << part;
  }
  const std::string json = Succeed({"report", "a", "b", "--out", "ab.html", "--format", "json"});
  EXPECT_EQ(JsonAt(json, "schema"), "\"drasim.report/v1\"");
  EXPECT_EQ(JsonAt(json, "file"), "\"ab.html\"");
  EXPECT_EQ(JsonAt(json, "runs"), "2");
}

TEST_F(CliReportTest, NamesTenants) {
  dir_.Write("tenants.yaml",
             "mode: replay\n"
             "cluster: {nodes: 1, node: {cpu: \"8\", memory: 16Gi}}\n"
             "workload:\n"
             "  jobs:\n"
             "    - {name: a, tenant: vision, cpu: \"1\", run_time: 60s}\n"
             "    - {name: b, tenant: speech, cpu: \"1\", run_time: 60s}\n");
  Succeed({"run", "tenants.yaml", "--out", "t", "--quiet"});
  Succeed({"report", "t", "--out", "t.html"});
  const std::string page = dir_.Read("t.html");
  for (const char* part : {"<h2>Tenants</h2>", ">vision<", ">speech<"}) {
    EXPECT_TRUE(absl::StrContains(page, part)) << part;
  }
}

TEST_F(CliReportTest, RefusesBadInput) {
  RunOnce("a", "best-fit");
  ExpectRefused({"report", "--out", "x.html"},
                "report needs one or two ledgers (files or run folders)");
  ExpectRefused({"report", "a", "a", "a", "--out", "x.html"},
                "report needs one or two ledgers (files or run folders)");
  ExpectRefused({"report", "a"}, "report needs --out FILE.html");
  ExpectRefused(
      {"report", "none", "--out", "x.html"},
      "none: cannot open the ledger: No such file or directory; `drasim run --out DIR` writes one");
  ExpectRefused({"report", "nodes.csv", "--out", "x.html"},
                "nodes.csv: not a drasim ledger; `drasim run --out DIR` writes one");
  ExpectRefused({"report", "a", "--out", "x.html", "--at", "5s,"},
                "--at: found '', expected a duration such as 5ms, 1.5s or 2h");
  ExpectRefused({"report", "a", "--out", "a/ledger"},
                "--out a/ledger is the ledger; choose another file");
  std::string damaged = dir_.Read("a/ledger");
  damaged[30] = static_cast<char>(damaged[30] ^ 1);
  dir_.Write("damaged", damaged);
  ExpectRefused({"report", "a", "damaged", "--out", "x.html"},
                "damaged: damaged at byte 8: a frame's checksum does not match");
  EXPECT_FALSE(dir_.Has("x.html"));
}

TEST_F(CliReportTest, AFullDiskKeepsTheOlderPage) {
  RunOnce("a", "best-fit");
  dir_.Write("a.html", "older");
  const ProcessResult full =
      Process("/bin/sh",
              {"-c", absl::StrCat("ulimit -f 4; exec '", DRASIM_BINARY, "' report a --out a.html")},
              dir_.path())
          .Wait();
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(full.err, "drasim: error: a.html.tmp: cannot write: File too large\n");
  EXPECT_EQ(dir_.Read("a.html"), "older");
  EXPECT_FALSE(dir_.Has("a.html.tmp"));
}

}  // namespace cli_report_test
}  // namespace drasim
