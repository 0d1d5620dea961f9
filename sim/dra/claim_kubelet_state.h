// What the kubelet knows of a pod. For claim_kubelet.cc alone.
#ifndef DRASIM_SIM_DRA_CLAIM_KUBELET_STATE_H_
#define DRASIM_SIM_DRA_CLAIM_KUBELET_STATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "sim/dra/claim_kubelet.h"

namespace drasim {

inline bool HoldsClaim(const std::vector<Ref<ResourceClaim>>& claims, Uid uid) {
  return std::any_of(claims.begin(), claims.end(),
                     [uid](const Ref<ResourceClaim>& claim) { return claim->meta.uid == uid; });
}

// A pod that is bound to a node, from when the kubelet sees it.
struct ClaimKubelet::PodState {
  enum class Stage : uint8_t {
    kFetching,         // GET of a claim
    kPreparing,        // a plugin is at work
    kRetryingPrepare,  // at the next pod sync
    kReportingRunning,
    kRunning,  // until WorkDone, or until it is stopped
    kUnpreparing,
    kRetryingUnprepare,
    kReportingEnd,
    kDeleting,
    kEnded,  // or lost: nothing to do; kept until the watch tells of its end, so that it starts
             // once
  };
  // One gRPC call.
  struct PluginCall {
    Name driver;
    std::vector<Ref<ResourceClaim>> claims;
    bool fails = false;
  };

  Ref<Pod> pod;  // as the cache has it, or had it last
  NodeId node;
  Stage stage = Stage::kFetching;
  uint64_t token = 0;  // of the call or timer under way; 0: there is none
  bool ending = false;
  bool failed = true;                          // how it ends; stopped containers count as failed
  bool gone = false;                           // from the server: there is nothing to report to
  size_t entry = 0;                            // of pod->claims; kFetching
  std::vector<Ref<ResourceClaim>> to_prepare;  // so far; kFetching
  std::vector<Ref<ResourceClaim>> held;        // that it refers to, in the order of their GETs
  std::vector<PluginCall> calls;               // of the present attempt
  size_t call = 0;                             // the present one; kPreparing, kUnpreparing

  // Whether a later call is about the claim too.
  bool IsInLaterCall(Uid claim) const {
    for (size_t i = call + 1; i < calls.size(); ++i) {
      if (HoldsClaim(calls[i].claims, claim)) return true;
    }
    return false;
  }
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_CLAIM_KUBELET_STATE_H_
