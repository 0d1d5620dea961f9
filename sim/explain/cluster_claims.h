// What DynamicResources (classic DRA, release 1.29) says about one pod of a dump: before the queue,
// of the pod as a whole, of each node, and whose turn it is. Structured claims are set aside.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_CLAIMS_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_CLAIMS_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "model/proto/kube.pb.h"
#include "sim/dra/dynamic_resources.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_filters.h"
#include "sim/explain/cluster_report.h"

namespace drasim {

// Keeps references to the dump and the pod.
class PodClaims {
 public:
  // Looks at the claims in the order of the pod's entries, up to the first that keeps the pod from
  // being tried on nodes.
  PodClaims(const ClusterDump& dump, const DumpPod& pod);

  // What keeps the pod from being tried on any node: "" if nothing does. `before_queue`: the pod
  // does not even enter the queue (PreEnqueue).
  const std::string& obstacle() const { return obstacle_; }
  bool before_queue() const { return before_queue_; }
  // Whether it has classic claims, and whether it has structured ones, which nothing here judges.
  bool has_classic() const { return !claims_.empty(); }
  bool has_structured() const { return !structured_.empty(); }

  // Of a pod without an obstacle. Null: the node would do.
  absl::optional<NodeRejection> Check(const DumpNode& node) const;

  // Who has to act next. With an obstacle: on it. Without one: `selectable` says whether some node
  // passes all plugins, `pinned` whether some node lacks nothing but an allocated claim. Empty
  // where the scheduler could bind it.
  std::vector<AwaitedAct> Awaited(bool selectable, bool pinned) const;

  // For which pods its claims are reserved, where that keeps it waiting.
  std::vector<HolderList> Consumers() const;
  // By driver that it waits for: the claims that are allocated for these nodes, of the first few
  // nodes with some.
  std::vector<HolderList> HoldersOn(absl::Span<const DumpNode* const> nodes) const;
  // Of a pod that has been bound: what its kubelet waits for, a sentence each.
  std::vector<AwaitedAct> AwaitedByKubelet() const;
  std::vector<std::string> Notes() const;

 private:
  struct Claim {
    const proto::kube::PodResourceClaim* entry = nullptr;
    std::string key;  // "ml/train-gpu-x1"; empty: not known
    const proto::kube::ResourceClaim* object = nullptr;
    const proto::kube::ResourceClass* resource_class = nullptr;
    const proto::kube::ResourceClaimSchedulingStatus* in_context = nullptr;

    bool allocated() const { return object->status().has_allocation(); }
    bool immediate() const { return object->spec().allocation_mode() == "Immediate"; }
    bool from_template() const;
  };

  // Whether the claim, of which the dump has no classic object, is one of structured parameters.
  bool IsStructured(const Claim& claim) const;
  // The claim of an entry, as far as it can be found.
  Claim Find(const proto::kube::PodResourceClaim& entry) const;
  // Null unless the claim exists, is the pod's, and was made for that entry.
  const proto::kube::ResourceClaim* OwnedClaim(const std::string& entry) const;
  bool IsOwnedByPod(const proto::kube::ObjectMeta& meta) const;
  bool IsReservedForPod(const Claim& claim) const;
  bool IsPod(const proto::kube::ConsumerReference& consumer, const DumpPod& pod) const;

  void Reject(DynamicResources::Reason reason, const std::string& object, const Claim& claim);
  void FindAll();
  void CheckAll();
  void AwaitMissing(const Claim& claim, std::vector<AwaitedAct>* acts) const;
  void AwaitDeleted(const Claim& claim, std::vector<AwaitedAct>* acts) const;
  void AwaitAllocation(bool selectable, std::vector<AwaitedAct>* acts) const;
  void AwaitSelection(bool selectable, std::vector<AwaitedAct>* acts) const;
  AwaitedAct AwaitDriver(const Claim& claim, absl::string_view what) const;
  AwaitedAct AwaitConsumers(const Claim& claim, absl::string_view what) const;
  HolderList ConsumersOf(const Claim& claim) const;
  // An allocated claim, with those that it is reserved for.
  HolderList::Holder HolderOf(const proto::kube::ResourceClaim& claim) const;
  std::string ConsumerState(const proto::kube::ConsumerReference& consumer,
                            const std::string& ns) const;
  std::string DriverOf(const Claim& claim) const;

  const ClusterDump& dump_;
  const DumpPod& pod_;
  const proto::kube::PodSchedulingContext* context_ = nullptr;
  bool foreign_context_ = false;         // of a former pod of that name
  std::vector<Claim> claims_;            // classic ones
  std::vector<std::string> structured_;  // keys, or "entry NAME" where no claim is known
  std::string obstacle_;
  DynamicResources::Reason reason_ = DynamicResources::Reason::kNone;
  Claim obstructing_;
  bool before_queue_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CLUSTER_CLAIMS_H_
