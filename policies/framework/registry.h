// Factories by name: plugins, device allocators, queues, and policies (named profiles).
//
// A new plugin is a pair of files with a Register function, and a line in policies/builtins.inc and
// in policies/CMakeLists.txt. Registration is explicit because linkers drop static registrars from
// static archives.
//
//   void RegisterFreeSlots(Registry& registry) {
//     registry.AddPlugin("FreeSlots",
//                        [](const PolicyContext&) { return std::make_unique<FreeSlots>(); });
//     registry.AddPolicy({"free-slots", "many free pod slots first", {{"FreeSlots", 1}}, "best"});
//   }
//
// Scenarios then say `scheduler: {policy: free-slots}`, or `score: [{name: FreeSlots}]`.
#ifndef DRASIM_POLICIES_FRAMEWORK_REGISTRY_H_
#define DRASIM_POLICIES_FRAMEWORK_REGISTRY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/fragmentation.h"
#include "model/run_streams.h"
#include "policies/framework/device_allocator.h"
#include "policies/framework/plugin.h"
#include "policies/framework/plugin_args.h"
#include "policies/framework/queue_policy.h"
#include "policies/framework/resource_score_options.h"

namespace drasim {

// The parts of a run that factories may use. Pointers outlive the profile.
struct PolicyContext {
  const FragmentationModel* fragmentation = nullptr;  // over the run's target workload
  RunStreams* streams = nullptr;
  SimDuration bind_latency;                     // of DefaultBinder's API write
  std::vector<std::string> extended_resources;  // that nodes advertise, in the cluster's order
  bool mig = false;                             // GPU models of the cluster have MIG tables
  bool holds = false;                           // some pods are kept pending (PodHold)
  // Shares of MIG profiles in the requests of the workload, in parts per kMfiScale; by name.
  std::vector<std::pair<std::string, int64_t>> mig_mix;
  ResourceScoreOptions resource_scores;
  // The plugin's own arguments in a KubeSchedulerConfiguration. Null: none.
  const PluginArgs* args = nullptr;
};

// Factories keep the pointers of a context and follow them only in calls of what they made: a
// profile with an empty context answers questions about its plugins.
using PluginFactory = std::function<std::unique_ptr<Plugin>(const PolicyContext&)>;
using AllocatorFactory = std::function<std::unique_ptr<DeviceAllocator>(const PolicyContext&)>;

// The parts of a run that factories of queue policies may use. Pointers outlive the policy.
struct QueueContext {
  RunStreams* streams = nullptr;
  uint64_t seed = 0;
  double estimate_noise = 0;     // sigma: estimates are multiplied by exp(sigma * N(0, 1))
  bool exact_estimates = false;  // run times in place of the owners' estimates
};
using QueueFactory = std::function<std::unique_ptr<QueuePolicy>(const QueueContext&)>;
struct QueueEntry {
  std::string name;         // lower case with dashes, as users type it
  std::string description;  // one line for --help
  QueueFactory factory;
};

struct ScoreChoice {
  std::string plugin;
  int64_t weight = 1;
  bool operator==(const ScoreChoice&) const = default;
};

// A named policy: weighted score plugins and a device allocator.
struct PolicyEntry {
  std::string name;         // lower case with dashes, as users type it
  std::string description;  // one line for --help
  std::vector<ScoreChoice> score;
  std::string allocator;  // empty: a score plugin chooses devices
  // The kind of experiment it belongs to; by default `compare` runs all policies of one kind.
  enum class Kind : uint8_t { kGpuSharing, kKubernetes, kMig };
  Kind kind = Kind::kGpuSharing;
};

// Filled once, then read-only. Names are unique per kind: CHECKs that none is registered twice.
class Registry {
 public:
  void AddPlugin(std::string name, PluginFactory factory);
  void AddAllocator(std::string name, AllocatorFactory factory);
  void AddPolicy(PolicyEntry entry);
  void AddQueue(QueueEntry entry);

  // NotFound with a "did you mean" for unknown names.
  absl::StatusOr<const PolicyEntry*> FindPolicy(absl::string_view name) const;
  absl::StatusOr<std::unique_ptr<Plugin>> MakePlugin(absl::string_view name,
                                                     const PolicyContext& context) const;
  absl::StatusOr<std::unique_ptr<DeviceAllocator>> MakeAllocator(
      absl::string_view name, const PolicyContext& context) const;
  absl::StatusOr<std::unique_ptr<QueuePolicy>> MakeQueue(absl::string_view name,
                                                         const QueueContext& context) const;
  const std::vector<QueueEntry>& queues() const { return queues_; }
  // In order of registration.
  const std::vector<PolicyEntry>& policies() const { return policies_; }
  std::vector<std::string> plugin_names() const;
  std::vector<std::string> allocator_names() const;

 private:
  std::vector<std::pair<std::string, PluginFactory>> plugins_;
  std::vector<std::pair<std::string, AllocatorFactory>> allocators_;
  std::vector<PolicyEntry> policies_;
  std::vector<QueueEntry> queues_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_FRAMEWORK_REGISTRY_H_
