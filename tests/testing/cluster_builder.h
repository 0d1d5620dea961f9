// Clusters, workloads, profiles and records in memory, for tests of policies and of the engine.
#ifndef DRASIM_TESTS_TESTING_CLUSTER_BUILDER_H_
#define DRASIM_TESTS_TESTING_CLUSTER_BUILDER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/check.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/fragmentation.h"
#include "model/random.h"
#include "model/record.h"
#include "model/run_streams.h"
#include "policies/builtins.h"
#include "policies/framework/plugin.h"
#include "policies/framework/profile.h"
#include "policies/framework/registry.h"

namespace drasim {

inline constexpr int64_t kTestGib = int64_t{1} << 30;

// A node with memory and pod slots to spare.
inline NodeSpec TestNode(absl::string_view name, int64_t cpu_milli, int32_t gpu_count,
                         absl::string_view gpu_model = "G2") {
  NodeSpec spec;
  spec.name = std::string(name);
  spec.cpu_milli = cpu_milli;
  spec.memory_bytes = 1024 * kTestGib;
  spec.gpu_count = gpu_count;
  if (gpu_count > 0) spec.gpu_model = std::string(gpu_model);
  return spec;
}

// A request without memory. Without devices, gpu_milli is ignored.
inline PodShape TestShape(int64_t cpu_milli, int32_t gpu_count, int32_t gpu_milli = kDeviceMilli,
                          absl::string_view gpu_spec = "") {
  PodShape shape;
  shape.request.cpu_milli = cpu_milli;
  shape.request.gpu_count = gpu_count;
  shape.request.gpu_milli = gpu_count > 0 ? gpu_milli : 0;
  shape.request.gpu_spec = std::string(gpu_spec);
  return shape;
}

// The three tables of a cluster, in the order in which they depend on each other. Add nodes before
// the shapes that name their GPU models.
class ClusterBuilder {
 public:
  ClusterBuilder() : shapes_(&models_), cluster_(&models_, &shapes_) {}
  ClusterBuilder(const ClusterBuilder&) = delete;
  ClusterBuilder& operator=(const ClusterBuilder&) = delete;

  NodeId AddNode(const NodeSpec& spec) {
    const absl::StatusOr<NodeId> id = cluster_.AddNode(spec);
    DRASIM_CHECK(id.ok());
    return *id;
  }
  ShapeId AddShape(const PodShape& shape) { return shapes_.Intern(shape); }

  // A new pod of the shape that runs on the node.
  PodId Place(ShapeId shape, NodeId node, DeviceSet devices = {}) {
    const PodId pod = cluster_.AddPod(absl::StrCat("resident-", cluster_.pod_count()), shape,
                                      /*priority=*/0, SimTime());
    cluster_.Assume(pod, node, devices);
    cluster_.Bind(pod);
    return pod;
  }

  // An attempt of no particular pod. Valid until the next AddShape.
  PodContext Context(ShapeId shape) const {
    PodContext context;
    context.shape_id = shape;
    context.shape = &shapes_.row(shape);
    return context;
  }

  std::vector<NodeId> NodeIds() const {
    std::vector<NodeId> ids;
    for (size_t i = 0; i < cluster_.node_count(); ++i) ids.push_back(NodeId(i));
    return ids;
  }
  std::vector<ShapeId> ShapeIds() const {
    std::vector<ShapeId> ids;
    for (size_t i = 0; i < shapes_.size(); ++i) ids.push_back(ShapeId(i));
    return ids;
  }
  // The target workload in which every shape is asked for once.
  std::vector<TypicalPod> TypicalPods() const {
    const std::vector<int64_t> once(shapes_.size(), 1);
    return BuildTypicalPods(shapes_, once, 95);
  }

  // Tables of partitions are given to models before nodes of them are added.
  GpuModelTable& models() { return models_; }
  ClusterState& cluster() { return cluster_; }
  const ClusterState& cluster() const { return cluster_; }
  const ShapeTable& shapes() const { return shapes_; }

 private:
  GpuModelTable models_;
  ShapeTable shapes_;
  ClusterState cluster_;
};

// Random devices of a node that take the shape; none when it wants none or there are too few.
inline DeviceSet RandomDevices(const PodShape& shape, absl::Span<const int16_t> device_milli_idle,
                               Random& random) {
  std::vector<size_t> fitting;
  for (size_t i = 0; i < device_milli_idle.size(); ++i) {
    if (device_milli_idle[i] >= shape.request.gpu_milli) fitting.push_back(i);
  }
  const auto wanted = static_cast<size_t>(shape.request.gpu_count);
  if (fitting.size() < wanted) return DeviceSet();
  random.Shuffle(absl::MakeSpan(fitting));
  DeviceSet devices;
  for (size_t i = 0; i < wanted; ++i) devices.Add(fitting[i]);
  return devices;
}

template <typename T>
const T& OneOf(const std::vector<T>& values, Random& random) {
  return values[static_cast<size_t>(random.Below(values.size()))];
}

// At most 128 cores and 8 GPUs, the largest node that the published formulas know.
inline NodeSpec RandomNode(absl::string_view name, Random& random) {
  const std::vector<int64_t> cores = {4, 8, 16, 32, 64, 96, 128};
  const std::vector<int32_t> gpus = {0, 1, 2, 2, 4, 8};
  const std::vector<std::string> models = {"T4", "G2", "V100"};
  const std::vector<Taint> taints = {{"dedicated", "gpu", "NoSchedule"},
                                     {"broken", "", "NoExecute"},
                                     {"slow", "", "PreferNoSchedule"}};
  // One draw per statement: the order in which arguments are evaluated is up to the compiler.
  const int64_t cpu_milli = OneOf(cores, random) * 1000;
  const int32_t gpu_count = OneOf(gpus, random);
  NodeSpec spec = TestNode(name, cpu_milli, gpu_count, OneOf(models, random));
  spec.memory_bytes = static_cast<int64_t>(8 + random.Below(120)) * kTestGib;
  spec.pods = random.Below(6) == 0 ? 2 : 110;
  spec.labels = {{"zone", random.Below(2) == 0 ? "east" : "west"}};
  if (random.Below(6) == 0) spec.taints = {OneOf(taints, random)};
  spec.unschedulable = random.Below(10) == 0;
  return spec;
}

inline PodShape RandomShape(Random& random) {
  const std::vector<std::string> specs = {"", "", "", "G2", "T4|V100", "A10"};
  const std::vector<Toleration> tolerations = {{"dedicated", "gpu", "NoSchedule", false},
                                               {"node.kubernetes.io/unschedulable", "", "", true},
                                               {"", "", "", true}};
  const std::vector<int32_t> counts = {1, 1, 2, 4, 8};
  PodShape shape = TestShape(static_cast<int64_t>(1 + random.Below(24)) * 500, 0);
  switch (random.Below(8)) {
    case 0:
    case 1:
      break;
    case 2:
    case 3:
      shape.request.gpu_count = OneOf(counts, random);
      shape.request.gpu_milli = kDeviceMilli;
      break;
    case 4:
      shape.request.gpu_count = 2;
      shape.request.gpu_milli = 450;
      break;
    default:
      shape.request.gpu_count = 1;
      shape.request.gpu_milli = static_cast<int32_t>(1 + random.Below(19)) * 50;
  }
  if (shape.request.gpu_count > 0) shape.request.gpu_spec = OneOf(specs, random);
  shape.request.memory_bytes = static_cast<int64_t>(1 + random.Below(24)) * kTestGib;
  if (random.Below(6) == 0) shape.constraints.node_selector = {{"zone", "west"}};
  if (random.Below(4) == 0) shape.constraints.tolerations = {OneOf(tolerations, random)};
  return shape;
}

// Adds random nodes, then shapes, then places up to `residents` pods anywhere they fit by amount.
inline void FillRandomly(size_t nodes, size_t shapes, size_t residents, Random& random,
                         ClusterBuilder& builder) {
  for (size_t i = 0; i < nodes; ++i) builder.AddNode(RandomNode(absl::StrCat("node-", i), random));
  for (size_t i = 0; i < shapes; ++i) builder.AddShape(RandomShape(random));
  for (size_t i = 0; i < residents; ++i) {
    const ShapeId shape = OneOf(builder.ShapeIds(), random);
    const NodeId node = OneOf(builder.NodeIds(), random);
    const DeviceSet devices = RandomDevices(builder.shapes().row(shape),
                                            builder.cluster().device_milli_idle(node), random);
    if (builder.cluster().CanPlace(shape, node, devices)) builder.Place(shape, node, devices);
  }
}

// A random tie-break order.
inline std::vector<uint32_t> RandomRanks(size_t nodes, Random& random) {
  std::vector<uint32_t> ranks(nodes);
  for (size_t i = 0; i < nodes; ++i) ranks[i] = static_cast<uint32_t>(i);
  random.Shuffle(absl::MakeSpan(ranks));
  return ranks;
}

// Every built-in policy.
inline const Registry& TestRegistry() {
  static const Registry* const registry = [] {
    auto* made = new Registry;
    RegisterBuiltins(*made);
    return made;
  }();
  return *registry;
}

// The parts that the plugins of a profile refer to. Must outlive the profile.
struct ProfileParts {
  ProfileParts(std::vector<TypicalPod> typical, uint64_t seed, SimDuration bind_latency)
      : fragmentation(std::move(typical)), streams(MakeSeededStreams(seed)) {
    context.fragmentation = &fragmentation;
    context.streams = streams.get();
    context.bind_latency = bind_latency;
  }
  ProfileParts(const ProfileParts&) = delete;
  ProfileParts& operator=(const ProfileParts&) = delete;

  FragmentationModel fragmentation;
  std::unique_ptr<RunStreams> streams;
  PolicyContext context;
};

inline Profile MakeTestProfile(const Registry& registry, const std::string& policy,
                               const std::vector<ScoreChoice>& score, const ProfileParts& parts) {
  ProfileOptions options;
  options.policy = policy;
  options.score = score;
  absl::StatusOr<Profile> profile = Profile::Make(registry, options, parts.context);
  DRASIM_CHECK(profile.ok());
  return *std::move(profile);
}

// A materialised workload.
class VectorSource : public EventSource {
 public:
  explicit VectorSource(std::vector<JobArrival> pods) : pods_(std::move(pods)) {}
  absl::StatusOr<bool> Next(JobArrival* out) override {
    if (next_ == pods_.size()) return false;
    *out = pods_[next_++];
    return true;
  }
  void Save(StateWriter& out) const override { out.U64(next_); }
  absl::Status Load(StateReader& in) override {
    const uint64_t next = in.U64();
    if (next > pods_.size()) in.Fail("the workload is shorter than its position");
    next_ = in.status().ok() ? static_cast<size_t>(next) : 0;
    return in.status();
  }

 private:
  std::vector<JobArrival> pods_;
  size_t next_ = 0;
};

// The plugin's scores of all nodes, in order of creation.
inline std::vector<int64_t> ScoresOf(ScorePlugin& plugin, const ClusterBuilder& builder,
                                     ShapeId shape) {
  const std::vector<NodeId> nodes = builder.NodeIds();
  std::vector<int64_t> scores(nodes.size(), -1);
  plugin.Score(builder.Context(shape), builder.cluster(), nodes, absl::MakeSpan(scores));
  return scores;
}
inline std::vector<int64_t> ScoresOf(ScorePlugin& plugin, ClusterBuilder& builder,
                                     const PodShape& shape) {
  return ScoresOf(plugin, builder, builder.AddShape(shape));
}

// Remembers every record.
class RecordLog : public RecordSink {
 public:
  void OnRecord(const Record& record, const ClusterState&) override { records_.push_back(record); }
  const std::vector<Record>& records() const { return records_; }

 private:
  std::vector<Record> records_;
};

// Device indices, ascending, joined by dashes: "0-2".
inline std::string DevicesText(DeviceSet devices) { return absl::StrJoin(devices, "-"); }

// "10 PodBound web-1 node-a 0-2": time in nanoseconds, kind, and what the record names; for a
// failed attempt the summary as well.
inline std::string RecordText(const Record& record, const ClusterState& cluster,
                              const VerdictSummaryTable& summaries) {
  std::string text = absl::StrCat(record.time.ns(), " ", RecordKindName(record.kind));
  if (record.pod.valid()) absl::StrAppend(&text, " ", cluster.pod_name(record.pod));
  if (record.node.valid()) absl::StrAppend(&text, " ", cluster.node_spec(record.node).name);
  if (!record.devices.empty()) absl::StrAppend(&text, " ", DevicesText(record.devices));
  if (record.kind == RecordKind::kAttemptFailed) {
    absl::StrAppend(&text, " ", summaries.Text(SummaryId(record.detail)));
  }
  if (record.kind == RecordKind::kPodEvicted) {
    static constexpr const char* kCauses[] = {"?",      "preempted",     "node-lost",   "drained",
                                              "failed", "repartitioned", "turned-away", "deleted"};
    absl::StrAppend(&text, " ", kCauses[record.detail]);
  }
  if (record.kind == RecordKind::kNodeChanged) {
    static constexpr const char* kKinds[] = {"?", "available", "unavailable", "cordoned",
                                             "uncordoned"};
    absl::StrAppend(&text, " ", kKinds[record.detail]);
  }
  return text;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TESTING_CLUSTER_BUILDER_H_
