// The cost of records: a whole fill of the embedded workload without any file, with its tables, and
// with the ledger.

#include <benchmark/benchmark.h>

#include <filesystem>
#include <memory>
#include <string>

#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "sim/run/run_outputs.h"
#include "sim/run/simulation.h"
#include "sim/scenario/resolve.h"

namespace drasim {
namespace {

enum class Recording { kNone, kTables, kTablesAndLedger };

void BM_RecordedFill(benchmark::State& state, Recording recording) {
  const std::string dir = (std::filesystem::temp_directory_path() / "drasim_record_bench").string();
  std::filesystem::create_directories(dir);
  uint64_t records = 0;
  for (auto _ : state) {
    proto::Scenario scenario;
    scenario.mutable_workload()->mutable_tuning()->set_ratio(1.3);
    scenario.mutable_output()->set_ledger(recording == Recording::kTablesAndLedger);
    const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
    DRASIM_CHECK(spec.ok());
    auto sim = *Simulation::Build(*spec);
    std::unique_ptr<RunOutputs> outputs;
    if (recording != Recording::kNone) outputs = *RunOutputs::Attach(sim.get(), dir);
    DRASIM_CHECK(sim->Start().ok());
    DRASIM_CHECK(sim->Run().ok());
    if (outputs != nullptr) DRASIM_CHECK(outputs->Complete(0).ok());
    records += sim->engine().records();
  }
  std::filesystem::remove_all(dir);
  state.SetItemsProcessed(static_cast<int64_t>(records));
}
BENCHMARK_CAPTURE(BM_RecordedFill, nothing, Recording::kNone)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_RecordedFill, tables, Recording::kTables)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_RecordedFill, tables_and_ledger, Recording::kTablesAndLedger)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim
