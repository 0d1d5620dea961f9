// ClaimJournal: reports the changes of ResourceClaims to the sinks of a run (model/claim_change.h).
//
// It compares every state that the API server commits with the one before. The components tell it
// what the server does not know: words of drivers, and the plugins' work on nodes.
#ifndef DRASIM_SIM_DRA_API_CLAIM_JOURNAL_H_
#define DRASIM_SIM_DRA_API_CLAIM_JOURNAL_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/claim_change.h"
#include "model/cluster_state.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/core/node_agent.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/object_cache.h"
#include "sim/dra/api/slice_index.h"

namespace drasim {

namespace proto::kube {
class AllocationResultV1;
}

// Until Attach all calls do nothing. Times do not decrease.
class ClaimJournal {
 public:
  // `objects` is the server's state. All must outlive it.
  ClaimJournal(const ClusterState* cluster, const ObjectCache* objects, ClaimNames names)
      : cluster_(cluster), objects_(objects), names_(names), slices_(objects) {}

  // Begins to report to `engine`. Does nothing if no sink wants changes.
  void Attach(PodControl* engine);
  // A run begins: reports the claims that exist. Not for a run that goes on from a checkpoint,
  // whose sinks know them.
  void Begin(SimTime now);
  // Whether anybody hears of changes, so that it is worth while to find words.
  bool active() const { return engine_ != nullptr; }

  // A change committed by the server; every change, in order. O(the pod's claims).
  void OnCommit(const WatchEvent& event, SimTime now);
  // A driver's reason against the first node of its next answer about the claim.
  void DriverRefuses(Uid claim, std::string words);
  void AllocationFailed(Uid claim, std::string error, SimTime now);
  void Prepared(Uid claim, NodeId node, SimTime now);
  void PrepareFailed(Uid claim, NodeId node, std::string error, SimTime now);
  void Unprepared(Uid claim, NodeId node, SimTime now);

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

 private:
  // A context, and the unallocated claims of its pod that its last change was attributed to.
  struct Context {
    Ref<PodSchedulingContext> object;
    std::vector<Uid> claims;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& c) {
      a(c.object, c.claims);
    }
  };

  void OnClaim(const Ref<ResourceClaim>& claim, bool deleted);
  void OnContext(const Ref<PodSchedulingContext>& context, bool deleted);
  void Compare(const ResourceClaim& before, const ResourceClaim& after);
  // Changes of a context's spec, as one of the claim.
  void CompareSpecs(const PodSchedulingContext& before, const PodSchedulingContext& after,
                    Uid claim);
  // The devices of a structured claim, as the slices on the server describe them.
  std::vector<ClaimDevice> DevicesOf(const proto::kube::AllocationResultV1& allocation);
  // The name of the pod in the run.
  std::string PodName(Uid pod) const;
  ClaimChange Change(ClaimChangeKind kind, Uid claim) const;
  void EmitAtNode(ClaimChangeKind kind, Uid claim, NodeId node, std::string text, SimTime now);

  const ClusterState* cluster_;
  const ObjectCache* objects_;
  ClaimNames names_;
  SliceIndex slices_;
  PodControl* engine_ = nullptr;
  SimTime now_;
  absl::flat_hash_map<Uid, Ref<ResourceClaim>> claims_;  // as last reported
  absl::flat_hash_map<Uid, Context> contexts_;           // likewise
  absl::flat_hash_map<Uid, std::string> words_;          // by claim, until the driver's answer
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_CLAIM_JOURNAL_H_
