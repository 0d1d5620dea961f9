#include "sim/dra/api/api_server.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/api_validation.h"
#include "sim/dra/api/device_writes.h"
#include "sim/dra/api/object_cache.h"

namespace drasim {
namespace {

// Generated names (k8s.io/apiserver/pkg/storage/names): no vowels and nothing that looks like one.
constexpr absl::string_view kSuffixLetters = "bcdfghjklmnpqrstvwxz2456789";
constexpr size_t kSuffixLength = 5;
constexpr size_t kMaxGeneratedName = 63;

// --- The part of an object that only the status verbs write. ---

template <typename T>
constexpr bool kHasStatus = false;
template <>
constexpr bool kHasStatus<Pod> = true;
template <>
constexpr bool kHasStatus<ResourceClaim> = true;
template <>
constexpr bool kHasStatus<PodSchedulingContext> = true;
template <>
constexpr bool kHasStatus<DeviceTaintRuleObject> = true;

template <typename T>
bool HaveSameStatus(const T&, const T&) {
  return true;
}
bool HaveSameStatus(const Pod& a, const Pod& b) {
  return a.phase == b.phase && a.claim_names == b.claim_names &&
         a.unschedulable == b.unschedulable && a.nominated == b.nominated &&
         a.extended_claim == b.extended_claim && a.extended_status == b.extended_status &&
         a.disrupted == b.disrupted;
}
bool HaveSameStatus(const ResourceClaim& a, const ResourceClaim& b) { return a.status == b.status; }
bool HaveSameStatus(const PodSchedulingContext& a, const PodSchedulingContext& b) {
  return a.claims == b.claims;
}
bool HaveSameStatus(const DeviceTaintRuleObject& a, const DeviceTaintRuleObject& b) {
  return a.eviction == b.eviction;
}

template <typename T>
void CopyStatus(const T&, T&) {}
void CopyStatus(const Pod& from, Pod& to) {
  to.phase = from.phase;
  to.claim_names = from.claim_names;
  to.unschedulable = from.unschedulable;
  to.nominated = from.nominated;
  to.disrupted = from.disrupted;
  to.extended_claim = from.extended_claim;
  to.extended_status = from.extended_status;
}
void CopyStatus(const ResourceClaim& from, ResourceClaim& to) { to.status = from.status; }
void CopyStatus(const PodSchedulingContext& from, PodSchedulingContext& to) {
  to.claims = from.claims;
}
void CopyStatus(const DeviceTaintRuleObject& from, DeviceTaintRuleObject& to) {
  to.eviction = from.eviction;
}

// Patches a part of a status; false if the object has no such part, or cannot have it now. A
// strategic merge patch for lists with keys, server-side apply for lists with a single owner.
template <typename T>
bool PatchPart(StatusPart, const T&, T&) {
  return false;
}
bool PatchPart(StatusPart part, const Pod& asked, Pod& to) {
  switch (part) {
    case StatusPart::kPhase:
      to.phase = asked.phase;
      return true;
    case StatusPart::kClaimNames:
      to.claim_names = asked.claim_names;
      return true;
    case StatusPart::kScheduling:
      to.unschedulable = asked.unschedulable;
      to.nominated = asked.nominated;
      return true;
    case StatusPart::kDisruption:
      to.disrupted = asked.disrupted;
      return true;
    case StatusPart::kExtendedClaim:
      to.extended_claim = asked.extended_claim;
      to.extended_status = asked.extended_status;
      return true;
    default:
      return false;
  }
}
bool PatchPart(StatusPart part, const ResourceClaim& asked, ResourceClaim& to) {
  if (part == StatusPart::kDevices) return PutDeviceStatuses(asked, to);
  if (part != StatusPart::kAddConsumers && part != StatusPart::kDropConsumers) return false;
  auto& consumers = to.status.reserved_for;
  for (const Consumer& consumer : asked.status.reserved_for) {
    const auto known =
        std::find_if(consumers.begin(), consumers.end(),
                     [&consumer](const Consumer& other) { return other.uid == consumer.uid; });
    if (part == StatusPart::kDropConsumers) {
      if (known != consumers.end()) consumers.erase(known);
    } else if (known != consumers.end()) {
      *known = consumer;
    } else {
      consumers.push_back(consumer);
    }
  }
  return true;
}

bool PatchPart(StatusPart part, const DeviceTaintRuleObject& asked, DeviceTaintRuleObject& to) {
  if (part != StatusPart::kEviction) return false;
  to.eviction = asked.eviction;
  return true;
}

// --- Fields that no client may change in an update. ---

void KeepServersFields(const ObjectMeta& stored, ObjectMeta& next) {
  next.uid = stored.uid;
  next.version = stored.version;
  next.deleting = stored.deleting;
}
template <typename T>
void KeepRow(const T&, T&) {}
// The row is not part of the API, so clients need not send it.
void KeepRow(const Pod& stored, Pod& next) { next.row = stored.row; }

// Sets what the server decides, in a new object or a changed specification.
template <typename T>
void SetServersFields(const T*, SimTime, T&) {}
void SetServersFields(const ResourceSliceObject* before, SimTime now, ResourceSliceObject& next) {
  StampTaints(before, now, next);
}
void SetServersFields(const DeviceTaintRuleObject* before, SimTime now,
                      DeviceTaintRuleObject& next) {
  StampTaints(before, now, next);
  if (before == nullptr) {
    next.eviction = DeviceTaintRuleObject::Eviction();
    next.generation = 1;
  } else {
    next.generation = before->generation + (next.object == before->object ? 0 : 1);
  }
}

// --- The rules, by type. ---

absl::Status ValidateSpec(const Pod* before, const Pod& after) {
  return ValidatePod(before, after);
}
absl::Status ValidateSpec(const ResourceClass*, const ResourceClass& after) {
  return ValidateClass(after);
}
absl::Status ValidateSpec(const ResourceClaim* before, const ResourceClaim& after) {
  return ValidateClaim(before, after);
}
absl::Status ValidateSpec(const ResourceClaimTemplate* before, const ResourceClaimTemplate& after) {
  return ValidateTemplate(before, after);
}
absl::Status ValidateSpec(const PodSchedulingContext* before, const PodSchedulingContext& after) {
  return ValidateContext(before, after);
}
absl::Status ValidateSpec(const ParametersObject* before, const ParametersObject& after) {
  return ValidateParameters(before, after);
}

// The readers of manifests have validated them; drivers make valid ones.
absl::Status ValidateSpec(const DeviceClassObject*, const DeviceClassObject&) {
  return absl::OkStatus();
}
absl::Status ValidateSpec(const ResourceSliceObject*, const ResourceSliceObject&) {
  return absl::OkStatus();
}
absl::Status ValidateSpec(const DeviceTaintRuleObject*, const DeviceTaintRuleObject&) {
  return absl::OkStatus();
}

template <typename T>
absl::Status ValidateWrite(const T* before, const T& after) {
  const absl::Status meta = ValidateMeta(before == nullptr ? nullptr : &before->meta, after.meta);
  return meta.ok() ? ValidateSpec(before, after) : meta;
}

// True when its end takes time, so that a plain deletion only marks it.
template <typename T>
bool EndsGracefully(const T&) {
  return false;
}
bool EndsGracefully(const Pod& pod) { return pod.node.valid() && !IsDone(pod); }

// --- Replies. ---

template <typename T>
ApiReply ReplyWith(Ref<T> object) {
  ApiReply reply;
  reply.object = std::move(object);
  return reply;
}

template <typename... Parts>
ApiReply Refuse(ApiCode code, ObjectKind kind, Name ns, Name name, const Parts&... why) {
  ApiReply reply;
  reply.code = code;
  reply.message = absl::StrCat(KindText(kind), " \"", ns.text(), ns.empty() ? "" : "/", name.text(),
                               "\": ", why...);
  return reply;
}

template <typename T>
const T& ObjectOf(const ApiRequest& request) {
  const Ref<T>* object = std::get_if<Ref<T>>(&request.object);
  DRASIM_CHECK(object != nullptr && *object != nullptr);  // of the request's kind, and given
  return **object;
}

}  // namespace

ApiServer::ApiServer(NamePool* names, uint64_t seed,
                     std::function<void(const WatchEvent&)> on_change)
    : names_(names), suffixes_(seed, "generated names"), on_change_(std::move(on_change)) {}

ApiReply ApiServer::Handle(const ApiRequest& request, SimTime now) {
  now_ = now;
  switch (request.kind) {
    case ObjectKind::kPod:
      return HandleKind<Pod>(request);
    case ObjectKind::kResourceClass:
      return HandleKind<ResourceClass>(request);
    case ObjectKind::kResourceClaim:
      return HandleKind<ResourceClaim>(request);
    case ObjectKind::kResourceClaimTemplate:
      return HandleKind<ResourceClaimTemplate>(request);
    case ObjectKind::kPodSchedulingContext:
      return HandleKind<PodSchedulingContext>(request);
    case ObjectKind::kParameters:
      return HandleKind<ParametersObject>(request);
    case ObjectKind::kDeviceClass:
      return HandleKind<DeviceClassObject>(request);
    case ObjectKind::kResourceSlice:
      return HandleKind<ResourceSliceObject>(request);
    case ObjectKind::kDeviceTaintRule:
      return HandleKind<DeviceTaintRuleObject>(request);
    case ObjectKind::kEvent:
      return ApiReply();
  }
  DRASIM_UNREACHABLE("a kind of object");
}

template <typename T>
ApiReply ApiServer::HandleKind(const ApiRequest& request) {
  switch (request.verb) {
    case Verb::kGet: {
      Ref<T> found = request.name.empty() ? objects_.of<T>().Find(request.uid)
                                          : objects_.of<T>().Find(request.ns, request.name);
      if (found != nullptr) return ReplyWith(std::move(found));
      return Refuse(ApiCode::kNotFound, request.kind, request.ns, request.name, "not found");
    }
    case Verb::kCreate:
      return Create<T>(request);
    case Verb::kUpdate:
    case Verb::kUpdateStatus:
    case Verb::kApply:
    case Verb::kPatchStatus:
      return Write<T>(request);
    case Verb::kDelete:
      return Delete<T>(request);
    case Verb::kBind:
      return Bind(request);
  }
  DRASIM_UNREACHABLE("a verb");
}

template <typename T>
ApiReply ApiServer::Create(const ApiRequest& request) {
  auto next = std::make_shared<T>(ObjectOf<T>(request));
  ObjectMeta& meta = next->meta;
  meta.deleting = false;
  if (!request.generate_name.empty()) meta.name = request.generate_name;
  SetServersFields(static_cast<const T*>(nullptr), now_, *next);
  const absl::Status status = ValidateWrite<T>(nullptr, *next);
  if (!status.ok()) {
    return Refuse(ApiCode::kInvalid, request.kind, meta.ns, meta.name, status.message());
  }
  if (!request.generate_name.empty()) {
    meta.name = GeneratedName<T>(meta.ns, request.generate_name);
  } else if (objects_.of<T>().Find(meta.ns, meta.name) != nullptr) {
    return Refuse(ApiCode::kAlreadyExists, request.kind, meta.ns, meta.name, "already exists");
  }
  meta.uid = next_uid_++;
  return Commit(WatchEvent::Type::kAdded, std::move(next));
}

template <typename T>
ApiReply ApiServer::Write(const ApiRequest& request) {
  const T& asked = ObjectOf<T>(request);
  const Verb verb = request.verb;
  const ObjectMeta& meta = asked.meta;
  const auto refuse = [&](ApiCode code, const auto&... why) {
    return Refuse(code, request.kind, meta.ns, meta.name, why...);
  };
  const bool status_only = verb == Verb::kUpdateStatus || verb == Verb::kPatchStatus;
  if (status_only && !kHasStatus<T>) return refuse(ApiCode::kNotFound, "has no status");

  Ref<T> before = objects_.of<T>().Find(meta.ns, meta.name);
  if (before == nullptr) return refuse(ApiCode::kNotFound, "not found");
  if (meta.uid != 0 && meta.uid != before->meta.uid) {
    return refuse(ApiCode::kConflict, "its uid is ", before->meta.uid, ", not ", meta.uid);
  }
  const bool checks_version = verb == Verb::kUpdate || verb == Verb::kUpdateStatus;
  if (checks_version && meta.version != 0 && meta.version != before->meta.version) {
    return refuse(ApiCode::kConflict, "it is at version ", before->meta.version, ", not ",
                  meta.version);
  }

  std::shared_ptr<T> next;
  if (verb == Verb::kPatchStatus) {
    next = std::make_shared<T>(*before);
    if (!PatchPart(request.part, asked, *next)) {
      return refuse(ApiCode::kInvalid, "has no such part of a status");
    }
    if (HaveSameStatus(*next, *before)) return ReplyWith(std::move(before));
  } else if (status_only) {
    if (HaveSameStatus(asked, *before)) return ReplyWith(std::move(before));
    next = std::make_shared<T>(*before);
    CopyStatus(asked, *next);
  } else {
    next = std::make_shared<T>(asked);
    KeepServersFields(before->meta, next->meta);
    KeepRow(*before, *next);
    CopyStatus(*before, *next);
    // An applier sends only its own fields, which never include finalizers.
    if (verb == Verb::kApply) next->meta.finalizers = before->meta.finalizers;
    SetServersFields(before.get(), now_, *next);
    if (*next == *before) return ReplyWith(std::move(before));
  }
  const absl::Status status = ValidateWrite(before.get(), *next);
  if (!status.ok()) return refuse(ApiCode::kInvalid, status.message());
  const bool released =
      before->meta.deleting && !before->meta.finalizers.empty() && next->meta.finalizers.empty();
  return Commit(released ? WatchEvent::Type::kDeleted : WatchEvent::Type::kModified,
                std::move(next));
}

template <typename T>
ApiReply ApiServer::Delete(const ApiRequest& request) {
  const auto refuse = [&](ApiCode code, const auto&... why) {
    return Refuse(code, request.kind, request.ns, request.name, why...);
  };
  Ref<T> before = objects_.of<T>().Find(request.ns, request.name);
  if (before == nullptr) return refuse(ApiCode::kNotFound, "not found");
  const ObjectMeta& meta = before->meta;
  if (request.uid != 0 && request.uid != meta.uid) {
    return refuse(ApiCode::kConflict, "its uid is ", meta.uid, ", not ", request.uid);
  }
  const bool stays = !meta.finalizers.empty() || (!request.force && EndsGracefully(*before));
  if (stays && meta.deleting) return ReplyWith(std::move(before));
  auto next = std::make_shared<T>(*before);
  if (!stays) return Commit(WatchEvent::Type::kDeleted, std::move(next));
  next->meta.deleting = true;
  return Commit(WatchEvent::Type::kModified, std::move(next));
}

ApiReply ApiServer::Bind(const ApiRequest& request) {
  const auto refuse = [&](ApiCode code, const auto&... why) {
    return Refuse(code, request.kind, request.ns, request.name, why...);
  };
  if (request.kind != ObjectKind::kPod) return refuse(ApiCode::kNotFound, "has no binding");
  if (!request.node.valid()) return refuse(ApiCode::kInvalid, "target.name: is required");
  const Ref<Pod> before = objects_.of<Pod>().Find(request.ns, request.name);
  if (before == nullptr) return refuse(ApiCode::kNotFound, "not found");
  if (request.uid != 0 && request.uid != before->meta.uid) {
    return refuse(ApiCode::kConflict, "its uid is ", before->meta.uid, ", not ", request.uid);
  }
  if (before->meta.deleting) return refuse(ApiCode::kConflict, "is being deleted");
  if (before->node.valid()) return refuse(ApiCode::kConflict, "is bound already");
  auto next = std::make_shared<Pod>(*before);
  next->node = request.node;
  next->unschedulable = SummaryId();  // PodScheduled becomes True
  return Commit(WatchEvent::Type::kModified, std::move(next));
}

// Every change of the table, and nothing else, takes a version. Deletions do so too, which makes
// the reported last state newer than any that the watchers know.
template <typename T>
ApiReply ApiServer::Commit(WatchEvent::Type type, std::shared_ptr<T> object) {
  object->meta.version = ++version_;
  const Ref<T> state = std::move(object);
  if (type == WatchEvent::Type::kDeleted) {
    objects_.of<T>().Erase(state->meta.uid);
  } else {
    objects_.of<T>().Put(state);
  }
  if (on_change_) {
    WatchEvent event;
    event.type = type;
    event.object = state;
    on_change_(event);
  }
  return ReplyWith(state);
}

template <typename T>
Name ApiServer::GeneratedName(Name ns, Name prefix) {
  const absl::string_view base = prefix.text().substr(0, kMaxGeneratedName - kSuffixLength);
  for (;;) {  // upstream gives up on a collision; with 27^5 suffixes a second try is rare
    std::string text(base);
    for (size_t i = 0; i < kSuffixLength; ++i) {
      text += kSuffixLetters[static_cast<size_t>(suffixes_.Below(kSuffixLetters.size()))];
    }
    const Name name = names_->Intern(text);
    if (objects_.of<T>().Find(ns, name) == nullptr) return name;
  }
}

}  // namespace drasim
