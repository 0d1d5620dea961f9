// The table of 1,000,000 pods: folding, sorting to the first page, filtering, and a frame's cells.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>

#include "gui/view/pod_filter.h"
#include "gui/view/pod_table.h"
#include "gui/view/table_model.h"
#include "tests/gui/view/large_run.h"

namespace drasim::view {
namespace {

constexpr int64_t kPods = 1'000'000;

const ManyPods& Pods() {
  static const auto* const pods = new ManyPods(kPods);
  return *pods;
}

void BM_TableOfAMillionPods(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Pods().Table().rows());
}
BENCHMARK(BM_TableOfAMillionPods)->Unit(benchmark::kMillisecond);

// Until the first page of a newly sorted column can be shown.
void BM_SortToTheFirstPage(benchmark::State& state) {
  const PodTable pods = Pods().Table();
  TableModel table(&pods);
  const auto column = static_cast<size_t>(state.range(0));
  bool descending = false;
  for (auto _ : state) {
    descending = !descending;
    table.SortBy(column, descending);
    benchmark::DoNotOptimize(table.row(50));
  }
}
BENCHMARK(BM_SortToTheFirstPage)
    ->ArgName("column")
    ->Arg(PodTable::kWaits)
    ->Arg(PodTable::kName)
    ->Unit(benchmark::kMillisecond);

void BM_FilterAMillionPods(benchmark::State& state) {
  const PodTable pods = Pods().Table();
  TableModel table(&pods);
  const PodFilter filter =
      PodFilter::Parse(state.range(0) == 0 ? "state:waiting waits:>1h" : "insufficient -tries:0")
          .value();
  for (auto _ : state) {
    table.Filter([&](size_t row) { return filter.Matches(pods.Facts(row)); });
    benchmark::DoNotOptimize(table.size());
  }
}
BENCHMARK(BM_FilterAMillionPods)->ArgName("texts")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void ReadFiftyRows(const PodTable& pods, size_t first, TableModel* table) {
  for (size_t i = first; i < first + 50; ++i) {
    for (size_t c = 0; c < PodTable::kColumns; ++c) {
      benchmark::DoNotOptimize(pods.Shown(table->row(i), c).size());
    }
  }
}

// The cells of one frame, in the middle of a sorted table where nothing has changed since the frame
// before.
void BM_FrameOfFiftyRows(benchmark::State& state) {
  const PodTable pods = Pods().Table();
  TableModel table(&pods);
  table.SortBy(PodTable::kWaits, true);
  ReadFiftyRows(pods, kPods / 2, &table);
  for (auto _ : state) ReadFiftyRows(pods, kPods / 2, &table);
}
BENCHMARK(BM_FrameOfFiftyRows)->Unit(benchmark::kMicrosecond);

// The first frame after a jump to another place of a sorted table.
void BM_JumpInASortedTable(benchmark::State& state) {
  const PodTable pods = Pods().Table();
  TableModel table(&pods);
  size_t place = 0;
  for (auto _ : state) {
    if (place == 0) {
      state.PauseTiming();
      table.SortBy(PodTable::kWaits, true);
      ReadFiftyRows(pods, 0, &table);
      state.ResumeTiming();
    }
    place = (place + kPods / 97) % (kPods - 50);
    ReadFiftyRows(pods, place, &table);
    if (place < kPods / 97) place = 0;
  }
}
BENCHMARK(BM_JumpInASortedTable)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace drasim::view
