// The verdicts of DynamicResources (classic DRA, release 1.29) on one pod of a dump: before the
// queue, on the pod as a whole, on each node, and which component has to act next. Structured
// claims are set aside.
#ifndef DRASIM_SIM_EXPLAIN_CLUSTER_CLAIMS_H_
#define DRASIM_SIM_EXPLAIN_CLUSTER_CLAIMS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/proto/kube.pb.h"
#include "sim/dra/classic/dynamic_resources.h"
#include "sim/explain/cluster_dump.h"
#include "sim/explain/cluster_report.h"
#include "sim/explain/cluster_verdicts.h"

namespace drasim {

inline constexpr char kClaimPlugin[] = "DynamicResources";

// Keeps references to the dump and the pod.
class DumpClaims {
 public:
  // Reads the claims in the order of the pod's entries, up to the first that keeps the pod from
  // being tried on nodes.
  DumpClaims(const ClusterDump& dump, const DumpPod& pod);

  // Why the pod is not tried on any node; empty if it is. `before_queue`: it does not even enter
  // the queue (PreEnqueue).
  const std::string& obstacle() const { return obstacle_; }
  bool before_queue() const { return before_queue_; }
  // Whether the pod has classic claims, and whether it has structured ones (cluster_devices.h).
  bool has_classic() const { return !claims_.empty(); }
  bool has_structured() const { return !structured_.empty(); }
  // Keys of the structured claims, or "entry NAME" where none is known.
  const std::vector<std::string>& structured() const { return structured_; }

  // Absent if the node would do. REQUIRES: no obstacle.
  std::optional<DumpRejection> Check(const DumpNode& node) const;

  // The next acts: on the obstacle if there is one. Otherwise `selectable` says whether some
  // node passes all plugins, `pinned` whether some node lacks only an allocated claim. Empty if the
  // scheduler could bind the pod.
  std::vector<AwaitedAct> Awaited(bool selectable, bool pinned) const;

  // The pods that the claims are reserved for, if that keeps this pod waiting.
  std::vector<HolderList> Consumers() const;
  // For each driver that the pod waits for: the claims that it has allocated on these nodes; the
  // first few nodes with some.
  std::vector<HolderList> HoldersOn(absl::Span<const DumpNode* const> nodes) const;
  // The acts that the kubelet of a bound pod waits for.
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

  // Whether the claim, of which the dump has no classic object, is a structured one.
  bool IsStructured(const Claim& claim) const;
  // The claim of an entry with everything that can be found about it.
  Claim Find(const proto::kube::PodResourceClaim& entry) const;
  // The claim that was made for that entry of this pod; null if there is none.
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
