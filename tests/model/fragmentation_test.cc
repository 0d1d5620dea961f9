#include "model/fragmentation.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/random.h"
#include "tests/testing/shared_data.h"

namespace drasim {
namespace fragmentation_test {

using Cases = std::array<double, 7>;

PodShape Shape(int64_t cpu_milli, int32_t gpu_milli, int32_t gpu_count,
               const std::string& gpu_spec) {
  PodShape shape;
  shape.request.cpu_milli = cpu_milli;
  shape.request.memory_bytes = 1;
  shape.request.gpu_count = gpu_count;
  shape.request.gpu_milli = gpu_milli;
  shape.request.gpu_spec = gpu_spec;
  return shape;
}

// A typical pod as ShapeTable would describe it.
TypicalPod Typical(ShapeTable& shapes, const PodShape& shape, double weight) {
  TypicalPod pod;
  pod.cpu_milli = shape.request.cpu_milli;
  pod.gpu_milli = shape.request.gpu_milli;
  pod.gpu_count = shape.request.gpu_count;
  pod.gpu_spec = shape.request.gpu_spec;
  pod.model_mask = shapes.row(shapes.Intern(shape)).request.model_mask;
  pod.weight = weight;
  return pod;
}

// ---- The oracle: the published rules, written down as they are stated, with no shortcut. ----

struct NaiveNode {
  int64_t cpu_milli = 0;
  std::string model;
  std::vector<int16_t> device_milli;
};

bool NaiveAccepts(const std::string& spec, const std::string& model) {
  if (spec.empty()) return true;
  const std::vector<std::string> names = absl::StrSplit(spec, '|');
  return std::find(names.begin(), names.end(), model) != names.end();
}

// Index of the case: Q1, Q2, Q3, Q4, XL, XR, NA.
size_t NaiveCase(const TypicalPod& y, const NaiveNode& node) {
  const bool enough_cpu = node.cpu_milli >= y.cpu_milli;
  if (y.gpu_milli == 0) return enough_cpu ? 4 : 5;
  if (!NaiveAccepts(y.gpu_spec, node.model)) return 6;
  int fitting = 0;
  for (const int16_t milli : node.device_milli) fitting += milli >= y.gpu_milli ? 1 : 0;
  if (fitting >= y.gpu_count) return enough_cpu ? 2 : 3;
  return enough_cpu ? 1 : 0;
}

// Idle milli by case that one typical pod makes of the node, unweighted.
std::array<int64_t, 7> NaiveParts(const TypicalPod& y, const NaiveNode& node) {
  std::array<int64_t, 7> parts{};
  int64_t idle = 0;
  int64_t too_small = 0;
  for (const int16_t milli : node.device_milli) {
    idle += milli;
    if (milli < y.gpu_milli) too_small += milli;
  }
  const size_t which = NaiveCase(y, node);
  if (which == 2) {
    parts[1] = too_small;
    parts[2] = idle - too_small;
  } else {
    parts[which] = idle;
  }
  return parts;
}

// The seven double accumulators of one node, in the order of the list.
Cases NaiveSums(const std::vector<TypicalPod>& typical, const NaiveNode& node) {
  Cases sums{};
  for (const TypicalPod& y : typical) {
    const std::array<int64_t, 7> parts = NaiveParts(y, node);
    for (size_t c = 0; c < 7; ++c) sums[c] += y.weight * static_cast<double>(parts[c]);
  }
  return sums;
}

double NaiveAmount(const Cases& sums) {
  return sums[0] + sums[1] + sums[3] + sums[4] + sums[5] + sums[6];
}

// ---- Random material ----

struct Workshop {
  explicit Workshop(uint64_t seed) : random(seed, "fragmentation_test"), shapes(&models) {
    for (const std::string& model : model_names) EXPECT_TRUE(models.Intern(model).ok());
  }

  int64_t Draw(uint64_t n) { return static_cast<int64_t>(random.Below(n)); }

  PodShape RandomShape() {
    const std::vector<std::string> specs = {"",       "",   "",         "T4", "P100|T4",
                                            "T4|T4|", "G2", "A10|P100", "B"};
    PodShape shape;
    shape.request.cpu_milli = Draw(20) * 500;
    const int64_t kind = Draw(4);
    if (kind == 0) return shape;
    shape.request.gpu_count = kind == 1 ? static_cast<int32_t>(1 + Draw(8)) : 1;
    shape.request.gpu_milli = kind == 3 ? static_cast<int32_t>(1 + Draw(1000)) : 1000;
    // Also several shares, which the published workloads do not have.
    if (kind == 2 || Draw(4) == 0)
      shape.request.gpu_milli = static_cast<int32_t>(1 + Draw(4)) * 250;
    shape.request.gpu_spec = specs[random.Below(specs.size())];
    return shape;
  }

  std::vector<TypicalPod> RandomTypical() {
    std::vector<TypicalPod> typical;
    for (int64_t n = 1 + Draw(59); n-- > 0;) {
      const PodShape shape = RandomShape();
      typical.push_back(Typical(shapes, shape, random.Unit()));
    }
    return typical;
  }

  NaiveNode RandomNode() {
    NaiveNode node;
    node.cpu_milli = Draw(20) * 500;
    node.model = model_names[random.Below(model_names.size())];
    const int64_t kind = Draw(4);
    for (int64_t n = Draw(4) == 0 ? Draw(33) : Draw(9); n-- > 0;) {
      int64_t milli = Draw(1001);
      if (kind == 0) milli = 1000;
      if (kind == 1) milli = Draw(5) * 250;
      if (kind == 2) milli = Draw(2) * 1000;
      node.device_milli.push_back(static_cast<int16_t>(milli));
    }
    return node;
  }

  GpuNodeView View(const NaiveNode& node) const {
    GpuNodeView view;
    view.cpu_milli_idle = node.cpu_milli;
    view.model_bit = uint64_t{1} << models.Find(node.model).value();
    view.device_milli_idle = absl::MakeConstSpan(node.device_milli);
    return view;
  }

  const std::vector<std::string> model_names = {"P100", "T4", "G2"};
  Random random;
  GpuModelTable models;
  ShapeTable shapes;
};

// ---- Amount and parts ----

TEST(FragCaseTest, NamesAreThoseOfTheArtifact) {
  std::vector<std::string> names;
  for (int c = 0; c < kFragCases; ++c) {
    names.push_back(std::string(FragCaseName(static_cast<FragCase>(c))));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"Q1", "Q2", "Q3", "Q4", "XL", "XR", "NA"}));
}

// One node, worked by hand. Idle: 1000 and 400 milli, 2000 milli CPU, model T4.
TEST(FragmentationModelTest, EveryCaseByHand) {
  Workshop w(1);
  NaiveNode node;
  node.cpu_milli = 2000;
  node.model = "T4";
  node.device_milli = {1000, 400};
  const auto amount = [&](const PodShape& shape) {
    return FragmentationModel({Typical(w.shapes, shape, 0.5)}).Amount(w.View(node));
  };
  EXPECT_EQ(amount(Shape(2001, 1000, 2, "")), 700.0) << "Q1";
  EXPECT_EQ(amount(Shape(2000, 1000, 2, "")), 700.0) << "Q2";
  EXPECT_EQ(amount(Shape(2000, 400, 2, "")), 0.0) << "Q3, both devices fit";
  EXPECT_EQ(amount(Shape(2000, 401, 1, "")), 200.0) << "Q3, 400 milli are too small";
  EXPECT_EQ(amount(Shape(2001, 401, 1, "")), 700.0) << "Q4";
  EXPECT_EQ(amount(Shape(2000, 0, 0, "")), 700.0) << "XL";
  EXPECT_EQ(amount(Shape(2001, 0, 0, "")), 700.0) << "XR";
  EXPECT_EQ(amount(Shape(2000, 400, 1, "P100|G2")), 700.0) << "NA";
  EXPECT_EQ(amount(Shape(2000, 400, 1, "P100|T4")), 0.0) << "accessible";
  // Each device counts once, although two copies would fit into the first.
  EXPECT_EQ(amount(Shape(2000, 500, 2, "")), 700.0) << "Q2";
}

TEST(FragmentationModelTest, PartsByHand) {
  Workshop w(1);
  NaiveNode node;
  node.cpu_milli = 2000;
  node.model = "T4";
  node.device_milli = {1000, 400};
  const FragmentationModel model({Typical(w.shapes, Shape(500, 500, 1, ""), 0.5),
                                  Typical(w.shapes, Shape(1000, 0, 0, ""), 0.25),
                                  Typical(w.shapes, Shape(4000, 1000, 2, ""), 0.25)});
  EXPECT_EQ(model.Amount(w.View(node)), 900.0);
  std::vector<int64_t> totals(21, 0);
  model.AddParts(w.View(node), 1, absl::MakeSpan(totals));
  EXPECT_EQ(totals, (std::vector<int64_t>{0,    0,    1400,  // Q1
                                          400,  0,    0,     // Q2
                                          1000, 0,    0,     // Q3
                                          0,    0,    0,     // Q4
                                          0,    1400, 0,     // XL
                                          0,    0,    0,     // XR
                                          0,    0,    0}));  // NA
  model.AddParts(w.View(node), -1, absl::MakeSpan(totals));
  EXPECT_EQ(totals, std::vector<int64_t>(21, 0));
}

TEST(FragmentationModelTest, NothingIdleOrNoTypicalPodIsNoFragment) {
  Workshop w(1);
  NaiveNode full;
  full.cpu_milli = 9000;
  full.model = "G2";
  full.device_milli = {0, 0, 0};
  const FragmentationModel model({Typical(w.shapes, Shape(1, 0, 0, ""), 1.0)});
  EXPECT_EQ(model.Amount(w.View(full)), 0.0);
  full.device_milli.clear();
  EXPECT_EQ(model.Amount(w.View(full)), 0.0);
  const FragmentationModel empty(std::vector<TypicalPod>{});
  EXPECT_EQ(empty.size(), 0U);
  EXPECT_EQ(empty.Amount(w.View(w.RandomNode())), 0.0);
}

// Bit for bit: FGD's scores turn on the last bit of these sums.
TEST(FragmentationModelTest, AmountIsTheNaiveSumBitForBit) {
  Workshop w(2);
  int with_fragments = 0;
  for (int list = 0; list < 400; ++list) {
    const std::vector<TypicalPod> typical = w.RandomTypical();
    const FragmentationModel model(typical);
    ASSERT_EQ(model.size(), typical.size());
    for (int i = 0; i < 60; ++i) {
      const NaiveNode node = w.RandomNode();
      const double want = NaiveAmount(NaiveSums(typical, node));
      ASSERT_EQ(model.Amount(w.View(node)), want) << "list " << list << " node " << i;
      if (want > 0) ++with_fragments;
    }
  }
  EXPECT_GT(with_fragments, 15000);
}

TEST(FragmentationModelTest, AmountDoesNotDependOnTheOrderOfDevices) {
  Workshop w(3);
  for (int round = 0; round < 500; ++round) {
    const FragmentationModel model(w.RandomTypical());
    NaiveNode node = w.RandomNode();
    const double amount = model.Amount(w.View(node));
    w.random.Shuffle(absl::MakeSpan(node.device_milli));
    ASSERT_EQ(model.Amount(w.View(node)), amount);
  }
}

TEST(FragmentationModelTest, PartsAreTheNaiveIntegers) {
  Workshop w(4);
  for (int list = 0; list < 200; ++list) {
    const std::vector<TypicalPod> typical = w.RandomTypical();
    const FragmentationModel model(typical);
    const size_t n = typical.size();
    std::vector<int64_t> totals(7 * n, 0);
    std::vector<int64_t> want(7 * n, 0);
    for (int i = 0; i < 20; ++i) {
      const NaiveNode node = w.RandomNode();
      const int sign = w.Draw(3) == 0 ? -1 : 1;
      model.AddParts(w.View(node), sign, absl::MakeSpan(totals));
      for (size_t t = 0; t < n; ++t) {
        const std::array<int64_t, 7> parts = NaiveParts(typical[t], node);
        for (size_t c = 0; c < 7; ++c) want[c * n + t] += sign * parts[c];
      }
      ASSERT_EQ(totals, want) << "list " << list << " node " << i;
    }
  }
}

TEST(FragmentationModelDeathTest, TotalsOfTheWrongShapeAreDefects) {
  Workshop w(1);
  const FragmentationModel model({Typical(w.shapes, Shape(1, 0, 0, ""), 1.0)});
  std::vector<int64_t> totals(6, 0);
  const NaiveNode node = w.RandomNode();
  EXPECT_DEATH(model.AddParts(w.View(node), 1, absl::MakeSpan(totals)), "CHECK failed");
}

// ---- Report and tracker ----

TEST(FragmentationReportTest, FiguresByHand) {
  FragmentationReport report;
  EXPECT_EQ(report.amount_milli(), 0.0);
  EXPECT_EQ(report.idle_milli(), 0.0);
  EXPECT_EQ(report.ratio_percent(), 0.0) << "nothing is idle";
  EXPECT_EQ(report.q124_percent(), 0.0);
  report.by_case = {1, 2, 512, 4, 8, 16, 1505};
  EXPECT_EQ(report.amount_milli(), 1536.0);
  EXPECT_EQ(report.idle_milli(), 2048.0);
  EXPECT_EQ(report.ratio_percent(), 75.0);
  EXPECT_EQ(report.q124_percent(), 100.0 * 7 / 2048);
}

// A cluster whose nodes random pods come to and leave.
struct BusyCluster {
  explicit BusyCluster(uint64_t seed) : w(seed), cluster(&w.models, &w.shapes) {
    for (int i = 0; i < 12; ++i) AddNode();
  }

  NodeId AddNode() {
    NodeSpec spec;
    spec.name = absl::StrCat("node-", cluster.node_count());
    spec.cpu_milli = w.Draw(20) * 1000;
    spec.memory_bytes = 1000;
    spec.gpu_count = static_cast<int32_t>(w.Draw(9));
    if (spec.gpu_count > 0) spec.gpu_model = w.model_names[w.random.Below(w.model_names.size())];
    return *cluster.AddNode(spec);
  }

  NodeId RandomNodeId() {
    return NodeId(static_cast<size_t>(w.random.Below(cluster.node_count())));
  }

  // Places a random pod on the node if it fits, or takes one away from somewhere. The node touched.
  NodeId Change() {
    if (!resident.empty() && w.Draw(5) == 0) {
      std::swap(resident[w.random.Below(resident.size())], resident.back());
      const PodId pod = resident.back();
      resident.pop_back();
      const NodeId node = cluster.pod_node(pod);
      cluster.Forget(pod);
      return node;
    }
    const NodeId node = RandomNodeId();
    PodShape shape = w.RandomShape();
    shape.request.gpu_spec.clear();
    DeviceSet devices;
    int32_t missing = shape.request.gpu_count;
    const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
    for (size_t d = 0; d < idle.size() && missing > 0; ++d) {
      if (idle[d] < shape.request.gpu_milli) continue;
      devices.Add(d);
      --missing;
    }
    const ShapeId id = w.shapes.Intern(shape);
    if (!cluster.CanPlace(id, node, devices)) return node;
    const PodId pod = cluster.AddPod("p", id, 0, SimTime());
    cluster.Assume(pod, node, devices);
    resident.push_back(pod);
    ++placed;
    return node;
  }

  NaiveNode Naive(NodeId id) const {
    NaiveNode node;
    node.cpu_milli = cluster.node(id).cpu_milli_idle;
    node.model = cluster.node_spec(id).gpu_model;
    const absl::Span<const int16_t> idle = cluster.device_milli_idle(id);
    node.device_milli.assign(idle.begin(), idle.end());
    return node;
  }

  // Integer idle amounts of the first `nodes` nodes, weighted at the end.
  Cases NaiveReport(const std::vector<TypicalPod>& typical, size_t nodes) const {
    std::vector<NaiveNode> shown;
    for (size_t n = 0; n < nodes; ++n) shown.push_back(Naive(NodeId(n)));
    Cases sums{};
    for (const TypicalPod& y : typical) {
      std::array<int64_t, 7> totals{};
      for (const NaiveNode& node : shown) {
        const std::array<int64_t, 7> parts = NaiveParts(y, node);
        for (size_t c = 0; c < 7; ++c) totals[c] += parts[c];
      }
      for (size_t c = 0; c < 7; ++c) sums[c] += y.weight * static_cast<double>(totals[c]);
    }
    return sums;
  }

  Workshop w;
  ClusterState cluster;
  std::vector<PodId> resident;
  int placed = 0;
};

TEST(FragmentationTrackerTest, EqualsRecomputationAfterRandomUpdates) {
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    BusyCluster b(seed);
    const std::vector<TypicalPod> typical = b.w.RandomTypical();
    const FragmentationModel model(typical);
    FragmentationTracker tracker(&model);
    for (size_t n = 0; n < b.cluster.node_count(); ++n) tracker.Update(b.cluster, NodeId(n));
    for (int step = 0; step < 400; ++step) {
      if (step % 40 == 39) {
        tracker.Update(b.cluster, b.AddNode());
      } else {
        tracker.Update(b.cluster, b.Change());
      }
      const Cases want = b.NaiveReport(typical, b.cluster.node_count());
      ASSERT_EQ(tracker.Report().by_case, want) << "seed " << seed << " step " << step;
    }
    EXPECT_GT(b.placed, 20);
  }
}

// The sum of the nodes' own amounts is the same up to rounding, and the seven cases are all that is
// idle.
TEST(FragmentationTrackerTest, AgreesWithAmountsAndWithTheClustersTotals) {
  BusyCluster b(20);
  std::vector<TypicalPod> typical = b.w.RandomTypical();
  // Without GPU, so that whatever is idle is a fragment in part.
  typical.push_back(Typical(b.w.shapes, Shape(1, 0, 0, ""), 1.0));
  double weights = 0;
  for (const TypicalPod& y : typical) weights += y.weight;
  for (TypicalPod& y : typical) y.weight /= weights;
  for (int step = 0; step < 300; ++step) b.Change();
  const FragmentationModel model(typical);
  FragmentationTracker tracker(&model);
  double amount = 0;
  for (size_t n = 0; n < b.cluster.node_count(); ++n) {
    tracker.Update(b.cluster, NodeId(n));
    amount += model.Amount(ViewOf(b.cluster, NodeId(n)));
  }
  const ClusterTotals& totals = b.cluster.totals();
  const auto idle = static_cast<double>(totals.gpu_milli_capacity - totals.gpu_milli_allocated);
  EXPECT_GT(amount, 0);
  EXPECT_NEAR(tracker.Report().amount_milli(), amount, 1e-6);
  EXPECT_NEAR(tracker.Report().idle_milli(), idle, 1e-6);
}

TEST(FragmentationTrackerTest, OrderAndRepetitionOfUpdatesChangeNoBit) {
  BusyCluster b(21);
  const std::vector<TypicalPod> typical = b.w.RandomTypical();
  const FragmentationModel model(typical);
  FragmentationTracker incremental(&model);
  for (int step = 0; step < 500; ++step) incremental.Update(b.cluster, b.Change());
  FragmentationTracker backward(&model);
  for (size_t n = b.cluster.node_count(); n-- > 0;) {
    incremental.Update(b.cluster, NodeId(n));
    backward.Update(b.cluster, NodeId(n));
    backward.Update(b.cluster, NodeId(n));
  }
  EXPECT_EQ(incremental.Report().by_case, backward.Report().by_case);
  EXPECT_EQ(backward.Report().by_case, b.NaiveReport(typical, b.cluster.node_count()));
}

TEST(FragmentationTrackerTest, CountsOnlyNodesThatItWasShown) {
  BusyCluster b(22);
  const std::vector<TypicalPod> typical = b.w.RandomTypical();
  const FragmentationModel model(typical);
  FragmentationTracker tracker(&model);
  EXPECT_EQ(tracker.Report().by_case, Cases{});
  for (size_t n = 0; n < 5; ++n) tracker.Update(b.cluster, NodeId(n));
  EXPECT_EQ(tracker.Report().by_case, b.NaiveReport(typical, 5));
}

// An idle cluster that every GPU request fits on: the fragments are the share of pods without GPU.
TEST(FragmentationTrackerTest, IdleClusterHasTheShareOfPodsWithoutGpu) {
  Workshop w(1);
  ClusterState cluster(&w.models, &w.shapes);
  const FragmentationModel model({Typical(w.shapes, Shape(4000, 1000, 1, ""), 0.5),
                                  Typical(w.shapes, Shape(4000, 0, 0, ""), 0.25),
                                  Typical(w.shapes, Shape(4000, 500, 1, ""), 0.25)});
  FragmentationTracker tracker(&model);
  for (int i = 0; i < 4; ++i) {
    NodeSpec spec;
    spec.name = absl::StrCat("n", i);
    spec.cpu_milli = 64000;
    spec.gpu_count = 2 * i;
    if (i > 0) spec.gpu_model = "T4";
    tracker.Update(cluster, *cluster.AddNode(spec));
  }
  EXPECT_EQ(tracker.Report().by_case, (Cases{0, 0, 9000, 0, 3000, 0, 0}));
  EXPECT_EQ(tracker.Report().ratio_percent(), 25.0);
  EXPECT_EQ(tracker.Report().q124_percent(), 0.0);
}

// ---- The published workload, when it is at hand (shared_data.h). ----

// The rows behind the header, plain or compressed. Empty when the file cannot be read.
std::vector<std::vector<std::string>> ReadCsv(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return rows;
  std::array<char, 1024> line;
  while (gzgets(file, line.data(), static_cast<int>(line.size())) != nullptr) {
    std::vector<std::string> fields =
        absl::StrSplit(absl::StripSuffix(absl::string_view(line.data()), "\n"), ',');
    rows.push_back(std::move(fields));
  }
  gzclose(file);
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

int64_t Number(const std::string& text) {
  int64_t value = 0;
  EXPECT_TRUE(absl::SimpleAtoi(text, &value)) << text;
  return value;
}

TEST(PublishedWorkloadTest, TypicalPodsAndIdleFragmentationOfDefault) {
  constexpr char kNodes[] = "traces/openb/openb_node_list_gpu_node.csv";
  constexpr char kPods[] = "traces/openb/openb_pod_list_default.csv.gz";
  DRASIM_NEEDS_SHARED_DATA(kNodes, kPods);
  const auto node_rows = ReadCsv(SharedPath(kNodes));
  const auto pod_rows = ReadCsv(SharedPath(kPods));
  ASSERT_EQ(node_rows.size(), 1213U);
  ASSERT_EQ(pod_rows.size(), 8152U);

  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  for (const std::vector<std::string>& row : node_rows) {
    NodeSpec spec;
    spec.name = row.at(0);
    spec.cpu_milli = Number(row.at(1));
    spec.gpu_count = static_cast<int32_t>(Number(row.at(3)));
    spec.gpu_model = row.at(4);
    ASSERT_TRUE(cluster.AddNode(spec).ok());
  }
  std::vector<int64_t> pods_by_shape;
  for (const std::vector<std::string>& row : pod_rows) {
    const auto gpus = static_cast<int32_t>(Number(row.at(3)));
    const auto milli = static_cast<int32_t>(gpus == 0 ? 0 : Number(row.at(4)));
    const PodShape shape = Shape(Number(row.at(1)), milli, gpus, gpus == 0 ? "" : row.at(5));
    const size_t id = shapes.Intern(shape).value();
    if (id == pods_by_shape.size()) pods_by_shape.push_back(0);
    ++pods_by_shape[id];
  }
  EXPECT_EQ(shapes.size(), 91U);
  const std::vector<TypicalPod> typical = BuildTypicalPods(shapes, pods_by_shape, 95);
  ASSERT_EQ(typical.size(), 35U);
  EXPECT_EQ(typical[0].cpu_milli, 3152);
  EXPECT_EQ(typical[0].gpu_milli, 810);
  // 7766 of the 8152 pods are covered: 95.26 %.
  EXPECT_EQ(typical[0].weight, (1047.0 / 8152) / (7766.0 / 8152));

  const FragmentationModel model(typical);
  FragmentationTracker tracker(&model);
  for (size_t n = 0; n < cluster.node_count(); ++n) tracker.Update(cluster, NodeId(n));
  const FragmentationReport report = tracker.Report();
  EXPECT_NEAR(report.idle_milli(), 6212000, 1e-6);
  EXPECT_NEAR(report.ratio_percent(), 13.944503415170288, 1e-9);
}

// A pod sees the GPUs that it may use; the others are out of its reach.
TEST(FragmentationTest, NodesWithSeveralModels) {
  std::vector<TypicalPod> typical(3);
  for (TypicalPod& pod : typical) {
    pod.cpu_milli = 1000;
    pod.model_mask = ~uint64_t{0};
    pod.weight = 0.25;
  }
  typical[0].gpu_count = 1;
  typical[0].gpu_milli = 1000;
  typical[0].model_mask = 1;  // model 0
  typical[0].weight = 0.5;
  typical[1].gpu_count = 1;
  typical[1].gpu_milli = 500;
  const FragmentationModel model(typical);
  const std::vector<int16_t> idle = {1000, 300, 1000};
  const std::vector<uint8_t> models = {0, 1, 1};
  GpuNodeView node;
  node.cpu_milli_idle = 2000;
  node.device_milli_idle = idle;
  node.device_models = models;
  // The first pod fits GPU 0, and cannot reach 1300. The second could not use 300. The third wants
  // no GPU.
  EXPECT_EQ(model.Amount(node), 0.5 * 1300 + 0.25 * 300 + 0.25 * 2300);
  std::vector<int64_t> totals(size_t{7} * 3);
  model.AddParts(node, 1, absl::MakeSpan(totals));
  const auto part = [&totals](FragCase which, size_t pod) {
    return totals[static_cast<size_t>(which) * 3 + pod];
  };
  EXPECT_EQ(part(FragCase::kNoAccess, 0), 1300);
  EXPECT_EQ(part(FragCase::kSatisfied, 0), 1000);
  EXPECT_EQ(part(FragCase::kLackGpu, 1), 300);
  EXPECT_EQ(part(FragCase::kSatisfied, 1), 2000);
  EXPECT_EQ(part(FragCase::kNoGpuFits, 2), 2300);
  int64_t sum = 0;
  for (const int64_t milli : totals) sum += milli;
  EXPECT_EQ(sum, 3 * 2300);
  model.AddParts(node, -1, absl::MakeSpan(totals));
  EXPECT_EQ(totals, std::vector<int64_t>(totals.size()));

  // Without CPU no pod can use anything.
  node.cpu_milli_idle = 0;
  EXPECT_EQ(model.Amount(node), 2300);

  // GPUs of one model, whichever way they are given.
  for (const uint8_t only : {uint8_t{0}, uint8_t{1}}) {
    const std::vector<uint8_t> same(3, only);
    for (const int64_t cpu : {int64_t{0}, int64_t{5000}}) {
      node.cpu_milli_idle = cpu;
      node.device_models = same;
      GpuNodeView uniform = node;
      uniform.device_models = {};
      uniform.model_bit = uint64_t{1} << only;
      EXPECT_EQ(model.Amount(node), model.Amount(uniform));
    }
  }
}

}  // namespace fragmentation_test
}  // namespace drasim
