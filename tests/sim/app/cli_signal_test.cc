// Ctrl-C and kill -9 in the middle of a run leave a ledger that opens up to its last whole record.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/record.h"
#include "sim/record/ledger_reader.h"
#include "tests/sim/app/cli_fixture.h"

namespace drasim {
namespace cli_signal_test {

class CliSignalTest : public CliTest {
 protected:
  // Starts a run into `out` that takes a while, and sends the signal once its ledger has grown.
  ProcessResult Interrupt(const std::string& out, int number) const {
    Process process(DRASIM_BINARY,
                    {"run", "--set", "workload.generated.pods=300000", "--set",
                     "cluster.nodes=2000", "--set", "output.checkpoint_every=5000", "--out", out},
                    dir_.path());
    const std::string ledger = dir_.PathOf(absl::StrCat(out, "/ledger.partial"));
    std::error_code error;
    while (true) {
      const uintmax_t size = std::filesystem::file_size(ledger, error);
      if (!error && size > 1'000'000) break;
      if (!process.Running()) {
        ADD_FAILURE() << "the run ended before it could be interrupted";
        return process.Wait();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    process.Signal(number);
    return process.Wait();
  }

  // Checks the files that such a run may leave, and reads its ledger to the end.
  void ExpectReadable(const std::string& out) const {
    EXPECT_FALSE(dir_.Has(absl::StrCat(out, "/ledger")));
    for (const char* name : {"summary.json", "run.json", "scenario.yaml", "timeseries.csv",
                             "pods.csv", "by_load.csv"}) {
      EXPECT_FALSE(dir_.Has(absl::StrCat(out, "/", name))) << name;
    }
    absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(dir_.PathOf(out));
    ASSERT_TRUE(reader.ok()) << reader.status();
    const auto checkpoints = (*reader)->ListCheckpoints();
    ASSERT_TRUE(checkpoints.ok()) << checkpoints.status();
    EXPECT_GE(checkpoints->size(), 1u);
    Record record;
    absl::StatusOr<bool> more = true;
    while (more.ok() && *more) more = (*reader)->Next(&record);
    EXPECT_EQ(more.status(), absl::OkStatus());
    EXPECT_FALSE((*reader)->complete());
    EXPECT_GE((*reader)->records(), 5000u);
    EXPECT_EQ((*reader)->cluster().CheckInvariants(), absl::OkStatus());
  }
};

TEST_F(CliSignalTest, CtrlCAndKillLeaveAReadableLedger) {
  const ProcessResult interrupted = Interrupt("interrupted", SIGINT);
  EXPECT_EQ(interrupted.exit_code, 1);
  EXPECT_EQ(interrupted.err,
            "drasim: error: stopped by a signal; `drasim run --resume --out interrupted` goes on "
            "with it\n");
  EXPECT_EQ(interrupted.out, "");
  EXPECT_EQ(dir_.List("interrupted"),
            (std::vector<std::string>{"ledger.partial", "timeseries.csv.tmp"}));
  ExpectReadable("interrupted");

  const ProcessResult killed = Interrupt("killed", SIGKILL);
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.out, "");
  ExpectReadable("killed");

  const ProcessResult terminated = Interrupt("terminated", SIGTERM);
  EXPECT_EQ(terminated.exit_code, 1);
  ExpectReadable("terminated");

  // A terminal that is closed.
  const ProcessResult hung_up = Interrupt("hung_up", SIGHUP);
  EXPECT_EQ(hung_up.exit_code, 1);
  ExpectReadable("hung_up");

  // They are beginnings of the same run.
  absl::StatusOr<std::unique_ptr<LedgerReader>> left =
      LedgerReader::Open(dir_.PathOf("interrupted"));
  absl::StatusOr<std::unique_ptr<LedgerReader>> right = LedgerReader::Open(dir_.PathOf("killed"));
  ASSERT_TRUE(left.ok() && right.ok());
  uint64_t same = 0;
  while (true) {
    Record a;
    Record b;
    const absl::StatusOr<bool> more_a = (*left)->Next(&a);
    const absl::StatusOr<bool> more_b = (*right)->Next(&b);
    ASSERT_TRUE(more_a.ok() && more_b.ok());
    if (!*more_a || !*more_b) break;
    ASSERT_TRUE(a == b) << same;
    ++same;
  }
  EXPECT_GE(same, 5000u);
}

// The folder of a killed run can be used again.
TEST_F(CliSignalTest, AKilledRunsFolderTakesTheNextRun) {
  EXPECT_EQ(Interrupt("out", SIGKILL).signal, SIGKILL);
  EXPECT_TRUE(dir_.Has("out/drasim.lock"));  // it locks nothing any more
  const ProcessResult next = RunTiny({"--out", "out"});
  EXPECT_EQ(next.exit_code, 0) << next.err;
  EXPECT_EQ(dir_.List("out"),
            (std::vector<std::string>{"by_load.csv", "ledger", "pods.csv", "run.json",
                                      "scenario.yaml", "summary.json", "timeseries.csv"}));
}

}  // namespace cli_signal_test
}  // namespace drasim
