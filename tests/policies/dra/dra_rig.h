// Objects of resource.k8s.io/v1 from texts, and a cache of them, for tests of policies/dra.
#ifndef DRASIM_TESTS_POLICIES_DRA_DRA_RIG_H_
#define DRASIM_TESTS_POLICIES_DRA_DRA_RIG_H_

#include <google/protobuf/text_format.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "model/shape_table.h"
#include "policies/dra/allocated_devices.h"
#include "policies/dra/claim_port.h"
#include "policies/dra/device_search.h"

namespace drasim::dra_rig {

// A message in protobuf's text format.
template <typename Message>
Message FromText(const std::string& text) {
  Message message;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &message)) << text;
  return message;
}

// A claim "default/NAME" with the rest of its content.
inline ClaimRef ClaimOf(const std::string& name, const std::string& content = "") {
  auto claim = FromText<proto::kube::ResourceClaimV1>(content);
  claim.mutable_metadata()->set_namespace_("default");
  claim.mutable_metadata()->set_name(name);
  claim.mutable_metadata()->set_uid(absl::StrCat("uid-", name));
  return std::make_shared<const proto::kube::ResourceClaimV1>(std::move(claim));
}

// A pod "default/NAME" that uses the claims.
inline ClaimingPod PodOf(const std::string& name, const std::vector<std::string>& claims) {
  ClaimingPod pod;
  pod.ns = "default";
  pod.name = name;
  pod.uid = absl::StrCat("uid-", name);
  for (const std::string& claim : claims) pod.claims.push_back({"", claim, ""});
  return pod;
}

inline proto::kube::Node NodeOf(const std::string& name) {
  proto::kube::Node node;
  node.mutable_metadata()->set_name(name);
  return node;
}

class TestCache : public ClaimCache {
 public:
  // Has the inventory.
  ClusterState& cluster() { return cluster_; }
  void Add(const ClaimRef& claim) {
    ClaimRef& stored = claims_[claim->metadata().name()];
    allocated_.OnClaim(stored, claim);
    stored = claim;
  }
  void Remove(const std::string& name) { claims_.erase(name); }
  void AddClass(const std::string& name) { classes_[name].mutable_metadata()->set_name(name); }

  ClaimRef FindClaim(absl::string_view, absl::string_view name) const override {
    const auto found = claims_.find(std::string(name));
    return found == claims_.end() ? nullptr : found->second;
  }
  void ForEachClaim(absl::FunctionRef<void(const ClaimRef&)> visit) const override {
    for (const auto& [name, claim] : claims_) visit(claim);
  }
  const AllocatedDevices& allocated() const override { return allocated_; }
  const proto::kube::DeviceClass* FindClass(absl::string_view name) const override {
    const auto found = classes_.find(std::string(name));
    return found == classes_.end() ? nullptr : &found->second;
  }
  void Assume(const ClaimRef& claim) override { Add(claim); }

 private:
  GpuModelTable models_;
  ShapeTable shapes_{&models_};
  ClusterState cluster_{&models_, &shapes_};
  std::map<std::string, ClaimRef> claims_;
  AllocatedDevices allocated_{&cluster_};
  std::map<std::string, proto::kube::DeviceClass> classes_;
};

// Answers as told, by node.
class TestSearch : public DeviceSearch {
 public:
  explicit TestSearch(const std::map<std::string, SearchResult>* results) : results_(results) {}
  SearchResult Allocate(const proto::kube::Node& node, absl::Span<const ClaimRef> claims) override {
    SearchResult result = results_->at(node.metadata().name());
    if (result.outcome == SearchOutcome::kFound) result.allocations.resize(claims.size());
    return result;
  }

 private:
  const std::map<std::string, SearchResult>* results_;
};

}  // namespace drasim::dra_rig

#endif  // DRASIM_TESTS_POLICIES_DRA_DRA_RIG_H_
