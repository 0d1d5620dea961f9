// A run of the engine with classic DRA's control plane around it, and what was said to the API
// server.
#ifndef DRASIM_TESTS_SIM_DRA_DRA_RIG_H_
#define DRASIM_TESTS_SIM_DRA_DRA_RIG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "policies/devices/counting_driver.h"
#include "sim/dra/control_plane.h"
#include "sim/dra/plane_checks.h"
#include "tests/sim/core/engine_rig.h"

namespace drasim {

struct DraScenario {
  EngineScenario engine;
  ControlPlaneOptions plane;
  std::vector<CountingDriverOptions> drivers;
  // Objects that are there from the beginning.
  std::function<void(ControlPlane&)> objects;
  // Entries of the pods of the run, by the name of the pod.
  std::function<std::vector<PodClaim>(NamePool&, const std::string&)> claims;
};

class DraRig {
 public:
  explicit DraRig(DraScenario s) : s_(std::move(s)) {
    s_.engine.extend = [this](const ClusterState& cluster, Profile& profile) {
      std::vector<ClaimDriver*> drivers;
      for (const CountingDriverOptions& options : s_.drivers) {
        drivers_.push_back(std::make_unique<CountingDriver>(options));
        drivers.push_back(drivers_.back().get());
      }
      plane_ = std::make_unique<ControlPlane>(
          &cluster, drivers,
          [this, &cluster](const PodShape&, PodId pod) {
            return s_.claims(plane_->names(), std::string(cluster.pod_name(pod)));
          },
          s_.plane);
      plane_->set_on_message([this](const ApiMessage& m) { messages_.push_back(m); });
      if (s_.objects) s_.objects(*plane_);
      profile.AddPlugin(plane_->TakePlugin(), /*first=*/true);
    };
    rig_ = std::make_unique<EngineRig>(
        s_.engine, [this](EngineParts& parts) { parts.node_agent = plane_.get(); });
  }

  // Runs the engine, then what is left to be said.
  absl::Status Run() {
    if (absl::Status s = rig_->engine().Run(); !s.ok()) return s;
    plane_->Settle(SimDuration::Seconds(100));
    return CheckControlPlane(*plane_, /*at_rest=*/true);
  }

  // "claim-controller POST resourceclaims", in order; the user's own and the kubelet's report of
  // the start are left out, as the figures that are compared leave them out.
  Lines Calls(bool with_all = false) const {
    Lines lines;
    for (const ApiMessage& m : messages_) {
      const std::string& client = plane_->network().client(m.client).options().name;
      if (!with_all && client == "user") continue;
      std::string line = absl::StrCat(client, " ", CallText(m.verb, m.kind));
      if (m.code != ApiCode::kOk) absl::StrAppend(&line, " ", static_cast<int>(m.code));
      if (!with_all && line == "kubelet PATCH pods/status" && !started_[m.uid]) {
        started_[m.uid] = true;
        continue;
      }
      lines.push_back(std::move(line));
    }
    started_.clear();
    return lines;
  }
  std::pair<size_t, size_t> ReadsAndWrites() const {
    size_t reads = 0;
    for (const std::string& line : Calls()) reads += line.find(" GET ") != std::string::npos;
    return {reads, Calls().size() - reads};
  }

  ControlPlane& plane() { return *plane_; }
  EngineRig& rig() { return *rig_; }
  CountingDriver& driver(size_t i) { return *drivers_[i]; }
  const std::vector<ApiMessage>& messages() const { return messages_; }

 private:
  DraScenario s_;
  std::vector<std::unique_ptr<CountingDriver>> drivers_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<EngineRig> rig_;
  std::vector<ApiMessage> messages_;
  mutable std::map<Uid, bool> started_;
};

// ---- Objects ----

inline ObjectRef TestClass(NamePool& names, absl::string_view name, absl::string_view driver) {
  auto object = std::make_shared<ResourceClass>();
  object->meta.name = names.Intern(name);
  object->driver = names.Intern(driver);
  return Ref<ResourceClass>(std::move(object));
}

inline ObjectRef TestTemplate(NamePool& names, absl::string_view name, absl::string_view class_name,
                              AllocationMode mode = AllocationMode::kWaitForFirstConsumer) {
  auto object = std::make_shared<ResourceClaimTemplate>();
  object->meta.ns = names.Intern("default");
  object->meta.name = names.Intern(name);
  object->spec.class_name = names.Intern(class_name);
  object->spec.mode = mode;
  return Ref<ResourceClaimTemplate>(std::move(object));
}

inline ObjectRef TestClaim(NamePool& names, absl::string_view name, absl::string_view class_name,
                           AllocationMode mode = AllocationMode::kWaitForFirstConsumer) {
  auto object = std::make_shared<ResourceClaim>();
  object->meta.ns = names.Intern("default");
  object->meta.name = names.Intern(name);
  object->spec.class_name = names.Intern(class_name);
  object->spec.mode = mode;
  return Ref<ResourceClaim>(std::move(object));
}

inline PodClaim FromTemplate(NamePool& names, absl::string_view entry, absl::string_view source) {
  PodClaim claim;
  claim.entry = names.Intern(entry);
  claim.from_template = names.Intern(source);
  return claim;
}

inline PodClaim FromClaim(NamePool& names, absl::string_view entry, absl::string_view source) {
  PodClaim claim;
  claim.entry = names.Intern(entry);
  claim.claim = names.Intern(source);
  return claim;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_SIM_DRA_DRA_RIG_H_
