#include "sim/dra/classic/claim_explainer.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/btree_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"

namespace drasim {
namespace {

// "default/train-0, default/train-1 and 3 more".
std::string ConsumersText(const ResourceClaim& claim, const ObjectCache& objects) {
  constexpr size_t kMostNamed = 4;
  std::vector<std::string> names;
  const auto& consumers = claim.status.reserved_for;
  for (const Consumer& consumer : consumers) {
    if (names.size() == kMostNamed) break;
    const bool gone = objects.pod(consumer.uid) == nullptr;
    names.push_back(
        absl::StrCat(claim.meta.ns.text(), "/", consumer.name.text(), gone ? " (gone)" : ""));
  }
  std::string text = absl::StrJoin(names, ", ");
  if (consumers.size() > names.size()) {
    absl::StrAppend(&text, " and ", consumers.size() - names.size(), " more");
  }
  return text;
}

}  // namespace

std::vector<std::string> ClaimExplainer::ExplainPod(PodId pod) const {
  const Ref<Pod> object = objects_.pod(plane_->pods().UidOf(pod));
  if (object == nullptr) {
    return {absl::StrCat("pod ", plane_->cluster().pod_name(pod),
                         ": the API server has no such pod (not created yet, or deleted)")};
  }
  std::vector<std::string> lines;
  for (const PodClaim& entry : object->claims) lines.push_back(ExplainClaim(*object, entry));
  return lines;
}

std::string ClaimExplainer::ExplainClaim(const Pod& pod, const PodClaim& entry) const {
  const std::string head = absl::StrCat("claim entry '", entry.entry.text(), "': ");
  const Name name = names_.Of(pod, entry);
  if (!entry.from_template.empty() &&
      objects_.of<ResourceClaimTemplate>().Find(pod.meta.ns, entry.from_template) == nullptr) {
    return absl::StrCat(head, "ResourceClaimTemplate ", pod.meta.ns.text(), "/",
                        entry.from_template.text(),
                        " does not exist; the claim controller waits for it");
  }
  if (name.empty()) {
    return absl::StrCat(head, "no ResourceClaim made yet from template ",
                        entry.from_template.text(), "; waits for the claim controller");
  }
  const Ref<ResourceClaim> claim = objects_.claim(pod.meta.ns, name);
  const std::string object =
      absl::StrCat(head, "ResourceClaim ", pod.meta.ns.text(), "/", name.text(), " ");
  if (claim == nullptr)
    return absl::StrCat(object, "does not exist; the pod stays out of the queue");
  if (claim->meta.deleting) {
    return absl::StrCat(object, "is being deleted; finalizers ",
                        claim->meta.finalizers.empty() ? "none" : "held by its driver");
  }
  if (claim->status.deallocation_requested) {
    return absl::StrCat(object, "is to be deallocated; waits for driver ",
                        claim->status.driver.text());
  }
  if (claim->status.allocation == nullptr && claim->spec.is_structured()) {
    return object + (structured_
                         ? structured_(*claim)
                         : "is unallocated: no node that suits the pod has free devices for it");
  }
  if (claim->status.allocation == nullptr) {
    return object + ExplainNegotiation(pod, entry, *claim);
  }
  const Allocation& allocation = *claim->status.allocation;
  const std::string where =
      allocation.node.valid()
          ? absl::StrCat("on node ", plane_->cluster().node_spec(allocation.node).name)
          : std::string("by network");
  std::string text = absl::StrCat(object, "is allocated ", where);
  const std::string more =
      structured_ && claim->spec.is_structured() ? structured_(*claim) : std::string();
  if (claim->status.reserved_for.empty()) return absl::StrCat(text, ", reserved for nobody", more);
  absl::StrAppend(&text, ", reserved for ", ConsumersText(*claim, objects_));
  if (!IsReservedFor(*claim, pod.meta.uid)) {
    if (!allocation.shareable) {
      text += "; not shareable: waits for them to end";
    } else if (claim->status.reserved_for.size() >= kMaxReservedFor) {
      absl::StrAppend(&text, "; the limit of ", kMaxReservedFor, " consumers is reached");
    }
  }
  return text + more;
}

std::vector<NodeId> ClaimExplainer::NodesRefused(const Pod& pod, const PodClaim& entry,
                                                 const ResourceClaim& claim) const {
  std::vector<NodeId> refused;
  if (claim.spec.mode == AllocationMode::kImmediate) {
    for (size_t n = 0; n < plane_->cluster().node_count(); ++n) refused.push_back(NodeId(n));
    return refused;
  }
  const Ref<PodSchedulingContext> context = objects_.context(pod.meta.ns, pod.meta.name);
  if (context == nullptr) return refused;
  for (const PodSchedulingContext::ClaimNodes& known : context->claims) {
    if (known.entry == entry.entry && known.unsuitable.size() >= context->potential.size()) {
      refused = known.unsuitable;
    }
  }
  return refused;
}

std::vector<NodeHolders> ClaimExplainer::HoldersAgainst(PodId pod, size_t most_nodes) const {
  std::vector<NodeHolders> holders;
  const Ref<Pod> object = objects_.pod(plane_->pods().UidOf(pod));
  if (object == nullptr) return holders;
  std::vector<Name> asked;  // drivers
  for (const PodClaim& entry : object->claims) {
    const Name name = names_.Of(*object, entry);
    if (name.empty()) continue;
    const Ref<ResourceClaim> wanted = objects_.claim(object->meta.ns, name);
    if (wanted == nullptr || wanted->status.allocation != nullptr) continue;
    const Ref<ResourceClass> resource_class =
        objects_.of<ResourceClass>().Find(Name(), wanted->spec.class_name);
    if (resource_class == nullptr) continue;
    const Name driver = resource_class->driver;
    if (absl::c_linear_search(asked, driver)) continue;
    std::vector<NodeId> nodes = NodesRefused(*object, entry, *wanted);
    if (nodes.empty()) continue;
    asked.push_back(driver);
    nodes.push_back(NodeId());  // network-attached devices
    absl::btree_map<NodeId, NodeHolders> by_node;
    for (const Ref<ResourceClaim>& claim : objects_.of<ResourceClaim>().Sorted()) {
      if (claim->status.allocation == nullptr || claim->status.driver != driver) continue;
      const Allocation& allocation = *claim->status.allocation;
      std::vector<NodeId> held_on = {allocation.node};
      if (!allocation.node.valid() && !allocation.available_on.everywhere()) {
        const absl::Span<const NodeId> available = allocation.available_on.nodes();
        held_on.assign(available.begin(), available.end());
      }
      for (const NodeId node : held_on) {
        by_node[node].claims.push_back(
            {absl::StrCat(claim->meta.ns.text(), "/", claim->meta.name.text()),
             ConsumersText(*claim, objects_), allocation.grants});
      }
    }
    size_t shown = 0;
    for (const NodeId node : nodes) {
      const auto found = by_node.find(node);
      if (found == by_node.end()) continue;
      if (++shown > most_nodes) break;
      found->second.driver = std::string(driver.text());
      found->second.node = node;
      holders.push_back(std::move(found->second));
    }
  }
  return holders;
}

std::string ClaimExplainer::ExplainNegotiation(const Pod& pod, const PodClaim& entry,
                                               const ResourceClaim& claim) const {
  const Ref<ResourceClass> resource_class =
      objects_.of<ResourceClass>().Find(Name(), claim.spec.class_name);
  if (resource_class == nullptr) {
    return absl::StrCat("is unallocated: its ResourceClass '", claim.spec.class_name.text(),
                        "' does not exist");
  }
  const std::string driver(resource_class->driver.text());
  const ClaimDriver* serving = nullptr;
  for (size_t i = 0; i < plane_->drivers(); ++i) {
    if (plane_->driver(i).name() == driver) serving = &plane_->driver(i);
  }
  if (serving == nullptr) {
    return absl::StrCat("is unallocated: no driver '", driver, "' runs, which its class '",
                        claim.spec.class_name.text(), "' names");
  }
  ClaimToAllocate wanted;
  wanted.claim = &claim;
  wanted.resource_class = resource_class.get();
  wanted.entry = entry.entry;
  Ref<ParametersObject> parameters;
  if (!claim.spec.parameters.kind.empty()) {
    parameters = objects_.of<ParametersObject>().Find(claim.meta.ns, claim.spec.parameters.name);
    if (parameters == nullptr) {
      return absl::StrCat("is unallocated: its parameters ", claim.spec.parameters.kind.text(), " ",
                          claim.meta.ns.text(), "/", claim.spec.parameters.name.text(),
                          " do not exist; driver ", driver, " tries again");
    }
  }
  wanted.claim_parameters = parameters.get();
  if (const absl::Status s = serving->CheckParameters(wanted); !s.ok()) {
    return absl::StrCat("is unallocated: ", s.message());
  }
  if (claim.spec.mode == AllocationMode::kImmediate) {
    const std::string why = serving->WhyUnsuitable({&wanted, 1}, NodeId());
    if (why.empty()) return absl::StrCat("is unallocated (Immediate): waits for driver ", driver);
    return absl::StrCat("is unallocated (Immediate), and driver ", driver, " refuses it: ", why);
  }
  const Ref<PodSchedulingContext> context = objects_.context(pod.meta.ns, pod.meta.name);
  if (context == nullptr) return "is unallocated: the scheduler has not chosen a node yet";
  std::string text = absl::StrCat("is unallocated: ");
  const PodSchedulingContext::ClaimNodes* known = nullptr;
  for (const auto& nodes : context->claims) {
    if (nodes.entry == entry.entry) known = &nodes;
  }
  if (known == nullptr) {
    absl::StrAppend(&text, "driver ", driver, " has not said which of ", context->potential.size(),
                    " nodes suit");
  } else {
    absl::StrAppend(&text, "driver ", driver, " refuses ", known->unsuitable.size(), " of ",
                    context->potential.size(), " potential nodes");
    if (!known->unsuitable.empty()) {
      const NodeId node = known->unsuitable.front();
      const std::string why = serving->WhyUnsuitable({&wanted, 1}, node);
      absl::StrAppend(&text, ", such as ", plane_->cluster().node_spec(node).name,
                      why.empty() ? "" : absl::StrCat(" (", why, ")"));
    }
  }
  if (context->selected.valid()) {
    absl::StrAppend(&text, "; selected node ", plane_->cluster().node_spec(context->selected).name);
    const std::string why = serving->WhyUnsuitable({&wanted, 1}, context->selected);
    absl::StrAppend(&text, why.empty() ? ", waits for the driver to allocate" : ": " + why);
  } else {
    text += "; no node is selected";
  }
  return text;
}

}  // namespace drasim
