// Frames of the view models at their largest: six plots of 1,000,000 samples, and the map of
// 100,000 GPUs. Without ImGui: what it adds depends on the primitives, which a counter shows.

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gui/view/map_model.h"
#include "gui/view/plot_model.h"
#include "gui/view/pyramid.h"
#include "model/time.h"
#include "tests/gui/view/large_run.h"

namespace drasim::view {
namespace {

constexpr int64_t kSamples = 1'000'000;

double Primitives(const DrawList& list) {
  size_t count = 0;
  for (const DrawItem& item : list.items()) count += item.count;
  return static_cast<double>(count);
}

void BM_AppendToPyramid(benchmark::State& state) {
  for (auto _ : state) {
    Pyramid pyramid;
    pyramid.Reserve(kSamples);
    for (int64_t i = 0; i < kSamples; ++i) {
      pyramid.Append(SimTime(i), static_cast<double>(i % 1000));
    }
    benchmark::DoNotOptimize(pyramid.size());
  }
  state.SetItemsProcessed(state.iterations() * kSamples);
}
BENCHMARK(BM_AppendToPyramid)->Unit(benchmark::kMillisecond);

// Plots of lines, or of stacks of three, that show all samples.
struct Plots {
  std::vector<Pyramid> data;
  std::vector<std::unique_ptr<PlotModel>> models;

  Plots(size_t plots, bool stacked) {
    const size_t parts = stacked ? 3 : 1;
    data.reserve(plots * parts);
    for (size_t p = 0; p < plots; ++p) {
      PlotSpec spec;
      spec.title = absl::StrCat("plot ", p);
      spec.stacked = stacked;
      for (size_t i = 0; i < parts; ++i) {
        data.push_back(RandomWalk(kSamples, p * parts + i));
        spec.series.emplace_back();
        spec.series.back().name = absl::StrCat("series ", i);
        spec.series.back().data = &data.back();
        spec.series.back().ink = CategoryInk(ThemeOf(ThemeKind::kDark), i);
      }
      models.push_back(std::make_unique<PlotModel>(std::move(spec)));
    }
  }
};

PlotFrame WholeRun() {
  PlotFrame frame;
  frame.width = 730;
  frame.height = 150;
  frame.end = SimTime(kSamples * kSecondNs);
  return frame;
}

// Six plots whose window moves at every frame.
void BM_SixPlotsPanned(benchmark::State& state) {
  Plots plots(6, state.range(0) != 0);
  PlotFrame frame = WholeRun();
  double primitives = 0;
  for (auto _ : state) {
    frame.begin = SimTime((frame.begin.ns() + kSecondNs) % (1000 * kSecondNs));
    primitives = 0;
    for (const std::unique_ptr<PlotModel>& plot : plots.models) {
      const PlotPicture& picture = plot->Draw(frame, frame.begin);
      primitives += Primitives(picture.base);
    }
    benchmark::DoNotOptimize(primitives);
  }
  state.counters["primitives"] = primitives;
}
BENCHMARK(BM_SixPlotsPanned)->ArgName("stacked")->Arg(0)->Arg(1)->Unit(benchmark::kMicrosecond);

// Only the cursor moves, as when playing.
void BM_SixPlotsPlaying(benchmark::State& state) {
  Plots plots(6, /*stacked=*/false);
  const PlotFrame frame = WholeRun();
  int64_t second = 0;
  for (auto _ : state) {
    second = (second + 1) % kSamples;
    for (const std::unique_ptr<PlotModel>& plot : plots.models) {
      benchmark::DoNotOptimize(plot->Draw(frame, SimTime(second * kSecondNs)).legend.size());
    }
  }
}
BENCHMARK(BM_SixPlotsPlaying)->Unit(benchmark::kMicrosecond);

constexpr int kNodes = 12'500;  // of eight GPUs

// The map of 100,000 GPUs at some pixels per GPU, where a GPU changes at every frame.
void BM_MapOfAHundredThousandGpus(benchmark::State& state) {
  ClusterMapData data = LargeCluster(kNodes, 1);
  ClusterMap map(&data);
  map.Arrange(MapGrouping::kModel, MapOrder::kName, 1.6F);
  MapView view = map.Fit(1600, 1000);
  if (state.range(0) > 0) {
    view = ClusterMap::Zoomed(view, static_cast<float>(state.range(0)) / view.scale, {800, 500});
  }
  double primitives = 0;
  for (auto _ : state) {
    ++data.version;
    primitives = Primitives(map.Draw(view, nullptr));
  }
  state.counters["primitives"] = primitives;
}
BENCHMARK(BM_MapOfAHundredThousandGpus)
    ->ArgName("pixels")
    ->Arg(0)  // everything in sight
    ->Arg(2)
    ->Arg(3)
    ->Arg(10)
    ->Unit(benchmark::kMicrosecond);

void BM_MapUnchanged(benchmark::State& state) {
  ClusterMapData data = LargeCluster(kNodes, 1);
  ClusterMap map(&data);
  const MapView view = map.Fit(1600, 1000);
  for (auto _ : state) benchmark::DoNotOptimize(map.Draw(view, nullptr).items().size());
}
BENCHMARK(BM_MapUnchanged);

void BM_MapHitTest(benchmark::State& state) {
  ClusterMapData data = LargeCluster(kNodes, 1);
  ClusterMap map(&data);
  map.Arrange(MapGrouping::kModel, MapOrder::kName, 1.6F);
  const MapView view = map.Fit(1600, 1000);
  float x = 0;
  for (auto _ : state) {
    x = x < 1590 ? x + 1 : 0;
    benchmark::DoNotOptimize(map.HitTest(view, {x, x / 2}));
  }
}
BENCHMARK(BM_MapHitTest);

}  // namespace
}  // namespace drasim::view
