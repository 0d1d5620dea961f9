// Many random calls of NVIDIA's classic driver, with every placement rule, against an oracle that
// tries every way to serve the claims of a pod.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/cluster_state.h"
#include "model/device_set.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/mig_table.h"
#include "model/random.h"
#include "model/state_io.h"
#include "policies/devices/mig_rules.h"
#include "policies/devices/node_device_driver.h"
#include "policies/devices/node_devices.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/claim_driver_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace nvidia_driver_random_test {

// One claim as the test wants it.
struct Wish {
  Uid uid = 0;
  int count = 0;       // whole GPUs; 0: an instance
  DeviceSet eligible;  // of whole GPUs
  std::string profile;
  Uid tie = 0;  // claim of which it takes GPUs
};

// What one claim was given, by what the driver said.
struct Piece {
  size_t gpu;
  bool whole;
  bool inside;
  uint16_t units;  // of an instance
  std::string profile;
};

// Tries everything. A GPU holds instances that do not overlap, and no more of a profile than its
// product allows.
class Oracle {
 public:
  Oracle(const MigTable& table, size_t gpus) : table_(table), gpus_(gpus) {}

  void Take(const Piece& piece, Uid by) {
    if (piece.whole) {
      gpus_[piece.gpu].whole = by;
    } else {
      gpus_[piece.gpu].units = static_cast<uint16_t>(gpus_[piece.gpu].units | piece.units);
      gpus_[piece.gpu].loose = gpus_[piece.gpu].loose || !piece.inside;
    }
  }
  bool Fits(const std::vector<Wish>& wishes) {
    std::vector<Wish> order;
    for (const bool tied : {false, true}) {
      for (const Wish& wish : wishes) {
        if ((wish.tie != 0) == tied) order.push_back(wish);
      }
    }
    return FitsFrom(order, 0, 0, 0);
  }

 private:
  struct Gpu {
    Uid whole = 0;
    bool loose = false;  // instances that are not inside anything
    uint16_t units = 0;
  };
  // `given`: GPUs of the wish so far; `from`: the next GPU to look at.
  bool FitsFrom(const std::vector<Wish>& wishes, size_t i, int given, size_t from) {
    if (i == wishes.size()) return true;
    const Wish& wish = wishes[i];
    if (wish.count > 0 && given == wish.count) return FitsFrom(wishes, i + 1, 0, 0);
    for (size_t g = from; g < gpus_.size(); ++g) {
      const Gpu before = gpus_[g];
      if (wish.count > 0) {
        if (before.whole != 0 || before.units != 0 || !wish.eligible.Contains(g)) continue;
        gpus_[g].whole = wish.uid;
        if (FitsFrom(wishes, i, given + 1, g + 1)) return true;
        gpus_[g] = before;
        continue;
      }
      if (before.whole != wish.tie) continue;
      const int profile = table_.FindProfile(wish.profile);
      for (const MigPlacement& placement : table_.placements()) {
        if (placement.profile != profile || (placement.units & before.units) != 0) continue;
        gpus_[g].units = static_cast<uint16_t>(before.units | placement.units);
        if (FitsFrom(wishes, i + 1, 0, 0)) return true;
        gpus_[g] = before;
      }
    }
    return false;
  }

  const MigTable& table_;
  std::vector<Gpu> gpus_;
};

class RandomCalls {
 public:
  RandomCalls(uint64_t seed, absl::string_view placement, bool packed)
      : random_(seed, "nvidia driver test"), exact_(IsExact(placement)) {
    for (uint32_t node = 0; node < 5; ++node) {
      const bool mig = random_.Below(4) > 0;
      cluster_.Add(mig ? "A100-80GB" : "V100", static_cast<int32_t>(random_.Below(4)));
    }
    options_ = cluster_.Options("nvidia");
    options_.placement = std::string(placement);
    options_.packed = packed;
    driver_ = GpuCluster::Make(options_);
  }

  void Run() {
    for (step_ = 0; step_ < 120 && !::testing::Test::HasFailure(); ++step_) {
      switch (random_.Below(6)) {
        case 0:
        case 1:
        case 2:
          ProbeAndAllocate();
          break;
        case 3:
        case 4:
          Deallocate();
          break;
        default:
          random_.Below(2) == 0 ? Restart() : Reload();
      }
      CheckExclusive();
    }
    if (::testing::Test::HasFailure()) ADD_FAILURE() << absl::StrJoin(log_, "\n");
  }

 private:
  // Rules that do not place everything that geometry allows.
  static bool IsExact(absl::string_view placement) {
    return placement != "nos" && placement != "parted" && placement != "parvagpu";
  }
  template <typename... Parts>
  void Log(const Parts&... parts) {
    log_.push_back(absl::StrCat(step_, ": ", parts...));
  }

  Wish RandomWish(const std::vector<Wish>& pod) {
    Wish wish;
    wish.uid = ++last_uid_;
    if (random_.Below(3) == 0) {
      wish.count = 1 + static_cast<int>(random_.Below(2));
      wish.eligible =
          random_.Below(2) == 0 ? DeviceSet::FirstN(3) : DeviceSet::FromBits(1 + random_.Below(7));
      return wish;
    }
    wish.profile = A100Base()[random_.Below(A100Base().size())];
    for (const Wish& other : pod) {
      if (other.count > 0 && random_.Below(2) == 0) wish.tie = other.uid;
    }
    return wish;
  }
  ClaimToAllocate ClaimOf(const Wish& wish) {
    Log("  claim ", wish.uid, ": ", wish.count, " of ", wish.eligible.bits(), " ", wish.profile,
        " tied to ", wish.tie);
    TestFields fields;
    if (wish.count == 0) {
      fields.emplace_back("spec.profile", wish.profile);
      if (wish.tie != 0) {
        fields.emplace_back("spec.gpuClaimName", absl::StrCat("claim-", wish.tie));
      }
      return claims_.Make(wish.uid,
                          claims_.Parameters("MigDeviceClaimParameters", std::move(fields)));
    }
    if (wish.eligible != DeviceSet::FirstN(3)) {
      for (size_t g = 0; g < 3; ++g) {
        if (!wish.eligible.Contains(g)) continue;
        fields.emplace_back(absl::StrCat("spec.selector.orExpression.", fields.size(), ".index"),
                            absl::StrCat(g));
      }
    }
    fields.emplace_back("spec.count", absl::StrCat(wish.count));
    return claims_.Make(wish.uid, claims_.Parameters("GpuClaimParameters", std::move(fields)));
  }

  bool OracleFits(const std::vector<Wish>& wishes, NodeId node) {
    const ClusterState& cluster = cluster_.cluster();
    const bool mig = cluster.mig_table(node) != nullptr;
    for (const Wish& wish : wishes) {
      if (wish.count == 0 && !mig) return false;
    }
    Oracle oracle(cluster_.a100(), cluster.node(node).gpu_count);
    for (const auto& [uid, given] : given_) {
      if (given.allocation->node != node) continue;
      for (const Piece& piece : PiecesOf(uid)) oracle.Take(piece, uid);
    }
    return oracle.Fits(wishes);
  }
  std::vector<Piece> PiecesOf(Uid uid) const {
    std::vector<Piece> pieces;
    const HeldDevices* held = driver_->held(uid);
    if (held == nullptr) {
      ADD_FAILURE() << "claim " << uid << " has nothing";
      return pieces;
    }
    for (const HeldDevice& device : *held) {
      Piece piece = {device.gpu, device.use == DeviceUse::kWhole, device.use == DeviceUse::kInside,
                     0, ""};
      if (!piece.whole) piece.units = cluster_.a100().placements()[device.placement].units;
      pieces.push_back(piece);
    }
    return pieces;
  }

  void ProbeAndAllocate() {
    std::vector<Wish> wishes;
    const uint64_t count = 1 + random_.Below(4);
    while (wishes.size() < count) wishes.push_back(RandomWish(wishes));
    std::vector<ClaimToAllocate> claims;
    for (const Wish& wish : wishes) claims.push_back(ClaimOf(wish));
    std::vector<NodeId> unsuitable;
    for (const NodeId node : cluster_.nodes()) {
      if (!OracleFits(wishes, node)) unsuitable.push_back(node);
    }
    const auto found = driver_->UnsuitableNodes(claims, cluster_.nodes());
    if (exact_) {
      EXPECT_EQ(found, std::vector<std::vector<NodeId>>(claims.size(), unsuitable));
    }
    for (const NodeId node : cluster_.nodes()) {
      const bool suits = std::find(found[0].begin(), found[0].end(), node) == found[0].end();
      EXPECT_EQ(driver_->WhyUnsuitable(claims, node).empty(), suits) << node.value();
    }
    const bool anywhere = wishes.size() == 1 && random_.Below(3) == 0;
    const NodeId node = anywhere ? NodeId() : OneNode();
    Log("Allocate for ", node.value());
    const auto results = driver_->Allocate(claims, node);
    if (anywhere) {
      // Immediate, which it refuses.
      EXPECT_EQ(ResultText(results[0]), "immediate allocation is not supported");
      return;
    }
    bool all = true;
    for (size_t i = 0; i < results.size(); ++i) {
      Log("  -> ", ResultText(results[i]));
      all = all && results[i].status.ok();
      if (!results[i].status.ok()) continue;
      given_[wishes[i].uid] = {claims[i], results[i].allocation};
      EXPECT_EQ(results[i].allocation->node, node);
    }
    const bool suits = std::find(found[0].begin(), found[0].end(), node) == found[0].end();
    EXPECT_EQ(all, suits);
  }
  NodeId OneNode() {
    const auto& nodes = cluster_.nodes();
    return nodes[random_.Below(nodes.size())];
  }
  void Deallocate() {
    if (given_.empty()) return;
    auto at = given_.begin();
    std::advance(at, static_cast<int64_t>(random_.Below(given_.size())));
    Log("Deallocate ", at->first);
    EXPECT_TRUE(driver_->Deallocate(at->first).ok());
    given_.erase(at);
  }
  // As it was, by what others have of it.
  void Restart() {
    Log("Restore");
    std::vector<Ref<ResourceClaim>> written;
    for (const auto& [uid, given] : given_) {
      auto allocation = std::make_shared<Allocation>(*given.allocation);
      // Without the handle, the grants say where it is.
      const bool inside = allocation->grants.empty();
      if (random_.Below(3) == 0 && !inside) allocation->handles[0].data = "{}";
      if (random_.Below(3) == 0) allocation->node = NodeId();
      written.push_back(claims_.Allocated(given.claim, allocation));
    }
    auto other = GpuCluster::Make(options_);
    other->Restore(written);
    ExpectSame(*other);
    driver_ = std::move(other);
  }
  void Reload() {
    Log("Save and Load");
    StateWriter out;
    driver_->Save(out);
    auto other = GpuCluster::Make(options_);
    StateReader in(out.bytes());
    ASSERT_TRUE(other->Load(in).ok()) << in.status();
    EXPECT_TRUE(in.AtEnd());
    StateWriter again;
    other->Save(again);
    EXPECT_EQ(again.bytes(), out.bytes());
    ExpectSame(*other);
    driver_ = std::move(other);
  }
  void ExpectSame(const NodeDeviceDriver& other) {
    EXPECT_EQ(other.allocated_claims(), given_.size());
    for (const auto& [uid, given] : given_) {
      ASSERT_NE(other.held(uid), nullptr);
      EXPECT_TRUE(*other.held(uid) == *driver_->held(uid)) << uid;
    }
    for (const NodeId node : cluster_.nodes()) {
      NodeDevices a = *driver_->devices(node);
      NodeDevices b = *other.devices(node);
      a.kind = b.kind = nullptr;
      EXPECT_TRUE(a == b) << "node " << node.value();
    }
  }
  // No device to two claims; what the driver says again is what it said first.
  void CheckExclusive() {
    EXPECT_EQ(driver_->allocated_claims(), given_.size());
    std::map<std::pair<NodeId, size_t>, Uid> whole;
    std::map<std::pair<NodeId, size_t>, uint16_t> units;
    std::map<std::pair<NodeId, size_t>, bool> loose;
    for (auto& [uid, given] : given_) {
      const auto again = driver_->Allocate({given.claim}, OneNode());
      ASSERT_TRUE(again[0].status.ok());
      if (!(*again[0].allocation == *given.allocation)) {
        // A handle that was lost is written anew.
        EXPECT_TRUE(again[0].allocation->grants == given.allocation->grants) << uid;
        given.allocation = again[0].allocation;
      }
      for (const Piece& piece : PiecesOf(uid)) {
        const auto key = std::make_pair(given.allocation->node, piece.gpu);
        if (piece.whole) {
          EXPECT_TRUE(whole.emplace(key, uid).second) << "two have GPU " << piece.gpu;
          continue;
        }
        EXPECT_EQ(units[key] & piece.units, 0) << "claim " << uid << " overlaps another";
        units[key] = static_cast<uint16_t>(units[key] | piece.units);
        loose[key] = loose[key] || !piece.inside;
      }
    }
    for (const auto& [key, has] : loose) {
      EXPECT_FALSE(has && whole.count(key) > 0) << "GPU " << key.second << " is whole, and cut";
    }
  }

  struct Given {
    ClaimToAllocate claim;
    Ref<Allocation> allocation;
  };
  Random random_;
  bool exact_;
  GpuCluster cluster_;
  TestClaims claims_{"nvidia"};
  ClaimDriverOptions options_;
  std::unique_ptr<NodeDeviceDriver> driver_;
  std::map<Uid, Given> given_;
  Uid last_uid_ = 0;
  std::vector<std::string> log_;
  int step_ = 0;
};

TEST(NvidiaDriverRandomTest, RandomCallsAgainstTheOracle) {
  std::vector<std::string> placements = {""};
  for (const MigRuleInfo& info : MigRuleInfos()) {
    placements.push_back(std::string(absl::string_view(info.name).substr(4)));
  }
  for (uint64_t seed = 0; seed < SoakSeeds(32) && !HasFailure(); ++seed) {
    const std::string& placement = placements[seed % placements.size()];
    SCOPED_TRACE(absl::StrCat("seed ", seed, " placement ", placement));
    RandomCalls(seed, placement, seed % 3 == 0).Run();
  }
}

}  // namespace nvidia_driver_random_test
}  // namespace drasim
