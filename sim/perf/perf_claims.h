// PerfClaims: structured DRA in a PerfCluster. Claims, classes and slices, the scheduler plugin's
// rules over them, and those who act on claims beside the scheduler: the claim controller, drivers
// and the harness.
//
// All calls take no time. The controller makes a claim when its pod is created, and releases it (or
// deletes it, if it was made for the pod) when the pod is gone. Changes of claims reach the queue
// with Deliver, after the attempt that made them: as upstream, where informers deliver them.
#ifndef DRASIM_SIM_PERF_PERF_CLAIMS_H_
#define DRASIM_SIM_PERF_PERF_CLAIMS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "model/random.h"
#include "policies/allocator/allocator_options.h"
#include "policies/dra/claim_store.h"
#include "policies/dra/extended_resources.h"
#include "policies/dra/in_flight_claims.h"
#include "policies/dra/slice_inventory.h"
#include "policies/dra/structured_cycle.h"
#include "policies/dra/structured_resources.h"
#include "policies/dra/structured_writes.h"
#include "sim/core/node_agent.h"
#include "sim/core/run_context.h"

namespace drasim::perf {

// Gates of structured DRA by name ("DRAPartitionableDevices"), and their values.
using DraGates = std::map<std::string, bool>;

struct PerfClaimOptions {
  AllocatorOptions allocator;
  StructuredOptions plugin;
  bool taint_rules = true;            // DeviceTaintRules count
  bool publishes_conditions = false;  // the devices of PublishDevices have binding conditions
};
// The defaults of the release that the rules follow, with these gates. InvalidArgument for unknown
// gates.
absl::StatusOr<PerfClaimOptions> ClaimOptionsOf(const DraGates& gates, uint64_t seed);

class PerfClaims : private ServedResources {
 public:
  // The cluster must outlive it.
  PerfClaims(const PerfClaimOptions& options, uint64_t seed, ClusterState* cluster);
  PerfClaims(const PerfClaims&) = delete;
  PerfClaims& operator=(const PerfClaims&) = delete;
  ~PerfClaims() override;

  // Call once, before anything below. Both must outlive it. `hints`: queueing hints are on.
  void Start(RunContext* run, PodControl* control, bool hints);

  // --- Objects ---
  // The node has been added to the cluster, or its object has changed.
  void PutNode(NodeId id, const proto::kube::Node& node);
  static bool IsKind(const proto::kube::Object& object);
  // A DeviceClass, ResourceSlice, ResourceClaim, ResourceClaimTemplate or DeviceTaintRule with
  // its name and namespace. AlreadyExists for a second claim of a name.
  absl::Status Add(const proto::kube::Object& object);
  // The extended resources that classes serve: the cluster needs a column for each before the pods
  // that ask for it. ServeResources follows.
  const std::set<std::string>& served() const { return served_; }
  void ServeResources();
  // A driver publishes a slice with that many equal devices for the node.
  void PublishDevices(const std::string& driver, NodeId node, int64_t devices);
  // Allocates the claims of the namespace, each on any of the nodes where it fits. DeadlineExceeded
  // if one fits nowhere.
  absl::Status Allocate(const std::string& ns);
  // Sets the condition on the devices of the namespace's claims that wait for conditions. False,
  // without effect, as long as there are no claims, or one is not allocated.
  bool SetCondition(const std::string& ns, const std::string& type, const std::string& status);
  const ClaimStore& store() const;

  // --- Pods ---
  // A new pod. NotFound without the template of one of its claims.
  absl::Status AddPod(PodId id, proto::kube::Pod pod);
  void OnBound(PodId id);
  // The pod's object is gone.
  void RemovePod(PodId id);
  // While it is set, attempts write nothing: those that only ask for a message.
  void set_only_asks(bool asks) { only_asks_ = asks; }
  // Tells the queue about the changes so far. Call whenever no attempt is under way.
  void Deliver();
  // A timer of the plugin is due.
  void OnTimer(PodId id, uint64_t serial);

 private:
  friend class PerfClaimPlugin;
  class Store;

  // A pod with its attempt, if that has got to Reserve.
  struct PodEntry {
    ClaimingPod pod;
    std::vector<std::string> claims;  // keys
    bool bound = false;
    std::unique_ptr<StructuredCycle> cycle;
    uint64_t timer = 0;  // serial of the timer that PreBind waits for; 0: none
    bool ended = false;  // PreBind has, with `result`
    ClaimStatus result;
  };

  // ServedResources
  ServedDevices DevicesOn(NodeId node, size_t column) const override;

  PodEntry* Find(PodId id);
  const std::string& NameOf(NodeId node) const { return nodes_[node.value()].metadata().name(); }
  int64_t NowNs() const;
  absl::Status MakeClaims(proto::kube::Pod* pod, std::vector<std::string>* keys);
  void PutSlice(const proto::kube::ResourceSlice& given);
  void TakeClass(const proto::kube::DeviceClass& device_class);
  void TakeRule(const proto::kube::DeviceTaintRule& rule);
  void DeleteClaim(const std::string& key);
  absl::Status AllocateOne(const ClaimRef& claim);
  // Carries out the calls of a step until it waits (true) or ends with entry->result.
  bool Drive(PodId id, PodEntry* entry, ClaimProgress progress);
  // Carries out the calls of a step that never waits.
  ClaimStatus Finish(StructuredCycle* cycle, ClaimProgress progress);

  ClusterState& cluster_;
  PerfClaimOptions options_;
  bool hints_ = true;
  RunContext* run_ = nullptr;
  PodControl* control_ = nullptr;
  std::vector<proto::kube::Node> nodes_;  // by NodeId
  std::unique_ptr<Store> store_;
  ResourceClasses classes_;
  InFlightClaims in_flight_;
  mutable SliceInventory inventory_;
  StructuredResources plugin_;
  StructuredWrites writes_;
  Random draws_;

  std::map<std::string, proto::kube::ResourceClaimTemplateV1> templates_;  // by key
  std::vector<std::shared_ptr<const proto::kube::ResourceSlice>> slices_;  // without rules' taints
  std::set<std::string> served_;
  absl::flat_hash_map<PodId, PodEntry> pods_;
  std::map<std::string, std::set<PodId>> waiting_;      // unbound pods, by the keys of their claims
  std::vector<std::pair<ClaimRef, ClaimRef>> changes_;  // not delivered yet
  bool context_changed_ = false;                        // a class, a slice or a rule
  bool lists_ = false;                                  // some claim has a prioritized list
  bool only_asks_ = false;                              // nothing may be written
  uint64_t timers_ = 0;
  int64_t claims_made_ = 0;
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_PERF_CLAIMS_H_
