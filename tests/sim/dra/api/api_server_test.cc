// The API server: each verb by itself, deletion in all its forms, and random requests.
#include "sim/dra/api/api_server.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/object_cache.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace api_server_test {

using Lines = std::vector<std::string>;
using Type = WatchEvent::Type;

// --- Objects, replies and events as text, for failures and expectations ---

std::string TextOf(const ObjectMeta& meta) {
  std::string text = absl::StrCat(meta.name.text(), " #", meta.uid, " v", meta.version);
  if (meta.deleting) absl::StrAppend(&text, " deleting");
  for (const Name finalizer : meta.finalizers) absl::StrAppend(&text, " +", finalizer.text());
  if (meta.owner != 0) absl::StrAppend(&text, " of #", meta.owner);
  return text;
}
template <typename T>
std::string StateText(const T&) {
  return "";
}
std::string StateText(const Pod& pod) {
  std::string text = pod.node.valid() ? absl::StrCat(" on ", pod.node.value()) : "";
  constexpr const char* kPhases[] = {"", " running", " succeeded", " failed"};
  absl::StrAppend(&text, kPhases[static_cast<size_t>(pod.phase)]);
  for (const auto& [entry, claim] : pod.claim_names) {
    absl::StrAppend(&text, " ", entry.text(), "=", claim.text());
  }
  return text;
}
std::string StateText(const ResourceClaim& claim) {
  const ResourceClaimStatus& s = claim.status;
  std::string text = absl::StrCat(" class ", claim.spec.class_name.text());
  for (const auto& [key, value] : claim.labels) absl::StrAppend(&text, " ", key, "=", value);
  if (!s.driver.empty()) absl::StrAppend(&text, " driver ", s.driver.text());
  if (s.allocation != nullptr) {
    absl::StrAppend(&text, s.allocation->shareable ? " shareable" : " exclusive");
  }
  for (const Consumer& consumer : s.reserved_for) absl::StrAppend(&text, " for #", consumer.uid);
  return absl::StrCat(text, s.deallocation_requested ? " deallocate" : "");
}
std::string StateText(const PodSchedulingContext& context) {
  std::string text = context.selected.valid() ? absl::StrCat(" at ", context.selected.value()) : "";
  for (const auto& [entry, nodes] : context.claims) {
    absl::StrAppend(&text, " ", entry.text(), " not on ", nodes.size());
  }
  return text;
}
std::string Text(const ObjectRef& object) {
  return std::visit(
      [](const auto& ref) {
        return ref == nullptr ? "none" : absl::StrCat(TextOf(ref->meta), StateText(*ref));
      },
      object);
}
// "200 OBJECT" or "409 MESSAGE".
std::string Text(const ApiReply& reply) {
  return absl::StrCat(static_cast<int>(reply.code), " ",
                      reply.ok() ? Text(reply.object) : reply.message);
}
std::string Text(const WatchEvent& event) {
  constexpr const char* kTypes[] = {"added ", "modified ", "deleted "};
  return absl::StrCat(kTypes[static_cast<size_t>(event.type)], Text(event.object));
}

// --- Each verb ---

class ApiServerTest : public testing::Test {
 protected:
  Name N(absl::string_view text) { return names_.Intern(text); }

  template <typename T>
  std::string Send(Verb verb, const T& object, absl::string_view generate_name = "",
                   StatusPart part = StatusPart::kNone) {
    ApiRequest request;
    request.verb = verb;
    request.part = part;
    request.object = std::make_shared<const T>(object);
    request.kind = KindOf(request.object);
    request.generate_name = N(generate_name);
    return Text(server_.Handle(request));
  }
  std::string Send(Verb verb, ObjectKind kind, absl::string_view name, Uid uid = 0,
                   bool force = false, NodeId node = NodeId()) {
    ApiRequest request;
    request.verb = verb;
    request.kind = kind;
    request.ns = N("ns");
    request.name = N(name);
    request.uid = uid;
    request.force = force;
    request.node = node;
    return Text(server_.Handle(request));
  }
  template <typename T>
  std::string Patch(StatusPart part, const T& object) {
    return Send(Verb::kPatchStatus, object, "", part);
  }
  std::string DeleteClaim(absl::string_view name) {
    return Send(Verb::kDelete, ObjectKind::kResourceClaim, name);
  }
  std::string DeletePod(absl::string_view name, bool force = false) {
    return Send(Verb::kDelete, ObjectKind::kPod, name, 0, force);
  }
  // The events since the last call.
  Lines Events() {
    Lines lines;
    for (const WatchEvent& event : events_) {
      EXPECT_EQ(MetaOf(event.before), nullptr) << Text(event);
      lines.push_back(Text(event));
    }
    events_.clear();
    return lines;
  }

  ResourceClaim Claim(absl::string_view name) {
    ResourceClaim claim;
    claim.meta.ns = N("ns");
    claim.meta.name = N(name);
    claim.spec.class_name = N("gpu");
    return claim;
  }
  ResourceClaim AllocatedClaim(absl::string_view name, bool shareable = false) {
    ResourceClaim claim = Claim(name);
    Allocation allocation;
    allocation.shareable = shareable;
    claim.status.driver = N("d");
    claim.status.allocation = std::make_shared<const Allocation>(allocation);
    return claim;
  }
  Pod NewPod(absl::string_view name, NodeId node = NodeId()) {
    Pod pod;
    pod.meta.ns = N("ns");
    pod.meta.name = N(name);
    pod.node = node;
    return pod;
  }
  // The stored state.
  ResourceClaim Stored(absl::string_view name) {
    return *server_.objects().claim(N("ns"), N(name));
  }

  NamePool names_;
  std::vector<WatchEvent> events_;
  ApiServer server_{&names_, 42, [this](const WatchEvent& event) { events_.push_back(event); }};
};

TEST(ApiTypesTest, TextsOfCalls) {
  EXPECT_EQ(CallText(Verb::kGet, ObjectKind::kPod), "GET pods");
  EXPECT_EQ(CallText(Verb::kCreate, ObjectKind::kResourceClass), "POST resourceclasses");
  EXPECT_EQ(CallText(Verb::kUpdate, ObjectKind::kResourceClaim), "PUT resourceclaims");
  EXPECT_EQ(CallText(Verb::kUpdateStatus, ObjectKind::kResourceClaim), "PUT resourceclaims/status");
  EXPECT_EQ(CallText(Verb::kApply, ObjectKind::kPodSchedulingContext),
            "PATCH podschedulingcontexts");
  EXPECT_EQ(CallText(Verb::kPatchStatus, ObjectKind::kPod), "PATCH pods/status");
  EXPECT_EQ(CallText(Verb::kDelete, ObjectKind::kResourceClaimTemplate),
            "DELETE resourceclaimtemplates");
  EXPECT_EQ(CallText(Verb::kDelete, ObjectKind::kParameters), "DELETE parameters");
  EXPECT_EQ(CallText(Verb::kBind, ObjectKind::kPod), "POST pods/binding");
}

TEST_F(ApiServerTest, CreatesAndGets) {
  ResourceClaim claim = AllocatedClaim("a");
  claim.meta.finalizers.push_back(N("keep"));
  claim.meta.owner = 77;
  claim.meta.uid = 5;
  claim.meta.version = 6;
  claim.meta.deleting = true;  // not for clients to say
  EXPECT_EQ(Send(Verb::kCreate, claim), "200 a #1 v1 +keep of #77 class gpu driver d exclusive");
  EXPECT_EQ(Send(Verb::kCreate, claim), "4090 resourceclaims \"ns/a\": already exists");
  EXPECT_EQ(Send(Verb::kCreate, NewPod("a")), "200 a #2 v2");
  EXPECT_EQ(Send(Verb::kCreate, Claim("")),
            "422 resourceclaims \"ns/\": metadata.name: is required");
  EXPECT_EQ(Send(Verb::kGet, ObjectKind::kPod, "a"), "200 a #2 v2");
  EXPECT_EQ(Send(Verb::kGet, ObjectKind::kPod, "b"), "404 pods \"ns/b\": not found");
  EXPECT_EQ(Events(),
            (Lines{"added a #1 v1 +keep of #77 class gpu driver d exclusive", "added a #2 v2"}));
  claim.meta.uid = 1;
  claim.meta.version = 1;
  claim.meta.deleting = false;
  EXPECT_TRUE(Stored("a") == claim);
}

TEST_F(ApiServerTest, AnErrorHasAMessageAndNoObject) {
  Send(Verb::kCreate, Claim("a"));
  ApiRequest request;
  request.verb = Verb::kUpdateStatus;
  request.kind = ObjectKind::kResourceClaim;
  ResourceClaim claim = Claim("a");
  claim.status.deallocation_requested = true;
  request.object = std::make_shared<const ResourceClaim>(claim);
  const ApiReply reply = server_.Handle(request);
  EXPECT_FALSE(reply.ok());
  EXPECT_EQ(reply.code, ApiCode::kInvalid);
  EXPECT_EQ(MetaOf(reply.object), nullptr);
  EXPECT_EQ(reply.message,
            "resourceclaims \"ns/a\": status.deallocationRequested: needs an allocation");
}

TEST_F(ApiServerTest, GeneratesNames) {
  Send(Verb::kCreate, Claim("unused"), "pod-gpu-");
  Send(Verb::kCreate, Claim("unused"), "pod-gpu-");
  const std::string long_prefix(70, 'x');
  Send(Verb::kCreate, Claim("unused"), long_prefix);
  const std::vector<Ref<ResourceClaim>> claims = server_.objects().of<ResourceClaim>().Sorted();
  ASSERT_EQ(claims.size(), 3u);
  Lines suffixes;
  for (const Ref<ResourceClaim>& claim : claims) {
    const absl::string_view name = claim->meta.name.text();
    EXPECT_EQ(name.size(), claim == claims[2] ? 63u : 8u + 5u) << name;
    EXPECT_TRUE(absl::StartsWith(name, claim == claims[2] ? long_prefix.substr(0, 58) : "pod-gpu-"))
        << name;
    suffixes.emplace_back(name.substr(name.size() - 5));
    EXPECT_EQ(suffixes.back().find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), std::string::npos)
        << name;
  }
  // The suffixes of this seed must never change.
  EXPECT_EQ(suffixes, (Lines{"266jc", "pnxfz", "2ngnd"}));

  // Another server with the same seed skips a name that is there.
  ApiServer other(&names_, 42, nullptr);
  const auto create = [&](absl::string_view name, absl::string_view prefix) {
    ApiRequest request;
    request.verb = Verb::kCreate;
    request.kind = ObjectKind::kResourceClaim;
    request.object = std::make_shared<const ResourceClaim>(Claim(name));
    request.generate_name = N(prefix);
    return std::string(MetaOf(other.Handle(request).object)->name.text());
  };
  create(absl::StrCat("pod-gpu-", suffixes[0]), "");
  EXPECT_EQ(create("unused", "pod-gpu-"), absl::StrCat("pod-gpu-", suffixes[1]));
  // A refused creation draws nothing.
  EXPECT_EQ(Send(Verb::kCreate, ResourceClaim(), "x-"),
            "422 resourceclaims \"x-\": spec.resourceClassName: is required");
  EXPECT_EQ(Send(Verb::kCreate, Claim(""), "y-").substr(0, 6), "200 y-");
}

TEST_F(ApiServerTest, UpdateAndStatusEachWriteTheirPart) {
  Send(Verb::kCreate, Claim("a"));
  ResourceClaim both = AllocatedClaim("a");
  both.labels.emplace_back("color", "red");
  both.meta.finalizers.push_back(N("keep"));
  both.meta.owner = 9;
  EXPECT_EQ(Send(Verb::kUpdateStatus, both), "200 a #1 v2 class gpu driver d exclusive");
  both.status = ResourceClaimStatus();
  EXPECT_EQ(Send(Verb::kUpdate, both),
            "200 a #1 v3 +keep of #9 class gpu color=red driver d exclusive");
  EXPECT_EQ(Send(Verb::kUpdateStatus, both), "200 a #1 v4 +keep of #9 class gpu color=red");

  Send(Verb::kCreate, NewPod("p"));
  Pod pod = NewPod("p");
  pod.phase = KubePodPhase::kRunning;
  pod.claim_names = {{N("entry"), N("c")}};
  pod.meta.owner = 8;
  pod.row = PodId(3u);  // not in the API: stays as it was
  EXPECT_EQ(Send(Verb::kUpdate, pod), "200 p #2 v6 of #8");
  pod.meta.owner = 0;
  EXPECT_EQ(Send(Verb::kUpdateStatus, pod), "200 p #2 v7 of #8 running entry=c");
  EXPECT_FALSE(server_.objects().pod(2)->row.valid());

  PodSchedulingContext context;
  context.meta = NewPod("p").meta;
  Send(Verb::kCreate, context);
  context.selected = NodeId(4u);
  context.claims = {{N("entry"), {NodeId(1u)}}};
  EXPECT_EQ(Send(Verb::kApply, context), "200 p #3 v9 at 4");
  context.selected = NodeId(5u);
  EXPECT_EQ(Send(Verb::kUpdateStatus, context), "200 p #3 v10 at 4 entry not on 1");
  EXPECT_EQ(Events().size(), 10u);
}

// Each patch is made from a state that the other has changed since.
TEST_F(ApiServerTest, PatchesOfAPodKeepEachOthersPart) {
  Send(Verb::kCreate, NewPod("p"));
  Pod named = NewPod("p");
  named.meta.uid = 1;
  named.meta.version = 1;
  Pod running = named;
  named.claim_names = {{N("a"), N("p-a-1")}, {N("b"), N("p-b-1")}};
  running.phase = KubePodPhase::kRunning;
  EXPECT_EQ(Patch(StatusPart::kClaimNames, named), "200 p #1 v2 a=p-a-1 b=p-b-1");
  EXPECT_EQ(Patch(StatusPart::kPhase, running), "200 p #1 v3 running a=p-a-1 b=p-b-1");
  // The names are one owner's: what he does not send is gone.
  named.claim_names = {{N("b"), N("p-b-2")}};
  EXPECT_EQ(Patch(StatusPart::kClaimNames, named), "200 p #1 v4 running b=p-b-2");
  running.phase = KubePodPhase::kFailed;
  EXPECT_EQ(Patch(StatusPart::kPhase, running), "200 p #1 v5 failed b=p-b-2");
  // Nothing new.
  EXPECT_EQ(Patch(StatusPart::kPhase, running), "200 p #1 v5 failed b=p-b-2");
  EXPECT_EQ(Patch(StatusPart::kClaimNames, named), "200 p #1 v5 failed b=p-b-2");
  EXPECT_EQ(Events(),
            (Lines{"added p #1 v1", "modified p #1 v2 a=p-a-1 b=p-b-1",
                   "modified p #1 v3 running a=p-a-1 b=p-b-1", "modified p #1 v4 running b=p-b-2",
                   "modified p #1 v5 failed b=p-b-2"}));
}

TEST_F(ApiServerTest, PatchesOfConsumersMerge) {
  Send(Verb::kCreate, AllocatedClaim("a", true));
  const auto of = [&](const std::vector<Uid>& uids) {
    ResourceClaim patch;
    patch.meta.ns = N("ns");
    patch.meta.name = N("a");
    for (const Uid uid : uids) {
      patch.status.reserved_for.push_back({N("pods"), N(absl::StrCat("p", uid)), uid});
    }
    return patch;
  };
  const auto add = [&](const std::vector<Uid>& uids) {
    return Patch(StatusPart::kAddConsumers, of(uids));
  };
  const auto drop = [&](const std::vector<Uid>& uids) {
    return Patch(StatusPart::kDropConsumers, of(uids));
  };
  EXPECT_EQ(add({5}), "200 a #1 v2 class gpu driver d shareable for #5");
  EXPECT_EQ(add({6, 5}), "200 a #1 v3 class gpu driver d shareable for #5 for #6");
  EXPECT_EQ(add({5}), "200 a #1 v3 class gpu driver d shareable for #5 for #6");  // there already
  EXPECT_EQ(drop({7}), "200 a #1 v3 class gpu driver d shareable for #5 for #6");
  EXPECT_EQ(drop({5, 7}), "200 a #1 v4 class gpu driver d shareable for #6");
  // The entry of a uid is replaced.
  ResourceClaim renamed = of({6});
  renamed.status.reserved_for[0].name = N("q");
  EXPECT_EQ(Patch(StatusPart::kAddConsumers, renamed),
            "200 a #1 v5 class gpu driver d shareable for #6");
  EXPECT_EQ(Stored("a").status.reserved_for[0].name, N("q"));
  EXPECT_EQ(drop({6}), "200 a #1 v6 class gpu driver d shareable");
}

// The rules of ResourceClaim.status hold for what a patch comes to, on the state of now.
TEST_F(ApiServerTest, PatchesOfConsumersAreValidated) {
  const auto add = [&](absl::string_view name, Uid uid) {
    ResourceClaim patch = Claim(name);
    patch.status.reserved_for.push_back({N("pods"), N("p"), uid});
    return Patch(StatusPart::kAddConsumers, patch);
  };
  Send(Verb::kCreate, Claim("free"));
  EXPECT_EQ(add("free", 5),
            "422 resourceclaims \"ns/free\": status.reservedFor: needs an allocation");
  Send(Verb::kCreate, AllocatedClaim("alone"));
  EXPECT_EQ(add("alone", 5), "200 alone #2 v3 class gpu driver d exclusive for #5");
  EXPECT_EQ(add("alone", 6),
            "422 resourceclaims \"ns/alone\": status.reservedFor: the allocation is not shareable");
  ResourceClaim idle = AllocatedClaim("idle");
  idle.status.deallocation_requested = true;
  Send(Verb::kCreate, idle);
  EXPECT_EQ(
      add("idle", 5),
      "422 resourceclaims \"ns/idle\": status.reservedFor: no new consumer while deallocation "
      "is requested");
  ResourceClaim going = AllocatedClaim("going", true);
  going.meta.finalizers.push_back(N("keep"));
  Send(Verb::kCreate, going);
  DeleteClaim("going");
  EXPECT_EQ(
      add("going", 5),
      "422 resourceclaims \"ns/going\": status.reservedFor: no new consumer while the claim is "
      "being deleted");
  Send(Verb::kCreate, AllocatedClaim("full", true));
  for (Uid uid = 1; uid <= 32; ++uid) EXPECT_EQ(add("full", uid).substr(0, 3), "200") << uid;
  EXPECT_EQ(add("full", 33),
            "422 resourceclaims \"ns/full\": status.reservedFor: at most 32 consumers, not 33");
  EXPECT_EQ(add("full", 0),
            "422 resourceclaims \"ns/full\": status.reservedFor: at most 32 consumers, not 33; "
            "status.reservedFor[32].uid: is required");
  EXPECT_EQ(Stored("full").status.reserved_for.size(), 32u);
}

TEST_F(ApiServerTest, PatchesAreForOneObjectAndOneOfItsParts) {
  Send(Verb::kCreate, AllocatedClaim("a", true));
  Send(Verb::kCreate, NewPod("a"));
  ResourceClaim claim = Claim("a");
  claim.meta.uid = 7;
  EXPECT_EQ(Patch(StatusPart::kAddConsumers, claim),
            "409 resourceclaims \"ns/a\": its uid is 1, not 7");
  EXPECT_EQ(Patch(StatusPart::kAddConsumers, Claim("b")), "404 resourceclaims \"ns/b\": not found");
  for (const StatusPart part : {StatusPart::kNone, StatusPart::kPhase, StatusPart::kClaimNames}) {
    EXPECT_EQ(Patch(part, Claim("a")), "422 resourceclaims \"ns/a\": has no such part of a status");
  }
  for (const StatusPart part :
       {StatusPart::kNone, StatusPart::kAddConsumers, StatusPart::kDropConsumers}) {
    EXPECT_EQ(Patch(part, NewPod("a")), "422 pods \"ns/a\": has no such part of a status");
  }
  EXPECT_EQ(server_.version(), 2u);
}

TEST_F(ApiServerTest, KindsWithoutStatus) {
  ResourceClass resource_class;
  resource_class.meta.name = N("gpu");
  resource_class.driver = N("d");
  EXPECT_EQ(Send(Verb::kCreate, resource_class), "200 gpu #1 v1");
  EXPECT_EQ(Send(Verb::kUpdateStatus, resource_class),
            "404 resourceclasses \"gpu\": has no status");
  resource_class.suitable_nodes = NodeSet::Of({NodeId(1u)});
  EXPECT_EQ(Send(Verb::kUpdate, resource_class), "200 gpu #1 v2");
  EXPECT_EQ(Send(Verb::kBind, ObjectKind::kResourceClass, "gpu"),
            "404 resourceclasses \"ns/gpu\": has no binding");
}

TEST_F(ApiServerTest, VersionsAndUidsAreChecked) {
  Send(Verb::kCreate, Claim("a"));
  const auto label = [&](const char* value, ResourceVersion version, Uid uid) {
    ResourceClaim claim = AllocatedClaim("a");
    claim.labels.emplace_back("n", value);
    if (std::string(value) == "3") claim.status = ResourceClaimStatus();
    claim.meta.version = version;
    claim.meta.uid = uid;
    return claim;
  };
  const std::string stale = "409 resourceclaims \"ns/a\": it is at version 3, not 1";
  EXPECT_EQ(Send(Verb::kUpdate, label("1", 1, 1)), "200 a #1 v2 class gpu n=1");
  EXPECT_EQ(Send(Verb::kUpdate, label("2", 0, 0)), "200 a #1 v3 class gpu n=2");
  EXPECT_EQ(Send(Verb::kUpdate, label("3", 1, 1)), stale);
  EXPECT_EQ(Send(Verb::kUpdateStatus, label("2", 1, 1)), stale);
  EXPECT_EQ(Send(Verb::kApply, label("3", 1, 1)), "200 a #1 v4 class gpu n=3");
  EXPECT_EQ(Send(Verb::kUpdateStatus, label("2", 4, 1)),
            "200 a #1 v5 class gpu n=3 driver d exclusive");
  for (const Verb verb : {Verb::kUpdate, Verb::kUpdateStatus, Verb::kApply, Verb::kPatchStatus}) {
    EXPECT_EQ(Send(verb, label("3", 0, 2)), "409 resourceclaims \"ns/a\": its uid is 1, not 2");
    EXPECT_EQ(Send(verb, Claim("b")), "404 resourceclaims \"ns/b\": not found");
  }
  EXPECT_EQ(server_.version(), 5u);
}

TEST_F(ApiServerTest, NothingNewIsNoWrite) {
  Send(Verb::kCreate, AllocatedClaim("a"));
  const Ref<ResourceClaim> stored = server_.objects().claim(N("ns"), N("a"));
  ResourceClaim copy = AllocatedClaim("a");  // with an allocation of its own
  copy.meta.deleting = true;                 // not for clients to say
  for (const Verb verb : {Verb::kUpdate, Verb::kUpdateStatus, Verb::kApply}) {
    EXPECT_EQ(Send(verb, copy), "200 a #1 v1 class gpu driver d exclusive");
  }
  EXPECT_EQ(server_.objects().claim(N("ns"), N("a")), stored);
  EXPECT_EQ(Events().size(), 1u);
  copy.meta.version = 7;
  EXPECT_EQ(Send(Verb::kUpdateStatus, copy),
            "409 resourceclaims \"ns/a\": it is at version 1, not 7");
}

TEST_F(ApiServerTest, SnapshotsStayAsTheyWere) {
  Send(Verb::kCreate, Claim("a"));
  const Ref<ResourceClaim> before = server_.objects().claim(N("ns"), N("a"));
  Send(Verb::kUpdateStatus, AllocatedClaim("a"));
  EXPECT_EQ(Text(ObjectRef(before)), "a #1 v1 class gpu");
  EXPECT_EQ(As<ResourceClaim>(events_[1].object), server_.objects().claim(N("ns"), N("a")));
}

TEST_F(ApiServerTest, BindsOnce) {
  const auto bind = [&](absl::string_view name, Uid uid, NodeId node) {
    return Send(Verb::kBind, ObjectKind::kPod, name, uid, false, node);
  };
  Send(Verb::kCreate, NewPod("a"));
  EXPECT_EQ(bind("a", 0, NodeId()), "422 pods \"ns/a\": target.name: is required");
  EXPECT_EQ(bind("b", 0, NodeId(1u)), "404 pods \"ns/b\": not found");
  EXPECT_EQ(bind("a", 2, NodeId(1u)), "409 pods \"ns/a\": its uid is 1, not 2");
  EXPECT_EQ(bind("a", 1, NodeId(1u)), "200 a #1 v2 on 1");
  EXPECT_EQ(bind("a", 1, NodeId(1u)), "409 pods \"ns/a\": is bound already");
  Pod held = NewPod("held");
  held.meta.finalizers.push_back(N("keep"));
  Send(Verb::kCreate, held);
  DeletePod("held");
  EXPECT_EQ(bind("held", 0, NodeId(1u)), "409 pods \"ns/held\": is being deleted");
  EXPECT_EQ(Events(), (Lines{"added a #1 v1", "modified a #1 v2 on 1", "added held #2 v3 +keep",
                             "modified held #2 v4 deleting +keep"}));
}

// --- Deletion ---

TEST_F(ApiServerTest, AnObjectThatNothingHoldsGoesAtOnce) {
  EXPECT_EQ(DeleteClaim("a"), "404 resourceclaims \"ns/a\": not found");
  Send(Verb::kCreate, AllocatedClaim("a"));
  EXPECT_EQ(Send(Verb::kDelete, ObjectKind::kResourceClaim, "a", 2),
            "409 resourceclaims \"ns/a\": its uid is 1, not 2");
  EXPECT_EQ(Send(Verb::kDelete, ObjectKind::kResourceClaim, "a", 1),
            "200 a #1 v2 class gpu driver d exclusive");
  EXPECT_EQ(Send(Verb::kCreate, Claim("a")), "200 a #2 v3 class gpu");  // uids are not reused
  EXPECT_EQ(Events(),
            (Lines{"added a #1 v1 class gpu driver d exclusive",
                   "deleted a #1 v2 class gpu driver d exclusive", "added a #2 v3 class gpu"}));
}

TEST_F(ApiServerTest, FinalizersHoldAClaim) {
  ResourceClaim claim = AllocatedClaim("a", true);
  claim.meta.finalizers = {N("x"), N("y")};
  claim.status.reserved_for.push_back({N("pods"), N("p"), 9});
  Send(Verb::kCreate, claim);
  const std::string deleting = "200 a #1 v2 deleting +x +y class gpu driver d shareable for #9";
  EXPECT_EQ(DeleteClaim("a"), deleting);
  EXPECT_EQ(DeleteClaim("a"), deleting);
  EXPECT_EQ(Send(Verb::kDelete, ObjectKind::kResourceClaim, "a", 1, true), deleting);

  claim.meta.finalizers.push_back(N("z"));
  EXPECT_EQ(Send(Verb::kUpdate, claim),
            "422 resourceclaims \"ns/a\": metadata.finalizers: \"z\" may not be added while the "
            "object is being deleted");
  claim.status.reserved_for.push_back({N("pods"), N("q"), 10});
  EXPECT_EQ(Send(Verb::kUpdateStatus, claim),
            "422 resourceclaims \"ns/a\": status.reservedFor: no new consumer while the claim is "
            "being deleted");
  claim.meta.finalizers = {N("y")};
  EXPECT_EQ(Send(Verb::kUpdate, claim),
            "200 a #1 v3 deleting +y class gpu driver d shareable for #9");
  claim.meta.finalizers.clear();
  claim.status = ResourceClaimStatus();
  EXPECT_EQ(Send(Verb::kUpdateStatus, claim), "200 a #1 v4 deleting +y class gpu");
  EXPECT_EQ(Send(Verb::kUpdate, claim), "200 a #1 v5 deleting class gpu");
  EXPECT_EQ(DeleteClaim("a"), "404 resourceclaims \"ns/a\": not found");
  EXPECT_EQ(server_.objects().of<ResourceClaim>().size(), 0u);
  Lines events = Events();
  ASSERT_EQ(events.size(), 5u) << absl::StrJoin(events, "\n");
  EXPECT_EQ(events.back(), "deleted a #1 v5 deleting class gpu");
}

TEST_F(ApiServerTest, PodsEndGracefully) {
  // Not bound: at once. Bound: marked, then by force. Bound and at its end: at once.
  Send(Verb::kCreate, NewPod("new"));
  Send(Verb::kCreate, NewPod("bound", NodeId(1u)));
  Pod ended = NewPod("ended", NodeId(1u));
  ended.phase = KubePodPhase::kSucceeded;
  Send(Verb::kCreate, ended);
  Send(Verb::kCreate, NewPod("forced", NodeId(1u)));
  Events();
  EXPECT_EQ(DeletePod("new"), "200 new #1 v5");
  EXPECT_EQ(DeletePod("bound"), "200 bound #2 v6 deleting on 1");
  EXPECT_EQ(DeletePod("bound"), "200 bound #2 v6 deleting on 1");
  EXPECT_EQ(DeletePod("ended"), "200 ended #3 v7 on 1 succeeded");
  EXPECT_EQ(DeletePod("forced", true), "200 forced #4 v8 on 1");
  Pod failed = NewPod("bound");
  failed.phase = KubePodPhase::kFailed;
  EXPECT_EQ(Patch(StatusPart::kPhase, failed), "200 bound #2 v9 deleting on 1 failed");
  EXPECT_EQ(DeletePod("bound", true), "200 bound #2 v10 deleting on 1 failed");
  EXPECT_EQ(Events(), (Lines{"deleted new #1 v5", "modified bound #2 v6 deleting on 1",
                             "deleted ended #3 v7 on 1 succeeded", "deleted forced #4 v8 on 1",
                             "modified bound #2 v9 deleting on 1 failed",
                             "deleted bound #2 v10 deleting on 1 failed"}));
}

// ---- Random requests against a naive API server that keeps all objects in one map and states the
// rules as properties of every stored object and of every step from one state to the next. Every
// reply and event is compared, and now and then all objects. ----

bool SameObject(const ObjectRef& a, const ObjectRef& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&](const auto& left) {
        const auto& right = std::get<std::decay_t<decltype(left)>>(b);
        return left == right || (left != nullptr && right != nullptr && *left == *right);
      },
      a);
}

// --- The rules, as what holds of stored objects and of steps between their states ---

template <typename Values>
bool NoneTwice(const Values& values) {
  return std::set<typename Values::value_type>(values.begin(), values.end()).size() ==
         values.size();
}
bool IsComplete(const ParametersRef& ref) { return ref.kind.empty() == ref.name.empty(); }
bool IsNodeList(const std::vector<NodeId>& nodes) {
  return nodes.size() <= 128 && NoneTwice(nodes) &&
         std::count(nodes.begin(), nodes.end(), NodeId()) == 0;
}

bool Holds(const Pod& pod) {
  std::vector<std::string> entries;
  for (const PodClaim& claim : pod.claims) {
    entries.emplace_back(claim.entry.text());
    if (claim.entry.empty() || claim.claim.empty() == claim.from_template.empty()) return false;
  }
  return NoneTwice(entries);
}
bool Holds(const ResourceClass& c) { return !c.driver.empty() && IsComplete(c.parameters); }
bool Holds(const ResourceClaimTemplate& t) {
  return !t.spec.class_name.empty() && IsComplete(t.spec.parameters);
}
bool Holds(const ParametersObject&) { return true; }
bool Holds(const DeviceClassObject&) { return true; }
bool Holds(const ResourceSliceObject&) { return true; }
bool Holds(const DeviceTaintRuleObject&) { return true; }
bool Holds(const PodSchedulingContext& context) {
  std::vector<std::string> entries;
  for (const auto& [entry, nodes] : context.claims) {
    entries.emplace_back(entry.text());
    if (!IsNodeList(nodes)) return false;
  }
  return NoneTwice(entries) && IsNodeList(context.potential);
}
bool Holds(const ResourceClaim& claim) {
  const ResourceClaimStatus& s = claim.status;
  if (claim.spec.class_name.empty() || !IsComplete(claim.spec.parameters)) return false;
  const size_t users = s.reserved_for.size();
  if (s.allocation == nullptr) return users == 0 && !s.deallocation_requested;
  std::vector<Uid> uids;
  for (const Consumer& consumer : s.reserved_for) {
    uids.push_back(consumer.uid);
    if (consumer.uid == 0 || consumer.name.empty() || consumer.resource.empty()) return false;
  }
  for (const ResourceHandle& handle : s.allocation->handles) {
    if (handle.driver.empty() || handle.data.size() > 16384) return false;
  }
  return !s.driver.empty() && s.allocation->handles.size() <= 32 && NoneTwice(uids) &&
         users <= (s.allocation->shareable ? 32u : 1u) && !(users > 0 && s.deallocation_requested);
}

template <typename T>
bool MayFollow(const T&, const T&) {
  return true;
}
bool MayFollow(const Pod& a, const Pod& b) { return a.claims == b.claims && a.node == b.node; }
bool MayFollow(const ResourceClaimTemplate& a, const ResourceClaimTemplate& b) {
  return a.spec == b.spec;
}
bool MayFollow(const ParametersObject& a, const ParametersObject& b) {
  return a.kind == b.kind && a.api_group == b.api_group;
}
bool MayFollow(const ResourceClaim& a, const ResourceClaim& b) {
  if (a.spec != b.spec) return false;
  if (a.status.allocation != nullptr && b.status.allocation != nullptr) {
    if (!(*a.status.allocation == *b.status.allocation)) return false;
    if (a.status.deallocation_requested && !b.status.deallocation_requested) return false;
  }
  const auto& was = a.status.reserved_for;
  return std::all_of(
      b.status.reserved_for.begin(), b.status.reserved_for.end(), [&](const Consumer& consumer) {
        return !b.meta.deleting || std::find(was.begin(), was.end(), consumer) != was.end();
      });
}

// --- The naive server ---

void SetStatus(Pod& to, const Pod& from) {
  to.phase = from.phase;
  to.claim_names = from.claim_names;
}
void SetStatus(ResourceClaim& to, const ResourceClaim& from) { to.status = from.status; }
void SetStatus(PodSchedulingContext& to, const PodSchedulingContext& from) {
  to.claims = from.claims;
}
template <typename T>
void SetStatus(T&, const T&) {}
// False: there is no such part.
bool Patched(StatusPart part, const Pod& asked, Pod& next) {
  if (part == StatusPart::kPhase) next.phase = asked.phase;
  if (part == StatusPart::kClaimNames) next.claim_names = asked.claim_names;
  return part == StatusPart::kPhase || part == StatusPart::kClaimNames;
}
bool Patched(StatusPart part, const ResourceClaim& asked, ResourceClaim& next) {
  if (part != StatusPart::kAddConsumers && part != StatusPart::kDropConsumers) return false;
  // By uid, in the order in which each was first there.
  std::vector<Uid> order;
  std::map<Uid, Consumer> entries;
  const auto put = [&](const Consumer& consumer) {
    if (entries.count(consumer.uid) == 0) order.push_back(consumer.uid);
    entries[consumer.uid] = consumer;
  };
  for (const Consumer& consumer : next.status.reserved_for) put(consumer);
  for (const Consumer& consumer : asked.status.reserved_for) {
    if (part == StatusPart::kAddConsumers) put(consumer);
    if (part == StatusPart::kDropConsumers) entries.erase(consumer.uid);
  }
  next.status.reserved_for.clear();
  for (const Uid uid : order) {
    const auto entry = entries.find(uid);
    if (entry != entries.end()) next.status.reserved_for.push_back(entry->second);
  }
  return true;
}
template <typename T>
bool Patched(StatusPart, const T&, T&) {
  return false;
}
template <typename T>
bool HasStatus(const T&) {
  return std::is_same_v<T, Pod> || std::is_same_v<T, ResourceClaim> ||
         std::is_same_v<T, PodSchedulingContext>;
}

struct Outcome {
  ApiCode code = ApiCode::kOk;
  ObjectRef object;           // of the reply; none with an error
  std::optional<Type> event;  // with the same object
};

class NaiveServer {
 public:
  // `generated`: the name that the server made up.
  Outcome Handle(const ApiRequest& request, Name generated) {
    if (request.verb == Verb::kBind) return Bind(request);
    if (request.verb == Verb::kGet && request.name.empty()) {
      for (const auto& [key, stored] : objects_) {
        const bool found = key.first == request.kind && MetaOf(stored)->uid == request.uid;
        if (found) return {ApiCode::kOk, stored, {}};
      }
      return {ApiCode::kNotFound, {}, {}};
    }
    if (request.verb == Verb::kGet || request.verb == Verb::kDelete) {
      const auto found = objects_.find(Key(request.kind, request.ns, request.name));
      if (found == objects_.end()) return {ApiCode::kNotFound, {}, {}};
      const ObjectRef stored = found->second;
      if (request.verb == Verb::kGet) return {ApiCode::kOk, stored, {}};
      return std::visit([&](const auto& ref) { return Delete(request, *ref); }, stored);
    }
    return std::visit(
        [&](const auto& ref) {
          return request.verb == Verb::kCreate ? Create(request, *ref, generated)
                                               : Write(request, *ref);
        },
        request.object);
  }
  ResourceVersion version() const { return version_; }
  const auto& objects() const { return objects_; }

 private:
  static std::pair<ObjectKind, std::string> Key(ObjectKind kind, Name ns, Name name) {
    return {kind, absl::StrCat(ns.text(), "/", name.text())};
  }
  template <typename T>
  Outcome Commit(ObjectKind kind, T object, Type type) {
    object.meta.version = ++version_;
    const ObjectRef ref = std::make_shared<const T>(object);
    const auto key = Key(kind, object.meta.ns, object.meta.name);
    objects_.erase(key);
    if (type != Type::kDeleted) objects_[key] = ref;
    return {ApiCode::kOk, ref, type};
  }
  template <typename T>
  Outcome Create(const ApiRequest& request, T object, Name generated) {
    if (!request.generate_name.empty()) object.meta.name = generated;
    const bool named = !request.generate_name.empty() || !object.meta.name.empty();
    if (!named || !Holds(object)) return {ApiCode::kInvalid, {}, {}};
    if (objects_.count(Key(request.kind, object.meta.ns, object.meta.name)) > 0) {
      return {ApiCode::kAlreadyExists, {}, {}};
    }
    object.meta.uid = ++last_uid_;
    object.meta.deleting = false;
    return Commit(request.kind, object, Type::kAdded);
  }
  template <typename T>
  Outcome Write(const ApiRequest& request, const T& asked) {
    const bool status = request.verb == Verb::kUpdateStatus || request.verb == Verb::kPatchStatus;
    const bool patch = request.verb == Verb::kApply || request.verb == Verb::kPatchStatus;
    const auto found = objects_.find(Key(request.kind, asked.meta.ns, asked.meta.name));
    if (found == objects_.end() || (status && !HasStatus(asked))) {
      return {ApiCode::kNotFound, {}, {}};
    }
    const T stored = *As<T>(found->second);
    const bool other_uid = asked.meta.uid != 0 && asked.meta.uid != stored.meta.uid;
    const bool stale = asked.meta.version != 0 && asked.meta.version != stored.meta.version;
    if (other_uid || (stale && !patch)) return {ApiCode::kConflict, {}, {}};

    T next = status ? stored : asked;
    if (request.verb == Verb::kPatchStatus) {
      if (!Patched(request.part, asked, next)) return {ApiCode::kInvalid, {}, {}};
    } else {
      SetStatus(next, status ? asked : stored);
    }
    if (request.verb == Verb::kApply) next.meta.finalizers = stored.meta.finalizers;
    next.meta.uid = stored.meta.uid;
    next.meta.version = stored.meta.version;
    next.meta.deleting = stored.meta.deleting;
    if constexpr (std::is_same_v<T, Pod>) next.row = stored.row;
    if (next == stored) return {ApiCode::kOk, found->second, {}};
    const auto& held_by = stored.meta.finalizers;
    for (const Name finalizer : next.meta.finalizers) {
      const bool added = std::count(held_by.begin(), held_by.end(), finalizer) == 0;
      if (added && stored.meta.deleting) return {ApiCode::kInvalid, {}, {}};
    }
    if (!Holds(next) || !MayFollow(stored, next)) return {ApiCode::kInvalid, {}, {}};
    const bool goes = stored.meta.deleting && !held_by.empty() && next.meta.finalizers.empty();
    return Commit(request.kind, next, goes ? Type::kDeleted : Type::kModified);
  }
  template <typename T>
  Outcome Delete(const ApiRequest& request, T stored) {
    if (request.uid != 0 && request.uid != stored.meta.uid) return {ApiCode::kConflict, {}, {}};
    bool held = !stored.meta.finalizers.empty();
    if constexpr (std::is_same_v<T, Pod>) {
      const bool ended =
          stored.phase == KubePodPhase::kSucceeded || stored.phase == KubePodPhase::kFailed;
      if (stored.node.valid() && !ended && !request.force) held = true;
    }
    if (!held) return Commit(request.kind, stored, Type::kDeleted);
    if (stored.meta.deleting) return {ApiCode::kOk, std::make_shared<const T>(stored), {}};
    stored.meta.deleting = true;
    return Commit(request.kind, stored, Type::kModified);
  }
  Outcome Bind(const ApiRequest& request) {
    if (request.kind != ObjectKind::kPod) return {ApiCode::kNotFound, {}, {}};
    if (!request.node.valid()) return {ApiCode::kInvalid, {}, {}};
    const auto found = objects_.find(Key(request.kind, request.ns, request.name));
    if (found == objects_.end()) return {ApiCode::kNotFound, {}, {}};
    Pod pod = *As<Pod>(found->second);
    const bool other_uid = request.uid != 0 && request.uid != pod.meta.uid;
    if (other_uid || pod.meta.deleting || pod.node.valid()) return {ApiCode::kConflict, {}, {}};
    pod.node = request.node;
    return Commit(request.kind, pod, Type::kModified);
  }

  std::map<std::pair<ObjectKind, std::string>, ObjectRef> objects_;
  Uid last_uid_ = 0;
  ResourceVersion version_ = 0;
};

// --- Requests: most start from a snapshot that a client may still have ---

class RequestMaker {
 public:
  RequestMaker(NamePool* names, uint64_t seed) : names_(names), random_(seed, "requests") {}

  void Saw(const ObjectRef& object) {
    std::vector<ObjectRef>& seen = seen_[KindOf(object)];
    seen.push_back(object);
    if (seen.size() > 8) seen.erase(seen.begin());
  }

  ApiRequest Next() {
    constexpr int kWeights[kObjectKinds] = {4, 1, 10, 1, 3, 1};
    switch (static_cast<ObjectKind>(Weighted(kWeights))) {
      case ObjectKind::kPod:
        return Make<Pod>(ObjectKind::kPod);
      case ObjectKind::kResourceClass:
        return Make<ResourceClass>(ObjectKind::kResourceClass);
      case ObjectKind::kResourceClaim:
        return Make<ResourceClaim>(ObjectKind::kResourceClaim);
      case ObjectKind::kResourceClaimTemplate:
        return Make<ResourceClaimTemplate>(ObjectKind::kResourceClaimTemplate);
      case ObjectKind::kPodSchedulingContext:
        return Make<PodSchedulingContext>(ObjectKind::kPodSchedulingContext);
      case ObjectKind::kParameters:
        return Make<ParametersObject>(ObjectKind::kParameters);
      case ObjectKind::kDeviceClass:  // objects of structured DRA have no rules here
      case ObjectKind::kResourceSlice:
      case ObjectKind::kDeviceTaintRule:
      case ObjectKind::kEvent:  // not kept
        break;
    }
    return {};
  }

 private:
  template <size_t n>
  size_t Weighted(const int (&weights)[n]) {
    uint64_t total = 0;
    for (const int weight : weights) total += static_cast<uint64_t>(weight);
    auto draw = static_cast<int>(random_.Below(total));
    size_t i = 0;
    while (draw >= weights[i]) draw -= weights[i++];
    return i;
  }
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  Name Any(const std::vector<absl::string_view>& texts) {
    return names_->Intern(texts[static_cast<size_t>(random_.Below(texts.size()))]);
  }
  StatusPart AnyPart(ObjectKind kind) {
    if (OneIn(8)) return static_cast<StatusPart>(random_.Below(5));
    if (kind == ObjectKind::kPod) {
      return OneIn(2) ? StatusPart::kPhase : StatusPart::kClaimNames;
    }
    return OneIn(3) ? StatusPart::kDropConsumers : StatusPart::kAddConsumers;
  }
  NodeId AnyNode() { return NodeId(static_cast<uint32_t>(random_.Below(4))); }
  std::vector<NodeId> AnyNodes() {
    std::vector<NodeId> nodes;
    const uint64_t count = OneIn(8) ? 127 + random_.Below(3) : random_.Below(3);
    for (uint64_t i = 0; i < count; ++i) nodes.emplace_back(static_cast<uint32_t>(i));
    if (OneIn(12)) nodes.push_back(OneIn(2) ? NodeId() : NodeId(0u));
    random_.Shuffle(absl::MakeSpan(nodes));
    return nodes;
  }

  template <typename T>
  ApiRequest Make(ObjectKind kind) {
    ApiRequest request;
    request.kind = kind;
    constexpr Verb kVerbs[] = {Verb::kGet,   Verb::kCreate,      Verb::kUpdate, Verb::kUpdateStatus,
                               Verb::kApply, Verb::kPatchStatus, Verb::kDelete, Verb::kBind};
    constexpr int kWeights[] = {1, 4, 6, 8, 2, 4, 3, std::is_same_v<T, Pod> ? 6 : 1};
    request.verb = kVerbs[Weighted(kWeights)];
    request.part = AnyPart(kind);
    T object;
    const std::vector<ObjectRef>& seen = seen_[kind];
    if (!seen.empty() && !OneIn(6)) {
      // The latest more often than an older one.
      const uint64_t age = std::min(random_.Below(seen.size()), random_.Below(seen.size()));
      object = *As<T>(seen[seen.size() - 1 - static_cast<size_t>(age)]);
    } else {
      object.meta.ns = Any({"", "ns"});
      object.meta.name = OneIn(12) ? Name() : Any({"a", "b", "c"});
      Change(object);
    }
    ObjectMeta& meta = object.meta;
    if (OneIn(4)) meta.version = 0;
    if (OneIn(4)) meta.uid = 0;
    if (OneIn(16)) ++meta.uid;
    if (OneIn(8)) meta.deleting = !meta.deleting;
    if (OneIn(8)) meta.owner = random_.Below(3);
    if (OneIn(4)) meta.finalizers.push_back(Any({"x", "y"}));
    if (OneIn(3) && !meta.finalizers.empty()) meta.finalizers.erase(meta.finalizers.begin());
    for (uint64_t i = random_.Below(3); i > 0; --i) Change(object);
    request.ns = meta.ns;
    request.name = meta.name;
    request.uid = meta.uid;
    request.force = OneIn(2);
    if (!OneIn(8)) request.node = AnyNode();
    if (request.verb == Verb::kCreate && OneIn(4)) request.generate_name = Any({"x-", "y-"});
    request.object = std::make_shared<const T>(object);
    return request;
  }

  void Change(ClaimSpec& spec) {
    if (spec.class_name.empty() || OneIn(8))
      spec.class_name = Any({"gpu", "gpu", "gpu", "nic", ""});
    if (OneIn(16)) spec.parameters.kind = Any({"Kind", ""});
    if (OneIn(16)) spec.mode = AllocationMode::kImmediate;
  }
  void Change(ResourceClaimStatus& s) {
    switch (random_.Below(8)) {
      case 0:
      case 1: {
        Allocation allocation;
        allocation.shareable = !OneIn(3);
        allocation.node = AnyNode();
        if (OneIn(4)) allocation.handles.resize(1);
        if (OneIn(2)) allocation.handles.assign(OneIn(8) ? 33 : 1, {Any({"d"}), "data"});
        if (OneIn(16)) allocation.handles.assign(1, {Any({"d"}), std::string(16385, ' ')});
        s.allocation = std::make_shared<const Allocation>(allocation);
        s.driver = Any({"d", "d", "d", ""});
        return;
      }
      case 2:
        s = ResourceClaimStatus();
        return;
      case 3:
      case 4:
        s.reserved_for.push_back({Any({"pods"}), Any({"p", "p", "p", "p", ""}), random_.Below(6)});
        return;
      case 5:
        if (!s.reserved_for.empty()) s.reserved_for.pop_back();
        return;
      case 6:
        s.deallocation_requested = !s.deallocation_requested;
        if (OneIn(2)) s.reserved_for.clear();
        return;
      default:
        s.reserved_for.clear();
        for (Uid uid = OneIn(2) ? 32 : 33; uid > 0; --uid) {
          s.reserved_for.push_back({Any({"pods"}), Any({"p"}), uid});
        }
    }
  }
  void Change(ResourceClaim& claim) {
    if (OneIn(4)) claim.labels.assign(1, {"key", OneIn(2) ? "a" : "b"});
    if (claim.spec.class_name.empty() || OneIn(6)) Change(claim.spec);
    Change(claim.status);
  }
  void Change(Pod& pod) {
    pod.phase = static_cast<KubePodPhase>(random_.Below(4));
    if (OneIn(3)) pod.claim_names.assign(1, {Any({"e"}), Any({"a", "b"})});
    if (OneIn(8)) pod.claims.push_back({Any({"e", "f", ""}), Any({"a", ""}), Any({"t", ""}), true});
    if (OneIn(4)) pod.node = OneIn(3) ? AnyNode() : NodeId();
    if (OneIn(4)) pod.row = PodId(static_cast<uint32_t>(random_.Below(4)));
  }
  void Change(PodSchedulingContext& context) {
    if (OneIn(2)) context.selected = AnyNode();
    if (OneIn(2)) context.potential = AnyNodes();
    if (OneIn(4)) context.claims.clear();
    if (OneIn(2)) context.claims.push_back({Any({"e", "f", "g"}), AnyNodes()});
  }
  void Change(ResourceClass& c) {
    c.driver = Any({"d", "e", ""});
    if (OneIn(3)) c.suitable_nodes = NodeSet::Of({AnyNode()});
  }
  void Change(ResourceClaimTemplate& t) { Change(t.spec); }
  void Change(ParametersObject& p) {
    if (p.kind.empty() || OneIn(8)) p.kind = Any({"Kind", "Map"});
    p.fields.assign(1, {"count", OneIn(2) ? "1" : "2"});
  }

  NamePool* names_;
  Random random_;
  std::map<ObjectKind, std::vector<ObjectRef>> seen_;
};

// --- The comparison ---

template <typename T>
void Append(const ObjectCache& cache, std::vector<ObjectRef>& objects) {
  for (const Ref<T>& ref : cache.of<T>().Sorted()) objects.emplace_back(ref);
}
std::vector<ObjectRef> AllOf(const ObjectCache& cache) {
  std::vector<ObjectRef> objects;
  Append<Pod>(cache, objects);
  Append<ResourceClass>(cache, objects);
  Append<ResourceClaim>(cache, objects);
  Append<ResourceClaimTemplate>(cache, objects);
  Append<PodSchedulingContext>(cache, objects);
  Append<ParametersObject>(cache, objects);
  return objects;
}

void ExpectSameTables(const ApiServer& server, const NaiveServer& naive) {
  const std::vector<ObjectRef> objects = AllOf(server.objects());
  EXPECT_EQ(objects.size(), naive.objects().size());
  std::map<Uid, ObjectRef> want;
  for (const auto& entry : naive.objects()) want[MetaOf(entry.second)->uid] = entry.second;
  for (const ObjectRef& object : objects) {
    const ObjectMeta& meta = *MetaOf(object);
    EXPECT_TRUE(SameObject(object, want[meta.uid])) << meta.name.text() << " #" << meta.uid;
  }
}

// The name that was made up, if any; it must look like one and be new.
Name CheckGeneratedName(const ApiRequest& request, const ApiReply& reply,
                        const std::set<std::string>& used) {
  if (request.generate_name.empty() || !reply.ok()) return Name();
  const Name name = MetaOf(reply.object)->name;
  EXPECT_TRUE(absl::StartsWith(name.text(), request.generate_name.text())) << name.text();
  const absl::string_view suffix = name.text().substr(request.generate_name.text().size());
  EXPECT_EQ(suffix.size(), 5u);
  EXPECT_EQ(suffix.find_first_not_of("bcdfghjklmnpqrstvwxz2456789"), absl::string_view::npos);
  EXPECT_EQ(used.count(std::string(name.text())), 0u) << name.text();
  return name;
}

// Counts replies by verb and code.
void RunRequests(uint64_t seed, int requests, std::map<std::pair<Verb, ApiCode>, int>& seen) {
  NamePool names;
  std::vector<WatchEvent> events;
  ApiServer server(&names, seed, [&](const WatchEvent& event) { events.push_back(event); });
  NaiveServer naive;
  RequestMaker maker(&names, seed);
  std::set<std::string> used;
  for (int step = 0; step < requests; ++step) {
    const ApiRequest request = maker.Next();
    const ObjectMeta& about = *MetaOf(request.object);
    SCOPED_TRACE(absl::StrCat("seed ", seed, " step ", step, ": ",
                              CallText(request.verb, request.kind), " ", about.ns.text(), "/",
                              about.name.text(), " #", about.uid, " v", about.version));
    events.clear();
    const ApiReply got = server.Handle(request);
    const Name generated =
        request.verb == Verb::kCreate ? CheckGeneratedName(request, got, used) : Name();
    const Outcome want = naive.Handle(request, generated);
    ++seen[{request.verb, got.code}];

    EXPECT_EQ(got.code, want.code) << got.message;
    EXPECT_TRUE(SameObject(got.object, want.object));
    EXPECT_EQ(got.ok(), got.message.empty()) << got.message;
    EXPECT_EQ(server.version(), naive.version());
    ASSERT_EQ(events.size(), want.event.has_value() ? 1u : 0u);
    if (want.event.has_value()) {
      EXPECT_EQ(events[0].type, *want.event);
      EXPECT_TRUE(SameObject(events[0].object, want.object));
      // Stored objects are valid, whatever the naive server thought of the request.
      EXPECT_TRUE(std::visit([](const auto& ref) { return Holds(*ref); }, events[0].object));
    }
    if (step % 16 == 15) ExpectSameTables(server, naive);
    if (testing::Test::HasFailure()) return;
    if (!got.ok()) continue;
    used.insert(std::string(MetaOf(got.object)->name.text()));
    maker.Saw(got.object);
  }
}

TEST(ApiServerRandomTest, AgreesWithTheNaiveServer) {
  std::map<std::pair<Verb, ApiCode>, int> seen;
  for (uint64_t seed = 1; seed <= SoakSeeds(4) && !testing::Test::HasFailure(); ++seed) {
    RunRequests(seed, 4000, seen);
  }
  constexpr ApiCode kOk = ApiCode::kOk;
  constexpr ApiCode kNotFound = ApiCode::kNotFound;
  constexpr ApiCode kConflict = ApiCode::kConflict;
  constexpr ApiCode kInvalid = ApiCode::kInvalid;
  const std::map<Verb, std::vector<ApiCode>> possible = {
      {Verb::kGet, {kOk, kNotFound}},
      {Verb::kCreate, {kOk, kInvalid, ApiCode::kAlreadyExists}},
      {Verb::kUpdate, {kOk, kNotFound, kConflict, kInvalid}},
      {Verb::kUpdateStatus, {kOk, kNotFound, kConflict, kInvalid}},
      {Verb::kApply, {kOk, kNotFound, kConflict, kInvalid}},
      {Verb::kPatchStatus, {kOk, kNotFound, kConflict, kInvalid}},
      {Verb::kDelete, {kOk, kNotFound, kConflict}},
      {Verb::kBind, {kOk, kNotFound, kConflict, kInvalid}},
  };
  size_t pairs = 0;
  for (const auto& [verb, codes] : possible) {
    pairs += codes.size();
    for (const ApiCode code : codes) {
      const int count = seen[{verb, code}];
      EXPECT_GT(count, 20) << CallText(verb, ObjectKind::kResourceClaim) << " "
                           << static_cast<int>(code);
    }
  }
  EXPECT_EQ(seen.size(), pairs);
}

}  // namespace api_server_test
}  // namespace drasim
