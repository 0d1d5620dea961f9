// DeviceBinder alone, beside an API server: which conditions it sets, and when.
#include "sim/dra/structured/device_binder.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/proto/resource.pb.h"
#include "model/state_io.h"
#include "sim/dra/api/plane_archive.h"

namespace drasim {
namespace device_binder_test {

namespace kube = ::drasim::proto::kube;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

SimTime At(int64_t seconds) { return SimTime() + SimDuration::Seconds(seconds); }

class DeviceBinderTest : public ::testing::Test {
 protected:
  void Start(std::vector<BindingBehaviour> behaviours) {
    binder_ = std::make_unique<DeviceBinder>(std::move(behaviours), /*seed=*/1, ClientOptions());
    client_ = network_.Connect(binder_->connection(), binder_.get());
    binder_->Start(client_);
  }
  static BindingBehaviour Behaviour(int64_t delay, int64_t timeouts = 0, int64_t failures = 0,
                                    int64_t per_mille = 0) {
    BindingBehaviour behaviour;
    behaviour.driver = "driver";
    behaviour.nodes = {NodeId(size_t{0})};
    behaviour.delay = SimDuration::Seconds(delay);
    behaviour.timeouts = timeouts;
    behaviour.failures = failures;
    behaviour.failures_per_mille = per_mille;
    return behaviour;
  }

  Name In(absl::string_view text) { return names_.Intern(text); }
  Ref<ResourceClaim> Find(const std::string& name) {
    return network_.server().objects().claim(In("default"), In(name));
  }
  // Writes a status with these devices, of which those that begin with "b" have conditions.
  void Allocate(const std::string& name, const std::vector<std::string>& devices,
                const std::string& driver = "driver") {
    if (Find(name) == nullptr) {
      auto made = std::make_shared<ResourceClaim>();
      made->meta.ns = In("default");
      made->meta.name = In(name);
      made->spec.devices = SharedMessage<kube::DeviceClaim>(kube::DeviceClaim());
      network_.server().Handle(WriteRequest(Verb::kCreate, Ref<ResourceClaim>(std::move(made))));
    }
    auto claim = std::make_shared<ResourceClaim>(*Find(name));
    claim->status = ResourceClaimStatus();
    if (!devices.empty()) {
      kube::AllocationResultV1 result;
      result.set_allocation_timestamp(absl::StrCat(network_.now().ns()));
      for (const std::string& device : devices) {
        kube::DeviceRequestAllocationResult* const taken = result.mutable_devices()->add_results();
        taken->set_driver(driver);
        taken->set_pool("pool");
        taken->set_device(device);
        if (device[0] != 'b') continue;
        taken->add_binding_conditions("Ready");
        taken->add_binding_failure_conditions("Broken");
      }
      auto allocation = std::make_shared<Allocation>();
      allocation->node = NodeId(size_t{0});
      allocation->shareable = true;
      allocation->result = SharedMessage<kube::AllocationResultV1>(std::move(result));
      claim->status.allocation = std::move(allocation);
    }
    const ApiReply reply = network_.server().Handle(
        WriteRequest(Verb::kUpdateStatus, Ref<ResourceClaim>(std::move(claim))));
    EXPECT_TRUE(reply.ok()) << reply.message;
  }
  // "b1 Ready", by device.
  std::vector<std::string> Conditions(const std::string& name) {
    std::vector<std::string> lines;
    const Ref<ResourceClaim> claim = Find(name);
    if (!claim->status.devices) return lines;
    for (const auto& device : claim->status.devices->devices()) {
      for (const auto& condition : device.conditions()) {
        lines.push_back(absl::StrCat(device.device(), " ", condition.type()));
      }
    }
    return lines;
  }

  NamePool names_;
  ApiNetwork network_{&names_, 1};
  std::unique_ptr<DeviceBinder> binder_;
  ApiClient* client_ = nullptr;
};

TEST_F(DeviceBinderTest, SetsTheConditionsOfItsDevicesAfterTheDelay) {
  Start({Behaviour(30)});
  network_.RunUntil(At(10));
  Allocate("claim", {"a", "b1", "b2"});
  Allocate("foreign", {"b1"}, "another");
  network_.RunUntil(At(39));
  EXPECT_THAT(Conditions("claim"), IsEmpty());
  EXPECT_TRUE(binder_->IsBusy());
  network_.RunUntil(At(40));
  EXPECT_THAT(Conditions("claim"), ElementsAre("b1 Ready", "b2 Ready"));
  EXPECT_THAT(Conditions("foreign"), IsEmpty());
  EXPECT_FALSE(binder_->IsBusy());
}

TEST_F(DeviceBinderTest, TheFirstAllocationsFailOrAreNeverAnswered) {
  Start({Behaviour(5, /*timeouts=*/1, /*failures=*/1)});
  Allocate("claim", {"b1"});
  network_.RunUntil(At(10));
  EXPECT_THAT(Conditions("claim"), IsEmpty());
  Allocate("claim", {});
  Allocate("claim", {"b2"});
  network_.RunUntil(At(20));
  EXPECT_THAT(Conditions("claim"), ElementsAre("b2 Broken"));
  Allocate("claim", {});
  Allocate("claim", {"b2"});
  network_.RunUntil(At(30));
  EXPECT_THAT(Conditions("claim"), ElementsAre("b2 Ready"));
  EXPECT_EQ(binder_->Figures()[0].count, 1U);
  EXPECT_EQ(binder_->Figures()[1].count, 1U);
}

// The next allocation of the claim is answered in its own time.
TEST_F(DeviceBinderTest, ADeallocatedClaimIsLeftAlone) {
  Start({Behaviour(10)});
  Allocate("claim", {"b1"});
  network_.RunUntil(At(4));
  Allocate("claim", {});
  Allocate("claim", {"b2"});
  network_.RunUntil(At(13));
  EXPECT_THAT(Conditions("claim"), IsEmpty());
  network_.RunUntil(At(14));
  EXPECT_THAT(Conditions("claim"), ElementsAre("b2 Ready"));
}

// A new life counts no allocation twice.
TEST_F(DeviceBinderTest, ARestartBeginsAgain) {
  Start({Behaviour(10, 0, /*failures=*/1)});
  Allocate("claim", {"b1"});
  network_.RunUntil(At(4));
  network_.Restart(client_->id(), SimDuration::Seconds(20));
  network_.RunUntil(At(33));
  EXPECT_THAT(Conditions("claim"), IsEmpty());
  network_.RunUntil(At(34));
  EXPECT_THAT(Conditions("claim"), ElementsAre("b1 Broken"));
}

TEST_F(DeviceBinderTest, AShareFailsAsTheSeedSays) {
  Start({Behaviour(0, 0, 0, /*per_mille=*/300)});
  for (int i = 0; i < 200; ++i) Allocate(absl::StrCat("claim-", i), {"b1"});
  network_.RunUntil(At(1));
  const uint64_t failed = binder_->Figures()[1].count;
  EXPECT_EQ(binder_->Figures()[0].count + failed, 200U);
  EXPECT_GT(failed, 40U);
  EXPECT_LT(failed, 80U);
}

TEST_F(DeviceBinderTest, ItsStateSurvivesACheckpoint) {
  Start({Behaviour(10, 1)});
  Allocate("claim", {"b1"});
  network_.RunUntil(At(1));
  Allocate("other", {"b1"});
  Allocate("claim", {});
  Allocate("claim", {"b2"});
  network_.RunUntil(At(4));
  const auto bytes_of = [](const DeviceBinder& binder) {
    StateWriter out;
    PlaneWriter archive(&out);
    binder.Save(archive);
    return out.Release();
  };
  const std::string bytes = bytes_of(*binder_);
  DeviceBinder loaded({Behaviour(10, 1)}, 1, ClientOptions());
  StateReader in(bytes);
  PlaneReader archive(&in, &names_);
  loaded.Load(archive);
  EXPECT_EQ(in.status(), absl::OkStatus());
  EXPECT_TRUE(in.AtEnd());
  EXPECT_EQ(bytes_of(loaded), bytes);
}

}  // namespace device_binder_test
}  // namespace drasim
