// Components of structured DRA that only some runs have, besides drivers that publish: the eviction
// controller, the administrator of taint rules, and the binder of devices.
#ifndef DRASIM_SIM_RUN_DEVICE_PARTS_H_
#define DRASIM_SIM_RUN_DEVICE_PARTS_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "sim/dra/api/plane_part.h"
#include "sim/run/slice_drivers.h"
#include "sim/scenario/node_event_spec.h"
#include "sim/scenario/structured_dra_spec.h"

namespace drasim {

namespace proto::kube {
class Object;
}

using PlaneParts = std::vector<std::unique_ptr<PlanePart>>;

// Adds the eviction controller, unless no object or event can ever bring a taint, and the
// administrator, if he has work. `objects`: those that exist at the beginning. InvalidArgument,
// beginning with the scenario key, for the deletion of a rule that does not exist. O(devices).
absl::Status AddTaintParts(const StructuredDraSpec& spec, const ControlPlaneOptions& plane,
                           const std::vector<std::shared_ptr<const proto::kube::Object>>& objects,
                           absl::Span<const NodeEventSpec> events, PlaneParts* parts);

// Adds the binder, if drivers may have devices with binding conditions.
void AddBinder(const StructuredDraSpec& spec, const ControlPlaneOptions& plane,
               const std::vector<PublishingDriver>& drivers, PlaneParts* parts);

}  // namespace drasim

#endif  // DRASIM_SIM_RUN_DEVICE_PARTS_H_
