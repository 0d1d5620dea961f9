// Messages of the API server: requests, replies and watch events.
#ifndef DRASIM_SIM_DRA_API_API_TYPES_H_
#define DRASIM_SIM_DRA_API_API_TYPES_H_

#include <cstdint>
#include <string>
#include <variant>

#include "absl/strings/string_view.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"

namespace drasim {

enum class Verb : uint8_t {
  kGet,
  kCreate,        // POST
  kUpdate,        // PUT of everything but the status
  kUpdateStatus,  // PUT of the status alone
  // PATCH, server-side apply: like kUpdate, without a version check and without finalizers, which
  // belong to others.
  kApply,
  kPatchStatus,  // PATCH of one part of the status (StatusPart); no version is checked
  kDelete,       // DELETE
  kBind,         // POST pods/binding
};
inline bool IsWrite(Verb verb) { return verb != Verb::kGet; }

// The part of a status that kPatchStatus writes. Several components write the status of one object,
// each its own part. A patch changes only that part of the server's present state, so no component
// overwrites what it has not seen.
enum class StatusPart : uint8_t {
  kNone,
  kPhase,          // of a pod
  kClaimNames,     // of a pod: all of them (server-side apply; they have a single owner)
  kAddConsumers,   // reservedFor of a claim: adds the entries of `object`, or replaces them by uid
  kDropConsumers,  // reservedFor of a claim: removes the entries of `object`, by uid
  kScheduling,     // of a pod: the condition PodScheduled=False and nominatedNodeName
  kDisruption,     // of a pod: the condition DisruptionTarget
  kDevices,        // of a claim: adds the entries of status.devices, or replaces them by device
  kEviction,       // of a DeviceTaintRule: the condition EvictionInProgress
  kExtendedClaim,  // of a pod: extendedResourceClaimStatus
};

enum class ApiCode : uint16_t {
  kOk = 200,
  kNotFound = 404,
  kConflict = 409,        // a stale version, a different uid, or bound already
  kAlreadyExists = 4090,  // HTTP 409 too, for another reason
  kInvalid = 422,
};

struct ApiRequest {
  Verb verb = Verb::kGet;
  ObjectKind kind = ObjectKind::kPod;
  // For kGet, kDelete and kBind; the other verbs read them from `object`.
  Name ns;
  Name name;
  // Precondition of kDelete and kBind; 0: none. kGet without a name returns the object with this
  // uid. Upstream's references to owners have name and uid, these only the uid.
  Uid uid = 0;
  bool force = false;  // kDelete: immediately, without grace period (finalizers still hold)
  NodeId node;         // kBind
  StatusPart part = StatusPart::kNone;  // kPatchStatus
  // kCreate: prefix of a name that the server generates; empty: `object` has its name.
  Name generate_name;
  // For kCreate, kUpdate, kUpdateStatus, kApply, kPatchStatus. kUpdate and kUpdateStatus check
  // meta.version and meta.uid, kApply and kPatchStatus meta.uid (0: no check). From it kPatchStatus
  // reads only namespace, name, uid and `part`.
  ObjectRef object;
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& r) {
    a(r.verb, r.kind, r.ns, r.name, r.uid, r.force, r.node, r.part, r.generate_name, r.object);
  }
};

// kCreate, kUpdate, kUpdateStatus or kApply of an object.
ApiRequest WriteRequest(Verb verb, ObjectRef object);
// kPatchStatus of the part that `object` has.
ApiRequest PatchRequest(StatusPart part, ObjectRef object);
// A call by name: kGet, kDelete, kBind, and the writes of events.
ApiRequest NamedRequest(Verb verb, ObjectKind kind, Name ns, Name name);
// kDelete of the object with this name and uid.
ApiRequest DeleteRequest(ObjectKind kind, const ObjectMeta& meta);

struct ApiReply {
  ApiCode code = ApiCode::kOk;
  ObjectRef object;     // its present state; after an effective kDelete, its last state
  std::string message;  // of an error
  bool ok() const { return code == ApiCode::kOk; }
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& r) {
    a(r.code, r.object, r.message);
  }
};

struct WatchEvent {
  enum class Type : uint8_t { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  ObjectRef object;  // kDeleted: its last state
  // The receiver's former state of the object, filled in on delivery; null when it had none.
  ObjectRef before;
  ObjectKind kind() const { return KindOf(object); }
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& e) {
    a(e.type, e.object, e.before);
  }
};

// As<T> without ownership. Null for another kind and for no object.
template <typename T>
const T* PeekAs(const ObjectRef& object) {
  const Ref<T>* found = std::get_if<Ref<T>>(&object);
  return found == nullptr ? nullptr : found->get();
}

using ClientId = uint16_t;

// A completed call.
struct ApiMessage {
  SimTime issued;  // by the component
  SimTime done;    // answered
  ClientId client = 0;
  Verb verb = Verb::kGet;
  ObjectKind kind = ObjectKind::kPod;
  ApiCode code = ApiCode::kOk;
  Name ns;
  Name name;
  Uid uid = 0;  // of the object; 0: there was none
  PodId pod;    // that the object concerns (the pod itself, or its owner); invalid: unknown
};

// "PUT resourceclaims/status", "POST pods/binding".
std::string CallText(Verb verb, ObjectKind kind);
absl::string_view KindText(ObjectKind kind);  // "resourceclaims"

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_API_TYPES_H_
