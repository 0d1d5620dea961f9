#include "sim/run/device_parts.h"

#include <cstddef>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/statusor.h"
#include "model/proto/kube.pb.h"
#include "model/status_macros.h"
#include "sim/dra/structured/device_binder.h"
#include "sim/dra/structured/taint_admin.h"
#include "sim/dra/structured/taint_eviction.h"
#include "sim/scenario/binding_options.h"
#include "sim/scenario/taint_rule_events.h"

namespace drasim {
namespace {

bool HasTaints(const proto::kube::ResourceSlice& slice) {
  return absl::c_any_of(slice.spec().devices(),
                        [](const proto::kube::Device& device) { return device.taints_size() > 0; });
}

}  // namespace

absl::Status AddTaintParts(const StructuredDraSpec& spec, const ControlPlaneOptions& plane,
                           const std::vector<std::shared_ptr<const proto::kube::Object>>& objects,
                           absl::Span<const NodeEventSpec> events, PlaneParts* parts) {
  if (!spec.rules.allocator.features.device_taints) return absl::OkStatus();
  // Slices of drivers have taints of events and of devices that break, which do not evict.
  bool evicts = !spec.taint_rules.empty() || absl::c_any_of(events, [](const NodeEventSpec& event) {
    return event.taint.effect() == "NoExecute";
  });
  std::set<std::string> known;
  for (const std::shared_ptr<const proto::kube::Object>& object : objects) {
    if (object->has_device_taint_rule() && spec.rules.taint_rules) {
      known.insert(object->device_taint_rule().metadata().name());
      evicts = true;
    }
    if (object->has_resource_slice()) evicts |= HasTaints(object->resource_slice());
  }
  if (!evicts) return absl::OkStatus();
  ASSIGN_OR_RETURN(std::vector<TaintRuleEvent> planned,
                   ArrangeTaintRules(spec.taint_rules, std::move(known)));
  if (!planned.empty()) {
    parts->push_back(
        std::make_unique<TaintAdmin>(std::move(planned), ClientOf(TaintAdmin::kName, plane.users)));
  }
  parts->push_back(std::make_unique<TaintEviction>(
      spec.rules.taint_rules, ClientOf(TaintEviction::kName, plane.controller_manager)));
  return absl::OkStatus();
}

void AddBinder(const StructuredDraSpec& spec, const ControlPlaneOptions& plane,
               const std::vector<PublishingDriver>& drivers, PlaneParts* parts) {
  std::vector<BindingBehaviour> behaviours;
  for (size_t i = 0; i < spec.drivers.size(); ++i) {
    if (!MayHaveBindingConditions(spec.drivers[i])) continue;
    behaviours.push_back(spec.bindings[i]);
    behaviours.back().nodes = drivers[i].nodes;
  }
  if (behaviours.empty()) return;
  parts->push_back(std::make_unique<DeviceBinder>(
      std::move(behaviours), plane.seed, ClientOf(DeviceBinder::kName, spec.driver_connection)));
}

}  // namespace drasim
