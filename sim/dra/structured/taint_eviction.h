// TaintEviction: the device taint eviction controller of kube-controller-manager. It deletes pods
// that use a device with a NoExecute taint that their claim does not tolerate, and reports on
// DeviceTaintRules.
//
// Taints come from slices of a pool's latest generation, and from rules, whether or not anybody
// publishes the device. Only tolerations with the effect NoExecute count. A pod is to go at the
// earliest time, over the taints of all its devices, of timeAdded plus the least tolerationSeconds
// of the tolerations that match, if any; one toleration without tolerationSeconds makes the taint
// count for nothing. A pod that waits for that time stays if the taint goes.
//
// For a pod that is to go: GET pod; the event DeviceTaintManagerEviction; PATCH pods/status, the
// condition DisruptionTarget; DELETE pod, with its grace period. Failures are repeated with the
// queue's rate limit.
//
// A rule gets the condition EvictionInProgress as soon as it is there or its specification has
// changed, before pods go. Later changes wait until ten seconds after the last one (times are whole
// seconds), so that many pods make few writes. For the effect None it says once what the rule would
// do, and is not written again.
//
// Source: kubernetes/kubernetes pkg/controller/devicetainteviction, release 1.37.
#ifndef DRASIM_SIM_DRA_STRUCTURED_TAINT_EVICTION_H_
#define DRASIM_SIM_DRA_STRUCTURED_TAINT_EVICTION_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "model/time.h"
#include "sim/dra/api/dra_release.h"
#include "sim/dra/api/plane_part.h"
#include "sim/dra/api/work_queue.h"

namespace drasim {

class TaintEviction : public PlanePart {
 public:
  // Shortest time between two writes of a rule's condition.
  static constexpr SimDuration kStatusPeriod = SimDuration::Seconds(10);

  static constexpr char kName[] = "device-taint-eviction";

  // `rules`: DeviceTaintRules count (gate DRADeviceTaintRules). `connection`: with its name,
  // without watches.
  TaintEviction(bool rules, ClientOptions connection);
  ~TaintEviction() override;

  ClientOptions connection() const override;
  void Start(ApiClient* client) override;
  bool IsBusy() const override;

  void OnWatch(const WatchEvent& event) override;
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;
  void OnRestart() override;

  // Pods that it has deleted in the run, and evictions called off before their time.
  std::vector<Figure> Figures() const override;

  void Save(PlaneWriter& out) const override;
  void Load(PlaneReader& in) override;

 private:
  using Key = WorkQueue::Key;  // uid << 1 of a pod, uid << 1 | 1 of a rule; token of its calls
  using PoolName = std::pair<std::string, std::string>;  // driver, pool
  using Taints = std::vector<proto::kube::DeviceTaint>;

  struct Pool {
    absl::btree_map<std::string, Ref<ResourceSliceObject>> slices;  // by name
    // NoExecute taints by device, in the slices of the latest generation.
    absl::btree_map<std::string, Taints> tainted;
    absl::btree_set<Uid> claims;  // with devices of the pool
  };
  struct Eviction {
    SimTime when;
    std::vector<Uid> rules;  // that are among its reasons, ascending
    bool operator==(const Eviction&) const = default;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& e) {
      a(e.when, e.rules);
    }
  };
  struct AllocatedClaim {
    Ref<ResourceClaim> claim;
    std::optional<Eviction> eviction;  // none: nothing that it does not tolerate
  };
  enum class Stage : uint8_t { kGet, kCondition, kDelete };
  struct Work {
    Stage stage = Stage::kGet;
    Ref<Pod> pod;
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& w) {
      a(w.stage, w.pod);
    }
  };

  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);

  // Builds what follows from the cache: pools, rules that evict, claims.
  void ReadCache();
  void QueueAll();

  // --- What changed ---
  void OnClaim(const Ref<ResourceClaim>& before, const Ref<ResourceClaim>& after);
  void OnPod(const Pod* before, const Pod& after);
  void OnSlice(const Ref<ResourceSliceObject>& before, const Ref<ResourceSliceObject>& after);
  void OnRule(const Ref<DeviceTaintRuleObject>& before, const Ref<DeviceTaintRuleObject>& after);
  void Index(const ResourceClaim& claim, bool added);
  void JudgePodsOf(const ResourceClaim& claim);
  void JudgePod(const Pod& pod);
  void Cancel(Uid pod, bool is_event);

  static absl::btree_map<std::string, Taints> TaintedDevices(const Pool& pool);
  // `alone`: only this rule counts, as if its effect were NoExecute.
  std::optional<Eviction> EvictionOfClaim(const ResourceClaim& claim,
                                          const DeviceTaintRuleObject* alone) const;
  std::optional<Eviction> EvictionOfPod(const Pod& pod) const;

  // --- Work ---
  void AddLater(Key key, SimTime at);
  void Pump();
  void BeginWork(Key key);
  // The stage's reply is there; null: the work begins.
  void ContinuePod(Key key, const ApiReply* reply);
  void UpdateStatus(Key key);
  void EndStatus(Key key, const ApiReply& reply);
  void TakePodReply(Key key, Work* work, const ApiReply& reply);
  DeviceTaintRuleObject::Eviction ConditionOf(const DeviceTaintRuleObject& rule) const;
  struct Pending {
    uint64_t pods = 0;
    uint64_t namespaces = 0;
  };
  Pending PendingOf(const DeviceTaintRuleObject& rule) const;
  std::string ForecastOf(const DeviceTaintRuleObject& rule) const;
  void WriteEvent(const Pod& pod);
  void CountEviction(Key key);
  void EndWork(Key key);
  void Retry(Key key);

  bool rules_;
  ClientOptions connection_;
  DraBehaviour behaviour_;
  ApiClient* client_ = nullptr;
  absl::btree_map<PoolName, Pool> pools_;
  absl::btree_map<std::string, Ref<DeviceTaintRuleObject>> evicting_;  // NoExecute, by name
  absl::btree_map<Uid, AllocatedClaim> claims_;
  absl::btree_map<Uid, Eviction> to_evict_;  // by pod
  absl::btree_set<Uid> done_;                // pods deleted, until that is reported
  absl::btree_map<Uid, uint64_t> evicted_by_rule_;
  WorkQueue queue_;
  absl::btree_map<Key, SimTime> later_;  // valid timers
  absl::btree_map<Key, Work> work_;
  uint64_t evicted_pods_ = 0;
  uint64_t cancelled_ = 0;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_TAINT_EVICTION_H_
