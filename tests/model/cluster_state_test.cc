#include "model/cluster_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/check.h"
#include "model/device_grant.h"
#include "model/device_set.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "model/state_io.h"
#include "tests/testing/mig_products.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace cluster_state_test {

using Parts = std::map<uint8_t, int>;
using Counts = std::map<std::string, int>;
PodShape Shape(int64_t cpu_milli, int64_t memory_bytes, int32_t gpu_count, int32_t gpu_milli) {
  PodShape shape;
  shape.request.cpu_milli = cpu_milli;
  shape.request.memory_bytes = memory_bytes;
  shape.request.gpu_count = gpu_count;
  shape.request.gpu_milli = gpu_milli;
  return shape;
}

NodeSpec Spec(const std::string& name, int64_t cpu_milli, int64_t memory_bytes, int64_t pods,
              int32_t gpu_count) {
  NodeSpec spec;
  spec.name = name;
  spec.cpu_milli = cpu_milli;
  spec.memory_bytes = memory_bytes;
  spec.pods = pods;
  spec.gpu_count = gpu_count;
  if (gpu_count > 0) spec.gpu_model = "T4";
  return spec;
}

struct World {
  GpuModelTable models;
  ShapeTable shapes{&models};
  ClusterState cluster{&models, &shapes};

  NodeId Add(const NodeSpec& spec) {
    absl::StatusOr<NodeId> id = cluster.AddNode(spec);
    EXPECT_TRUE(id.ok()) << id.status();
    return id.ok() ? *id : NodeId();
  }
  PodId AddPod(const PodShape& shape) {
    return cluster.AddPod("pod", shapes.Intern(shape), 0, SimTime());
  }
};

std::vector<int64_t> DeviceMilli(const ClusterState& cluster, NodeId node) {
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  return std::vector<int64_t>(idle.begin(), idle.end());
}

// ---- The oracle: specs and pods alone; every column is recomputed from them. ----

struct OracleNode {
  NodeSpec spec;
  bool schedulable = true;
  uint32_t epoch = 0;
};

struct OraclePod {
  std::string name;
  ShapeId shape_id;
  PodShape shape;
  PodPhase phase = PodPhase::kPending;
  uint32_t node = 0;
  DeviceSet devices;
  int32_t priority = 0;
  int64_t arrival_ns = 0;
  bool holds() const { return phase == PodPhase::kAssumed || phase == PodPhase::kBound; }
};

struct OracleColumns {
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  int64_t pods = 0;
  std::vector<int64_t> device_milli;
  int64_t gpu_pods = 0;
  std::set<int64_t> tags;
  bool operator==(const OracleColumns&) const = default;
};

struct Oracle {
  std::vector<OracleNode> nodes;
  std::vector<OraclePod> pods;
  std::vector<uint32_t> changes;

  OracleColumns Columns(size_t n) const {
    const NodeSpec& spec = nodes[n].spec;
    OracleColumns c;
    c.cpu_milli = spec.cpu_milli;
    c.memory_bytes = spec.memory_bytes;
    c.pods = spec.pods;
    c.device_milli.assign(static_cast<size_t>(spec.gpu_count), 1000);
    for (const OraclePod& p : pods) {
      if (!p.holds() || p.node != n) continue;
      c.cpu_milli -= p.shape.request.cpu_milli;
      c.memory_bytes -= p.shape.request.memory_bytes;
      --c.pods;
      if (p.shape.request.gpu_count == 0) continue;
      for (size_t d = 0; d < c.device_milli.size(); ++d) {
        if (p.devices.Contains(d)) c.device_milli[d] -= p.shape.request.gpu_milli;
      }
      ++c.gpu_pods;
      c.tags.insert(p.shape.request.gpu_milli < 1000 ? 1 : p.shape.request.gpu_count + 1);
    }
    return c;
  }

  ClusterTotals Totals() const {
    ClusterTotals t;
    for (size_t n = 0; n < nodes.size(); ++n) {
      const NodeSpec& spec = nodes[n].spec;
      const OracleColumns c = Columns(n);
      int64_t used_milli = 0;
      for (const int64_t milli : c.device_milli) {
        used_milli += 1000 - milli;
        if (milli < 1000) ++t.gpus_in_use;
      }
      t.cpu_milli_capacity += spec.cpu_milli;
      t.memory_bytes_capacity += spec.memory_bytes;
      t.gpu_milli_capacity += 1000 * int64_t{spec.gpu_count};
      t.gpu_count += spec.gpu_count;
      t.cpu_milli_allocated += spec.cpu_milli - c.cpu_milli;
      t.memory_bytes_allocated += spec.memory_bytes - c.memory_bytes;
      t.gpu_milli_allocated += used_milli;
      if (c.cpu_milli < spec.cpu_milli || used_milli > 0) {
        ++t.nodes_in_use;
        t.gpus_on_used_nodes += spec.gpu_count;
      }
      t.pods_resident += spec.pods - c.pods;
    }
    return t;
  }

  bool Fits(const PodShape& shape, size_t n, DeviceSet devices) const {
    const OracleColumns c = Columns(n);
    int32_t named = 0;
    for (size_t d = 0; d < kMaxDevicesPerNode; ++d) {
      if (!devices.Contains(d)) continue;
      ++named;
      if (d >= c.device_milli.size() || c.device_milli[d] < shape.request.gpu_milli) return false;
    }
    return named == shape.request.gpu_count && shape.request.cpu_milli <= c.cpu_milli &&
           shape.request.memory_bytes <= c.memory_bytes && c.pods >= 1;
  }
};

void ExpectSameNode(const ClusterState& cluster, const Oracle& oracle, size_t n) {
  const OracleColumns want = oracle.Columns(n);
  const NodeRow& row = cluster.node(NodeId(n));
  int64_t idle = 0;
  int64_t largest = 0;
  int64_t full = 0;
  for (const int64_t milli : want.device_milli) {
    idle += milli;
    largest = std::max(largest, milli);
    full += milli == 1000 ? 1 : 0;
  }
  EXPECT_EQ(row.cpu_milli_idle, want.cpu_milli);
  EXPECT_EQ(row.memory_bytes_idle, want.memory_bytes);
  EXPECT_EQ(int64_t{row.pods_idle}, want.pods);
  EXPECT_EQ(DeviceMilli(cluster, NodeId(n)), want.device_milli);
  EXPECT_EQ(int64_t{row.gpu_milli_idle}, idle);
  EXPECT_EQ(int64_t{row.gpu_milli_idle_max}, largest);
  EXPECT_EQ(int64_t{row.gpu_full_idle}, full);
  EXPECT_EQ(int64_t{row.resident_gpu_pods}, want.gpu_pods);
  EXPECT_EQ(size_t{row.resident_tags}, want.tags.size());
  for (int tag = 1; tag < kAffinityTags; ++tag) {
    EXPECT_EQ(cluster.HasResidentTag(NodeId(n), tag), want.tags.count(tag) > 0) << tag;
  }
  EXPECT_EQ(row.schedulable, oracle.nodes[n].schedulable);
}

void ExpectSamePods(const ClusterState& cluster, const Oracle& oracle) {
  ASSERT_EQ(cluster.pod_count(), oracle.pods.size());
  for (size_t i = 0; i < oracle.pods.size(); ++i) {
    const OraclePod& want = oracle.pods[i];
    const PodId id(i);
    EXPECT_EQ(std::string(cluster.pod_name(id)), want.name);
    EXPECT_EQ(cluster.pod_shape_id(id), want.shape_id);
    EXPECT_EQ(cluster.pod_phase(id), want.phase);
    EXPECT_EQ(cluster.pod_node(id), want.holds() ? NodeId(want.node) : NodeId());
    EXPECT_EQ(cluster.pod_devices(id), want.devices);
    EXPECT_EQ(cluster.pod_priority(id), want.priority);
    EXPECT_EQ(cluster.pod_arrival(id), SimTime(want.arrival_ns));
  }
}

void ExpectSameColumns(const ClusterState& cluster, const Oracle& oracle) {
  ASSERT_EQ(cluster.node_count(), oracle.nodes.size());
  for (size_t n = 0; n < oracle.nodes.size(); ++n) ExpectSameNode(cluster, oracle, n);
  EXPECT_TRUE(cluster.totals() == oracle.Totals());
}

// Epochs, and every change that the log still has.
void ExpectSameChanges(const ClusterState& cluster, const Oracle& oracle) {
  for (size_t n = 0; n < oracle.nodes.size(); ++n) {
    EXPECT_EQ(cluster.node_epoch(NodeId(n)), oracle.nodes[n].epoch);
  }
  ASSERT_EQ(cluster.change_count(), oracle.changes.size());
  const uint64_t count = cluster.change_count();
  ASSERT_GE(cluster.change_window(), std::min<uint64_t>(count, 2 * cluster.node_count()));
  for (uint64_t k = count - std::min(count, cluster.change_window()); k < count; ++k) {
    ASSERT_EQ(cluster.changed_node(k), NodeId(oracle.changes[k])) << k;
  }
}

void ExpectSame(const ClusterState& cluster, const Oracle& oracle) {
  ExpectSameColumns(cluster, oracle);
  ExpectSamePods(cluster, oracle);
  ExpectSameChanges(cluster, oracle);
  const absl::Status consistent = cluster.CheckInvariants();
  EXPECT_TRUE(consistent.ok()) << consistent;
}

// ---- Random transitions, in the cluster and in the oracle at once ----

class RandomRun {
 public:
  RandomRun(uint64_t seed, size_t nodes) : random_(seed, "cluster_state_test") {
    for (const PodShape& shape :
         {Shape(0, 0, 0, 0), Shape(0, 7, 0, 0), Shape(500, 1, 0, 0), Shape(1500, 3, 0, 0),
          Shape(100, 1, 1, 1), Shape(200, 1, 1, 250), Shape(0, 0, 1, 500), Shape(300, 2, 1, 999),
          Shape(500, 2, 1, 1000), Shape(500, 2, 2, 1000), Shape(500, 2, 4, 1000),
          Shape(100, 0, 2, 300)}) {
      palette_.push_back(world_.shapes.Intern(shape));
    }
    for (size_t n = 0; n < nodes; ++n) AddNode();
  }

  World& world() { return world_; }
  Oracle& oracle() { return oracle_; }
  int transitions() const { return transitions_; }

  void AddNode() {
    const size_t n = oracle_.nodes.size();
    const std::vector<int64_t> size = {Draw(9), Draw(9), Draw(9), Draw(9)};  // drawn in order
    OracleNode node;
    node.spec = Spec(absl::StrCat("node-", n), size[0] * 1000, size[1] * 5, size[2],
                     static_cast<int32_t>(size[3]));
    node.spec.unschedulable = Draw(4) == 0;
    node.schedulable = !node.spec.unschedulable;
    oracle_.nodes.push_back(node);
    Touch(n);
    EXPECT_EQ(world_.Add(node.spec), NodeId(n));
  }

  // Anything that can happen to a cluster, but for new nodes.
  void Step() {
    const int64_t what = Draw(100);
    if (what < 30) {
      Arrive();
    } else if (what < 33) {
      const auto n = static_cast<size_t>(random_.Below(oracle_.nodes.size()));
      oracle_.nodes[n].schedulable = Draw(2) == 0;
      Touch(n);
      world_.cluster.SetSchedulable(NodeId(n), oracle_.nodes[n].schedulable);
    } else {
      Transition();
    }
  }

  // One of the named transitions of a pod, if there is a pod for it.
  void Transition() {
    const int64_t what = Draw(100);
    size_t p = 0;
    if (what < 50) {
      if (Pick(PodPhase::kPending, &p)) Place(p);
    } else if (what < 70) {
      if (!Pick(PodPhase::kAssumed, &p)) return;
      world_.cluster.Bind(PodId(p));
      oracle_.pods[p].phase = PodPhase::kBound;
      ++transitions_;
    } else if (what < 75) {
      if (!Pick(PodPhase::kAssumed, &p)) return;
      world_.cluster.Forget(PodId(p));
      Release(p, PodPhase::kPending);
    } else if (what < 90) {
      if (!Pick(PodPhase::kBound, &p)) return;
      world_.cluster.Finish(PodId(p));
      Release(p, PodPhase::kSucceeded);
    } else if (Pick(PodPhase::kPending, &p)) {
      world_.cluster.Drop(PodId(p));
      oracle_.pods[p].phase = PodPhase::kDropped;
      ++transitions_;
    }
  }

  // Rolls back to what the oracle was at BeginWhatIf. How many changes that logs is up to the
  // cluster, but every node that had other columns must be among them, and epochs must count them.
  void Rollback(Oracle before) {
    const Oracle inside = std::exchange(oracle_, std::move(before));
    world_.cluster.Rollback();
    oracle_.nodes = inside.nodes;  // transitions change nothing of a node but its epoch
    oracle_.changes = inside.changes;
    for (uint64_t k = inside.changes.size(); k < world_.cluster.change_count(); ++k) {
      Touch(world_.cluster.changed_node(k).value());
    }
    for (size_t n = 0; n < inside.nodes.size(); ++n) {
      EXPECT_TRUE(oracle_.nodes[n].epoch > inside.nodes[n].epoch ||
                  oracle_.Columns(n) == inside.Columns(n));
    }
  }

 private:
  int64_t Draw(uint64_t n) { return static_cast<int64_t>(random_.Below(n)); }

  void Touch(size_t n) {
    ++oracle_.nodes[n].epoch;
    oracle_.changes.push_back(static_cast<uint32_t>(n));
  }

  bool Pick(PodPhase phase, size_t* pod) {
    std::vector<size_t> found;
    for (size_t i = 0; i < oracle_.pods.size(); ++i) {
      if (oracle_.pods[i].phase == phase) found.push_back(i);
    }
    if (found.empty()) return false;
    *pod = found[random_.Below(found.size())];
    return true;
  }

  void Arrive() {
    OraclePod pod;
    const auto letter = static_cast<char>('a' + Draw(26));
    pod.name = std::string(random_.Below(6), letter);
    pod.shape_id = palette_[random_.Below(palette_.size())];
    pod.shape = world_.shapes.row(pod.shape_id);
    pod.priority = static_cast<int32_t>(Draw(2001) - 1000);
    pod.arrival_ns = Draw(uint64_t{1} << 60) - (int64_t{1} << 59);
    oracle_.pods.push_back(pod);
    EXPECT_EQ(world_.cluster.AddPod(pod.name, pod.shape_id, pod.priority, SimTime(pod.arrival_ns)),
              PodId(oracle_.pods.size() - 1));
  }

  // Devices with room for the pod, or any at all.
  DeviceSet RandomDevices(const PodShape& shape, size_t n) {
    if (Draw(4) == 0) return DeviceSet::FromBits(random_.Below(1 << 10));
    std::vector<size_t> fit;
    const OracleColumns c = oracle_.Columns(n);
    for (size_t d = 0; d < c.device_milli.size(); ++d) {
      if (c.device_milli[d] >= shape.request.gpu_milli) fit.push_back(d);
    }
    random_.Shuffle(absl::MakeSpan(fit));
    DeviceSet devices;
    for (size_t i = 0; i < fit.size() && i < static_cast<size_t>(shape.request.gpu_count); ++i) {
      devices.Add(fit[i]);
    }
    return devices;
  }

  void Place(size_t p) {
    OraclePod& pod = oracle_.pods[p];
    const auto n = static_cast<size_t>(random_.Below(oracle_.nodes.size()));
    const DeviceSet devices = RandomDevices(pod.shape, n);
    const bool fits = oracle_.Fits(pod.shape, n, devices);
    EXPECT_EQ(world_.cluster.CanPlace(pod.shape_id, NodeId(n), devices), fits);
    if (!fits) return;
    world_.cluster.Assume(PodId(p), NodeId(n), devices);
    pod.phase = PodPhase::kAssumed;
    pod.node = static_cast<uint32_t>(n);
    pod.devices = devices;
    Touch(n);
    ++transitions_;
  }

  void Release(size_t p, PodPhase phase) {
    OraclePod& pod = oracle_.pods[p];
    Touch(pod.node);
    pod.phase = phase;
    pod.node = 0;
    pod.devices = DeviceSet();
    ++transitions_;
  }

  World world_;
  Oracle oracle_;
  Random random_;
  std::vector<ShapeId> palette_;
  int transitions_ = 0;
};

TEST(ClusterStateRandomTest, SmallClustersMatchTheOracleAtEveryStep) {
  for (uint64_t seed = 1; seed <= SoakSeeds(4); ++seed) {
    RandomRun run(seed, 3);
    for (int step = 0; step < 900; ++step) {
      if (step % 150 == 149) run.AddNode();
      run.Step();
      ExpectSame(run.world().cluster, run.oracle());
      ASSERT_FALSE(::testing::Test::HasFailure()) << "seed " << seed << " step " << step;
    }
    EXPECT_GT(run.transitions(), 40);
  }
}

// Far more changes than the log keeps.
TEST(ClusterStateRandomTest, ALargerClusterMatchesTheOracleInTheEnd) {
  RandomRun run(9, 60);
  for (int step = 0; step < 20000; ++step) {
    run.Step();
    if (step % 5000 == 4999) ExpectSame(run.world().cluster, run.oracle());
  }
  EXPECT_GT(run.world().cluster.change_count(), 2 * run.world().cluster.change_window());
}

TEST(ClusterStateRandomTest, RollbackRestoresEveryColumn) {
  RandomRun run(10, 5);
  int inside = 0;
  for (int round = 0; round < 400; ++round) {
    for (int step = 0; step < 5; ++step) run.Step();
    const Oracle before = run.oracle();
    const int transitions = run.transitions();
    run.world().cluster.BeginWhatIf();
    for (int step = round % 40; step > 0; --step) run.Transition();
    ExpectSameColumns(run.world().cluster, run.oracle());
    inside += run.transitions() - transitions;
    run.Rollback(before);
    ExpectSame(run.world().cluster, run.oracle());
    ASSERT_FALSE(::testing::Test::HasFailure()) << "round " << round;
  }
  EXPECT_GT(inside, 400);
}

// ---- Single steps ----

TEST(ClusterStateTest, AddNodeFillsTheRow) {
  World w;
  NodeSpec spec = Spec("a", 64000, 500, 110, 2);
  spec.unschedulable = true;
  spec.taints.push_back({"gpu", "yes", "NoSchedule"});
  const NodeId a = w.Add(spec);
  const NodeId b = w.Add(Spec("b", 96000, 7, int64_t{1} << 40, 0));
  EXPECT_FALSE(w.cluster.node(a).schedulable);
  EXPECT_TRUE(w.cluster.node(a).has_taints);
  EXPECT_EQ(w.cluster.node(a).model, w.models.Find("T4").value());
  EXPECT_EQ(w.cluster.node(b).model, 0xff);
  EXPECT_EQ(w.cluster.node(b).pods_idle, 2147483647);
  EXPECT_EQ(w.cluster.node_cpu_milli_max(), 96000);
  EXPECT_EQ(w.cluster.node_gpu_count_max(), 2);
}

TEST(ClusterStateTest, AddNodeRefusesImpossibleNodesAndTakesTheLargest) {
  World w;
  w.Add(Spec("taken", 1, 1, 1, 1));
  for (const NodeSpec& spec :
       {Spec("", 1, 1, 1, 1), Spec("taken", 1, 1, 1, 1), Spec("n", -1, 1, 1, 1),
        Spec("n", 1, -1, 1, 1), Spec("n", 1, 1, -1, 1), Spec("n", 1, 1, 1, -1),
        Spec("n", 1, 1, 1, kMaxDevicesPerNode + 1)}) {
    EXPECT_EQ(w.cluster.AddNode(spec).status().code(), absl::StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(w.cluster.node_count(), 1U);
  EXPECT_EQ(w.cluster.change_count(), 1U);
  EXPECT_EQ(w.cluster.totals().cpu_milli_capacity, 1);
  const NodeId largest = w.Add(Spec("n", 1, 1, 1, kMaxDevicesPerNode));
  w.cluster.Assume(w.AddPod(Shape(0, 0, kMaxDevicesPerNode, 1000)), largest, DeviceSet::All());
  EXPECT_EQ(w.cluster.node(largest).resident_tags, 1);
  EXPECT_TRUE(w.cluster.HasResidentTag(largest, kAffinityTags - 1));
  EXPECT_EQ(w.cluster.node(largest).gpu_milli_idle, 0);
  EXPECT_TRUE(w.cluster.CheckInvariants().ok());
}

TEST(ClusterStateTest, ANodeThatWasRefusedLeavesNothingBehind) {
  World w;
  for (int i = 0; i < 64; ++i) ASSERT_TRUE(w.models.Intern(absl::StrCat("m", i)).ok());
  EXPECT_FALSE(w.cluster.AddNode(Spec("n", 5, 5, 5, 1)).ok()) << "model 65";
  EXPECT_EQ(w.cluster.node_count(), 0U);
  EXPECT_TRUE(w.cluster.totals() == ClusterTotals());
  EXPECT_EQ(w.Add(Spec("n", 5, 5, 5, 0)), NodeId(0U));
}

TEST(ClusterStateTest, OneLifeOfAPod) {
  World w;
  const NodeId node = w.Add(Spec("n", 8000, 100, 3, 2));
  const PodId pod = w.AddPod(Shape(3000, 40, 1, 600));
  const ClusterTotals empty = w.cluster.totals();
  ClusterTotals want = empty;
  want.cpu_milli_allocated = 3000;
  want.memory_bytes_allocated = 40;
  want.gpu_milli_allocated = 600;
  want.gpus_in_use = 1;
  want.nodes_in_use = 1;
  want.gpus_on_used_nodes = 2;
  want.pods_resident = 1;
  w.cluster.Assume(pod, node, DeviceSet::Of(1));
  EXPECT_TRUE(w.cluster.totals() == want);
  EXPECT_EQ(DeviceMilli(w.cluster, node), (std::vector<int64_t>{1000, 400}));
  w.cluster.Bind(pod);
  EXPECT_TRUE(w.cluster.totals() == want);
  EXPECT_EQ(w.cluster.change_count(), 2U) << "binding changes no column of the node";
  w.cluster.Finish(pod);
  EXPECT_TRUE(w.cluster.totals() == empty);
}

TEST(ClusterStateDeathTest, TransitionsCheckThePhaseAndTheRoom) {
  World w;
  const NodeId node = w.Add(Spec("n", 1000, 10, 3, 2));
  const PodId bound = w.AddPod(Shape(100, 1, 1, 600));
  const PodId assumed = w.AddPod(Shape(100, 1, 1, 600));
  w.cluster.Assume(bound, node, DeviceSet::Of(0));
  w.cluster.Bind(bound);
  w.cluster.Assume(assumed, node, DeviceSet::Of(1));
  const PodId pending = w.AddPod(Shape(100, 1, 1, 400));
  EXPECT_DEATH(w.cluster.Assume(assumed, node, DeviceSet::Of(1)), "CHECK failed");
  EXPECT_DEATH(w.cluster.Bind(pending), "CHECK failed");
  EXPECT_DEATH(w.cluster.Forget(bound), "CHECK failed");
  EXPECT_DEATH(w.cluster.Finish(assumed), "CHECK failed");
  EXPECT_DEATH(w.cluster.Drop(assumed), "CHECK failed");
  EXPECT_DEATH(w.cluster.Assume(pending, node, DeviceSet()), "CHECK failed") << "too few devices";
  EXPECT_DEATH(w.cluster.Assume(pending, node, DeviceSet::FirstN(2)), "CHECK failed")
      << "too many devices";
  EXPECT_DEATH(w.cluster.Assume(pending, node, DeviceSet::Of(2)), "CHECK failed")
      << "no such device";
  EXPECT_DEATH(w.cluster.Assume(w.AddPod(Shape(1, 1, 1, 401)), node, DeviceSet::Of(0)),
               "CHECK failed");
  EXPECT_DEATH(w.cluster.Assume(w.AddPod(Shape(801, 1, 0, 0)), node, DeviceSet()), "CHECK failed");
  EXPECT_DEATH(w.cluster.Assume(w.AddPod(Shape(1, 9, 0, 0)), node, DeviceSet()), "CHECK failed");
  EXPECT_DEATH(w.cluster.Rollback(), "CHECK failed");
  w.cluster.Assume(pending, node, DeviceSet::Of(0));
  EXPECT_DEATH(w.cluster.Assume(w.AddPod(Shape(0, 0, 0, 0)), node, DeviceSet()), "CHECK failed");
  EXPECT_DEATH(w.cluster.KeepWhatIf(), "CHECK failed");
  EXPECT_DEATH(w.cluster.SetAvailable(node, false), "CHECK failed") << "it has pods";
}

// A reader looks every change of the window up, also right after the log has grown.
TEST(ChangeLogTest, HoldsWhatTheWindowPromisesWhenItGrows) {
  World w;
  for (int i = 0; i < 3; ++i) w.Add(Spec(absl::StrCat("n", i), 1, 1, 1, 0));
  std::vector<uint32_t> changes = {0, 1, 2};
  while (changes.size() < 5000) {
    changes.push_back(changes.size() % 2 == 0 ? 1U : 2U);
    w.cluster.SetSchedulable(NodeId(changes.back()), true);
  }
  for (uint32_t n = 3; n < 1200; ++n) {
    w.Add(Spec(absl::StrCat("n", n), 1, 1, 1, 0));
    changes.push_back(n);
    const uint64_t window = w.cluster.change_window();
    ASSERT_EQ(w.cluster.change_count(), changes.size());
    ASSERT_GE(window, 1000U);
    ASSERT_LT(window, 5000U) << "the oldest changes are gone";
    for (uint64_t k = changes.size() - window; k < changes.size(); ++k) {
      ASSERT_EQ(w.cluster.changed_node(k), NodeId(changes[k])) << k;
    }
  }
}

// ---- Save and Load ----

std::string Saved(const ClusterState& cluster) {
  StateWriter out;
  cluster.Save(out);
  return out.Release();
}

// The bytes loaded into a new cluster of the run's nodes. A loaded state must be consistent.
struct Reloaded {
  Reloaded(RandomRun& run, const std::string& bytes) : cluster(&models, &run.world().shapes) {
    for (const OracleNode& n : run.oracle().nodes) EXPECT_TRUE(cluster.AddNode(n.spec).ok());
    StateReader in(bytes);
    status = cluster.Load(in);
    EXPECT_TRUE(!status.ok() || cluster.CheckInvariants().ok());
  }
  GpuModelTable models;
  ClusterState cluster;
  absl::Status status;
};

TEST(ClusterStateSaveTest, RoundTripKeepsEveryColumn) {
  for (uint64_t seed = 20; seed < 20 + SoakSeeds(10); ++seed) {
    RandomRun run(seed, 6);
    for (int step = 0; step < 400; ++step) run.Step();
    const std::string bytes = Saved(run.world().cluster);
    const Reloaded loaded(run, bytes);
    ASSERT_TRUE(loaded.status.ok()) << loaded.status;
    ExpectSameColumns(loaded.cluster, run.oracle());
    ExpectSamePods(loaded.cluster, run.oracle());
    EXPECT_EQ(Saved(loaded.cluster), bytes);
  }
}

TEST(ClusterStateSaveTest, DamagedBytesGiveErrorsOrAConsistentState) {
  RandomRun run(30, 4);
  for (int step = 0; step < 120; ++step) run.Step();
  const std::string bytes = Saved(run.world().cluster);
  for (size_t length = 0; length < bytes.size(); ++length) {
    const Reloaded loaded(run, bytes.substr(0, length));
    EXPECT_EQ(loaded.status.code(), absl::StatusCode::kDataLoss) << length;
  }
  int refused = 0;
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    if (!Reloaded(run, damaged).status.ok()) ++refused;
  }
  EXPECT_GT(refused, 100);
}

// ---- Devices in the cluster's columns: MIG instances, replicas, shared instances and whole GPUs,
// named by the scheduler or given by the node, taken back, saved and loaded; and a naive model in
// step. ----

constexpr char kDevice[] = "example.com/device";

// T4 has no MIG, A100 and A30 have.
struct DeviceWorld {
  DeviceWorld() {
    for (const char* const name : {"T4", "A100", "A30"}) DRASIM_CHECK(models.Intern(name).ok());
    models.SetMig(models.Find("A100"), &a100);
    models.SetMig(models.Find("A30"), &a30);
  }

  // A node that reports `devices` of example.com/device.
  NodeId AddNode(const std::string& name, const std::string& model, int32_t gpus,
                 int64_t devices = 8) {
    NodeSpec spec;
    spec.name = name;
    spec.cpu_milli = 100'000;
    spec.gpu_count = gpus;
    if (gpus > 0) spec.gpu_model = model;
    spec.extended = {{kDevice, devices}};
    const absl::StatusOr<NodeId> id = cluster.AddNode(spec);
    DRASIM_CHECK(id.ok());
    return *id;
  }
  PodId AddPod(const PodShape& shape) {
    return cluster.AddPod(absl::StrCat("pod-", cluster.pod_count()), shapes.Intern(shape), 0,
                          SimTime());
  }
  // A new pod of the shape that runs there, on what the scheduler names.
  PodId Run(const PodShape& shape, NodeId node, DeviceSet devices,
            const DeviceGrants& grants = {}) {
    const PodId pod = AddPod(shape);
    cluster.Assume(pod, node, devices, grants);
    cluster.Bind(pod);
    return pod;
  }

  MigTable a100 = TestTable(TestA100());
  MigTable a30 = TestTable(TestA30());
  GpuModelTable models;
  ShapeTable shapes{&models};
  ClusterState cluster{&models, &shapes};
};

PodShape Gpus(int32_t count, int32_t milli) {
  PodShape shape;
  shape.request.cpu_milli = 500;
  shape.request.gpu_count = count;
  shape.request.gpu_milli = milli;
  return shape;
}

PodShape Mig(std::vector<std::pair<std::string, int32_t>> instances, int64_t nominal_milli) {
  PodShape shape = Gpus(0, 0);
  shape.request.mig = std::move(instances);
  shape.request.nominal_milli = nominal_milli;
  return shape;
}

PodShape Counted(int64_t devices, int64_t nominal_milli) {
  PodShape shape = Gpus(0, 0);
  shape.request.extended = {{kDevice, devices}};
  shape.request.nominal_milli = nominal_milli;
  return shape;
}

int WholeOf(const MigTable& table, size_t placement) {
  const MigProfile& profile = table.profiles()[table.placements()[placement].profile];
  return 1000 * profile.size / table.product().units;
}

// One of `parts` equal parts of an instance.
DeviceGrant Instance(const MigTable& table, uint8_t gpu, absl::string_view profile, int32_t start,
                     int parts = 1) {
  const int known = table.FindProfile(profile);
  DRASIM_CHECK_GE(known, 0);
  const int placement = table.FindPlacement(static_cast<size_t>(known), start);
  DRASIM_CHECK_GE(placement, 0);
  const int whole = WholeOf(table, static_cast<size_t>(placement));
  return {gpu, static_cast<uint8_t>(placement), static_cast<int16_t>(whole / parts)};
}

DeviceGrant Plain(uint8_t gpu, int16_t milli) { return {gpu, kNoPlacement, milli}; }

std::vector<int> Idle(const ClusterState& cluster, NodeId node) {
  const absl::Span<const int16_t> idle = cluster.device_milli_idle(node);
  return std::vector<int>(idle.begin(), idle.end());
}

// A text of the whole state: idle amounts of nodes, their pods, and the devices of each pod.
std::string Text(const ClusterState& c) {
  std::string text;
  for (size_t n = 0; n < c.node_count(); ++n) {
    const NodeId id(n);
    const NodeRow& row = c.node(id);
    absl::StrAppend(&text, "cpu ", row.cpu_milli_idle, " gpu ", row.gpu_milli_idle, " max ",
                    int{row.gpu_milli_idle_max}, " full ", int{row.gpu_full_idle}, " idle ",
                    absl::StrJoin(Idle(c, id), ","), " device ", c.extended_idle(id, 0));
    if (c.any_mig() && c.mig_table(id) != nullptr) {
      absl::StrAppend(&text, " mig ", absl::StrJoin(c.device_mig(id), ","), " usable ",
                      c.mig_usable(id).bits());
    }
    for (const PodId pod : c.pods_on(id)) absl::StrAppend(&text, " pod ", pod.value());
    absl::StrAppend(&text, "\n");
  }
  for (size_t p = 0; p < c.pod_count(); ++p) {
    const PodId pod(p);
    absl::StrAppend(&text, static_cast<int>(c.pod_phase(pod)), " ", c.pod_node(pod).value(), " ",
                    c.pod_devices(pod).bits());
    for (const DeviceGrant& g : c.pod_grants(pod)) {
      absl::StrAppend(&text, " ", int{g.device}, ":", int{g.placement}, ":", int{g.milli});
    }
    absl::StrAppend(&text, "\n");
  }
  const ClusterTotals& t = c.totals();
  return absl::StrCat(text, t.gpu_milli_allocated, " ", t.gpus_in_use, " ", t.nodes_in_use, "\n");
}

// ---- Cases by hand ----

TEST(ClusterDevicesTest, NodesWithManyGpusAndWithoutMig) {
  DeviceWorld world;
  const NodeId many = world.AddNode("many", "A100", kMaxDevicesPerNode);
  const NodeId plain = world.AddNode("plain", "T4", 2);
  const NodeId cpu = world.AddNode("cpu", "", 0);
  ClusterState& c = world.cluster;
  const DeviceSet last = DeviceSet::Of(kMaxDevicesPerNode - 1);
  world.Run(Gpus(1, 300), many, last);
  EXPECT_EQ(c.mig_usable(many), DeviceSet::All() - last);
  const DeviceGrants grants = {Instance(world.a100, 0, "1g.10gb", 0)};
  EXPECT_TRUE(c.CanGrant(many, DeviceSet::Of(0), grants));
  for (const NodeId node : {plain, cpu}) {
    EXPECT_EQ(c.mig_table(node), nullptr);
    EXPECT_EQ(c.mig_usable(node), DeviceSet());
    EXPECT_FALSE(c.CanGrant(node, DeviceSet::Of(0), grants));
    EXPECT_TRUE(c.CanGrant(node, DeviceSet(), {}));
  }
}

TEST(ClusterDevicesTest, ProfilesOfAShapeByModel) {
  DeviceWorld world;
  world.AddNode("a", "A100", 1);
  const auto profiles = [&world](const PodShape& shape, const std::string& model) {
    const auto id = static_cast<uint8_t>(world.models.Find(model).value());
    const ShapeId shape_id = world.cluster.pod_shape_id(world.AddPod(shape));
    const absl::Span<const uint8_t> found = world.cluster.mig_profiles(shape_id, id);
    return std::vector<int>(found.begin(), found.end());
  };
  const int one = world.a100.FindProfile("1g.10gb");
  const int three = world.a100.FindProfile("3g.40gb");
  const PodShape several = Mig({{"1g.10gb", 2}, {"3g.40gb", 1}}, 750);
  EXPECT_EQ(profiles(several, "A100"), (std::vector<int>{one, one, three}));
  EXPECT_EQ(profiles(several, "A30"), std::vector<int>());
  EXPECT_EQ(profiles(Mig({{"1g.6gb", 1}}, 250), "A30"),
            std::vector<int>{world.a30.FindProfile("1g.6gb")});
  // As another driver prints it.
  EXPECT_EQ(profiles(Mig({{"3g.39gb", 1}}, 500), "A100"), std::vector<int>{three});
  // A model that has one of two profiles serves neither.
  const PodShape mixed = Mig({{"1g.10gb", 1}, {"1g.6gb", 1}}, 250);
  for (const char* const model : {"T4", "A100", "A30"}) {
    EXPECT_EQ(profiles(mixed, model), std::vector<int>()) << model;
    EXPECT_EQ(profiles(Gpus(1, 1000), model), std::vector<int>()) << model;
  }
  EXPECT_TRUE(world.cluster.mig_profiles(ShapeId(size_t{0}), 0xff).empty());
}

TEST(ClusterDevicesTest, ANodeGivesDevicesToABoundPod) {
  DeviceWorld world;
  const NodeId node = world.AddNode("a", "A100", 2);
  ClusterState& c = world.cluster;
  const PodId pod = world.Run(Counted(1, 1000), node, DeviceSet());
  const uint64_t changes = c.change_count();
  c.Grant(pod, DeviceSet(), {});
  EXPECT_EQ(c.change_count(), changes);
  c.Grant(pod, DeviceSet::Of(1), DeviceGrants{Plain(1, 1000)});
  EXPECT_EQ(c.change_count(), changes + 1);
  EXPECT_EQ(c.changed_node(changes), node);
  EXPECT_EQ(Idle(c, node), (std::vector<int>{1000, 0}));
  EXPECT_EQ(c.pod_devices(pod), DeviceSet::Of(1));
  EXPECT_EQ(c.totals().gpu_milli_allocated, 1000);  // counted when the pod came
  c.Evict(pod);
  EXPECT_TRUE(c.pod_grants(pod).empty());
}

TEST(ClusterDevicesTest, ASharedInstanceComesWithTheFirstAndGoesWithTheLast) {
  DeviceWorld world;
  const NodeId node = world.AddNode("a", "A100", 1);
  ClusterState& c = world.cluster;
  const DeviceGrants half = {Instance(world.a100, 0, "3g.40gb", 0, 2)};
  const PodId first = world.Run(Counted(1, 250), node, DeviceSet());
  const PodId second = world.Run(Counted(1, 250), node, DeviceSet());
  c.Grant(first, DeviceSet::Of(0), half);
  c.Grant(second, DeviceSet::Of(0), half);
  EXPECT_FALSE(c.CanGrant(node, DeviceSet::Of(0), half));
  c.Finish(first);
  EXPECT_EQ(c.device_mig(node)[0], TestState(world.a100, {{"3g.40gb", 0}}));
  c.Finish(second);
  EXPECT_EQ(c.device_mig(node)[0], 0);
}

// As preemption does it: victims are taken away, and those in nobody's way are put back.
TEST(ClusterDevicesTest, WhatWasGivenIsThereAgainAfterARollback) {
  for (const bool whole : {true, false}) {
    DeviceWorld world;
    const NodeId node = world.AddNode("a", "A100", 2);
    ClusterState& c = world.cluster;
    const DeviceGrants grants = {whole ? Plain(0, 1000) : Instance(world.a100, 0, "3g.40gb", 4)};
    const PodId pod = world.Run(Counted(1, 1000), node, DeviceSet());
    const std::string without = Text(c);
    c.BeginWhatIf();
    c.Grant(pod, DeviceSet::Of(0), grants);
    c.Rollback();
    ASSERT_EQ(Text(c), without);
    ASSERT_EQ(c.CheckInvariants(), absl::OkStatus());
    c.Grant(pod, DeviceSet::Of(0), grants);
    const std::string before = Text(c);
    c.BeginWhatIf();
    c.Evict(pod);
    c.PutBack(pod, node, DeviceSet::Of(0), grants, /*bound=*/true);
    EXPECT_EQ(Text(c), before);
    c.Rollback();
    EXPECT_EQ(Text(c), before);
    EXPECT_EQ(c.CheckInvariants(), absl::OkStatus());
  }
}

// ---- States that are impossible in a run and in a checkpoint ----

// A checkpoint of one node on which one bound pod of the first shape holds that.
std::string Checkpoint(DeviceSet devices, const DeviceGrants& grants) {
  StateWriter out;
  out.Section("cluster");
  using Words = std::vector<uint64_t>;
  // Nodes; of the node: schedulable, available, example.com/device; pods.
  for (const uint64_t word : Words{1, 1, 1}) out.U64(word);
  out.I64(8);
  out.U64(1);
  out.Str("pod-0");
  // Shape, phase, 1 + node, devices; priority, arrival; grants.
  const auto phase = static_cast<uint64_t>(PodPhase::kBound);
  for (const uint64_t word : Words{0, phase, 1, devices.bits()}) out.U64(word);
  for (const int64_t word : {0, 0}) out.I64(word);
  out.U64(grants.size());
  for (const DeviceGrant& g : grants) {
    out.U64(uint64_t{g.device} << 32 | uint64_t{g.placement} << 16 |
            static_cast<uint16_t>(g.milli));
  }
  // Version, versions handed out; pods of the node.
  for (const uint64_t word : Words{4, 4, 0}) out.U64(word);
  out.Bool(false);  // no claims
  return out.Release();
}

TEST(ClusterDevicesTest, ImpossibleGrantsAreRefused) {
  struct Case {
    DeviceSet devices;
    DeviceGrants grants;
    bool possible = false;
  };
  const MigTable a100 = TestTable(TestA100());
  const auto beyond = static_cast<uint8_t>(a100.placements().size());
  const DeviceGrant one = Instance(a100, 0, "1g.10gb", 0);
  const DeviceGrant three = Instance(a100, 0, "3g.40gb", 0);
  const DeviceGrant part = Instance(a100, 0, "3g.40gb", 0, 2);
  const std::vector<Case> cases = {
      {DeviceSet::Of(0), {one}, true},
      {DeviceSet::FirstN(2), {one, Plain(1, 250), Plain(1, 750)}, true},
      {DeviceSet::FirstN(2), {one, Plain(1, 250), Plain(1, 751)}},
      // Several replicas of one instance may go to one pod; each counts.
      {DeviceSet::Of(0), {part, part}, true},
      {DeviceSet::Of(0), {part, part, part}},
      {DeviceSet::Of(0), {DeviceGrant{0, one.placement, 126}}},
      {DeviceSet::Of(0), {DeviceGrant{0, one.placement, 0}}},
      {DeviceSet::Of(0), {DeviceGrant{0, one.placement, -125}}},
      {DeviceSet::Of(0), {DeviceGrant{0, beyond, 125}}},
      {DeviceSet::Of(0), {Plain(0, 1001)}},
      {DeviceSet::Of(0), {one, one}},
      {DeviceSet::Of(0), {three, Instance(a100, 0, "4g.40gb", 0)}},
      {DeviceSet::Of(0), {one, Plain(0, 100)}},
      {DeviceSet::Of(0), {Plain(0, 100), one}},
      {DeviceSet::Of(2), {Plain(2, 1000)}},
      {DeviceSet::Of(1), {one}},
      {DeviceSet::FirstN(2), {one}},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    DeviceWorld world;
    const NodeId node = world.AddNode("a", "A100", 2);
    EXPECT_EQ(world.cluster.CanGrant(node, cases[i].devices, cases[i].grants), cases[i].possible);
    world.shapes.Intern(Counted(1, 0));
    const std::string bytes = Checkpoint(cases[i].devices, cases[i].grants);
    StateReader in(bytes);
    const absl::Status loaded = world.cluster.Load(in);
    EXPECT_EQ(loaded.ok(), cases[i].possible) << loaded;
    if (!loaded.ok()) {
      EXPECT_TRUE(absl::StrContains(loaded.message(), "cannot be where")) << loaded;
      continue;
    }
    EXPECT_EQ(world.cluster.CheckInvariants(), absl::OkStatus());
    StateWriter out;
    world.cluster.Save(out);
    EXPECT_EQ(out.bytes(), bytes);
  }
}

// ---- A naive model: the holders of resources, and nothing else ----

struct NaivePod {
  PodShape shape;
  PodPhase phase = PodPhase::kPending;
  size_t node = 0;
  DeviceSet devices;
  DeviceGrants grants;
};

// Milli of one GPU by placement, kNoPlacement for what is no instance.

uint64_t SetOf(const Parts& parts) {
  uint64_t set = 0;
  for (const auto& part : parts) {
    if (part.first != kNoPlacement) set |= uint64_t{1} << part.first;
  }
  return set;
}

int IdleOf(const Parts& parts) {
  if (SetOf(parts) != 0) return 0;
  return parts.empty() ? 1000 : 1000 - parts.at(kNoPlacement);
}

bool Legal(const MigTable* table, const Parts& parts) {
  for (const auto& [placement, milli] : parts) {
    if (placement == kNoPlacement) {
      if (milli > 1000 || parts.size() > 1) return false;
    } else if (table == nullptr || milli > WholeOf(*table, placement)) {
      return false;
    }
  }
  return SetOf(parts) == 0 || table->Find(SetOf(parts)) != kNoMigState;
}

class Walk {
 public:
  Walk(uint64_t seed, Counts* counts) : random_(seed, "devices"), counts_(*counts) {
    AddNodes(&world_);
    for (size_t i = 0; i < 36; ++i) {
      pods_.emplace_back();
      pods_.back().shape = Shapes()[i % Shapes().size()];
      world_.AddPod(pods_.back().shape);
    }
  }

  void Run(int steps) {
    for (int step = 0; step < steps && !::testing::Test::HasFailure(); ++step) {
      if (random_.Below(6) == 0) {
        WhatIf(1);
      } else if (random_.Below(10) == 0) {
        // May be less than pods hold.
        const auto node = static_cast<size_t>(random_.Below(c_.node_count()));
        capacity_[node] = static_cast<int64_t>(random_.Below(9));
        c_.SetExtendedCapacity(NodeId(node), 0, capacity_[node]);
      } else {
        Act();
      }
      ExpectSame();
      if (step % 4 != 0) continue;
      ASSERT_EQ(c_.CheckInvariants(), absl::OkStatus());
    }
    DeviceWorld again;
    AddNodes(&again);
    for (const PodShape& shape : Shapes()) again.shapes.Intern(shape);
    StateWriter out;
    c_.Save(out);
    StateReader in(out.bytes());
    ASSERT_EQ(again.cluster.Load(in), absl::OkStatus());
    StateWriter copy;
    again.cluster.Save(copy);
    EXPECT_EQ(copy.bytes(), out.bytes());
    EXPECT_EQ(Text(again.cluster), Text(c_));
  }

 private:
  static void AddNodes(DeviceWorld* world) {
    world->AddNode("a", "A100", 2, 4);
    world->AddNode("b", "A30", 3, 2);
    world->AddNode("c", "T4", 2, 3);
    world->AddNode("d", "", 0, 1);
  }
  static std::vector<PodShape> Shapes() {
    const PodShape two_instances = Mig({{"1g.6gb", 1}, {"2g.12gb", 1}}, 750);
    return {Gpus(1, 300),  Gpus(2, 1000),   Mig({{"1g.10gb", 1}}, 125),
            two_instances, Counted(1, 250), Counted(2, 500)};
  }
  size_t GpusOf(size_t node) const { return size_t{c_.node(NodeId(node)).gpu_count}; }

  // Anything, now and then what the node has not.
  DeviceGrants RandomGrants(size_t node, DeviceSet* devices) {
    const MigTable* const own = c_.mig_table(NodeId(node));
    const MigTable& table = own != nullptr ? *own : world_.a100;
    const uint64_t gpus = GpusOf(node) + (GpusOf(node) == 0 || random_.Below(10) == 0 ? 1u : 0u);
    DeviceGrants grants;
    for (uint64_t left = 1 + random_.Below(3); left > 0; --left) {
      DeviceGrant g = Plain(static_cast<uint8_t>(random_.Below(gpus)), 1000);
      if (random_.Below(3) > 0) {
        g.placement = static_cast<uint8_t>(random_.Below(table.placements().size()));
        g.milli = static_cast<int16_t>(WholeOf(table, g.placement));
      }
      g.milli = static_cast<int16_t>(g.milli >> random_.Below(3));
      grants.insert(grants.end(), random_.Below(4) == 0 ? 2u : 1u, g);
    }
    *devices = DeviceSet::FirstN(random_.Below(15) == 0 ? 1 : 0);
    for (const DeviceGrant& g : grants) devices->Add(g.device);
    return grants;
  }

  Parts PartsOf(size_t node, size_t gpu) const {
    Parts parts;
    for (const NaivePod& pod : pods_) {
      if (pod.phase == PodPhase::kPending || pod.node != node) continue;
      const bool plain = pod.grants.empty() && pod.devices.Contains(gpu);
      if (plain) parts[kNoPlacement] += pod.shape.request.gpu_milli;
      for (const DeviceGrant& g : pod.grants) {
        if (g.device == gpu) parts[g.placement] += g.milli;
      }
    }
    return parts;
  }

  bool MayGrant(size_t node, DeviceSet devices, const DeviceGrants& grants) const {
    DeviceSet named;
    std::map<size_t, Parts> after;
    for (const DeviceGrant& g : grants) {
      if (g.device >= GpusOf(node)) return false;
      named.Add(g.device);
      after.try_emplace(g.device, PartsOf(node, g.device)).first->second[g.placement] += g.milli;
    }
    for (const auto& [gpu, parts] : after) {
      if (!Legal(c_.mig_table(NodeId(node)), parts)) return false;
    }
    return named == devices;
  }

  static int64_t WantedBy(const PodShape& shape) {
    return shape.request.extended.empty() ? 0 : shape.request.extended[0].second;
  }
  int64_t LeftOn(size_t node) const {
    int64_t left = capacity_[node];
    for (const NaivePod& pod : pods_) {
      left -= pod.phase != PodPhase::kPending && pod.node == node ? WantedBy(pod.shape) : 0;
    }
    return left;
  }

  bool MayPlace(const PodShape& shape, size_t node, DeviceSet devices,
                const DeviceGrants& grants) const {
    if (WantedBy(shape) > 0 && LeftOn(node) < WantedBy(shape)) return false;
    if (!grants.empty()) return MayGrant(node, devices, grants);
    bool idle = devices.size() == shape.request.gpu_count;
    for (size_t gpu = 0; gpu < 3; ++gpu) {
      if (!devices.Contains(gpu)) continue;
      idle = idle && gpu < GpusOf(node) && IdleOf(PartsOf(node, gpu)) >= shape.request.gpu_milli;
    }
    return idle;
  }

  // The scheduler's choice (`by_node` false), or the node's for a bound pod.
  void Choose(PodId id, NaivePod* pod, bool by_node) {
    const size_t node = by_node ? pod->node : static_cast<size_t>(random_.Below(c_.node_count()));
    DeviceSet devices;
    DeviceGrants grants;
    if (by_node || !pod->shape.request.mig.empty()) grants = RandomGrants(node, &devices);
    if (pod->shape.request.gpu_count > 0) devices = DeviceSet::FromBits(random_.Below(8));
    const bool may =
        by_node ? MayGrant(node, devices, grants) : MayPlace(pod->shape, node, devices, grants);
    const bool can = by_node ? c_.CanGrant(NodeId(node), devices, grants)
                             : c_.CanPlace(c_.pod_shape_id(id), NodeId(node), devices, grants);
    ASSERT_EQ(can, may);
    ++counts_[absl::StrCat(by_node ? "CanGrant " : "CanPlace ", may ? "yes" : "no")];
    if (!may) return;
    if (by_node) {
      c_.Grant(id, devices, grants);
    } else {
      c_.Assume(id, NodeId(node), devices, grants);
      pod->phase = PodPhase::kAssumed;
    }
    pod->node = node;
    pod->devices = devices;
    pod->grants = grants;
  }

  void TakeAway(PodId id, NaivePod* pod) {
    const bool bound = pod->phase == PodPhase::kBound;
    bound ? c_.Evict(id) : c_.Forget(id);
    if (random_.Below(2) == 0) {
      return c_.PutBack(id, NodeId(pod->node), pod->devices, pod->grants, bound);
    }
    pod->phase = PodPhase::kPending;
    pod->devices = DeviceSet();
    pod->grants.clear();
  }

  void Act() {
    const auto i = static_cast<size_t>(random_.Below(pods_.size()));
    NaivePod* const pod = &pods_[i];
    if (pod->phase == PodPhase::kPending) return Choose(PodId(i), pod, /*by_node=*/false);
    if (random_.Below(3) == 0) return TakeAway(PodId(i), pod);
    if (pod->phase == PodPhase::kAssumed) {
      c_.Bind(PodId(i));
      pod->phase = PodPhase::kBound;
    } else if (pod->shape.request.gets_devices_from_node() && pod->grants.empty()) {
      Choose(PodId(i), pod, /*by_node=*/true);
    }
  }

  void WhatIf(int depth) {
    const std::vector<NaivePod> pods = pods_;
    const std::string before = Text(c_);
    const uint64_t version = c_.version();
    c_.BeginWhatIf();
    for (uint64_t left = random_.Below(8); left > 0; --left) {
      const bool nest = depth < 3 && random_.Below(4) == 0;
      nest ? WhatIf(depth + 1) : Act();
    }
    if (random_.Below(3) == 0) return c_.KeepWhatIf();
    c_.Rollback();
    pods_ = pods;
    ASSERT_EQ(Text(c_), before);
    ASSERT_EQ(c_.version(), version);
  }

  void ExpectSame() const {
    int64_t in_use = 0;
    for (size_t n = 0; n < c_.node_count(); ++n) {
      const NodeId node(n);
      EXPECT_EQ(c_.extended_idle(node, 0), LeftOn(n));
      const MigTable* const table = c_.mig_table(node);
      for (size_t gpu = 0; gpu < GpusOf(n); ++gpu) {
        const Parts parts = PartsOf(n, gpu);
        in_use += parts.empty() ? 0 : 1;
        EXPECT_EQ(int{c_.device_milli_idle(node)[gpu]}, IdleOf(parts));
        if (table == nullptr) continue;
        EXPECT_EQ(table->set(c_.device_mig(node)[gpu]), SetOf(parts));
        EXPECT_EQ(c_.mig_usable(node).Contains(gpu), SetOf(parts) != 0 || parts.empty());
      }
    }
    EXPECT_EQ(c_.totals().gpus_in_use, in_use);
  }

  Random random_;
  Counts& counts_;
  DeviceWorld world_;
  ClusterState& c_ = world_.cluster;
  std::vector<NaivePod> pods_;
  std::vector<int64_t> capacity_ = {4, 2, 3, 1};
};

TEST(ClusterDevicesTest, ARandomWalkBesideANaiveModel) {
  Counts counts;
  for (uint64_t seed = 0; seed < SoakSeeds(8); ++seed) {
    SCOPED_TRACE(seed);
    Walk(seed, &counts).Run(600);
  }
  EXPECT_EQ(counts.size(), 4u);
  for (const auto& [answer, times] : counts) EXPECT_GT(times, 20) << answer;
}

// ---- Nodes with several GPU models ----

NodeSpec MixedSpec(const std::string& name, std::vector<std::string> models) {
  NodeSpec spec = Spec(name, 64'000, 0, 110, static_cast<int32_t>(models.size()));
  spec.gpu_model.clear();
  spec.gpu_models = std::move(models);
  return spec;
}

TEST(MixedNodeTest, EachGpuHasItsModel) {
  DeviceWorld world;
  ClusterState& c = world.cluster;
  const NodeId plain = world.AddNode("plain", "T4", 2);
  const absl::StatusOr<NodeId> mixed = c.AddNode(MixedSpec("mixed", {"A100", "T4", "A100", "A30"}));
  const absl::StatusOr<NodeId> alike = c.AddNode(MixedSpec("alike", {"A30", "A30"}));
  const NodeId none = world.AddNode("none", "", 0);
  ASSERT_TRUE(mixed.ok() && alike.ok());
  const auto model = [&](const char* name) {
    return static_cast<uint8_t>(world.models.Find(name).value());
  };
  const auto mask = [&](const char* name) { return uint64_t{1} << model(name); };
  EXPECT_TRUE(c.node(*mixed).is_mixed());
  EXPECT_FALSE(c.node(plain).is_mixed());
  EXPECT_EQ(c.node(*alike).model, model("A30"));
  EXPECT_EQ(c.node(none).model, kNoModel);
  EXPECT_EQ(c.gpu_model(plain, 1), model("T4"));
  EXPECT_EQ(c.gpu_model(*mixed, 2), model("A100"));
  EXPECT_EQ(c.gpu_model(*mixed, 3), model("A30"));

  EXPECT_EQ(c.UsableGpus(plain, mask("T4")), DeviceSet::All());
  EXPECT_EQ(c.UsableGpus(plain, mask("A30")), DeviceSet::All());
  EXPECT_EQ(c.UsableGpus(*mixed, mask("A100")), DeviceSet::Of(0) | DeviceSet::Of(2));
  EXPECT_EQ(c.UsableGpus(*mixed, mask("A30") | mask("T4")), DeviceSet::Of(1) | DeviceSet::Of(3));
  EXPECT_EQ(c.UsableGpus(*mixed, ~uint64_t{0}), DeviceSet::FirstN(4));
  const GpuModelGroups groups = {{model("A100"), DeviceSet::Of(0) | DeviceSet::Of(2)},
                                 {model("T4"), DeviceSet::Of(1)},
                                 {model("A30"), DeviceSet::Of(3)}};
  EXPECT_TRUE(c.GroupsOfModels(*mixed) == groups);
  const GpuModelGroups one = {{model("T4"), DeviceSet::FirstN(2)}};
  EXPECT_TRUE(c.GroupsOfModels(plain) == one);
  EXPECT_TRUE(c.GroupsOfModels(none).empty());
  EXPECT_EQ(GpuModelText(c.node_spec(*mixed)), "2 A100 + 1 T4 + 1 A30");
  EXPECT_EQ(GpuModelText(c.node_spec(plain)), "T4");

  NodeSpec wrong = MixedSpec("wrong", {"A100", "A30"});
  wrong.gpu_count = 3;
  EXPECT_EQ(c.AddNode(wrong).status(),
            absl::InvalidArgumentError("node 'wrong' has 3 GPUs and the models of 2"));
  EXPECT_EQ(c.CheckInvariants(), absl::OkStatus());
}

TEST(MixedNodeTest, InstancesFollowTheTableOfTheirGpu) {
  PodShape shape;
  shape.request.cpu_milli = 1000;
  shape.request.mig = {{"4g.24gb", 1}};
  const auto add_node = [](DeviceWorld* world) {
    const absl::StatusOr<NodeId> node =
        world->cluster.AddNode(MixedSpec("mixed", {"A100", "T4", "A30"}));
    DRASIM_CHECK(node.ok());
    return *node;
  };
  DeviceWorld world;
  ClusterState& c = world.cluster;
  const NodeId node = add_node(&world);
  EXPECT_EQ(c.mig_table(node), nullptr);
  EXPECT_TRUE(c.has_mig(node));
  EXPECT_EQ(c.mig_table(node, 0), &world.a100);
  EXPECT_EQ(c.mig_table(node, 1), nullptr);
  EXPECT_EQ(c.mig_table(node, 2), &world.a30);
  const DeviceSet with_mig = DeviceSet::Of(0) | DeviceSet::Of(2);
  EXPECT_EQ(c.mig_usable(node), with_mig);

  // 4g.24gb exists on A30 alone.
  const int profile = world.a30.FindProfile("4g.24gb");
  ASSERT_GE(profile, 0);
  const auto placement =
      static_cast<uint8_t>(world.a30.FindPlacement(static_cast<size_t>(profile), 0));
  const DeviceGrants whole_a30 = {{2, placement, 1000}};
  const DeviceGrants on_t4 = {{1, placement, 1000}};
  const PodId waiting = world.AddPod(shape);
  const ShapeId id = c.pod_shape_id(waiting);
  EXPECT_TRUE(c.CanPlace(id, node, DeviceSet::Of(2), whole_a30));
  EXPECT_FALSE(c.CanPlace(id, node, DeviceSet::Of(1), on_t4));
  const PodId pod = world.Run(shape, node, DeviceSet::Of(2), whole_a30);
  EXPECT_FALSE(c.CanPlace(id, node, DeviceSet::Of(2), whole_a30));
  EXPECT_EQ(DeviceMilli(c, node), (std::vector<int64_t>{1000, 1000, 0}));
  EXPECT_EQ(c.device_mig(node)[2], world.a30.Place(0, placement));
  EXPECT_EQ(c.device_mig(node)[0], MigState{0});
  // A GPU in use as a whole is closed to instances, one without MIG never opens.
  const PodId taken = world.Run(Shape(1000, 0, 2, 1000), node, DeviceSet::FirstN(2));
  EXPECT_EQ(c.mig_usable(node), DeviceSet::Of(2));
  EXPECT_EQ(c.CheckInvariants(), absl::OkStatus());

  StateWriter out;
  c.Save(out);
  DeviceWorld again;
  add_node(&again);
  for (size_t s = 0; s < world.shapes.size(); ++s) {
    again.shapes.Intern(world.shapes.row(ShapeId(s)));
  }
  StateReader in(out.bytes());
  ASSERT_EQ(again.cluster.Load(in), absl::OkStatus());
  EXPECT_EQ(again.cluster.device_mig(node), c.device_mig(node));
  EXPECT_EQ(again.cluster.mig_usable(node), c.mig_usable(node));
  StateWriter copy;
  again.cluster.Save(copy);
  EXPECT_EQ(copy.bytes(), out.bytes());

  c.Finish(taken);
  c.Finish(pod);
  EXPECT_EQ(DeviceMilli(c, node), (std::vector<int64_t>{1000, 1000, 1000}));
  EXPECT_EQ(c.mig_usable(node), with_mig);
  EXPECT_EQ(c.CheckInvariants(), absl::OkStatus());
}

}  // namespace cluster_state_test
}  // namespace drasim
