#include "sim/explain/structured_claims.h"

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/device_use.h"
#include "policies/dra/binding_conditions.h"
#include "policies/dra/claim_rules.h"
#include "policies/dra/extended_resources.h"
#include "policies/dra/structured_cycle.h"
#include "sim/dra/classic/claim_explainer.h"
#include "sim/dra/classic/control_plane.h"
#include "sim/dra/structured/structured_objects.h"
#include "sim/dra/structured/structured_rules.h"
#include "sim/explain/node_room.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// The claim that the scheduler would make for the resources.
ClaimRef ClaimToMake(const ClaimingPod& pod, const std::vector<std::string>& resources,
                     const ResourceClasses& classes) {
  auto claim = std::make_shared<kube::ResourceClaimV1>();
  claim->mutable_metadata()->set_namespace_(pod.ns);
  claim->mutable_metadata()->set_name(kUnmadeClaimName);
  for (kube::DeviceRequest& request :
       RequestsOfResources(*pod.containers, resources, classes).requests) {
    *claim->mutable_spec()->mutable_devices()->add_requests() = std::move(request);
  }
  return claim;
}

}  // namespace

std::string RequestObstacle(const kube::ResourceClaimV1& claim,
                            absl::FunctionRef<bool(absl::string_view)> has_class,
                            std::string* missing) {
  const auto check = [&](const std::string& device_class, const std::string& name) {
    if (device_class.empty()) return absl::StrCat("request ", name, ": unsupported request type");
    if (has_class(device_class)) return std::string();
    if (missing != nullptr) *missing = device_class;
    return absl::StrCat("request ", name, ": device class ", device_class, " does not exist");
  };
  for (const kube::DeviceRequest& request : claim.spec().devices().requests()) {
    if (request.first_available().empty()) {
      std::string problem = check(request.exactly().device_class_name(), request.name());
      if (!problem.empty()) return problem;
      continue;
    }
    for (const kube::DeviceSubRequest& option : request.first_available()) {
      std::string problem =
          check(option.device_class_name(), absl::StrCat(request.name(), "/", option.name()));
      if (!problem.empty()) return problem;
    }
  }
  return "";
}

DeviceHolderTexts HolderTextsOf(
    const DeviceInventory& inventory,
    absl::FunctionRef<std::string(const std::string& holder, bool pending)> text) {
  DeviceHolderTexts texts;
  for (const auto& [holder, holding] : inventory.holders()) {
    const std::string words = text(inventory.columns().texts().Text(holder.claim), holder.pending);
    for (const DeviceHold& hold : holding.holds) {
      const DevicePool& pool = inventory.pools()[inventory.pool_of(hold.row).value()];
      const DeviceTexts& names = inventory.columns().texts();
      texts[{names.Text(pool.driver), names.Text(pool.name),
             names.Text(inventory.name_of(hold.row))}]
          .push_back(words);
    }
  }
  return texts;
}

std::shared_ptr<StructuredClaims> StructuredClaims::Of(const Simulation& sim) {
  const ControlPlane* const plane = sim.control_plane();
  if (plane == nullptr) return nullptr;
  const auto* const rules = dynamic_cast<const StructuredRules*>(&plane->scheduler().rules());
  if (rules == nullptr) return nullptr;
  return std::shared_ptr<StructuredClaims>(new StructuredClaims(&sim, plane, rules));
}

std::vector<std::string> StructuredClaims::Lines(PodId pod) const {
  const StructuredMoment moment = rules_.Moment();
  const auto state = [&](const ResourceClaim& claim) -> std::string {
    const ClaimRef v1 = ClaimToV1(std::make_shared<const ResourceClaim>(claim));
    if (claim.status.allocation != nullptr) {
      if (!HasBindingConditions(v1->status().allocation())) return "";
      const ClaimReadiness readiness = ReadinessOf(*v1);
      switch (readiness.state) {
        case BindingReadiness::kReady:
          return "";
        case BindingReadiness::kPending:
          return absl::StrCat("; waits for ", readiness.waits_for, " to be True");
        case BindingReadiness::kFailed:
          break;
      }
      return absl::StrCat("; a binding condition has failed: ", readiness.failure);
    }
    if (moment.in_flight.Has(v1.uid())) {
      return "is being allocated: the scheduler has chosen its devices and writes them";
    }
    const std::string obstacle = RequestObstacle(
        *v1, [&](absl::string_view name) { return moment.claims.FindClass(name) != nullptr; });
    return obstacle.empty() ? "is not allocated" : absl::StrCat("cannot be allocated: ", obstacle);
  };
  std::vector<std::string> lines = ClaimExplainer(&plane_, state).ExplainPod(pod);
  const auto& wanted = sim_.cluster().pod_shape(pod).request.extended;
  for (const std::string& resource : ServedResourcesOf(pod)) {
    const auto amount =
        absl::c_find_if(wanted, [&](const auto& entry) { return entry.first == resource; });
    lines.push_back(absl::StrCat("extended resource ", resource, ": ", amount->second,
                                 " devices of class ", moment.resources.ClassOf(resource),
                                 ", for which the scheduler makes a claim when it binds the pod"));
  }
  return lines;
}

std::vector<std::string> StructuredClaims::ServedResourcesOf(PodId pod) const {
  const ClusterState& cluster = sim_.cluster();
  const std::vector<std::string>& names = cluster.extended_names();
  std::vector<std::string> served;
  for (const auto& [resource, amount] : cluster.pod_shape(pod).request.extended) {
    const auto column = static_cast<size_t>(absl::c_find(names, resource) - names.begin());
    if (amount > 0 && cluster.served_by_claims(column)) served.push_back(resource);
  }
  return served;
}

std::string StructuredClaims::HolderText(const std::string& uid, bool pending) const {
  uint64_t number = 0;
  const ObjectCache& objects = plane_.network().server().objects();
  absl::string_view owner = uid;
  if (absl::ConsumePrefix(&owner, kUnmadeClaimName) && absl::SimpleAtoi(owner, &number)) {
    const Ref<Pod> pod = objects.pod(number);
    if (pod == nullptr) return "a claim for a pod that is gone";
    return absl::StrCat("the claim for extended resources of pod ", pod->meta.ns.text(), "/",
                        pod->meta.name.text(), ", which is being made");
  }
  if (!absl::SimpleAtoi(uid, &number)) return absl::StrCat("claim ", uid);
  const Ref<ResourceClaim> claim = objects.of<ResourceClaim>().Find(number);
  if (claim == nullptr) return "a claim that is gone";
  std::string text = absl::StrCat("claim ", claim->meta.ns.text(), "/", claim->meta.name.text());
  if (claim->status.reserved_for.empty()) {
    return absl::StrCat(text, pending ? ", which is being bound" : ", reserved for nobody");
  }
  const Consumer& consumer = claim->status.reserved_for.front();
  const size_t more = claim->status.reserved_for.size() - 1;
  absl::StrAppend(&text, " of pod ", claim->meta.ns.text(), "/", consumer.name.text());
  if (more > 0) return absl::StrCat(text, " and ", more, " more");
  const Ref<Pod> pod = objects.pod(consumer.uid);
  if (pod == nullptr) return absl::StrCat(text, ", which is gone");
  const std::optional<SimTime> end =
      ExpectedEnd(sim_.jobs(), sim_.jobs().job_of(pod->row), sim_.engine().now());
  if (!end.has_value()) return text;
  constexpr int64_t kMilli = 1'000'000;
  const int64_t up = (end->ns() + kMilli - 1) / kMilli * kMilli;
  return absl::StrCat(text, ", which ends at ", absl::FormatDuration(absl::Nanoseconds(up)));
}

bool StructuredClaims::Refresh() {
  const StructuredMoment moment = rules_.Moment();
  const bool same = explainer_ != nullptr && moment.slices.size() == slices_.size() &&
                    moment.classes.size() == classes_.size() &&
                    std::equal(slices_.begin(), slices_.end(), moment.slices.begin()) &&
                    std::equal(classes_.begin(), classes_.end(), moment.classes.begin());
  if (same) return true;
  slices_.assign(moment.slices.begin(), moment.slices.end());
  classes_.assign(moment.classes.begin(), moment.classes.end());
  std::vector<const kube::ResourceSlice*> slices;
  std::vector<const kube::DeviceClass*> classes;
  for (const auto& slice : slices_) slices.push_back(slice.get());
  for (const auto& device_class : classes_) classes.push_back(device_class.get());
  absl::StatusOr<std::shared_ptr<DeviceCatalog>> catalog = DeviceCatalog::Make(slices);
  if (!catalog.ok()) return false;
  AllocatorOptions options = moment.allocator;
  // Whether there is a solution does not depend on the one that a policy prefers.
  options.policy = nullptr;
  explainer_ = std::make_unique<DeviceExplainer>(options, *std::move(catalog), classes);
  return true;
}

std::optional<DeviceStory> StructuredClaims::Explain(PodId pod, absl::Span<const NodeId> nodes) {
  const Ref<Pod> object = plane_.pods().ObjectOf(pod);
  if (object == nullptr) return std::nullopt;
  const StructuredMoment moment = rules_.Moment();
  std::vector<ClaimRef> claims;
  bool ready = true;
  const ClaimingPod claiming = ClaimingPodOf(*object);
  const absl::Status found = ForEachPodClaim(claiming, moment.claims, [&](const ClaimRef& claim) {
    if (claim.is_allocated()) return;
    claims.push_back(claim);
    ready &=
        !moment.in_flight.Has(claim.uid()) && RequestObstacle(*claim, [&](absl::string_view name) {
                                                return moment.claims.FindClass(name) != nullptr;
                                              }).empty();
  });
  const std::vector<std::string> resources = ServedResourcesOf(pod);
  if (!resources.empty() && claiming.containers != nullptr) {
    claims.push_back(ClaimToMake(claiming, resources, moment.resources));
  }
  if (!found.ok() || claims.empty() || !ready || !Refresh()) return std::nullopt;
  const ClusterState& cluster = sim_.cluster();
  const auto is_by_plugin = [&](NodeId node) {
    return absl::c_any_of(resources, [&](const std::string& resource) {
      const std::vector<std::string>& names = cluster.extended_names();
      const auto column = static_cast<size_t>(absl::c_find(names, resource) - names.begin());
      return !cluster.IsServedByClaims(node, column);
    });
  };
  DeviceQuestion question;
  for (const ClaimRef& claim : claims) question.claims.push_back(claim.get());
  for (const NodeId node : nodes) {
    if (!is_by_plugin(node)) question.nodes.push_back(&moment.nodes[node.value()]);
  }
  if (question.nodes.empty()) return std::nullopt;
  const DeviceInventory& inventory = cluster.inventory();
  question.use = UseOf(inventory);
  question.holders = HolderTextsOf(
      inventory, [this](const std::string& uid, bool pending) { return HolderText(uid, pending); });
  absl::StatusOr<DeviceStory> story = explainer_->Explain(question);
  if (!story.ok()) return std::nullopt;
  return *std::move(story);
}

}  // namespace drasim
