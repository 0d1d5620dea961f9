#include "sim/dra/api/api_types.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/kube/objects.h"

namespace drasim {

ApiRequest WriteRequest(Verb verb, ObjectRef object) {
  ApiRequest request;
  request.verb = verb;
  request.kind = KindOf(object);
  request.object = std::move(object);
  return request;
}

ApiRequest PatchRequest(StatusPart part, ObjectRef object) {
  ApiRequest request = WriteRequest(Verb::kPatchStatus, std::move(object));
  request.part = part;
  return request;
}

ApiRequest NamedRequest(Verb verb, ObjectKind kind, Name ns, Name name) {
  ApiRequest request;
  request.verb = verb;
  request.kind = kind;
  request.ns = ns;
  request.name = name;
  return request;
}

ApiRequest DeleteRequest(ObjectKind kind, const ObjectMeta& meta) {
  ApiRequest request = NamedRequest(Verb::kDelete, kind, meta.ns, meta.name);
  request.uid = meta.uid;
  return request;
}

std::string CallText(Verb verb, ObjectKind kind) {
  const absl::string_view objects = KindText(kind);
  switch (verb) {
    case Verb::kGet:
      return absl::StrCat("GET ", objects);
    case Verb::kCreate:
      return absl::StrCat("POST ", objects);
    case Verb::kUpdate:
      return absl::StrCat("PUT ", objects);
    case Verb::kUpdateStatus:
      return absl::StrCat("PUT ", objects, "/status");
    case Verb::kApply:
      return absl::StrCat("PATCH ", objects);
    case Verb::kPatchStatus:
      return absl::StrCat("PATCH ", objects, "/status");
    case Verb::kDelete:
      return absl::StrCat("DELETE ", objects);
    case Verb::kBind:
      return absl::StrCat("POST ", objects, "/binding");
  }
  DRASIM_UNREACHABLE("a verb");
}

absl::string_view KindText(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kPod:
      return "pods";
    case ObjectKind::kResourceClass:
      return "resourceclasses";
    case ObjectKind::kResourceClaim:
      return "resourceclaims";
    case ObjectKind::kResourceClaimTemplate:
      return "resourceclaimtemplates";
    case ObjectKind::kPodSchedulingContext:
      return "podschedulingcontexts";
    case ObjectKind::kParameters:
      return "parameters";
    case ObjectKind::kDeviceClass:
      return "deviceclasses";
    case ObjectKind::kResourceSlice:
      return "resourceslices";
    case ObjectKind::kDeviceTaintRule:
      return "devicetaintrules";
    case ObjectKind::kEvent:
      return "events";
  }
  DRASIM_UNREACHABLE("a kind of object");
}

}  // namespace drasim
