// The store of a case for structured DRA: its claims and its pods. Calls are recorded.
#ifndef DRASIM_SIM_SDRA_PLUGIN_STORE_H_
#define DRASIM_SIM_SDRA_PLUGIN_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/proto/kube.pb.h"
#include "policies/dra/claim_port.h"
#include "policies/dra/claim_store.h"

namespace drasim {

class PluginStore : public ClaimStore {
 public:
  // The cluster must outlive it.
  explicit PluginStore(ClusterState* cluster) : ClaimStore(cluster) {}

  void AddPod(const proto::kube::Pod& pod);
  std::shared_ptr<const proto::kube::Pod> FindPod(const std::string& name) const;
  // The pod is done: Release for all claims. Requires FindPod.
  void ReleaseAll(const std::string& pod);
  // "update resourceclaims claim-0"
  std::vector<std::string>& writes() { return writes_; }

 private:
  void OnWrite(absl::string_view verb, absl::string_view resource,
               const std::string& name) override;
  absl::Status PatchPod(const ClaimCall& call) override;

  std::map<std::string, std::shared_ptr<const proto::kube::Pod>> pods_;  // by name
  std::vector<std::string> writes_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_PLUGIN_STORE_H_
