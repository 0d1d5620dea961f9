// DynamicResources (PreFilter, Filter, PostFilter) for pods without resource claims: it only adds
// the message of its PostFilter, and the error in which it ends when its PreFilter was not called.
//
// Source: kubernetes/kubernetes pkg/scheduler/framework/plugins/dynamicresources, release 1.34.
// Pods with claims are scheduled by sim/dra.
#ifndef DRASIM_POLICIES_PLUGINS_DYNAMIC_RESOURCES_H_
#define DRASIM_POLICIES_PLUGINS_DYNAMIC_RESOURCES_H_

#include <cstdint>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "policies/framework/plugin.h"

namespace drasim {

class DynamicResourcesWithoutClaims : public PreFilterPlugin,
                                      public FilterPlugin,
                                      public PostFilterPlugin {
 public:
  absl::string_view name() const override { return "DynamicResources"; }
  absl::string_view WithoutPreFilter() const override { return "not found"; }
  uint32_t requeue_events() const override {
    return kNodeAdded | kNodeLabels | kNodeAllocatable | kClaimChanged;
  }
  StepResult PreFilter(const PodContext&, const ClusterState&) override;
  void Filter(const PodContext&, const ClusterState&, absl::Span<const NodeId>,
              absl::Span<ReasonIndex>) const override {}
  // kError, "not found", when an earlier PreFilter had ended the attempt: upstream misses the state
  // that its own leaves.
  PostFilterResult PostFilter(const PodContext& pod, PostFilterHandle& handle) override;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_DYNAMIC_RESOURCES_H_
