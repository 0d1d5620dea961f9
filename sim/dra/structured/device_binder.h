// DeviceBinder: the part of drivers that binds devices to the node of a claim, and sets binding
// conditions (KEP 5007) in status.devices of the claim.
//
// A claim gets the conditions of all of a driver's devices by one PATCH, `delay` after the binder
// has seen the allocation. The allocations of a claim are counted: of the first ones, none is ever
// answered; of the next, each device gets its failure conditions; of the rest, a share fails so. A
// device without failure conditions that fails is not answered either.
#ifndef DRASIM_SIM_DRA_STRUCTURED_DEVICE_BINDER_H_
#define DRASIM_SIM_DRA_STRUCTURED_DEVICE_BINDER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/btree_map.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api/plane_part.h"

namespace drasim {

// The way in which devices of a driver bind.
struct BindingBehaviour {
  std::string driver;         // empty: any
  std::vector<NodeId> nodes;  // ascending
  SimDuration delay;
  int64_t timeouts = 0;            // first allocations without an answer
  int64_t failures = 0;            // the next ones, which fail
  int64_t failures_per_mille = 0;  // of the rest
};

class DeviceBinder : public PlanePart {
 public:
  static constexpr char kName[] = "device-binder";

  // Devices of a driver without a behaviour are never bound. For a claim that is not of one node
  // the first behaviour of the driver counts. `seed`: of the draws, in streams named after claims.
  // `connection`: with its name, without watches.
  DeviceBinder(std::vector<BindingBehaviour> behaviours, uint64_t seed, ClientOptions connection);

  ClientOptions connection() const override;
  void Start(ApiClient* client) override;
  bool IsBusy() const override { return !pending_.empty(); }

  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t, const ApiReply&) override {}
  void OnTimer(uint64_t token) override;
  // Devices remember how often a claim had them; bindings in progress begin again.
  void OnRestart() override;

  // Allocations whose devices it has bound, and has failed to bind.
  std::vector<Figure> Figures() const override;

  void Save(PlaneWriter& out) const override;
  void Load(PlaneReader& in) override;

 private:
  struct ClaimState {
    int64_t allocations = 0;
    Ref<Allocation> latest;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.allocations, s.latest);
    }
  };
  struct Binding {
    Uid claim = 0;
    int64_t allocation = 0;  // of the claim, counted from 1
    uint64_t behaviour = 0;
    bool fails = false;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& b) {
      a(b.claim, b.allocation, b.behaviour, b.fails);
    }
  };

  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);
  // Begins to bind the devices of the claim, if its allocation is new or (`again`) has no answer.
  void Consider(const ResourceClaim& claim, bool again);
  const BindingBehaviour* BehaviourOf(const std::string& driver, NodeId node) const;
  bool Fails(const BindingBehaviour& behaviour, const ResourceClaim& claim,
             int64_t allocation) const;
  void Answer(const Binding& binding, const ResourceClaim& claim);

  std::vector<BindingBehaviour> behaviours_;
  uint64_t seed_;
  ClientOptions connection_;
  ApiClient* client_ = nullptr;
  absl::btree_map<Uid, ClaimState> claims_;
  absl::btree_map<uint64_t, Binding> pending_;  // by the token of the timer
  uint64_t next_token_ = 0;
  uint64_t bound_ = 0;
  uint64_t failed_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_DEVICE_BINDER_H_
