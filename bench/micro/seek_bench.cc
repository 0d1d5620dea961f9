// The cost of looking into a finished run: opening its ledger, reading its series and its ended
// pods, and moving to random records. The run: 20,000 jobs, of which many wait, on 512 GPUs.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/micro/overloaded_run.h"
#include "bench/micro/run_folder.h"
#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "model/random.h"
#include "sim/record/ledger_seek.h"

namespace drasim {
namespace {

std::unique_ptr<LedgerSeek> OpenRun() {
  static const RunFolder folder(
      "drasim_seek_bench",
      OverloadedRun(20'000, "kubernetes", [](int64_t, Random&, proto::InlineJob*) {}));
  absl::StatusOr<std::unique_ptr<LedgerSeek>> seek = LedgerSeek::Open(folder.dir());
  DRASIM_CHECK(seek.ok());
  return *std::move(seek);
}

// To the first picture: the index, all series, and the state at the end.
void BM_OpenLedger(benchmark::State& state) {
  uint64_t records = 0;
  (void)OpenRun();
  for (auto _ : state) {
    const std::unique_ptr<LedgerSeek> seek = OpenRun();
    DRASIM_CHECK(seek->ReadSeries().ok());
    DRASIM_CHECK(seek->ToRecord(seek->index().records).ok());
    records = seek->record();
  }
  state.counters["records"] = static_cast<double>(records);
}
BENCHMARK(BM_OpenLedger)->Unit(benchmark::kMillisecond);

void BM_ReadEndedPods(benchmark::State& state) {
  const std::unique_ptr<LedgerSeek> seek = OpenRun();
  size_t rows = 0;
  for (auto _ : state) {
    rows = 0;
    for (size_t i = 0; i < seek->index().pods.size(); ++i) rows += seek->ReadPods(i)->size();
  }
  state.counters["pods"] = static_cast<double>(rows);
}
BENCHMARK(BM_ReadEndedPods)->Unit(benchmark::kMillisecond);

void BM_SeekAtRandom(benchmark::State& state) {
  const std::unique_ptr<LedgerSeek> seek = OpenRun();
  Random random(2, "seek");
  std::vector<double> milliseconds;
  for (auto _ : state) {
    const uint64_t record = random.Below(seek->index().records);
    const auto begin = std::chrono::steady_clock::now();
    DRASIM_CHECK(seek->ToRecord(record).ok());
    const std::chrono::duration<double, std::milli> taken =
        std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(taken.count());
  }
  std::sort(milliseconds.begin(), milliseconds.end());
  state.counters["p99_ms"] = milliseconds[milliseconds.size() * 99 / 100];
}
BENCHMARK(BM_SeekAtRandom)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace drasim
