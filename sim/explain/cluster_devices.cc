#include "sim/explain/cluster_devices.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/cluster_state.h"
#include "model/gpu_model_table.h"
#include "model/kube/rules.h"
#include "model/kube/slice_facts_of.h"
#include "model/shape_table.h"
#include "model/text/did_you_mean.h"
#include "policies/allocator/device_catalog.h"
#include "policies/dra/binding_conditions.h"
#include "policies/dra/claim_rules.h"
#include "policies/dra/taint_rules.h"
#include "sim/explain/cluster_claims.h"
#include "sim/explain/structured_claims.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

// Mends of selectors that are offered.
constexpr size_t kMostMends = 3;

// "claim ml/a of pod ml/train-0 (Running) and 2 more"
std::string HolderWords(const ClusterDump& dump, const kube::ResourceClaimV1& claim) {
  const std::string ns = NamespaceOf(claim.metadata());
  std::string text = absl::StrCat("claim ", KubeKey(claim.metadata()));
  const auto& consumers = claim.status().reserved_for();
  if (consumers.empty()) return absl::StrCat(text, ", reserved for nobody");
  const std::string key = KubeKey(ns, consumers[0].name());
  const DumpPod* const pod = dump.FindPod(key);
  absl::StrAppend(
      &text, " of ", consumers[0].resource() == "pods" ? "pod" : consumers[0].resource(), " ", key,
      pod == nullptr ? ", which is not in the dump" : absl::StrCat(" (", StateOfPod(*pod), ")"));
  if (consumers.size() > 1) absl::StrAppend(&text, " and ", consumers.size() - 1, " more");
  return text;
}

// The first losses of a request with a mend, in the order of the stages.
void CollectMends(const RequestStory& request, const std::string& name,
                  std::set<std::string>* known, std::vector<std::string>* mends) {
  for (const StageStory& stage : request.stages) {
    for (const DeviceLoss& loss : stage.losses) {
      if (loss.mend.empty() || mends->size() == kMostMends) continue;
      if (!known->insert(loss.why + loss.mend).second) continue;
      const std::string where = stage.stage == DeviceStage::kClass
                                    ? absl::StrCat("DeviceClass ", request.device_class)
                                    : name;
      mends->push_back(absl::StrCat("the clause ", loss.why, " of ", where, ": ", loss.mend));
    }
  }
}

}  // namespace

DumpDevices::DumpDevices(const ClusterDump* dump) : dump_(*dump) {
  std::vector<kube::DeviceTaintRule> rules;
  std::vector<const kube::DeviceClass*> classes;
  bool any_slices = false;
  for (const kube::Object& object : dump->structured()) {
    if (object.has_device_taint_rule()) rules.push_back(object.device_taint_rule());
    if (object.has_device_class()) classes.push_back(&object.device_class());
    any_slices |= object.has_resource_slice();
  }
  if (!any_slices) {
    why_not_ = "the dump has no ResourceSlice: add resourceslices,deviceclasses,devicetaintrules";
    return;
  }
  std::vector<const kube::ResourceSlice*> slices;
  for (const kube::Object& object : dump->structured()) {
    if (!object.has_resource_slice()) continue;
    slices_.push_back(object.resource_slice());
    AppendTaintsOfRules(rules, &slices_.back());
    slices.push_back(&slices_.back());
  }
  absl::StatusOr<std::shared_ptr<DeviceCatalog>> catalog = DeviceCatalog::Make(slices);
  if (!catalog.ok()) {
    why_not_ = std::string(catalog.status().message());
    return;
  }
  AllocatorOptions options;
  options.variant = PickAllocatorVariant(options.features, options.release);
  Hold();
  if (why_not_.empty()) {
    explainer_ = std::make_unique<DeviceExplainer>(options, *std::move(catalog), classes);
  }
}

void DumpDevices::Hold() {
  GpuModelTable models;
  ShapeTable shapes(&models);
  ClusterState cluster(&models, &shapes);
  for (const kube::Object& object : dump_.structured()) {
    if (!object.has_resource_claim_v1()) continue;
    const kube::ResourceClaimV1& claim = object.resource_claim_v1();
    if (!IsAllocatedClaim(claim)) continue;
    const absl::StatusOr<std::vector<HoldFacts>> facts = HoldFactsOf(claim.status().allocation());
    if (!facts.ok()) {
      why_not_ =
          absl::StrCat("ResourceClaim ", KubeKey(claim.metadata()), ": ", facts.status().message());
      return;
    }
    cluster.HoldDevices(KubeKey(claim.metadata()), /*pending=*/false, *facts);
  }
  question_.use = UseOf(cluster.inventory());
  question_.holders =
      HolderTextsOf(cluster.inventory(), [this](const std::string& key, bool /*pending*/) {
        return HolderWords(dump_, *dump_.FindStructuredClaim(key));
      });
  for (const DumpNode& node : dump_.nodes()) question_.nodes.push_back(node.object);
}

std::vector<std::string> DumpDevices::ClassNames() const {
  std::vector<std::string> names;
  for (const kube::Object& object : dump_.structured()) {
    if (object.has_device_class()) names.push_back(object.device_class().metadata().name());
  }
  return names;
}

bool DumpDevices::HasClass(const std::string& name) const {
  const std::vector<std::string> names = ClassNames();
  return std::find(names.begin(), names.end(), name) != names.end();
}

DeviceStory DumpDevices::Explain(const std::vector<const kube::ResourceClaimV1*>& claims) {
  DeviceQuestion question = question_;
  question.claims = AskFor(claims);
  absl::StatusOr<DeviceStory> story = explainer_->Explain(question);
  if (story.ok()) return *std::move(story);
  DeviceStory failed;
  failed.node_count = question.nodes.size();
  failed.error.emplace();
  failed.error->message = std::string(story.status().message());
  failed.cause_of_node.assign(question.nodes.size(), 0);
  failed.nodes.emplace_back();
  failed.nodes.back().cause = NodeStory::Cause::kError;
  failed.nodes.back().text = failed.error->message;
  return failed;
}

DumpDeviceClaims::DumpDeviceClaims(DumpDevices* devices, const DumpPod& pod,
                                   const std::vector<std::string>& keys)
    : dump_(devices->dump()) {
  if (keys.empty()) return;
  std::vector<const kube::ResourceClaimV1*> wanted;
  for (const std::string& key : keys) {
    const kube::ResourceClaimV1* const claim = dump_.FindStructuredClaim(key);
    if (claim == nullptr) {
      leaves_ = true;
      return;
    }
    if (IsAllocatedClaim(*claim)) {
      allocated_.push_back(claim);
      CheckAllocated(*claim, pod);
      continue;
    }
    wanted.push_back(claim);
    std::string missing;
    const std::string problem = RequestObstacle(
        *claim, [&](absl::string_view name) { return devices->HasClass(std::string(name)); },
        &missing);
    if (problem.empty() || !obstacle_.empty()) continue;
    obstacle_ = problem;
    acts_ = {{absl::StrCat("DeviceClass ", missing),
              absl::StrCat("to be created, or claim ", key, " to name another",
                           Suggest(missing, devices->ClassNames()))}};
  }
  leaves_ = !wanted.empty() && !devices->judges();
  if (leaves_) return;
  judges_ = true;
  is_allocated_ = wanted.empty();
  if (obstacle_.empty() && !wanted.empty()) story_ = devices->Explain(wanted);
}

void DumpDeviceClaims::CheckAllocated(const kube::ResourceClaimV1& claim, const DumpPod& pod) {
  if (!obstacle_.empty()) return;
  const std::string key = KubeKey(claim.metadata());
  if (!CanBeReserved(claim) && !IsReservedFor(claim, pod.object->metadata().uid())) {
    obstacle_ = absl::StrCat("claim ", key, " is in use by ", claim.status().reserved_for_size(),
                             " pods, as many as are allowed");
    acts_ = {{absl::StrCat("one of the pods that share claim ", key), "to end"}};
  }
}

std::optional<DumpRejection> DumpDeviceClaims::Check(size_t node) const {
  DumpRejection rejection;
  rejection.plugin = kClaimPlugin;
  rejection.place = DumpRejection::kLastPlace;
  rejection.hopeless = true;
  const kube::Node& object = *dump_.nodes()[node].object;
  for (const kube::ResourceClaimV1* claim : allocated_) {
    const std::string key = KubeKey(claim->metadata());
    const kube::AllocationResultV1& allocation = claim->status().allocation();
    if (allocation.has_node_selector() && !SelectsNode(allocation.node_selector(), object)) {
      rejection.detail = absl::StrCat("claim ", key, " is allocated for ",
                                      NodeSelectorText(allocation.node_selector()));
      rejection.pinned = true;
    } else if (ReadinessOf(*claim).state == BindingReadiness::kFailed) {
      rejection.detail = absl::StrCat("a binding condition of claim ", key,
                                      " has failed: ", ReadinessOf(*claim).failure);
    } else {
      continue;
    }
    rejection.reasons = {"resourceclaim not available on the node"};
    rejection.alike = rejection.detail;
    return rejection;
  }
  if (!story_.has_value()) return std::nullopt;
  if (story_->error.has_value()) {
    rejection.reasons = {"the search for devices failed"};
    rejection.detail = "an error at one device ends it for all nodes";
    return rejection;
  }
  if (story_->cause_of_node[node] == DeviceStory::kFits) return std::nullopt;
  const NodeStory& lack = story_->nodes[story_->cause_of_node[node]];
  rejection.reasons = {lack.cause == NodeStory::Cause::kInvalidPool
                           ? "invalid resource pools were encountered"
                           : "cannot allocate all claims"};
  rejection.detail = lack.text;
  rejection.alike = lack.text;
  return rejection;
}

std::vector<AwaitedAct> DumpDeviceClaims::Awaited() const {
  if (!obstacle_.empty() || !story_.has_value()) return acts_;
  if (story_->error.has_value()) {
    return {{"whoever wrote the selector",
             "to mend it: an error at one device ends the search for all nodes"}};
  }
  bool held = false;
  bool tainted = false;
  bool incomplete = false;
  bool unsuitable = false;
  for (const ClaimStory& claim : story_->claims) {
    for (const GroupStory& group : claim.requests) {
      for (const RequestStory& request : group.options) {
        if (request.nodes_enough > 0 || request.stages.empty()) continue;
        const auto loses_at = [&request](DeviceStage stage) {
          return !request.stages[static_cast<size_t>(stage)].losses.empty();
        };
        const auto& losses = request.stages.front().losses;
        const bool changes = std::any_of(losses.begin(), losses.end(),
                                         [](const DeviceLoss& loss) { return loss.transient; });
        const bool by_others = loses_at(DeviceStage::kFree) || loses_at(DeviceStage::kRoom) ||
                               loses_at(DeviceStage::kCounters);
        const bool by_taints = loses_at(DeviceStage::kTaints);
        incomplete |= changes;
        held |= by_others;
        tainted |= by_taints;
        unsuitable |= !changes && !by_others && !by_taints;
      }
    }
  }
  std::vector<AwaitedAct> acts;
  if (held) acts.push_back({"claims", "that hold such devices to be released"});
  if (tainted) {
    acts.push_back({"the taints", "of such devices to be removed, or the claims to tolerate them"});
  }
  if (incomplete) acts.push_back({"drivers", "to publish the missing slices of their pools"});
  if (unsuitable) acts.push_back({"a driver", "to publish devices that suit its claims"});
  if (acts.empty()) {
    acts.push_back(
        {"devices", "that serve all requests together to be published, or to be released"});
  }
  return acts;
}

std::vector<std::string> DumpDeviceClaims::Helps() const {
  std::vector<std::string> mends;
  if (!story_.has_value()) return mends;
  std::set<std::string> known;
  for (const ClaimStory& claim : story_->claims) {
    for (const GroupStory& group : claim.requests) {
      for (const RequestStory& request : group.options) {
        CollectMends(request, absl::StrCat("claim ", claim.claim, ", request ", request.name),
                     &known, &mends);
      }
    }
  }
  return mends;
}

}  // namespace drasim
