// Random pods, deletions and faults, with what the kubelets are to keep checked after every event
// by a recount that knows pods and nothing of how they are served.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/dra_manager.h"
#include "sim/dra/dra_release.h"
#include "tests/sim/dra/component_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace dra_manager_random_test {

using dra_manager_testing::World;
using dra_manager_testing::WorldOptions;

constexpr uint32_t kNodes = 3;
constexpr uint32_t kClaimsPerNode = 3;

WorldOptions RandomOptions(Random& random) {
  WorldOptions options;
  options.seed = random.U64();
  options.read_ms = static_cast<int64_t>(random.Below(3) * 7);
  options.write_ms = static_cast<int64_t>(random.Below(3) * 30);
  options.watch_ms = static_cast<int64_t>(random.Below(4) * 200);
  options.kubelet.seed = random.U64();
  options.kubelet.retry = SimDuration::Millis(static_cast<int64_t>(random.Below(5000)) + 1);
  options.kubelet.prepare_retry = options.kubelet.retry;
  options.kubelet.failures_per_mille = random.Below(2) == 0 ? 0 : 300;
  if (random.Below(2) == 0) {
    options.kubelet.grpc_latency = Distribution::Exponential(0.3).value();
  }
  options.kubelet.behaviour.release = random.Below(3) == 0 ? DraRelease::k27 : DraRelease::k29;
  return options;
}

class RandomRun {
 public:
  explicit RandomRun(uint64_t seed)
      : random_(seed, "kubelet test"), world_(RandomOptions(random_)) {
    world_.on_started = [this](const Pod& pod) { Started(pod); };
    world_.on_ended = [this](const Pod& pod) { Ended(pod); };
    const std::vector<std::vector<std::string>> drivers = {{"gpu"}, {"nic"}, {"nic", "gpu"}, {}};
    for (uint32_t node = 0; node < kNodes; ++node) {
      for (uint32_t i = 0; i < kClaimsPerNode; ++i) {
        const std::string claim = ClaimOf(node, i);
        world_.AddClaim(claim, drivers[random_.Below(drivers.size())]);
        world_.prepare_ms[claim] = static_cast<int64_t>(random_.Below(2) * random_.Below(2000));
        world_.unprepare_ms[claim] = static_cast<int64_t>(random_.Below(2) * random_.Below(2000));
      }
    }
  }

  void Run(int steps) {
    for (int i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      Act();
      Go(SimDuration::Millis(static_cast<int64_t>(random_.Below(3) * random_.Below(1500))));
    }
    for (auto& [uid, pod] : pods_) ReserveAll(pod);
    Go(SimDuration::Seconds(1000));
    if (!::testing::Test::HasFailure()) CheckRest();
  }
  std::string Text() { return absl::StrJoin(world_.Take(), "\n"); }

 private:
  struct KnownPod {
    Uid uid = 0;
    std::string name;
    uint32_t node = 0;
    std::set<std::string> claims;
    bool reserved = false;
    bool stopped = false;  // somebody has asked for its end, or it has ended by itself
    bool heard = false;    // the kubelet has seen it bound
    bool lost = false;
    bool started = false;
    bool ended = false;
  };

  static std::string ClaimOf(uint32_t node, uint32_t i) { return absl::StrCat("c", node, "-", i); }

  // --- What happens. ---

  void Act() {
    const uint64_t what = random_.Below(100);
    if (what < 40) {
      AddPod();
    } else if (what < 55) {
      if (KnownPod* pod = Any()) ReserveAll(*pod);
    } else if (what < 75) {
      if (KnownPod* pod = Any()) EndWork(*pod);
    } else if (what < 92) {
      if (KnownPod* pod = Any()) Delete(*pod, /*force=*/what >= 87);
    } else if (what < 94) {
      LoseNode(static_cast<uint32_t>(random_.Below(kNodes)));
    } else if (what < 97) {
      world_.Restart(static_cast<int64_t>(random_.Below(3000)));
    } else {
      world_.network().BreakWatch(0,
                                  SimDuration::Millis(static_cast<int64_t>(random_.Below(3000))));
    }
  }

  void AddPod() {
    KnownPod pod;
    pod.name = absl::StrCat("p", pods_.size());
    pod.node = static_cast<uint32_t>(random_.Below(kNodes));
    std::vector<PodClaim> entries;
    for (uint32_t i = 0; i < kClaimsPerNode; ++i) {
      if (random_.Below(2) == 0) continue;
      pod.claims.insert(ClaimOf(pod.node, i));
      entries.push_back(world_.Uses(ClaimOf(pod.node, i)));
    }
    const bool by_hand = random_.Below(4) == 0;
    pod.uid = world_.AddPod(pod.name, entries, by_hand ? NodeId(pod.node) : NodeId());
    KnownPod& known = pods_[pod.uid] = pod;
    if (by_hand) return;
    ReserveAll(known);
    world_.Bind(known.name, NodeId(known.node));
  }

  void ReserveAll(KnownPod& pod) {
    if (pod.reserved || world_.objects().pod(pod.uid) == nullptr) return;
    pod.reserved = true;
    for (const std::string& claim : pod.claims) world_.Reserve(claim, pod.name);
  }

  void EndWork(KnownPod& pod) {
    // Of one that does not run nothing is to happen.
    pod.stopped = pod.stopped || (pod.started && !pod.ended && !pod.lost);
    world_.kubelet().WorkDone(pod.uid, random_.Below(2) == 0);
  }

  void Delete(KnownPod& pod, bool force) {
    if (world_.objects().pod(pod.uid) == nullptr) return;
    pod.stopped = true;
    world_.Delete(pod.name, force);
  }

  void LoseNode(uint32_t node) {
    NoteHeard();
    for (auto& [uid, pod] : pods_) {
      if (pod.node == node && pod.heard) pod.lost = true;
    }
    world_.kubelet().NodeLost(NodeId(node));
    EXPECT_EQ(world_.kubelet().prepared_claims(NodeId(node)), size_t{0});
  }

  KnownPod* Any() {
    if (pods_.empty()) return nullptr;
    // Rather a young one: the old have ended.
    auto it = pods_.end();
    std::advance(it, -1 - static_cast<int64_t>(random_.Below(std::min<size_t>(pods_.size(), 12))));
    return &it->second;
  }

  // --- The host. ---

  void Started(const Pod& pod) {
    KnownPod& known = pods_.at(pod.meta.uid);
    EXPECT_FALSE(known.started || known.ended || known.lost) << known.name;
    EXPECT_TRUE(known.reserved || known.claims.empty()) << known.name;
    known.started = true;
    CheckPrepared();
    if (random_.Below(5) == 0) EndWork(known);
  }
  void Ended(const Pod& pod) {
    KnownPod& known = pods_.at(pod.meta.uid);
    EXPECT_FALSE(known.ended || known.lost) << known.name;
    EXPECT_TRUE(known.stopped) << known.name;
    known.ended = true;
  }

  // --- What is to hold. ---

  void Go(SimDuration length) {
    const SimTime until = world_.network().now() + length;
    Check();
    while (world_.network().Step(until) && !::testing::Test::HasFailure()) Check();
    world_.network().RunUntil(until);
    for (auto& [uid, pod] : pods_) ReleaseIfDone(pod);
  }

  void ReleaseIfDone(KnownPod& pod) {
    if (!pod.reserved || !pod.ended) return;
    for (const std::string& claim : pod.claims) world_.Release(claim, pod.uid);
    pod.claims.clear();
  }

  void NoteHeard() {
    const ObjectCache& cache = world_.network().client(0).cache();
    for (auto& [uid, pod] : pods_) {
      const Ref<Pod> cached = cache.pod(uid);
      pod.heard = pod.heard || (cached != nullptr && cached->node.valid());
    }
  }

  void Check() {
    NoteHeard();
    CheckPrepared();
  }

  // Claims of pods that run are prepared; claims of nobody are not.
  void CheckPrepared() {
    for (uint32_t node = 0; node < kNodes; ++node) {
      const size_t prepared = world_.kubelet().prepared_claims(NodeId(node));
      EXPECT_GE(prepared, Count(node, /*running_only=*/true)) << "node " << node;
      EXPECT_LE(prepared, Count(node, /*running_only=*/false)) << "node " << node;
    }
  }
  size_t Count(uint32_t node, bool running_only) const {
    std::set<std::string> claims;
    for (const auto& [uid, pod] : pods_) {
      if (pod.node != node || pod.ended || pod.lost) continue;
      if (running_only && (!pod.started || pod.stopped)) continue;
      claims.insert(pod.claims.begin(), pod.claims.end());
    }
    return claims.size();
  }

  void CheckRest() {
    EXPECT_FALSE(world_.network().NextTime().has_value());
    EXPECT_TRUE(world_.kubelet().idle());
    for (uint32_t node = 0; node < kNodes; ++node) {
      EXPECT_EQ(world_.kubelet().prepared_claims(NodeId(node)), Count(node, true)) << node;
    }
    for (const auto& [uid, pod] : pods_) {
      if (pod.lost) continue;
      const Ref<Pod> object = world_.objects().pod(uid);
      if (object == nullptr) {
        EXPECT_EQ(pod.ended, pod.heard) << pod.name;
      } else if (pod.stopped) {
        EXPECT_TRUE(pod.ended && !object->meta.deleting) << pod.name;
        EXPECT_TRUE(IsDone(*object)) << pod.name;
      } else {
        EXPECT_TRUE(pod.started && !pod.ended) << pod.name;
        EXPECT_EQ(object->phase, KubePodPhase::kRunning) << pod.name;
      }
    }
  }

  Random random_;
  World world_;
  std::map<Uid, KnownPod> pods_;
};

TEST(DraManagerRandomTest, KeepsClaimsPreparedWhileTheyAreUsed) {
  for (uint64_t seed = 1; seed <= SoakSeeds(30); ++seed) {
    RandomRun run(seed);
    run.Run(/*steps=*/60);
    ASSERT_FALSE(HasFailure()) << "seed " << seed << "\n" << run.Text();
  }
}

TEST(DraManagerRandomTest, RunsRepeat) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    RandomRun first(seed);
    RandomRun second(seed);
    first.Run(60);
    second.Run(60);
    EXPECT_EQ(first.Text(), second.Text());
  }
}

}  // namespace dra_manager_random_test
}  // namespace drasim
