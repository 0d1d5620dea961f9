// Requests to the API server, its replies, and what its watches say.
#ifndef DRASIM_SIM_DRA_API_TYPES_H_
#define DRASIM_SIM_DRA_API_TYPES_H_

#include <cstdint>
#include <string>

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
  kApply,         // PATCH, server-side apply: as kUpdate, but no version is checked
  kPatchStatus,   // PATCH of the status alone; no version is checked
  kDelete,        // DELETE
  kBind,          // POST pods/binding
};
inline bool IsWrite(Verb verb) { return verb != Verb::kGet; }

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
  // Of kGet, kDelete and kBind; the other verbs read them from `object`.
  Name ns;
  Name name;
  Uid uid = 0;         // precondition of kDelete and kBind; 0: none
  bool force = false;  // kDelete: at once, whatever the grace period (finalizers still hold)
  NodeId node;         // kBind
  // kCreate: the server makes up the name from this prefix; empty: object's own name.
  Name generate_name;
  // kCreate, kUpdate, kUpdateStatus, kApply, kPatchStatus. kUpdate and kUpdateStatus check
  // meta.version (0: not) and meta.uid (0: not).
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
