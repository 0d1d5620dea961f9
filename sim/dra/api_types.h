// Requests to the API server, its replies, and what its watches say.
#ifndef DRASIM_SIM_DRA_API_TYPES_H_
#define DRASIM_SIM_DRA_API_TYPES_H_

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
  // PATCH, server-side apply: as kUpdate, but no version is checked, and finalizers are others'.
  kApply,
  kPatchStatus,  // PATCH of one part of the status (StatusPart); no version is checked
  kDelete,       // DELETE
  kBind,         // POST pods/binding
};
inline bool IsWrite(Verb verb) { return verb != Verb::kGet; }

// The part of a status that a kPatchStatus writes. Several components write the status of one
// object, each its own part; a patch changes that part of whatever the server has by then, and
// leaves the others alone, so that nobody overwrites what he has not seen yet.
enum class StatusPart : uint8_t {
  kNone,
  kPhase,          // of a pod
  kClaimNames,     // of a pod: all of them (server-side apply; they have one owner)
  kAddConsumers,   // reservedFor of a claim: those of `object` are added, or replaced by uid
  kDropConsumers,  // reservedFor of a claim: those of `object` are taken out, by uid
  kScheduling,     // of a pod: the condition PodScheduled=False and nominatedNodeName
};

enum class ApiCode : uint16_t {
  kOk = 200,
  kNotFound = 404,
  kConflict = 409,        // a stale version, another uid than the given one, or bound already
  kAlreadyExists = 4090,  // HTTP 409 too, for another reason
  kInvalid = 422,
};

struct ApiRequest {
  Verb verb = Verb::kGet;
  ObjectKind kind = ObjectKind::kPod;
  // For kGet, kDelete and kBind; the other verbs read them from `object`.
  Name ns;
  Name name;
  // Precondition of kDelete and kBind; 0: none. kGet without a name asks for the object of this
  // uid: a reference to an owner has both upstream, here only the uid is kept.
  Uid uid = 0;
  bool force = false;  // kDelete: at once, whatever the grace period (finalizers still hold)
  NodeId node;         // kBind
  StatusPart part = StatusPart::kNone;  // kPatchStatus
  // kCreate: the server makes up the name from this prefix; empty: object's own name.
  Name generate_name;
  // kCreate, kUpdate, kUpdateStatus, kApply, kPatchStatus. kUpdate and kUpdateStatus check
  // meta.version (0: not) and meta.uid (0: not); kApply and kPatchStatus meta.uid (0: not).
  // kPatchStatus reads nothing else of it than its namespace, name, uid and `part`.
  ObjectRef object;
};

struct ApiReply {
  ApiCode code = ApiCode::kOk;
  ObjectRef object;     // as it is now; of a kDelete that took effect: as it was last
  std::string message;  // of an error: what was wrong
  bool ok() const { return code == ApiCode::kOk; }
};

struct WatchEvent {
  enum class Type : uint8_t { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  ObjectRef object;  // kDeleted: its last state
  // The receiver's own former state of it (null reference when it had none): filled in on delivery.
  ObjectRef before;
  ObjectKind kind() const { return KindOf(object); }
};

// As<T> without a reference of its own. Null when it is of another kind, or none.
template <typename T>
const T* PeekAs(const ObjectRef& object) {
  const Ref<T>* found = std::get_if<Ref<T>>(&object);
  return found == nullptr ? nullptr : found->get();
}

using ClientId = uint16_t;

// One call, as it was answered.
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
  PodId pod;    // that the object is about (the pod itself, or its owner); invalid: unknown
};

// "PUT resourceclaims/status", "POST pods/binding".
std::string CallText(Verb verb, ObjectKind kind);
absl::string_view KindText(ObjectKind kind);  // "resourceclaims"

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_TYPES_H_
