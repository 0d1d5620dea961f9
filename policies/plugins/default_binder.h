// DefaultBinder (Bind): one write of the Binding subresource to the API server.
#ifndef DRASIM_POLICIES_PLUGINS_DEFAULT_BINDER_H_
#define DRASIM_POLICIES_PLUGINS_DEFAULT_BINDER_H_

#include "policies/framework/plugin.h"

namespace drasim {

class DefaultBinder : public BindPlugin {
 public:
  explicit DefaultBinder(SimDuration write_latency) : write_latency_(write_latency) {}
  absl::string_view name() const override { return "DefaultBinder"; }
  StepResult Bind(const PodContext&, const ClusterState&, NodeId) override {
    StepResult result;
    // Without latency there is no intent, so the common case stays synchronous and allocates
    // nothing.
    if (write_latency_ > SimDuration())
      result.intents.push_back({IntentKind::kApiWrite, write_latency_});
    return result;
  }

 private:
  SimDuration write_latency_;
};

}  // namespace drasim

#endif  // DRASIM_POLICIES_PLUGINS_DEFAULT_BINDER_H_
