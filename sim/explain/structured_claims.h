// StructuredClaims: why a pod of a run waits for claims that the scheduler allocates (structured
// DRA), from the objects as the scheduler knows them at this moment.
#ifndef DRASIM_SIM_EXPLAIN_STRUCTURED_CLAIMS_H_
#define DRASIM_SIM_EXPLAIN_STRUCTURED_CLAIMS_H_

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/device_inventory.h"
#include "model/ids.h"
#include "model/proto/resource.pb.h"
#include "policies/allocator/device_checks.h"
#include "policies/allocator/device_explainer.h"
#include "policies/allocator/device_story.h"
#include "sim/run/simulation.h"

namespace drasim {

class ControlPlane;
class StructuredRules;

class StructuredClaims {
 public:
  // Null if the simulation, which must outlive it, has no structured DRA.
  static std::shared_ptr<StructuredClaims> Of(const Simulation& sim);

  // A line for each claim of the pod: its state, and the component that the pod waits for; and one
  // for each extended resource that a class serves.
  std::vector<std::string> Lines(PodId pod) const;
  // Why these nodes have no devices for the pod's claims, that which the scheduler would make for
  // its extended resources included; nodes whose device plugins serve these are left out. Absent if
  // the pod has no claim to allocate, or one that cannot be allocated on any node yet, as Lines
  // says. What follows from the slices is kept until one of them changes. Cost:
  // DeviceExplainer::Explain.
  std::optional<DeviceStory> Explain(PodId pod, absl::Span<const NodeId> nodes);

 private:
  StructuredClaims(const Simulation* sim, const ControlPlane* plane, const StructuredRules* rules)
      : sim_(*sim), plane_(*plane), rules_(*rules) {}

  // The extended resources of the pod that classes serve, ascending; none without that gate.
  std::vector<std::string> ServedResourcesOf(PodId pod) const;
  std::string HolderText(const std::string& uid, bool pending) const;
  // Takes the slices and classes of the moment.
  bool Refresh();

  const Simulation& sim_;
  const ControlPlane& plane_;
  const StructuredRules& rules_;
  std::vector<std::shared_ptr<const proto::kube::ResourceSlice>> slices_;
  std::vector<std::shared_ptr<const proto::kube::DeviceClass>> classes_;
  std::unique_ptr<DeviceExplainer> explainer_;
};

// Why no devices are looked for, in the words of DynamicResources: a class that does not exist, or
// a request of no known type. Empty if they are. `has_class` knows the classes; `*missing`, if
// given, becomes the name of the class.
std::string RequestObstacle(const proto::kube::ResourceClaimV1& claim,
                            absl::FunctionRef<bool(absl::string_view)> has_class,
                            std::string* missing = nullptr);

// The holders of all devices that are held. `text` words a holder of the inventory.
DeviceHolderTexts HolderTextsOf(
    const DeviceInventory& inventory,
    absl::FunctionRef<std::string(const std::string& holder, bool pending)> text);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_STRUCTURED_CLAIMS_H_
