// ClaimStore: the API server and the scheduler's informers for structured claims in one. Writes
// take effect, and are delivered, at once.
//
//   ClaimProgress step = writes.PreBind(&cycle, "node-1", now_ns);
//   while (step.call.has_value()) {
//     const ClaimReply reply = store.Do(*step.call);
//     step = writes.Resume(&cycle, &reply, now_ns);
//   }
#ifndef DRASIM_POLICIES_DRA_CLAIM_STORE_H_
#define DRASIM_POLICIES_DRA_CLAIM_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/cluster_state.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "policies/dra/allocated_devices.h"
#include "policies/dra/claim_port.h"

namespace drasim {

// Claims by "namespace/name".
using ClaimTable = std::map<std::string, ClaimRef, std::less<>>;

class ClaimStore : public ClaimCache {
 public:
  // The cluster, whose inventory the claims' devices are held in, must outlive it.
  explicit ClaimStore(ClusterState* cluster) : allocated_(cluster) {}

  // --- As the caches know it ---
  ClaimRef FindClaim(absl::string_view ns, absl::string_view name) const override;
  // In the order of their keys.
  void ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const override;
  // O(log claims) for a pod without one.
  ClaimRef FindExtendedClaim(const ClaimingPod& pod) const override;
  const AllocatedDevices& allocated() const override { return allocated_; }
  const proto::kube::DeviceClass* FindClass(absl::string_view name) const override;
  void Assume(const ClaimRef&) override {}  // delivered already

  // --- Objects that others than the scheduler write ---
  void AddClass(proto::kube::DeviceClass device_class);
  // Adds the claim, or replaces the one of its name.
  ClaimRef AddClaim(proto::kube::ResourceClaimV1 claim);

  // --- Calls ---
  // An update of a version that is not the latest is refused (Aborted). O(log claims).
  ClaimReply Do(const ClaimCall& call);
  // The claim controller for a consumer that is done: it leaves the claim, and a claim without
  // consumers loses its allocation and its finalizers. False if it was no consumer.
  bool Release(const std::string& key, const std::string& consumer_uid);
  // A driver: the devices of the claim's allocation, or the named one, have these conditions.
  void SetConditions(const std::string& ns, const std::string& claim, const std::string& device,
                     absl::Span<const proto::kube::Condition> conditions);

  const ClaimTable& claims() const { return claims_; }
  // Whether a call made the claim.
  bool WasMade(const std::string& key) const { return made_.count(key) > 0; }

 protected:
  // A call has taken effect: "update", "resourceclaims/status", the claim's name.
  virtual void OnWrite(absl::string_view /*verb*/, absl::string_view /*resource*/,
                       const std::string& /*name*/) {}
  // A claim was added (no `before`), changed, or deleted (no `after`).
  virtual void OnChange(const ClaimRef& /*before*/, const ClaimRef& /*after*/) {}
  // kPatchPodStatus.
  virtual absl::Status PatchPod(const ClaimCall& call) = 0;

 private:
  ClaimReply Keep(proto::kube::ResourceClaimV1 claim);
  ClaimReply Make(const proto::kube::ResourceClaimV1& claim);
  ClaimReply Write(const ClaimCall& call, const proto::kube::ResourceClaimV1& stored);
  void Index(const proto::kube::ResourceClaimV1& claim, bool there);
  void Changed(const ClaimRef& before, const ClaimRef& after);

  std::map<std::string, proto::kube::DeviceClass, std::less<>> classes_;
  ClaimTable claims_;
  std::map<std::string, int64_t> extended_;  // claims for extended resources, by the owner's UID
  AllocatedDevices allocated_;
  std::set<std::string> made_;
  int64_t version_ = 0;  // the latest resourceVersion
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIM_STORE_H_
