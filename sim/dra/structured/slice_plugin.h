// SlicePlugin: the kubelet plugin of a driver whose devices are in ResourceSlices.
#ifndef DRASIM_SIM_DRA_STRUCTURED_SLICE_PLUGIN_H_
#define DRASIM_SIM_DRA_STRUCTURED_SLICE_PLUGIN_H_

#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"

namespace drasim {

// Takes the same time for every claim.
class SlicePlugin : public NodePlugin {
 public:
  SlicePlugin(std::string driver, SimDuration prepare, SimDuration unprepare)
      : driver_(std::move(driver)), prepare_(prepare), unprepare_(unprepare) {}
  absl::string_view name() const override { return driver_; }
  SimDuration PrepareTime(const ResourceClaim&) const override { return prepare_; }
  SimDuration UnprepareTime(const ResourceClaim&) const override { return unprepare_; }

 private:
  std::string driver_;
  SimDuration prepare_;
  SimDuration unprepare_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_SLICE_PLUGIN_H_
