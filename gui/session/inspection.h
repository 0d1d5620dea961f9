// Inspection: the contents of an inspector, made by a worker from the records of a ledger.
#ifndef DRASIM_GUI_SESSION_INSPECTION_H_
#define DRASIM_GUI_SESSION_INSPECTION_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "gui/view/inspect_claim.h"
#include "gui/view/inspect_node.h"
#include "gui/view/inspect_pod.h"
#include "gui/view/inspect_tenant.h"
#include "gui/view/timeline.h"
#include "model/time.h"

namespace drasim::gui {

enum class ObjectKind : uint8_t { kNone, kPod, kNode, kClaim, kTenant };
inline constexpr size_t kObjectKinds = 5;

// An object of a run by name; names are what both runs of a comparison have in common.
struct ObjectRef {
  ObjectKind kind = ObjectKind::kNone;
  std::string name;  // a claim's is "namespace/name"
  bool operator==(const ObjectRef&) const = default;
};

struct InspectRequest {
  ObjectRef object;
  view::TimeTarget at;  // the state shown
  // Only for a node: the window of its slots over time, on the run's clock; empty: from the start
  // of the run to `at`.
  SimTime begin;
  SimTime end;
  bool operator==(const InspectRequest&) const = default;
};

// Only the part of the object's kind is set, and none if `status` is an error. PodIds are places in
// the run's order of arrivals. In a run without virtual time all times are numbers of records.
struct Inspection {
  InspectRequest request;
  absl::Status status;
  std::optional<view::PodInspection> pod;
  std::optional<view::NodeInspection> node;
  std::optional<view::ClaimInspection> claim;
  std::optional<view::TenantInspection> tenant;
};

}  // namespace drasim::gui

#endif  // DRASIM_GUI_SESSION_INSPECTION_H_
