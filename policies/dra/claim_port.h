// The claims, classes and calls of the scheduler plugin for structured DRA, as ports: the plugin
// (structured_resources.h) reads from a ClaimCache and leaves its calls to the caller, who carries
// them out in virtual time, or at once.
#ifndef DRASIM_POLICIES_DRA_CLAIM_PORT_H_
#define DRASIM_POLICIES_DRA_CLAIM_PORT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/claim_ref.h"
#include "policies/dra/claiming_pod.h"

namespace drasim {

class AllocatedDevices;

// Marks the claim that the scheduler makes for a pod's extended resources: "true".
inline constexpr char kExtendedResourceClaimAnnotation[] =
    "resource.kubernetes.io/extended-resource-claim";
bool IsExtendedResourceClaim(const proto::kube::ResourceClaimV1& claim);

// The scheduler's informers and its assume cache: everything as the scheduler knows it, which may
// be older than the API server's objects.
class ClaimCache {
 public:
  virtual ~ClaimCache() = default;
  // Null if there is none.
  virtual ClaimRef FindClaim(absl::string_view ns, absl::string_view name) const = 0;
  // All claims, in a fixed order.
  virtual void ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const = 0;
  // The claim that the scheduler made for the pod's extended resources in an earlier attempt; null
  // if there is none. O(claims), unless a cache keeps them by owner.
  virtual ClaimRef FindExtendedClaim(const ClaimingPod& pod) const;
  // The devices that all of these claims hold.
  virtual const AllocatedDevices& allocated() const = 0;
  // Null if there is none. Valid until the cache changes.
  virtual const proto::kube::DeviceClass* FindClass(absl::string_view name) const = 0;
  // Keeps a version that a call returned, until the informers deliver it or a later one.
  virtual void Assume(const ClaimRef& claim) = 0;
};

enum class ClaimVerb : uint8_t {
  kGet,
  kCreate,             // the name is made from generateName
  kUpdate,             // all but the status
  kUpdateStatus,       // only the status
  kRemoveReservation,  // patch of the status: `consumer_uid` leaves reservedFor
  kDelete,
  kPatchPodStatus,  // sets `pod_status`
};

// A call of the API server.
struct ClaimCall {
  ClaimVerb verb = ClaimVerb::kGet;
  ClaimRef claim;  // as it is to be written; otherwise its namespace and name count
  std::string consumer_uid;
  std::shared_ptr<const proto::kube::ExtendedResourceClaimStatus> pod_status;

  // For checkpoints (sim/dra/api/plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.verb, s.claim, s.consumer_uid, s.pod_status);
  }
};

// The answer to a call. Aborted: the object has changed since it was read (409).
struct ClaimReply {
  absl::Status status;
  ClaimRef claim;  // as it is stored now; null after kDelete and kPatchPodStatus
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIM_PORT_H_
