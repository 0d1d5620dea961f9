#include "sim/dra/api/api_validation.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"

namespace drasim {
namespace {

// Everything wrong with a change; usually nothing.
class FieldErrors {
 public:
  template <typename... Parts>
  void Add(absl::string_view field, const Parts&... why) {
    absl::StrAppend(&text_, text_.empty() ? "" : "; ", field, ": ", why...);
  }
  absl::Status ToStatus() const {
    return text_.empty() ? absl::OkStatus() : absl::InvalidArgumentError(text_);
  }

 private:
  std::string text_;
};

constexpr absl::string_view kFieldImmutable = "may not be changed";
constexpr absl::string_view kFieldRequired = "is required";

// True when every value occurs once; sorts them.
template <typename Values>
bool SortedDistinct(Values& values) {
  std::sort(values.begin(), values.end());
  return std::adjacent_find(values.begin(), values.end()) == values.end();
}

void CheckParametersRef(const ParametersRef& ref, absl::string_view field, FieldErrors& errors) {
  if (ref.kind.empty() && ref.name.empty()) return;
  if (ref.kind.empty()) errors.Add(absl::StrCat(field, ".kind"), kFieldRequired);
  if (ref.name.empty()) errors.Add(absl::StrCat(field, ".name"), kFieldRequired);
}

void CheckClaimSpec(const ClaimSpec* before, const ClaimSpec& after, FieldErrors& errors) {
  if (before != nullptr) {
    if (*before != after) errors.Add("spec", kFieldImmutable);
    return;  // unchanged since its check
  }
  // A structured claim has classes in its requests, which have been validated with the manifest.
  if (after.is_structured()) return;
  if (after.class_name.empty()) errors.Add("spec.resourceClassName", kFieldRequired);
  CheckParametersRef(after.parameters, "spec.parametersRef", errors);
}

void CheckHandles(const Allocation& allocation, FieldErrors& errors) {
  const size_t count = allocation.handles.size();
  if (count > kMaxResourceHandles) {
    errors.Add("status.allocation.resourceHandles", "at most ", kMaxResourceHandles, ", not ",
               count);
  }
  for (size_t i = 0; i < count; ++i) {
    const ResourceHandle& handle = allocation.handles[i];
    if (handle.driver.empty()) {
      errors.Add(absl::StrCat("status.allocation.resourceHandles[", i, "].driverName"),
                 kFieldRequired);
    }
    if (handle.data.size() > kMaxHandleBytes) {
      errors.Add(absl::StrCat("status.allocation.resourceHandles[", i, "].data"), "at most ",
                 kMaxHandleBytes, " bytes, not ", handle.data.size());
    }
  }
}

// Rules 1 and 4.
void CheckClaimAllocation(const ResourceClaimStatus& before, const ResourceClaim& claim,
                          FieldErrors& errors) {
  const ResourceClaimStatus& after = claim.status;
  if (after.allocation == nullptr) return;
  if (after.driver.empty() && !claim.spec.is_structured()) {
    errors.Add("status.driverName", "is required with an allocation");
  }
  if (after.allocation == before.allocation) return;  // the same snapshot, checked when it was set
  CheckHandles(*after.allocation, errors);
  if (before.allocation != nullptr && *before.allocation != *after.allocation) {
    errors.Add("status.allocation", kFieldImmutable);
  }
}

void CheckConsumerList(const ResourceClaim& claim, FieldErrors& errors) {
  const ResourceClaimStatus& status = claim.status;
  const size_t count = status.reserved_for.size();
  const size_t most = claim.spec.is_structured() ? kMaxReservedForV1 : kMaxReservedFor;
  if (count > most) {
    errors.Add("status.reservedFor", "at most ", most, " consumers, not ", count);
  }
  absl::InlinedVector<Uid, kMaxReservedFor> uids;
  for (size_t i = 0; i < count; ++i) {
    const Consumer& consumer = status.reserved_for[i];
    const auto require = [&](bool given, absl::string_view part) {
      if (!given) errors.Add(absl::StrCat("status.reservedFor[", i, "].", part), kFieldRequired);
    };
    require(!consumer.resource.empty(), "resource");
    require(!consumer.name.empty(), "name");
    require(consumer.uid != 0, "uid");
    uids.push_back(consumer.uid);
  }
  if (!SortedDistinct(uids)) errors.Add("status.reservedFor", "a uid is listed twice");
}

// Rules 2 and 3.
void CheckClaimConsumers(const ResourceClaimStatus& before, const ResourceClaim& claim,
                         FieldErrors& errors) {
  const ResourceClaimStatus& after = claim.status;
  if (after.reserved_for.empty()) return;
  CheckConsumerList(claim, errors);
  if (after.allocation == nullptr) {
    errors.Add("status.reservedFor", "needs an allocation");
    return;
  }
  if (after.reserved_for.size() > 1 && !after.allocation->shareable) {
    errors.Add("status.reservedFor", "the allocation is not shareable");
  }
  if (!claim.meta.deleting && !after.deallocation_requested) return;
  // The lists are short, and only shrink from now on.
  for (const Consumer& consumer : after.reserved_for) {
    const auto& known = before.reserved_for;
    if (std::find(known.begin(), known.end(), consumer) != known.end()) continue;
    errors.Add("status.reservedFor", claim.meta.deleting
                                         ? "no new consumer while the claim is being deleted"
                                         : "no new consumer while deallocation is requested");
    return;
  }
}

// Rule 5.
void CheckClaimDeallocation(const ResourceClaimStatus& before, const ResourceClaimStatus& after,
                            FieldErrors& errors) {
  if (after.deallocation_requested) {
    if (after.allocation == nullptr) {
      errors.Add("status.deallocationRequested", "needs an allocation");
    }
    if (!before.deallocation_requested && !after.reserved_for.empty()) {
      errors.Add("status.deallocationRequested", "the claim is reserved");
    }
  } else if (before.deallocation_requested && after.allocation != nullptr) {
    errors.Add("status.deallocationRequested",
               "may not be taken back: deallocation may have begun");
  }
}

// `path` is the field's path in parts, joined only for an error.
template <typename... Path>
void CheckNodeList(absl::Span<const NodeId> nodes, FieldErrors& errors, const Path&... path) {
  if (nodes.size() > kMaxNodesInContext) {
    errors.Add(absl::StrCat(path...), "at most ", kMaxNodesInContext, " nodes, not ", nodes.size());
  }
  // Well-behaved clients send ascending lists, which need no sorting; a node without a name would
  // be the last.
  const auto not_less = [](NodeId a, NodeId b) { return a >= b; };
  const bool ascending = std::adjacent_find(nodes.begin(), nodes.end(), not_less) == nodes.end();
  if (ascending ? !nodes.empty() && !nodes.back().valid()
                : std::find(nodes.begin(), nodes.end(), NodeId()) != nodes.end()) {
    errors.Add(absl::StrCat(path...), "a node without a name");
  }
  if (ascending) return;
  std::vector<NodeId> sorted(nodes.begin(), nodes.end());
  if (!SortedDistinct(sorted)) errors.Add(absl::StrCat(path...), "a node is listed twice");
}

// Adds an error for each repeated name in the list. `name_of` gives an item's name.
template <typename Items, typename NameOf>
void CheckNamesDiffer(const Items& items, absl::string_view field, NameOf name_of,
                      FieldErrors& errors) {
  if (items.size() < 2) return;
  absl::flat_hash_set<Name> seen;
  for (size_t i = 0; i < items.size(); ++i) {
    const Name name = name_of(items[i]);
    if (seen.insert(name).second) continue;
    errors.Add(absl::StrCat(field, "[", i, "].name"), "\"", name.text(), "\" is listed twice");
  }
}

}  // namespace

absl::Status ValidateMeta(const ObjectMeta* before, const ObjectMeta& after) {
  FieldErrors errors;
  if (after.name.empty()) errors.Add("metadata.name", kFieldRequired);
  if (before != nullptr && before->deleting) {
    for (const Name finalizer : after.finalizers) {
      const auto& known = before->finalizers;
      if (std::find(known.begin(), known.end(), finalizer) != known.end()) continue;
      errors.Add("metadata.finalizers", "\"", finalizer.text(),
                 "\" may not be added while the object is being deleted");
    }
  }
  return errors.ToStatus();
}

absl::Status ValidatePod(const Pod* before, const Pod& after) {
  FieldErrors errors;
  if (before != nullptr) {
    if (before->claims != after.claims) errors.Add("spec.resourceClaims", kFieldImmutable);
    if (before->node != after.node) errors.Add("spec.nodeName", kFieldImmutable);
    if (before->containers != after.containers) errors.Add("spec.containers", kFieldImmutable);
    return errors.ToStatus();
  }
  for (size_t i = 0; i < after.claims.size(); ++i) {
    const PodClaim& entry = after.claims[i];
    if (entry.entry.empty()) {
      errors.Add(absl::StrCat("spec.resourceClaims[", i, "].name"), kFieldRequired);
    }
    if (entry.claim.empty() == entry.from_template.empty()) {
      errors.Add(absl::StrCat("spec.resourceClaims[", i, "].source"),
                 "either a claim or a template");
    }
  }
  CheckNamesDiffer(
      after.claims, "spec.resourceClaims", [](const PodClaim& claim) { return claim.entry; },
      errors);
  return errors.ToStatus();
}

absl::Status ValidateClass(const ResourceClass& after) {
  FieldErrors errors;
  if (after.driver.empty()) errors.Add("driverName", kFieldRequired);
  CheckParametersRef(after.parameters, "parametersRef", errors);
  return errors.ToStatus();
}

absl::Status ValidateTemplate(const ResourceClaimTemplate* before,
                              const ResourceClaimTemplate& after) {
  FieldErrors errors;
  CheckClaimSpec(before == nullptr ? nullptr : &before->spec, after.spec, errors);
  return errors.ToStatus();
}

absl::Status ValidateParameters(const ParametersObject* before, const ParametersObject& after) {
  FieldErrors errors;
  if (before != nullptr) {
    if (before->api_group != after.api_group) errors.Add("apiVersion", kFieldImmutable);
    if (before->kind != after.kind) errors.Add("kind", kFieldImmutable);
  }
  return errors.ToStatus();
}

absl::Status ValidateClaim(const ResourceClaim* before, const ResourceClaim& after) {
  static const ResourceClaimStatus& none = *new ResourceClaimStatus();
  const ResourceClaimStatus& old_status = before == nullptr ? none : before->status;
  FieldErrors errors;
  CheckClaimSpec(before == nullptr ? nullptr : &before->spec, after.spec, errors);
  CheckClaimAllocation(old_status, after, errors);
  CheckClaimConsumers(old_status, after, errors);
  CheckClaimDeallocation(old_status, after.status, errors);
  return errors.ToStatus();
}

absl::Status ValidateContext(const PodSchedulingContext*, const PodSchedulingContext& after) {
  FieldErrors errors;
  CheckNodeList(after.potential, errors, "spec.potentialNodes");
  for (size_t i = 0; i < after.claims.size(); ++i) {
    CheckNodeList(after.claims[i].unsuitable, errors, "status.resourceClaims[", i,
                  "].unsuitableNodes");
  }
  CheckNamesDiffer(
      after.claims, "status.resourceClaims",
      [](const PodSchedulingContext::ClaimNodes& claim) { return claim.entry; }, errors);
  return errors.ToStatus();
}

}  // namespace drasim
