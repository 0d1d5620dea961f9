#include "sim/dra/structured/structured_objects.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/kube/selectors_of.h"
#include "model/pod_constraints.h"
#include "policies/dra/claim_rules.h"
#include "policies/dra/claim_version.h"
#include "sim/dra/structured/allocation_grants.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr char kPodClaimName[] = "resource.kubernetes.io/pod-claim-name";
// Rules only ask whether there is one.
constexpr char kSomeTime[] = "2000-01-01T00:00:00Z";

uint64_t NumberOf(const std::string& text) {
  uint64_t number = 0;
  DRASIM_CHECK(text.empty() || absl::SimpleAtoi(text, &number));
  return number;
}

// The names of a selector that only names nodes, as those of node-local pools do.
std::optional<std::vector<std::string>> OnlyNames(const kube::NodeSelector& selector) {
  if (selector.node_selector_terms_size() != 1) return std::nullopt;
  const kube::NodeSelectorTerm& term = selector.node_selector_terms(0);
  if (term.match_expressions_size() != 0 || term.match_fields_size() != 1) return std::nullopt;
  const kube::SelectorRequirement& field = term.match_fields(0);
  if (field.key() != "metadata.name" || field.operator_() != "In") return std::nullopt;
  return std::vector<std::string>(field.values().begin(), field.values().end());
}

std::string TextOf(Name name) { return std::string(name.text()); }

void SetMetadata(const ResourceClaim& claim, kube::ObjectMeta* metadata) {
  const ObjectMeta& meta = claim.meta;
  metadata->set_name(TextOf(meta.name));
  metadata->set_namespace_(TextOf(meta.ns));
  metadata->set_uid(absl::StrCat(meta.uid));
  metadata->set_resource_version(absl::StrCat(meta.version));
  if (meta.deleting) metadata->set_deletion_timestamp(kSomeTime);
  for (const Name finalizer : meta.finalizers) {
    metadata->add_finalizers(TextOf(finalizer));
  }
  for (const auto& [key, value] : claim.labels) (*metadata->mutable_labels())[key] = value;
  if (!claim.pod_claim_name.empty()) {
    (*metadata->mutable_annotations())[kPodClaimName] = TextOf(claim.pod_claim_name);
  }
  if (claim.for_extended_resources) {
    (*metadata->mutable_annotations())[kExtendedResourceClaimAnnotation] = "true";
  }
  if (meta.owner == 0) return;
  kube::OwnerReference* const owner = metadata->add_owner_references();
  owner->set_api_version("v1");
  owner->set_kind("Pod");
  owner->set_uid(absl::StrCat(meta.owner));
  owner->set_controller(true);
}

Consumer ConsumerFromV1(const kube::ConsumerReference& consumer, NamePool& names) {
  return {names.Intern(consumer.resource()), names.Intern(consumer.name()),
          NumberOf(consumer.uid())};
}

// A claim of the control plane as the source of a reference.
class ClaimObject : public ClaimSource {
 public:
  explicit ClaimObject(Ref<ResourceClaim> claim) : claim_(std::move(claim)) {}
  const Ref<ResourceClaim>& claim() const { return claim_; }
  absl::string_view ns() const override { return claim_->meta.ns.text(); }
  absl::string_view name() const override { return claim_->meta.name.text(); }
  std::string uid() const override { return absl::StrCat(claim_->meta.uid); }
  bool deleting() const override { return claim_->meta.deleting; }
  bool guarded() const override;
  DevicesRef devices() const override { return claim_->spec.devices.shared(); }
  AllocationRef allocation() const override;
  bool IsControlledBy(absl::string_view owner) const override {
    return claim_->meta.owner != 0 && owner == absl::AlphaNum(claim_->meta.owner).Piece();
  }
  bool IsReservedFor(absl::string_view consumer) const override;

 protected:
  Message Make() const override;

 private:
  Ref<ResourceClaim> claim_;
};

ClaimSource::Message ClaimObject::Make() const {
  const ResourceClaim& claim = *claim_;
  ClaimDraft made;
  SetMetadata(claim, made.metadata());
  made.parts().devices = claim.spec.devices.shared();
  kube::ResourceClaimStatusV1* const status = made.status();
  if (claim.status.devices) *status->mutable_devices() = claim.status.devices->devices();
  if (claim.status.allocation != nullptr) {
    made.parts().allocation = claim.status.allocation->result.shared();
  }
  for (const Consumer& consumer : claim.status.reserved_for) {
    kube::ConsumerReference* const reference = status->add_reserved_for();
    reference->set_resource(TextOf(consumer.resource));
    reference->set_name(TextOf(consumer.name));
    reference->set_uid(absl::StrCat(consumer.uid));
  }
  return std::move(made).Finish().message();
}

bool ClaimObject::guarded() const {
  return absl::c_any_of(claim_->meta.finalizers, [](Name finalizer) {
    return finalizer.text() == kStructuredClaimFinalizer;
  });
}

bool ClaimObject::IsReservedFor(absl::string_view consumer) const {
  return absl::c_any_of(claim_->status.reserved_for, [consumer](const Consumer& each) {
    return consumer == absl::AlphaNum(each.uid).Piece();
  });
}

AllocationRef ClaimObject::allocation() const {
  const Ref<Allocation>& allocation = claim_->status.allocation;
  return allocation == nullptr ? nullptr : allocation->result.shared();
}

// The object with the edit, as ClaimFromV1 of the edited message.
Ref<ResourceClaim> Edited(const ResourceClaim& claim, const ClaimEdit& edit,
                          const ClusterState& cluster, NamePool& names) {
  auto made = std::make_shared<ResourceClaim>(claim);
  if (edit.guards) made->meta.finalizers.push_back(names.Intern(kStructuredClaimFinalizer));
  if (edit.allocation != nullptr) {
    made->status.allocation = AllocationFromV1(edit.allocation, cluster, names);
  }
  if (edit.consumer.has_value()) {
    made->status.reserved_for.push_back({names.Intern(kPodConsumers),
                                         names.Intern(edit.consumer->name),
                                         NumberOf(edit.consumer->uid)});
  }
  return made;
}

}  // namespace

NodeSet NodesOfSelector(const kube::NodeSelector& selector, const ClusterState& cluster) {
  std::vector<NodeId> nodes;
  if (const auto names = OnlyNames(selector); names.has_value()) {
    for (const std::string& name : *names) {
      if (const NodeId node = cluster.FindNode(name); node.valid()) nodes.push_back(node);
    }
    return NodeSet::Of(std::move(nodes));
  }
  const absl::StatusOr<std::vector<NodeTerm>> terms = NodeTermsOf(selector);
  DRASIM_CHECK(terms.ok());
  for (size_t i = 0; i < cluster.node_count(); ++i) {
    if (MeetsNodeTerms(cluster.node_spec(NodeId(i)), *terms)) nodes.push_back(NodeId(i));
  }
  return NodeSet::Of(std::move(nodes));
}

ClaimRef ClaimToV1(Ref<ResourceClaim> claim) {
  return ClaimRef(std::make_shared<const ClaimObject>(std::move(claim)));
}

Ref<ResourceClaim> ObjectOf(const ClaimRef& claim) {
  const auto* const object = dynamic_cast<const ClaimObject*>(claim.source());
  return object == nullptr ? nullptr : object->claim();
}

Ref<Allocation> AllocationFromV1(const AllocationRef& shared, const ClusterState& cluster,
                                 NamePool& names) {
  const kube::AllocationResultV1& result = *shared;
  auto allocation = std::make_shared<Allocation>();
  allocation->shareable = true;
  allocation->result = SharedMessage<kube::AllocationResultV1>(shared);
  if (result.has_node_selector()) {
    allocation->available_on = NodesOfSelector(result.node_selector(), cluster);
    const auto nodes = allocation->available_on.nodes();
    if (nodes.size() == 1) allocation->node = nodes.front();
  }
  if (allocation->node.valid()) allocation->grants = GrantsOfAllocation(result, cluster);
  for (const auto& device : result.devices().results()) {
    const Name driver = names.Intern(device.driver());
    const bool known = absl::c_any_of(allocation->handles, [driver](const ResourceHandle& handle) {
      return handle.driver == driver;
    });
    if (!known) allocation->handles.push_back({driver, ""});
  }
  return allocation;
}

Ref<ResourceClaim> ClaimFromV1(const ClaimRef& v1, const ClusterState& cluster, NamePool& names) {
  if (Ref<ResourceClaim> known = ObjectOf(v1); known != nullptr) return known;
  if (const auto* edited = dynamic_cast<const EditedClaim*>(v1.source()); edited != nullptr) {
    const Ref<ResourceClaim> from = ObjectOf(edited->from());
    if (from != nullptr) return Edited(*from, edited->edit(), cluster, names);
  }
  const kube::ResourceClaimV1& claim = *v1;
  const ClaimParts parts = PartsOf(v1);
  auto made = std::make_shared<ResourceClaim>();
  const kube::ObjectMeta& metadata = claim.metadata();
  made->meta.ns = names.Intern(metadata.namespace_());
  made->meta.name = names.Intern(metadata.name());
  made->meta.uid = NumberOf(metadata.uid());
  made->meta.version = NumberOf(metadata.resource_version());
  made->meta.deleting = !metadata.deletion_timestamp().empty();
  for (const std::string& finalizer : metadata.finalizers()) {
    made->meta.finalizers.push_back(names.Intern(finalizer));
  }
  for (const kube::OwnerReference& owner : metadata.owner_references()) {
    if (owner.controller()) made->meta.owner = NumberOf(owner.uid());
  }
  const auto entry = metadata.annotations().find(kPodClaimName);
  if (entry != metadata.annotations().end()) made->pod_claim_name = names.Intern(entry->second);
  made->for_extended_resources = metadata.annotations().count(kExtendedResourceClaimAnnotation) > 0;
  made->labels.assign(metadata.labels().begin(), metadata.labels().end());
  absl::c_sort(made->labels);
  made->spec.devices = parts.devices == nullptr
                           ? SharedMessage<kube::DeviceClaim>(kube::DeviceClaim())
                           : SharedMessage<kube::DeviceClaim>(parts.devices);

  if (parts.allocation != nullptr) {
    made->status.allocation = AllocationFromV1(parts.allocation, cluster, names);
  }
  for (const kube::ConsumerReference& consumer : claim.status().reserved_for()) {
    made->status.reserved_for.push_back(ConsumerFromV1(consumer, names));
  }
  if (!claim.status().devices().empty()) {
    kube::ResourceClaimStatusV1 devices;
    *devices.mutable_devices() = claim.status().devices();
    made->status.devices = SharedMessage<kube::ResourceClaimStatusV1>(std::move(devices));
  }
  return made;
}

ClaimingPod ClaimingPodOf(const Pod& pod) {
  ClaimingPod made;
  made.ns = TextOf(pod.meta.ns);
  made.name = TextOf(pod.meta.name);
  made.uid = absl::StrCat(pod.meta.uid);
  for (const PodClaim& entry : pod.claims) {
    made.claims.push_back({TextOf(entry.entry), TextOf(entry.claim), TextOf(entry.from_template)});
  }
  for (const Pod::ClaimName& name : pod.claim_names) {
    made.generated.push_back({TextOf(name.entry), TextOf(name.claim)});
  }
  made.containers = pod.containers.shared();
  return made;
}

kube::Node NodeToV1(const NodeSpec& node) {
  kube::Node made;
  made.mutable_metadata()->set_name(node.name);
  for (const auto& [key, value] : node.labels) {
    (*made.mutable_metadata()->mutable_labels())[key] = value;
  }
  return made;
}

}  // namespace drasim
