// Costs of writing a ledger and of seeking in it, as ratios of costs in this process: they hold on
// any machine. Bounds are at least twice the measured ratios.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "bench/micro/overloaded_run.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "model/random.h"
#include "model/record.h"
#include "sim/record/ledger_digest.h"
#include "sim/record/ledger_reader.h"
#include "sim/record/ledger_seek.h"
#include "sim/record/ledger_writer.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/temp_dir.h"
#include "tests/testing/thread_cpu.h"

namespace drasim {
namespace ledger_cost_test {

constexpr int kRepeats = 5;
constexpr int64_t kJobs = 2'000;  // 180,000 records

std::unique_ptr<Simulation> BuildRun(bool with_ledger) {
  proto::Scenario scenario =
      OverloadedRun(kJobs, "kubernetes", [](int64_t, Random&, proto::InlineJob*) {});
  scenario.mutable_output()->set_ledger(with_ledger);
  scenario.mutable_output()->set_checkpoint_every(5'000);  // more than twenty
  const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  DRASIM_CHECK(spec.ok());
  return *Simulation::Build(*spec);
}

double CostOfRun(bool with_ledger, const std::string& folder) {
  const std::unique_ptr<Simulation> sim = BuildRun(with_ledger);
  const std::unique_ptr<RunOutputs> outputs = *RunOutputs::Attach(sim.get(), folder);
  return LeastCpuSeconds(1, [&] {
    EXPECT_EQ(sim->Start(), absl::OkStatus());
    EXPECT_EQ(sim->Run(), absl::OkStatus());
    EXPECT_EQ(outputs->Complete(0), absl::OkStatus());
  });
}

double CostOfReading(const std::string& folder) {
  return LeastCpuSeconds(1, [&] {
    const absl::StatusOr<std::unique_ptr<LedgerReader>> reader = LedgerReader::Open(folder);
    ASSERT_TRUE(reader.ok()) << reader.status();
    Record record;
    while (*(*reader)->Next(&record)) {
    }
    ASSERT_GT((*reader)->records(), 150'000U);
  });
}

// Reading its records is a measure of a ledger that a faster or slower scheduler leaves alone. The
// three alternate, so that all meet the same load of the machine.
TEST(LedgerCostTest, WritingALedgerCostsAFewTimesWhatReadingDoes) {
  double with = std::numeric_limits<double>::infinity();
  double without = with;
  double reading = with;
  for (int i = 0; i < 2 * kRepeats; ++i) {
    const TempDir other;
    const TempDir dir;
    without = std::min(without, CostOfRun(/*with_ledger=*/false, other.path()));
    with = std::min(with, CostOfRun(/*with_ledger=*/true, dir.path()));
    reading = std::min(reading, CostOfReading(dir.path()));
  }
  // Seen: 0.7 to 2.7.
  EXPECT_LT((with - without) / reading, 5.5);
}

TEST(LedgerCostTest, ASeekCostsWhatAKeyframesDistanceDoes) {
  constexpr uint64_t kDistance = 20'000;
  LedgerPace pace;
  pace.records_per_keyframe = kDistance;
  const TempDir dir;
  const std::unique_ptr<Simulation> sim = BuildRun(/*with_ledger=*/false);
  const absl::StatusOr<std::unique_ptr<LedgerWriter>> writer =
      LedgerWriter::Create(dir.PathOf("ledger"), "", sim->cluster(), sim->ranks(), sim->summaries(),
                           pace, sim->Layouts());
  ASSERT_TRUE(writer.ok()) << writer.status();
  (*writer)->set_jobs(&sim->jobs());
  sim->AddSink(writer->get());
  ASSERT_EQ(sim->Start(), absl::OkStatus());
  ASSERT_EQ(sim->Run(), absl::OkStatus());
  ASSERT_EQ((*writer)->Finish(sim->fingerprint()), absl::OkStatus());

  const absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::Open(dir.PathOf("ledger"));
  ASSERT_TRUE(seek.ok()) << seek.status();
  const uint64_t records = (*seek)->index().records;
  ASSERT_GE((*seek)->index().keyframes.size(), 7u);
  const auto cost_of = [&](uint64_t from, uint64_t to) {
    double least = 0;
    for (int i = 0; i < kRepeats; ++i) {
      EXPECT_EQ((*seek)->ToRecord(from), absl::OkStatus());
      const double cost =
          LeastCpuSeconds(1, [&] { EXPECT_EQ((*seek)->ToRecord(to), absl::OkStatus()); });
      if (i == 0 || cost < least) least = cost;
    }
    return least;
  };
  // No keyframe lies between these: the records are read one by one.
  const double distance = cost_of(0, kDistance - 1);
  Random random(1, "seeks");
  for (int i = 0; i < 20; ++i) {
    const uint64_t from = random.Below(records);
    const uint64_t to = random.Below(records);
    EXPECT_LT(cost_of(from, to), 4 * distance) << "from " << from << " to " << to;
  }
}

}  // namespace ledger_cost_test
}  // namespace drasim
