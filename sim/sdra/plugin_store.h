// The API server and the scheduler's informers of a case for structured DRA in one: objects whose
// writes take effect, and are delivered, at once. Calls are recorded.
#ifndef DRASIM_SIM_SDRA_PLUGIN_STORE_H_
#define DRASIM_SIM_SDRA_PLUGIN_STORE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
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

class PluginStore : public ClaimCache {
 public:
  // The cluster, whose inventory the claims' devices are held in, must outlive it.
  explicit PluginStore(ClusterState* cluster) : allocated_(cluster) {}

  // --- As the caches know it ---
  ClaimRef FindClaim(absl::string_view ns, absl::string_view name) const override;
  // In the order of their keys.
  void ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const override;
  const AllocatedDevices& allocated() const override { return allocated_; }
  const proto::kube::DeviceClass* FindClass(absl::string_view name) const override;
  void Assume(const ClaimRef&) override {}  // delivered already

  // --- Objects that are there at the beginning ---
  void AddClass(proto::kube::DeviceClass device_class);
  void AddClaim(proto::kube::ResourceClaimV1 claim);
  void AddPod(const proto::kube::Pod& pod);

  // --- Calls ---
  // An update of a version that is not the latest is refused (Aborted).
  ClaimReply Do(const ClaimCall& call);
  // The claim controller when the pod is done: the pod leaves all claims, and a claim without
  // consumers loses its allocation and its finalizers. Requires FindPod.
  void Release(const std::string& pod);
  // A driver: the devices of the claim's allocation, or the named one, have these conditions.
  void SetConditions(const std::string& ns, const std::string& claim, const std::string& device,
                     absl::Span<const proto::kube::Condition> conditions);

  const ClaimTable& claims() const { return claims_; }
  // Whether a call made the claim.
  bool WasMade(const std::string& key) const { return made_.count(key) > 0; }
  std::shared_ptr<const proto::kube::Pod> FindPod(const std::string& name) const;
  std::vector<std::string> pod_names() const;  // ascending
  // "update resourceclaims claim-0"
  std::vector<std::string>& writes() { return writes_; }

 private:
  ClaimReply Keep(proto::kube::ResourceClaimV1 claim);
  ClaimReply Make(const proto::kube::ResourceClaimV1& claim);
  ClaimReply Write(const ClaimCall& call, const proto::kube::ResourceClaimV1& stored);
  ClaimReply PatchPod(const ClaimCall& call);
  void Note(absl::string_view verb, const std::string& name);

  std::map<std::string, proto::kube::DeviceClass, std::less<>> classes_;
  ClaimTable claims_;
  AllocatedDevices allocated_;
  std::set<std::string> made_;
  std::map<std::string, std::shared_ptr<const proto::kube::Pod>> pods_;  // by name
  std::vector<std::string> writes_;
  int64_t version_ = 0;  // the latest resourceVersion
};

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_PLUGIN_STORE_H_
