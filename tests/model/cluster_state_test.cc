#include "model/cluster_state.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/random.h"
#include "model/state_io.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace cluster_state_test {

PodShape Shape(int64_t cpu_milli, int64_t memory_bytes, int32_t gpu_count, int32_t gpu_milli) {
  PodShape shape;
  shape.cpu_milli = cpu_milli;
  shape.memory_bytes = memory_bytes;
  shape.gpu_count = gpu_count;
  shape.gpu_milli = gpu_milli;
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

// ---- The oracle: specs and pods alone; every column is computed anew from them. ----

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
      c.cpu_milli -= p.shape.cpu_milli;
      c.memory_bytes -= p.shape.memory_bytes;
      --c.pods;
      if (p.shape.gpu_count == 0) continue;
      for (size_t d = 0; d < c.device_milli.size(); ++d) {
        if (p.devices.Contains(d)) c.device_milli[d] -= p.shape.gpu_milli;
      }
      ++c.gpu_pods;
      c.tags.insert(p.shape.gpu_milli < 1000 ? 1 : p.shape.gpu_count + 1);
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
      if (d >= c.device_milli.size() || c.device_milli[d] < shape.gpu_milli) return false;
    }
    return named == shape.gpu_count && shape.cpu_milli <= c.cpu_milli &&
           shape.memory_bytes <= c.memory_bytes && c.pods >= 1;
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
      if (c.device_milli[d] >= shape.gpu_milli) fit.push_back(d);
    }
    random_.Shuffle(absl::MakeSpan(fit));
    DeviceSet devices;
    for (size_t i = 0; i < fit.size() && i < static_cast<size_t>(shape.gpu_count); ++i) {
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

// The bytes loaded into a new cluster of the run's nodes. What loads must be consistent.
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

}  // namespace cluster_state_test
}  // namespace drasim
