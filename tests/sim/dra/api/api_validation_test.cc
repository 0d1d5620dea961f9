// The rules of the API server for claims, contexts and pods: upstream's cases by their names
// (pkg/apis/resource/validation and pkg/apis/core/validation of release 1.29, as far as the fields
// exist here), and for the status of a claim every change between some dozens of states.
#include "sim/dra/api/api_validation.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "sim/dra/api/api_server.h"

namespace drasim {
namespace api_validation_test {

NamePool& Pool() {
  static NamePool& pool = *new NamePool();
  return pool;
}
Name N(absl::string_view text) { return Pool().Intern(text); }

// "" for OK, else all messages.
std::string MessagesOf(const absl::Status& status) {
  EXPECT_TRUE(status.ok() || absl::IsInvalidArgument(status)) << status;
  return std::string(status.message());
}

template <typename T>
struct Case {
  std::string name;
  T before;
  std::function<void(T&)> update;
  std::string want;  // the messages
};

template <typename T, typename Validate>
void ExpectCases(const std::vector<Case<T>>& cases, Validate validate) {
  for (const Case<T>& test : cases) {
    T after = test.before;
    test.update(after);
    EXPECT_EQ(MessagesOf(validate(test.before, after)), test.want) << test.name;
  }
}

// --- Claims ---

ResourceClaim ValidClaim() {
  ResourceClaim claim;
  claim.meta.ns = N("ns");
  claim.meta.name = N("foo");
  claim.meta.uid = 1;
  claim.meta.version = 1;
  claim.spec.class_name = N("valid");
  claim.spec.parameters = {N("group"), N("Kind"), Name(), N("parameters")};
  return claim;
}

Ref<Allocation> WithHandles(size_t handles, size_t bytes, bool shareable = true) {
  Allocation allocation;
  allocation.handles.assign(handles, {N("valid"), std::string(bytes, ' ')});
  allocation.shareable = shareable;
  return std::make_shared<const Allocation>(allocation);
}

ResourceClaim AllocatedClaim(bool shareable = true) {
  ResourceClaim claim = ValidClaim();
  claim.status.driver = N("valid");
  claim.status.allocation = WithHandles(kMaxResourceHandles, kMaxHandleBytes, shareable);
  return claim;
}

ResourceClaim DeallocatingClaim() {
  ResourceClaim claim = AllocatedClaim();
  claim.status.deallocation_requested = true;
  return claim;
}

Consumer PodConsumer(Uid uid) { return {N("pods"), N(absl::StrCat("foo-", uid)), uid}; }

void Reserve(ResourceClaim& claim, Uid pods) {
  for (Uid uid = 1; uid <= pods; ++uid) claim.status.reserved_for.push_back(PodConsumer(uid));
}

void ExpectClaimCases(const std::vector<Case<ResourceClaim>>& cases) {
  ExpectCases(cases, [](const ResourceClaim& before, const ResourceClaim& after) {
    return ValidateClaim(&before, after);
  });
}

TEST(ApiValidationTest, ValidateClaim) {
  const std::vector<Case<ResourceClaim>> cases = {
      {"good-claim", ValidClaim(), [](ResourceClaim&) {}, ""},
      {"good-parameters", ValidClaim(), [](ResourceClaim& c) { c.spec.parameters = {}; }, ""},
      {"bad-classname", ValidClaim(), [](ResourceClaim& c) { c.spec.class_name = Name(); },
       "spec.resourceClassName: is required"},
      {"missing-params-kind", ValidClaim(),
       [](ResourceClaim& c) { c.spec.parameters.kind = Name(); },
       "spec.parametersRef.kind: is required"},
      {"missing-params-name", ValidClaim(),
       [](ResourceClaim& c) { c.spec.parameters.name = Name(); },
       "spec.parametersRef.name: is required"},
      {"everything at once", ValidClaim(),
       [](ResourceClaim& c) {
         c.spec.class_name = Name();
         Reserve(c, 1);
         c.status.deallocation_requested = true;
       },
       "spec.resourceClassName: is required; status.reservedFor: needs an allocation; "
       "status.deallocationRequested: needs an allocation; "
       "status.deallocationRequested: the claim is reserved"},
  };
  ExpectCases(cases, [](const ResourceClaim&, const ResourceClaim& after) {
    return ValidateClaim(nullptr, after);
  });
}

TEST(ApiValidationTest, ValidateClaimUpdate) {
  const auto labels = [](ResourceClaim& c) { c.labels.emplace_back("hello", "world"); };
  ExpectClaimCases({
      {"valid-no-op-update", ValidClaim(), [](ResourceClaim&) {}, ""},
      {"labels", ValidClaim(), labels, ""},
      {"invalid-update-class", ValidClaim(),
       [](ResourceClaim& c) { c.spec.class_name = N("valid2"); }, "spec: may not be changed"},
      {"invalid-update-remove-parameters", ValidClaim(),
       [](ResourceClaim& c) { c.spec.parameters = {}; }, "spec: may not be changed"},
      {"invalid-update-mode", ValidClaim(),
       [](ResourceClaim& c) { c.spec.mode = AllocationMode::kImmediate; },
       "spec: may not be changed"},
  });
}

TEST(ApiValidationTest, ValidateClaimStatusUpdateOfAllocations) {
  const auto allocate = [](size_t handles, size_t bytes) {
    return [=](ResourceClaim& c) {
      c.status.driver = N("valid");
      c.status.allocation = WithHandles(handles, bytes);
    };
  };
  ExpectClaimCases({
      {"valid-no-op-update", ValidClaim(), [](ResourceClaim&) {}, ""},
      {"add-driver", ValidClaim(), [](ResourceClaim& c) { c.status.driver = N("valid"); }, ""},
      {"invalid-add-allocation", ValidClaim(),
       [](ResourceClaim& c) { c.status.allocation = std::make_shared<const Allocation>(); },
       "status.driverName: is required with an allocation"},
      {"valid-add-allocation", ValidClaim(), allocate(1, kMaxHandleBytes), ""},
      {"most handles", ValidClaim(), allocate(kMaxResourceHandles, 1), ""},
      {"invalid-allocation-resourceHandles", ValidClaim(), allocate(kMaxResourceHandles + 1, 0),
       "status.allocation.resourceHandles: at most 32, not 33"},
      {"invalid-allocation-resource-handle-drivername", ValidClaim(),
       [](ResourceClaim& c) {
         Allocation allocation;
         allocation.handles.resize(1);
         c.status.driver = N("valid");
         c.status.allocation = std::make_shared<const Allocation>(allocation);
       },
       "status.allocation.resourceHandles[0].driverName: is required"},
      {"invalid-allocation-resource-handle-data", ValidClaim(), allocate(1, kMaxHandleBytes + 1),
       "status.allocation.resourceHandles[0].data: at most 16384 bytes, not 16385"},
      {"the driver goes but the allocation stays", AllocatedClaim(),
       [](ResourceClaim& c) { c.status.driver = Name(); },
       "status.driverName: is required with an allocation"},
      {"remove-allocation", DeallocatingClaim(),
       [](ResourceClaim& c) { c.status = ResourceClaimStatus(); }, ""},
      {"cleared without a request", AllocatedClaim(),
       [](ResourceClaim& c) { c.status = ResourceClaimStatus(); }, ""},
      {"invalid-allocation-modification", AllocatedClaim(), allocate(1, kMaxHandleBytes / 2),
       "status.allocation: may not be changed"},
      {"another copy of the same allocation", AllocatedClaim(),
       allocate(kMaxResourceHandles, kMaxHandleBytes), ""},
      {"invalid-allocation-removal-not-reset", DeallocatingClaim(),
       [](ResourceClaim& c) { c.status.allocation = nullptr; },
       "status.deallocationRequested: needs an allocation"},
  });
}

TEST(ApiValidationTest, ValidateClaimStatusUpdateOfConsumers) {
  const auto reserve = [](Uid pods) { return [=](ResourceClaim& c) { Reserve(c, pods); }; };
  const auto reserve_for = [](const Consumer& consumer) {
    return [=](ResourceClaim& c) { c.status.reserved_for.push_back(consumer); };
  };
  const auto request = [](ResourceClaim& c) { c.status.deallocation_requested = true; };
  ResourceClaim deleted = AllocatedClaim();
  deleted.meta.deleting = true;
  ResourceClaim reserved = AllocatedClaim();
  Reserve(reserved, 2);
  ResourceClaim reserved_deleted = reserved;
  reserved_deleted.meta.deleting = true;
  ExpectClaimCases({
      {"add-reservation", AllocatedClaim(), reserve(kMaxReservedFor), ""},
      {"add-reservation-and-allocation", ValidClaim(),
       [](ResourceClaim& c) {
         c.status = AllocatedClaim().status;
         Reserve(c, kMaxReservedFor);
       },
       ""},
      {"invalid-reserved-for-too-large", AllocatedClaim(), reserve(kMaxReservedFor + 1),
       "status.reservedFor: at most 32 consumers, not 33"},
      {"invalid-reserved-for-duplicate", reserved, reserve_for(PodConsumer(1)),
       "status.reservedFor: a uid is listed twice"},
      {"invalid-reserved-for-not-shared", AllocatedClaim(false), reserve(2),
       "status.reservedFor: the allocation is not shareable"},
      {"one of not shared", AllocatedClaim(false), reserve(1), ""},
      {"invalid-reserved-for-no-allocation", ValidClaim(), reserve(1),
       "status.reservedFor: needs an allocation"},
      {"invalid-reserved-for-no-resource", AllocatedClaim(), reserve_for({Name(), N("foo"), 1}),
       "status.reservedFor[0].resource: is required"},
      {"invalid-reserved-for-no-name", AllocatedClaim(), reserve_for({N("pods"), Name(), 1}),
       "status.reservedFor[0].name: is required"},
      {"invalid-reserved-for-no-uid", AllocatedClaim(), reserve_for({N("pods"), N("foo"), 0}),
       "status.reservedFor[0].uid: is required"},
      {"invalid-reserved-deleted", deleted, reserve(1),
       "status.reservedFor: no new consumer while the claim is being deleted"},
      {"a consumer goes while deleted", reserved_deleted,
       [](ResourceClaim& c) { c.status.reserved_for.pop_back(); }, ""},
      {"another takes its place while deleted", reserved_deleted,
       [](ResourceClaim& c) { c.status.reserved_for.back() = PodConsumer(3); },
       "status.reservedFor: no new consumer while the claim is being deleted"},
      {"invalid-reserved-deallocation-requested", DeallocatingClaim(), reserve(1),
       "status.reservedFor: no new consumer while deallocation is requested"},
      {"add-deallocation-requested", AllocatedClaim(), request, ""},
      {"the last consumers go with the request", reserved,
       [](ResourceClaim& c) {
         c.status.reserved_for.clear();
         c.status.deallocation_requested = true;
       },
       ""},
      {"invalid-deallocation-requested-in-use", reserved, request,
       "status.deallocationRequested: the claim is reserved"},
      {"invalid-deallocation-not-allocated", ValidClaim(), request,
       "status.deallocationRequested: needs an allocation"},
      {"invalid-deallocation-requested-removal", DeallocatingClaim(),
       [](ResourceClaim& c) { c.status.deallocation_requested = false; },
       "status.deallocationRequested: may not be taken back: deallocation may have begun"},
  });
}

// --- Every change between small states ---

std::vector<ResourceClaimStatus> SmallStatuses() {
  const Ref<Allocation> exclusive = WithHandles(1, 1, false);
  const Ref<Allocation> shareable = WithHandles(1, 1, true);
  const Ref<Allocation> copy = WithHandles(1, 1, true);
  const std::vector<std::vector<Uid>> consumers = {{}, {1}, {2}, {1, 2}, {2, 1}, {1, 1}, {1, 2, 3}};
  std::vector<ResourceClaimStatus> statuses;
  for (const Ref<Allocation>& allocation : {Ref<Allocation>(), exclusive, shareable, copy}) {
    for (const std::vector<Uid>& uids : consumers) {
      for (int flags = 0; flags < 4; ++flags) {
        ResourceClaimStatus status;
        status.allocation = allocation;
        for (const Uid uid : uids) status.reserved_for.push_back(PodConsumer(uid));
        if ((flags & 1) != 0) status.driver = N("valid");
        status.deallocation_requested = (flags & 2) != 0;
        statuses.push_back(status);
      }
    }
  }
  return statuses;
}

// Invariants of every stored state.
bool IsPossible(const ResourceClaimStatus& s) {
  const size_t users = s.reserved_for.size();
  if (s.allocation == nullptr) return users == 0 && !s.deallocation_requested;
  if (s.driver.empty() || (users > 0 && s.deallocation_requested)) return false;
  for (size_t i = 0; i < users; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (s.reserved_for[i].uid == s.reserved_for[j].uid) return false;
    }
  }
  return users <= (s.allocation->shareable ? kMaxReservedFor : 1);
}

// Invariants of every step from one possible state to another.
bool IsPossibleStep(const ResourceClaimStatus& a, const ResourceClaimStatus& b, bool deleting) {
  const bool kept = a.allocation != nullptr && b.allocation != nullptr;
  if (kept && a.allocation->shareable != b.allocation->shareable) return false;
  if (kept && a.deallocation_requested && !b.deallocation_requested) return false;
  if (!deleting) return true;
  for (const Consumer& consumer : b.reserved_for) {
    ResourceClaim before;
    before.status = a;
    if (!IsReservedFor(before, consumer.uid)) return false;
  }
  return true;
}

std::string Text(const ResourceClaimStatus& s) {
  std::string text = s.allocation == nullptr   ? "not allocated"
                     : s.allocation->shareable ? "shareable"
                                               : "exclusive";
  absl::StrAppend(&text, s.driver.empty() ? "" : ", with driver",
                  s.deallocation_requested ? ", to be deallocated" : "", ", for");
  for (const Consumer& consumer : s.reserved_for) absl::StrAppend(&text, " ", consumer.uid);
  return text;
}

TEST(ApiValidationTest, EveryChangeOfASmallStatus) {
  const std::vector<ResourceClaimStatus> statuses = SmallStatuses();
  int64_t allowed = 0, refused = 0;
  for (const ResourceClaimStatus& from : statuses) {
    if (!IsPossible(from)) continue;
    for (const ResourceClaimStatus& to : statuses) {
      for (const bool deleting : {false, true}) {
        ResourceClaim before = ValidClaim();
        before.meta.deleting = deleting;
        before.status = from;
        ResourceClaim after = before;
        after.status = to;
        const bool want = IsPossible(to) && IsPossibleStep(from, to, deleting);
        const absl::Status got = ValidateClaim(&before, after);
        EXPECT_EQ(got.ok(), want) << Text(from) << " -> " << Text(to)
                                  << (deleting ? ", deleting: " : ": ") << got;
        ++(want ? allowed : refused);
      }
    }
  }
  // Possible to start from: 2 not allocated, 4 exclusive, 7 shareable, and those 7 again as copies.
  EXPECT_EQ(allowed + refused, (2 + 4 + 2 * 7) * int64_t{112} * 2);
  EXPECT_GT(allowed, 200);
}

// --- PodSchedulingContexts ---

std::vector<NodeId> Nodes(size_t count) {
  std::vector<NodeId> nodes;
  for (size_t i = 0; i < count; ++i) nodes.emplace_back(i);
  return nodes;
}

TEST(ApiValidationTest, ValidateContexts) {
  using Context = PodSchedulingContext;
  PodSchedulingContext valid;
  valid.meta.name = N("foo");
  const auto potential = [](std::vector<NodeId> nodes) {
    return [=](Context& c) { c.potential = nodes; };
  };
  const auto unsuitable = [](std::vector<NodeId> nodes) {
    return [=](Context& c) { c.claims.push_back({N("my-claim"), nodes}); };
  };
  const std::vector<Case<Context>> cases = {
      {"valid-no-op-update", valid, [](Context&) {}, ""},
      {"add-selected-node", valid, [](Context& c) { c.selected = NodeId(1u); }, ""},
      {"add-potential-nodes", valid, potential(Nodes(kMaxNodesInContext)), ""},
      {"in another order", valid, potential({NodeId(3u), NodeId(1u), NodeId(2u)}), ""},
      {"invalid-potential-nodes-too-long", valid, potential(Nodes(kMaxNodesInContext + 1)),
       "spec.potentialNodes: at most 128 nodes, not 129"},
      {"invalid-potential-nodes-name", valid, potential({NodeId()}),
       "spec.potentialNodes: a node without a name"},
      {"a potential node twice", valid, potential({NodeId(1u), NodeId(2u), NodeId(1u)}),
       "spec.potentialNodes: a node is listed twice"},
      {"add-claim-status", valid, unsuitable(Nodes(kMaxNodesInContext)), ""},
      {"invalid-duplicated-claim-status", valid,
       [](Context& c) {
         c.claims.assign(2, {N("my-claim"), {}});
       },
       "status.resourceClaims[1].name: \"my-claim\" is listed twice"},
      {"invalid-too-long-claim-status", valid, unsuitable(Nodes(kMaxNodesInContext + 1)),
       "status.resourceClaims[0].unsuitableNodes: at most 128 nodes, not 129"},
      {"invalid-node-name", valid, unsuitable({NodeId(1u), NodeId()}),
       "status.resourceClaims[0].unsuitableNodes: a node without a name"},
      {"an unsuitable node twice", valid, unsuitable({NodeId(1u), NodeId(1u)}),
       "status.resourceClaims[0].unsuitableNodes: a node is listed twice"},
  };
  ExpectCases(cases, [](const Context& before, const Context& after) {
    return ValidateContext(&before, after);
  });
  ExpectCases(cases,
              [](const Context&, const Context& after) { return ValidateContext(nullptr, after); });
}

// --- Pods, classes, templates, parameters, metadata ---

Pod PodWithClaims() {
  Pod pod;
  pod.meta.name = N("pod");
  pod.claims = {{N("a"), N("claim"), Name(), true}, {N("b"), Name(), N("template"), true}};
  return pod;
}

TEST(ApiValidationTest, ValidatePodClaims) {
  const std::vector<Case<Pod>> cases = {
      {"resource claim reference and template of different entries", PodWithClaims(), [](Pod&) {},
       ""},
      {"pod claim name empty", PodWithClaims(), [](Pod& p) { p.claims[0].entry = Name(); },
       "spec.resourceClaims[0].name: is required"},
      {"duplicate pod claim entries", PodWithClaims(), [](Pod& p) { p.claims[1].entry = N("a"); },
       "spec.resourceClaims[1].name: \"a\" is listed twice"},
      {"resource claim source empty", PodWithClaims(), [](Pod& p) { p.claims[0].claim = Name(); },
       "spec.resourceClaims[0].source: either a claim or a template"},
      {"resource claim reference and template", PodWithClaims(),
       [](Pod& p) { p.claims[1].claim = N("claim"); },
       "spec.resourceClaims[1].source: either a claim or a template"},
  };
  ExpectCases(cases, [](const Pod&, const Pod& after) { return ValidatePod(nullptr, after); });
}

TEST(ApiValidationTest, ValidatePodUpdate) {
  const std::vector<Case<Pod>> cases = {
      {"its status", PodWithClaims(), [](Pod& p) { p.phase = KubePodPhase::kFailed; }, ""},
      {"its claims", PodWithClaims(), [](Pod& p) { p.claims.pop_back(); },
       "spec.resourceClaims: may not be changed"},
      {"its node", PodWithClaims(), [](Pod& p) { p.node = NodeId(1u); },
       "spec.nodeName: may not be changed"},
  };
  ExpectCases(cases,
              [](const Pod& before, const Pod& after) { return ValidatePod(&before, after); });
}

TEST(ApiValidationTest, ClassesTemplatesAndParameters) {
  ResourceClass resource_class;
  EXPECT_EQ(MessagesOf(ValidateClass(resource_class)), "driverName: is required");
  resource_class.driver = N("driver");
  EXPECT_EQ(MessagesOf(ValidateClass(resource_class)), "");
  resource_class.parameters.kind = N("Kind");
  EXPECT_EQ(MessagesOf(ValidateClass(resource_class)), "parametersRef.name: is required");

  ResourceClaimTemplate with_class;
  with_class.spec.class_name = N("class");
  EXPECT_EQ(MessagesOf(ValidateTemplate(nullptr, with_class)), "");
  EXPECT_EQ(MessagesOf(ValidateTemplate(nullptr, {})), "spec.resourceClassName: is required");
  EXPECT_EQ(MessagesOf(ValidateTemplate(&with_class, {})), "spec: may not be changed");

  ParametersObject before, after;
  after.kind = N("Kind");
  after.fields.emplace_back("count", "1");
  EXPECT_EQ(MessagesOf(ValidateParameters(nullptr, after)), "");
  EXPECT_EQ(MessagesOf(ValidateParameters(&before, after)), "kind: may not be changed");
  before.kind = after.kind;
  EXPECT_EQ(MessagesOf(ValidateParameters(&before, after)), "");
}

TEST(ApiValidationTest, Metadata) {
  const auto keep = [](absl::string_view finalizer) {
    return [=](ObjectMeta& m) { m.finalizers.push_back(N(finalizer)); };
  };
  ObjectMeta alive = ValidClaim().meta;
  alive.finalizers.push_back(N("a"));
  ObjectMeta deleting = alive;
  deleting.deleting = true;
  const std::vector<Case<ObjectMeta>> cases = {
      {"missing-name", alive, [](ObjectMeta& m) { m.name = Name(); }, "metadata.name: is required"},
      {"one more finalizer", alive, keep("b"), ""},
      {"one more finalizer while deleting", deleting, keep("b"),
       "metadata.finalizers: \"b\" may not be added while the object is being deleted"},
      {"none while deleting", deleting, [](ObjectMeta& m) { m.finalizers.clear(); }, ""},
  };
  ExpectCases(cases, [](const ObjectMeta& before, const ObjectMeta& after) {
    return ValidateMeta(&before, after);
  });
}

}  // namespace api_validation_test
}  // namespace drasim
