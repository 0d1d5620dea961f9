// The API server: each verb by itself, and deletion in all its forms. Random requests:
// api_server_random_test.cc.
#include "sim/dra/api_server.h"

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "sim/dra/api_types.h"
#include "sim/dra/object_cache.h"

namespace drasim {
namespace api_server_test {

using Lines = std::vector<std::string>;

// --- What objects, replies and events look like in failures and expectations ---

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
  const ClaimStatus& s = claim.status;
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
  // Of this seed, for ever.
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
  both.status = ClaimStatus();
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
    if (std::string(value) == "3") claim.status = ClaimStatus();
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
  claim.status = ClaimStatus();
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

}  // namespace api_server_test
}  // namespace drasim
