// Random transitions of the inventory against a model that keeps slices and claims alone and counts
// everything anew.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/random.h"
#include "model/state_io.h"
#include "tests/model/inventory_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

using inventory_rig::FactsOf;
using inventory_rig::InventoryText;
using inventory_rig::InventoryWorld;
using inventory_rig::kOne;
using inventory_rig::TestDevice;
using inventory_rig::TestSlice;

using NaiveDevice = std::pair<std::string, std::string>;  // pool, name

struct NaiveHold {
  NaiveDevice device;
  bool share = false;
  int64_t memory = 0;
};

struct NaiveInventory {
  std::map<uint32_t, TestSlice> slices;
  std::map<std::pair<std::string, bool>, std::vector<NaiveHold>> claims;  // by name, in flight
  std::set<NaiveDevice> written;  // upstream's set of devices that written claims hold alone

  int64_t GenerationOf(const std::string& pool) const {
    int64_t latest = 0;
    for (const auto& [id, slice] : slices) {
      if (slice.pool == pool) latest = std::max(latest, slice.generation);
    }
    return latest;
  }
  const TestDevice* Find(const NaiveDevice& device) const {
    for (const auto& [id, slice] : slices) {
      if (slice.pool != device.first || slice.generation != GenerationOf(slice.pool)) continue;
      for (const TestDevice& each : slice.devices) {
        if (each.name == device.second) return &each;
      }
    }
    return nullptr;
  }
  int64_t Total(const std::string& pool, const std::string& counter) const {
    for (const auto& [id, slice] : slices) {
      if (slice.pool != pool || slice.generation != GenerationOf(pool)) continue;
      for (const auto& [name, amount] : slice.counters) {
        if (name == counter) return amount;
      }
    }
    return -1;
  }
  bool IsDedicated(const NaiveDevice& device) const {
    bool in_flight = false;
    for (const auto& [claim, holds] : claims) {
      for (const NaiveHold& hold : holds) {
        in_flight = in_flight || (claim.second && !hold.share && hold.device == device);
      }
    }
    return in_flight || written.count(device) > 0;
  }
  // Number and memory.
  std::pair<uint32_t, int64_t> SharesOf(const NaiveDevice& device) const {
    std::pair<uint32_t, int64_t> shares;
    for (const auto& [claim, holds] : claims) {
      for (const NaiveHold& hold : holds) {
        if (!hold.share || hold.device != device) continue;
        ++shares.first;
        shares.second += hold.memory;
      }
    }
    return shares;
  }
  bool IsHeld(const NaiveDevice& device) const {
    return IsDedicated(device) || SharesOf(device).first > 0;
  }
  int64_t Used(const std::string& pool, const std::string& counter) const {
    int64_t used = 0;
    for (const char* name : {"a", "b", "c", "d"}) {
      const TestDevice* const device = Find({pool, name});
      if (device == nullptr || !IsHeld({pool, name})) continue;
      for (const auto& [consumed, amount] : device->counters) {
        used += consumed == counter ? amount : 0;
      }
    }
    return used;
  }
};

class InventoryRun {
 public:
  explicit InventoryRun(uint64_t seed) : random_(seed, "inventory") {}

  void Step() {
    switch (random_.Below(9)) {
      case 0:
      case 1:
        return PutSlice();
      case 2:
        return Withdraw();
      case 3:
      case 4:
      case 5:
        return Hold();
      case 6:
      case 7:
        return Release();
      default:
        return random_.Bernoulli(1, 2) ? MovePod() : TakeOrReturnNode();
    }
  }

  void WhatIf(int depth) {
    const NaiveInventory before = naive_;
    const std::set<uint32_t> pods = pods_;
    const std::string text = InventoryText(c_);
    const uint64_t version = c_.version();
    c_.BeginWhatIf();
    ++depth_;
    for (uint64_t i = random_.Below(6); i-- > 0;) {
      depth < 3 && random_.Bernoulli(1, 5) ? WhatIf(depth + 1) : Step();
    }
    --depth_;
    if (random_.Bernoulli(1, 3)) return c_.KeepWhatIf();
    c_.Rollback();
    naive_ = before;
    pods_ = pods;
    ASSERT_EQ(InventoryText(c_), text);
    ASSERT_EQ(c_.version(), version);
  }

  void Check() const {
    ASSERT_EQ(c_.CheckInvariants(), absl::OkStatus());
    const DeviceInventory& inventory = c_.inventory();
    for (const char* pool : {"p", "q"}) {
      for (const char* name : {"a", "b", "c", "d"}) {
        const NaiveDevice device = {pool, name};
        const InventoryRow row = inventory.Find("driver", pool, name);
        if (!row.valid()) {
          ASSERT_EQ(naive_.Find(device), nullptr);
          ASSERT_FALSE(naive_.IsHeld(device));
          continue;
        }
        ASSERT_EQ(inventory.published(row) != nullptr, naive_.Find(device) != nullptr)
            << pool << name;
        const RowUse& use = inventory.use(row);
        ASSERT_EQ(use.is_dedicated(), naive_.IsDedicated(device)) << pool << name;
        const auto [shares, memory] = naive_.SharesOf(device);
        ASSERT_EQ(use.shares, shares);
        const DeviceInventory::Amounts* const consumed = inventory.consumed(row);
        ASSERT_EQ(consumed == nullptr ? 0 : consumed->at(0).second.Value(), memory);
        CheckGpu(row);
      }
    }
    for (const DevicePool& pool : inventory.pools()) {
      const std::string& name = inventory.columns().texts().Text(pool.name);
      for (const PoolCounter& counter : pool.counters) {
        const std::string& text = inventory.columns().texts().Text(counter.name);
        ASSERT_EQ(counter.total, naive_.Total(name, text) * kOne);
        ASSERT_EQ(counter.used, naive_.Used(name, text) * kOne) << name << text;
      }
    }
  }

  // A cluster that is loaded, with the same slices, is the same.
  void CheckReload() const {
    StateWriter out;
    c_.Save(out);
    InventoryWorld again(2);
    PodShape shape;
    shape.request.gpu_count = 1;
    shape.request.gpu_milli = 1000;
    again.shapes.Intern(shape);
    uint32_t next = 0;
    for (const auto& [id, slice] : naive_.slices) {
      // Ids of slices that have gone are skipped, so that the order stays.
      while (next++ < id) again.cluster.WithdrawSlice(again.Publish({"gone", 1, ""}));
      again.Publish(slice);
    }
    StateReader in(out.bytes());
    ASSERT_EQ(again.cluster.Load(in), absl::OkStatus());
    ASSERT_EQ(InventoryText(again.cluster), InventoryText(c_));
  }

  int fits() const { return fits_; }
  int conflicts() const { return conflicts_; }

 private:
  // A part that is charged has its GPU.
  void CheckGpu(InventoryRow row) const {
    const DeviceInventory& inventory = c_.inventory();
    const SliceDevice* const device = inventory.published(row);
    const RowUse& use = inventory.use(row);
    if (device == nullptr || !device->part.has_value() || !use.is_held()) {
      ASSERT_FALSE(use.charged);
      return;
    }
    const int16_t idle = c_.device_milli_idle(inventory.node_of(row))[device->part->device];
    ASSERT_TRUE(!use.charged || idle == 0);
  }

  std::string RandomPool() { return random_.Bernoulli(1, 2) ? "p" : "q"; }

  TestSlice RandomSlice() {
    TestSlice slice = {RandomPool(), static_cast<int64_t>(1 + random_.Below(3) / 2),
                       absl::StrCat("node-", random_.Below(3))};
    if (slice.pool == "q" && random_.Bernoulli(1, 3)) slice.node = "";
    for (const char* name : {"a", "b", "c", "d"}) {
      if (random_.Bernoulli(1, 2)) continue;
      TestDevice device = {name};
      if (random_.Bernoulli(1, 4))
        device.counters.push_back({"m", 1 + static_cast<int64_t>(random_.Below(4))});
      if (random_.Bernoulli(1, 4)) device.counters.push_back({"n", 1});
      if (random_.Bernoulli(1, 3)) device.gpu = static_cast<int>(random_.Below(2));
      if (random_.Bernoulli(1, 2)) {
        device.profile = "1g.10gb";
        device.start = static_cast<int>(random_.Below(7));
      }
      if (random_.Bernoulli(1, 3)) device.shared_memory = 10;
      slice.devices.push_back(std::move(device));
    }
    if (random_.Bernoulli(1, 2))
      slice.counters = {{"m", 3 + static_cast<int64_t>(random_.Below(6))}};
    if (random_.Bernoulli(1, 4)) slice.counters.push_back({"n", 2});
    return slice;
  }

  void PutSlice() {
    TestSlice slice = RandomSlice();
    if (naive_.slices.size() < 5) {
      const SliceId id = c_.PublishSlice(FactsOf(slice));
      naive_.slices[id.value()] = std::move(slice);
      return;
    }
    const uint32_t id = RandomSliceId();
    c_.ReplaceSlice(SliceId(id), FactsOf(slice));
    naive_.slices[id] = std::move(slice);
  }

  uint32_t RandomSliceId() {
    return std::next(naive_.slices.begin(),
                     static_cast<std::ptrdiff_t>(random_.Below(naive_.slices.size())))
        ->first;
  }

  void Withdraw() {
    if (naive_.slices.empty()) return;
    const uint32_t id = RandomSliceId();
    c_.WithdrawSlice(SliceId(id));
    naive_.slices.erase(id);
  }

  void Hold() {
    const std::pair<std::string, bool> claim = {absl::StrCat("claim-", random_.Below(6)),
                                                random_.Bernoulli(1, 4)};
    if (naive_.claims.count(claim) > 0) return;
    std::vector<NaiveHold> holds;
    bool is_free = true;
    // A claim in flight is written, or the other way round.
    const auto other = naive_.claims.find({claim.first, !claim.second});
    const bool is_written = other != naive_.claims.end() && random_.Bernoulli(1, 2);
    if (is_written) holds = other->second;
    for (uint64_t i = is_written ? 0 : 1 + random_.Below(2); i-- > 0;) {
      NaiveHold hold;
      const char* const names[] = {"a", "b", "c", "d"};
      hold.device = {RandomPool(), names[random_.Below(4)]};
      const TestDevice* const device = naive_.Find(hold.device);
      hold.share = device != nullptr && device->shared_memory > 0 && random_.Bernoulli(3, 4);
      if (hold.share) hold.memory = static_cast<int64_t>(random_.Below(5));
      is_free = is_free && device != nullptr &&
                (hold.share ? !naive_.IsDedicated(hold.device) : !naive_.IsHeld(hold.device));
      holds.push_back(hold);
    }
    std::vector<HoldFacts> facts;
    for (const NaiveHold& hold : holds) {
      const auto& [pool, name] = hold.device;
      facts.push_back(hold.share ? inventory_rig::Share(pool, name, hold.memory)
                                 : inventory_rig::Alone(pool, name));
    }
    const bool fits = c_.HoldDevices(claim.first, claim.second, facts);
    ASSERT_TRUE(is_free || other != naive_.claims.end() || !fits);
    ++(fits ? fits_ : conflicts_);
    for (const NaiveHold& hold : holds) {
      if (!claim.second && !hold.share) naive_.written.insert(hold.device);
    }
    naive_.claims[claim] = std::move(holds);
  }

  void Release() {
    if (naive_.claims.empty()) return;
    const auto claim = std::next(naive_.claims.begin(),
                                 static_cast<std::ptrdiff_t>(random_.Below(naive_.claims.size())));
    c_.ReleaseDevices(claim->first.first, claim->first.second);
    for (const NaiveHold& hold : claim->second) {
      if (!claim->first.second && !hold.share) naive_.written.erase(hold.device);
    }
    naive_.claims.erase(claim);
  }

  // A pod takes an idle GPU, or gives it back.
  void MovePod() {
    if (!pods_.empty() && random_.Bernoulli(1, 2)) {
      c_.Forget(PodId(*pods_.begin()));
      pods_.erase(pods_.begin());
      return;
    }
    const NodeId node(static_cast<size_t>(random_.Below(2)));
    const size_t gpu = static_cast<size_t>(random_.Below(2));
    if (!c_.node(node).available || c_.device_milli_idle(node)[gpu] != 1000) return;
    PodShape shape;
    shape.request.gpu_count = 1;
    shape.request.gpu_milli = 1000;
    const PodId pod = c_.AddPod("pod", world_.shapes.Intern(shape), 0, SimTime());
    c_.Assume(pod, node, DeviceSet::Of(gpu));
    pods_.insert(pod.value());
  }

  void TakeOrReturnNode() {
    const NodeId node(static_cast<size_t>(random_.Below(2)));
    if (depth_ == 0 && c_.pods_on(node).empty()) c_.SetAvailable(node, !c_.node(node).available);
  }

  InventoryWorld world_{2};
  ClusterState& c_ = world_.cluster;
  NaiveInventory naive_;
  std::set<uint32_t> pods_;  // with a GPU
  Random random_;
  int depth_ = 0;  // of what-ifs
  int fits_ = 0;
  int conflicts_ = 0;
};

TEST(DeviceInventoryRandomTest, TransitionsEqualACountAnew) {
  int fits = 0;
  int conflicts = 0;
  for (uint64_t seed = 1; seed <= SoakSeeds(10); ++seed) {
    InventoryRun run(seed);
    for (int step = 0; step < 120; ++step) {
      step % 5 == 4 ? run.WhatIf(1) : run.Step();
      run.Check();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << " step " << step;
      if (step % 20 == 19) run.CheckReload();
      ASSERT_FALSE(testing::Test::HasFatalFailure()) << "seed " << seed << " step " << step;
    }
    fits += run.fits();
    conflicts += run.conflicts();
  }
  EXPECT_GT(fits, 50);
  EXPECT_GT(conflicts, 50);
}

}  // namespace
}  // namespace drasim
