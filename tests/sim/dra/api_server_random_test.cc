// Thousands of random requests against a naive API server that keeps all objects in one map and
// states the rules as what holds of every stored object and of every step from one state to the
// next. Every reply and event is compared, and now and then all objects.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/optional.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "sim/dra/api_server.h"
#include "sim/dra/api_types.h"
#include "sim/dra/object_cache.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace api_server_random_test {

using Type = WatchEvent::Type;

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
bool Holds(const PodSchedulingContext& context) {
  std::vector<std::string> entries;
  for (const auto& [entry, nodes] : context.claims) {
    entries.emplace_back(entry.text());
    if (!IsNodeList(nodes)) return false;
  }
  return NoneTwice(entries) && IsNodeList(context.potential);
}
bool Holds(const ResourceClaim& claim) {
  const ClaimStatus& s = claim.status;
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
  ObjectRef object;            // of the reply; none with an error
  absl::optional<Type> event;  // with the same object
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

// --- Requests: most start from a snapshot that somebody may still have ---

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
  void Change(ClaimStatus& s) {
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
        s = ClaimStatus();
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
      // What is stored holds, whatever the naive server thought of the request.
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

}  // namespace api_server_random_test
}  // namespace drasim
