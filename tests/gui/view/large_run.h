// Runs at the size that the window is made for, by hand: simulating them would take minutes.
#ifndef DRASIM_TESTS_GUI_VIEW_LARGE_RUN_H_
#define DRASIM_TESTS_GUI_VIEW_LARGE_RUN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gui/session/run_overview.h"
#include "gui/session/run_snapshot.h"
#include "gui/view/map_model.h"
#include "gui/view/pod_table.h"
#include "gui/view/pyramid.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/pod_shape.h"
#include "model/random.h"
#include "model/record.h"
#include "model/shape_table.h"
#include "model/time.h"

namespace drasim {

// A random walk with a sample a second.
inline view::Pyramid RandomWalk(int64_t samples, uint64_t seed) {
  Random random(seed, "walk");
  view::Pyramid pyramid;
  pyramid.Reserve(static_cast<size_t>(samples));
  double value = 500;
  for (int64_t i = 0; i < samples; ++i) {
    value += static_cast<double>(random.Below(11)) - 5;
    if (value < 0) value = -value;
    pyramid.Append(SimTime(i * kSecondNs), value);
  }
  return pyramid;
}

// A counter with a sample a second.
inline view::Pyramid RandomCounter(int64_t samples, uint64_t seed) {
  Random random(seed, "counter");
  view::Pyramid pyramid;
  pyramid.Reserve(static_cast<size_t>(samples));
  double value = 0;
  for (int64_t i = 0; i < samples; ++i) {
    value += static_cast<double>(random.Below(3));
    pyramid.Append(SimTime(i * kSecondNs), value);
  }
  return pyramid;
}

// Nodes of eight GPUs full of instances.
inline view::ClusterMapData LargeCluster(int nodes, uint64_t seed) {
  Random random(seed, "large cluster");
  view::ClusterMapData data;
  data.profiles = {"1g.10gb", "2g.20gb", "4g.40gb"};
  for (int n = 0; n < nodes; ++n) {
    view::MapNode node;
    node.name = absl::StrCat("node-", n);
    node.model = "A100-SXM4-80GB";
    data.AddNode(node);
    for (int g = 0; g < 8; ++g) {
      std::vector<view::MapSlot> slots;
      for (uint16_t start = 0; start < 8;) {
        const auto profile = static_cast<uint16_t>(random.Below(3));
        view::MapSlot slot;
        slot.start = start;
        slot.profile = profile;
        slot.size = static_cast<uint16_t>(1 << profile);
        start = static_cast<uint16_t>(start + slot.size);
        if (start <= 8) slots.push_back(slot);
      }
      view::MapGpu gpu;
      gpu.units = 8;
      data.AddGpu(gpu, slots);
    }
  }
  data.SumUpNodes();
  return data;
}

// Pods of a hundred shapes, one a second, of which every third has failed once.
struct ManyPods {
  explicit ManyPods(int64_t count) : pods(count), shapes(&models), cluster(&models, &shapes) {
    summaries.SetReasons({"Insufficient cpu"});
    const SummaryId why = summaries.Intern({1, {{uint8_t{1}, 1U}}});
    for (int64_t i = 0; i < pods; ++i) {
      PodShape shape;
      shape.request.cpu_milli = 1000 * (i % 10 + 1);
      shape.request.gpu_count = 1;
      shape.request.gpu_milli = static_cast<int32_t>(i / 10 % 10 + 1) * 100;
      const ShapeId id = shapes.Intern(shape);
      Record record;
      record.time = SimTime(i * kSecondNs);
      record.kind = RecordKind::kPodArrived;
      record.pod = cluster.AddPod(absl::StrCat("pod-", i), id, 0, record.time);
      record.detail = id.value();
      fold.Add(record, cluster);
      if (i % 3 != 0) continue;
      record.kind = RecordKind::kAttemptFailed;
      record.detail = why.value();
      fold.Add(record, cluster);
    }
  }

  view::PodTable Table() const {
    return fold.Table(SimTime(2 * pods * kSecondNs), cluster, summaries);
  }

  const int64_t pods;
  GpuModelTable models;
  ShapeTable shapes;
  ClusterState cluster;
  VerdictSummaryTable summaries;
  view::PodFold fold;
};

struct LargeRunSize {
  int nodes = 12'500;  // of eight GPUs
  int64_t samples = 1'000'000;
  int64_t pods = 1'000'000;
};

// The data for all six plots of a run without a B.
inline std::shared_ptr<const gui::RunOverview> LargeOverview(const LargeRunSize& size) {
  auto run = std::make_shared<gui::RunOverview>();
  run->name = "large";
  run->end = SimTime(size.samples * kSecondNs);
  run->nodes = size.nodes;
  run->gpus = int64_t{8} * size.nodes;
  run->pods = size.pods;
  uint64_t seed = 0;
  for (const char* metric : {"gpu_allocated_milli", "gpu_capacity_milli", "waiting_untried",
                             "waiting_no_room", "wait_p50", "wait_p95"}) {
    run->series.push_back({metric, RandomWalk(size.samples, ++seed)});
  }
  for (const char* metric : {"pods_arrived", "pods_bound", "attempts_failed", "pods_rejected",
                             "calls:scheduler", "calls:driver"}) {
    run->series.push_back({metric, RandomCounter(size.samples, ++seed)});
  }
  return run;
}

inline std::shared_ptr<const gui::RunSnapshot> LargeSnapshot(const LargeRunSize& size,
                                                             const ManyPods& pods, uint64_t seed) {
  auto snapshot = std::make_shared<gui::RunSnapshot>();
  snapshot->map = LargeCluster(size.nodes, seed);
  snapshot->pods = pods.Table();
  snapshot->time = SimTime(size.samples / 2 * kSecondNs + static_cast<int64_t>(seed));
  return snapshot;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_GUI_VIEW_LARGE_RUN_H_
