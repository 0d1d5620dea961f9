// Random clusters with every feature of structured DRA, small enough for brute force.
#ifndef DRASIM_TESTS_POLICIES_ALLOCATOR_RANDOM_WORLD_H_
#define DRASIM_TESTS_POLICIES_ALLOCATOR_RANDOM_WORLD_H_

#include <cstdint>
#include <vector>

#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"
#include "model/random.h"
#include "policies/allocator/allocator_options.h"
#include "policies/allocator/device_use.h"

namespace drasim {

struct RandomWorld {
  std::vector<proto::kube::ResourceSlice> slices;
  std::vector<proto::kube::DeviceClass> classes;
  std::vector<proto::kube::ResourceClaimV1> claims;
  proto::kube::Node node;
  DeviceUse use;
  AllocatorOptions options;  // the features are those that the variant knows
};

class RandomWorldMaker {
 public:
  explicit RandomWorldMaker(uint64_t seed) : random_(seed, "world") {}

  RandomWorld Make();
  // Another claim for the same cluster.
  proto::kube::ResourceClaimV1 MakeClaim(uint64_t index, const RandomWorld& world);

 private:
  struct PoolShape {
    std::string driver;
    std::string name;
    uint64_t place = 0;  // how the pool names its nodes
    bool counters = false;
  };

  bool Chance(uint64_t percent) { return random_.Below(100) < percent; }
  int64_t Pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(most - least + 1)));
  }
  void ChooseOptions(AllocatorOptions* options);
  void AddPool(int64_t index, RandomWorld* world);
  void AddCounterSlice(const PoolShape& pool, RandomWorld* world);
  void SpoilPool(size_t first_slice, RandomWorld* world);
  void AddDevice(const PoolShape& pool, int64_t index, RandomWorld* world,
                 proto::kube::ResourceSlice* slice);
  void AddAttributes(proto::kube::Device* device);
  void AddCapacity(proto::kube::Device* device);
  void AddCounters(bool groups, proto::kube::Device* device);
  void AddUse(const PoolShape& pool, const proto::kube::Device& device, RandomWorld* world);
  template <typename Request>
  void Fill(const RandomWorld& world, Request* request);
  void AddConstraints(const RandomWorld& world, proto::kube::DeviceClaim* devices);

  Random random_;
  bool risky_ = false;  // selectors may be errors
};

}  // namespace drasim

#endif  // DRASIM_TESTS_POLICIES_ALLOCATOR_RANDOM_WORLD_H_
