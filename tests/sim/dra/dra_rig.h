// Runs of the engine with classic DRA's control plane around it, for tests and benchmarks.
#ifndef DRASIM_TESTS_SIM_DRA_DRA_RIG_H_
#define DRASIM_TESTS_SIM_DRA_DRA_RIG_H_

#include <cstddef>
#include <cstdint>
#include <functional>
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
#include "policies/framework/claim_driver.h"
#include "sim/dra/control_plane.h"
#include "sim/dra/plane_checks.h"
#include "tests/sim/core/engine_rig.h"

namespace drasim {

struct DraScenario {
  EngineScenario engine;
  ControlPlaneOptions plane;
  std::vector<CountingDriverOptions> drivers;
  // Drivers besides; may be empty.
  std::function<std::vector<std::unique_ptr<ClaimDriver>>(const ClusterState&)> more_drivers;
  // Objects that are there from the beginning.
  std::function<void(ControlPlane&)> objects;
  // Entries of the pods of the run, by the name of the pod.
  std::function<std::vector<PodClaim>(NamePool&, const std::string&)> claims;
};

// The engine with the control plane and its drivers.
class PlaneRig {
 public:
  virtual ~PlaneRig() = default;
  ControlPlane& plane() { return *plane_; }
  EngineRig& rig() { return *rig_; }
  CountingDriver& driver(size_t i) { return *counting_[i]; }
  const std::vector<ApiMessage>& messages() const { return messages_; }

 protected:
  // Once; `s` lives as long as the rig.
  void Build(DraScenario* s) {
    s->engine.extend = [this, s](const ClusterState& cluster, Profile& profile) {
      for (const CountingDriverOptions& options : s->drivers) {
        auto driver = std::make_unique<CountingDriver>(options);
        counting_.push_back(driver.get());
        drivers_.push_back(std::move(driver));
      }
      if (s->more_drivers) {
        for (auto& driver : s->more_drivers(cluster)) drivers_.push_back(std::move(driver));
      }
      std::vector<ClaimDriver*> drivers;
      for (const auto& driver : drivers_) drivers.push_back(driver.get());
      plane_ = std::make_unique<ControlPlane>(
          &cluster, drivers,
          [this, s, &cluster](const PodShape&, PodId pod) {
            return s->claims(plane_->names(), std::string(cluster.pod_name(pod)));
          },
          s->plane);
      plane_->set_on_message([this](const ApiMessage& m) { Hear(m); });
      if (s->objects) s->objects(*plane_);
      profile.AddPlugin(plane_->TakePlugin(), /*first=*/true);
    };
    rig_ = std::make_unique<EngineRig>(
        s->engine, [this](EngineParts& parts) { parts.node_agent = plane_.get(); });
  }
  // Every call, when it has been answered.
  virtual void Hear(const ApiMessage& m) { messages_.push_back(m); }

  std::vector<std::unique_ptr<ClaimDriver>> drivers_;
  std::vector<CountingDriver*> counting_;
  std::unique_ptr<ControlPlane> plane_;
  std::unique_ptr<EngineRig> rig_;
  std::vector<ApiMessage> messages_;
};

// A run from its beginning to its end, and what was said to the API server.
class DraRig : public PlaneRig {
 public:
  explicit DraRig(DraScenario s) : s_(std::move(s)) { Build(&s_); }

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

 private:
  DraScenario s_;
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
