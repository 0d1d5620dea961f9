#include "sim/dra/api_types.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/kube/objects.h"

namespace drasim {

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
    case ObjectKind::kEvent:
      return "events";
  }
  DRASIM_UNREACHABLE("a kind of object");
}

}  // namespace drasim
