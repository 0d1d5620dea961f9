#include "sim/sdra/plugin_store.h"

#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {

namespace kube = ::drasim::proto::kube;

std::shared_ptr<const kube::Pod> PluginStore::FindPod(const std::string& name) const {
  const auto found = pods_.find(name);
  return found == pods_.end() ? nullptr : found->second;
}

void PluginStore::AddPod(const kube::Pod& pod) {
  pods_[pod.metadata().name()] = std::make_shared<kube::Pod>(pod);
}

void PluginStore::OnWrite(absl::string_view verb, absl::string_view resource,
                          const std::string& name) {
  writes_.push_back(absl::StrCat(verb, " ", resource, " ", name));
}

absl::Status PluginStore::PatchPod(const ClaimCall& call) {
  // The pod that owns the claim.
  const std::string& name = call.claim->metadata().owner_references(0).name();
  const auto pod = pods_.find(name);
  if (pod == pods_.end()) return absl::NotFoundError(absl::StrCat("pods \"", name, "\" not found"));
  auto patched = std::make_shared<kube::Pod>(*pod->second);
  *patched->mutable_status()->mutable_extended_resource_claim_status() = *call.pod_status;
  pod->second = std::move(patched);
  OnWrite("patch", "pods/status", name);
  return absl::OkStatus();
}

void PluginStore::ReleaseAll(const std::string& pod) {
  const std::shared_ptr<const kube::Pod> released = FindPod(pod);
  DRASIM_CHECK(released != nullptr);
  const ClaimTable before = claims();
  for (const auto& [key, claim] : before) Release(key, released->metadata().uid());
}

}  // namespace drasim
