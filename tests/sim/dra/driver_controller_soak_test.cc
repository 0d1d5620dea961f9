// A soak of a driver's controller with a driver that counts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/time.h"
#include "policies/devices/counting_driver.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/driver_controller.h"
#include "tests/sim/dra/component_rig.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace driver_controller_soak_test {

// --- A soak. ---

constexpr AllocationMode kImmediate = AllocationMode::kImmediate;

// Claims, pods and contexts come and go; the test is user, scheduler and claim controller. Devices
// are never given twice, and in the end all are back.
class Soak {
 public:
  explicit Soak(uint64_t seed, bool strict)
      : random_(seed, "driver controller soak"),
        network_(&names_, seed),
        driver_(Units()),
        controller_(&driver_, Controller(seed, strict)) {
    network_.set_on_message([this](const ApiMessage& message) {
      Log(CallText(message.verb, message.kind), " ", message.name.text(), " ",
          static_cast<int>(message.code));
      committed_ = true;
    });
    ResourceClass resource_class;
    resource_class.meta.name = names_.Intern("class");
    resource_class.driver = names_.Intern(driver_.name());
    Send(Verb::kCreate, resource_class);
    ClientOptions client;
    client.name = "driver";
    client.watches = DriverController::kWatches;
    client.qps = 50;
    client.burst = 10;
    client.read_latency = Distribution::Uniform(0, 0.02).value();
    client.write_latency = Distribution::Uniform(0, 0.05).value();
    client.watch_latency = Distribution::Uniform(0, 0.2).value();
    client_ = network_.Connect(client, &controller_);
    controller_.Start(client_);
  }

  void Run() {
    for (int step = 0; step < 300 && !::testing::Test::HasFailure(); ++step) {
      Act();
      Advance(SimDuration::Millis(static_cast<int64_t>(random_.Below(300))));
    }
    for (const auto& context : All<PodSchedulingContext>()) Delete(*context);
    for (int round = 0; round < 100 && !All<ResourceClaim>().empty(); ++round) {
      for (const auto& claim : All<ResourceClaim>()) {
        if (!claim->meta.deleting) Delete(*claim);
      }
      for (const auto& claim : All<ResourceClaim>()) Release(*claim);
      Advance(SimDuration::Seconds(20));
    }
    EXPECT_EQ(All<ResourceClaim>().size(), 0u);
    EXPECT_TRUE(network_.RunToRest(network_.now() + SimDuration::Seconds(2000)));
    EXPECT_TRUE(controller_.idle());
    EXPECT_EQ(driver_.allocated_claims(), 0u);
    EXPECT_GT(controller_.outcomes(DriverController::Outcome::kDone), 0u);
    EXPECT_GT(allocations_, 0);
    if (::testing::Test::HasFailure()) ADD_FAILURE() << absl::StrJoin(log_, "\n");
  }

 private:
  static CountingDriverOptions Units() {
    CountingDriverOptions options;
    for (uint32_t node = 0; node < 4; ++node) options.units.emplace_back(NodeId(node), 2);
    return options;
  }
  static DriverControllerOptions Controller(uint64_t seed, bool strict) {
    DriverControllerOptions options;
    options.behaviour.strict_upstream = strict;
    options.workers = 3;
    options.seed = seed;
    options.recheck = SimDuration::Seconds(2);
    options.decision_latency = Distribution::Uniform(0, 0.3).value();
    return options;
  }
  template <typename... Parts>
  void Log(const Parts&... parts) {
    log_.push_back(absl::StrCat(network_.now().ns() / 1'000'000, " ms: ", parts...));
  }
  template <typename T>
  std::vector<Ref<T>> All() const {
    return network_.server().objects().of<T>().Sorted();
  }
  ApiReply Request(const ApiRequest& request) {
    const ApiReply reply = network_.server().Handle(request);
    Log("test: ", CallText(request.verb, request.kind), " ", reply.message);
    return reply;
  }
  template <typename T>
  Ref<T> Send(Verb verb, const T& object) {
    ApiRequest request;
    request.verb = verb;
    request.object = ObjectRef(Ref<T>(std::make_shared<const T>(object)));
    request.kind = KindOf(request.object);
    return As<T>(Request(request).object);
  }
  template <typename T>
  void Delete(const T& object) {
    ApiRequest request;
    request.verb = Verb::kDelete;
    request.kind = KindOf(ObjectRef(Ref<T>()));
    request.ns = object.meta.ns;
    request.name = object.meta.name;
    Request(request);
  }
  Name Fresh(absl::string_view prefix) { return names_.Intern(absl::StrCat(prefix, next_name_++)); }

  void Act() {
    switch (random_.Below(8)) {
      case 0:
      case 1:
        Create();
        return;
      case 2:
      case 3: {
        const auto contexts = All<PodSchedulingContext>();
        if (contexts.empty()) return;
        PodSchedulingContext next = *contexts[random_.Below(contexts.size())];
        next.selected = NodeId(static_cast<uint32_t>(random_.Below(4)));
        Send(Verb::kUpdate, next);
        return;
      }
      case 4: {
        const auto contexts = All<PodSchedulingContext>();
        if (!contexts.empty()) Delete(*contexts[random_.Below(contexts.size())]);
        return;
      }
      case 5: {
        const auto claims = All<ResourceClaim>();
        if (!claims.empty()) Delete(*claims[random_.Below(claims.size())]);
        return;
      }
      case 6: {
        const auto claims = All<ResourceClaim>();
        if (!claims.empty()) Release(*claims[random_.Below(claims.size())]);
        return;
      }
      default:
        // Long enough for its calls to be committed: what it lists is then all that there is.
        if (random_.Below(4) == 0) {
          Log("test: restart");
          network_.Restart(client_->id(), SimDuration::Millis(500));
        }
    }
  }
  // A pod with one or two claims, of which one may be another pod's.
  void Create() {
    Pod pod;
    pod.meta.ns = names_.Intern("default");
    pod.meta.name = Fresh("pod-");
    const auto known = All<ResourceClaim>();
    const uint64_t count = 1 + random_.Below(2);
    for (uint64_t i = 0; i < count; ++i) {
      PodClaim entry;
      entry.entry = names_.Intern(absl::StrCat("entry-", i));
      if (i == 1 && !known.empty() && random_.Below(3) == 0) {
        entry.claim = known[random_.Below(known.size())]->meta.name;
      } else {
        ResourceClaim claim;
        claim.meta.ns = pod.meta.ns;
        claim.meta.name = Fresh("claim-");
        claim.spec.class_name = names_.Intern("class");
        if (random_.Below(4) == 0) claim.spec.mode = kImmediate;
        entry.claim = Send(Verb::kCreate, claim)->meta.name;
      }
      pod.claims.push_back(entry);
    }
    const Ref<Pod> made = Send(Verb::kCreate, pod);
    PodSchedulingContext context;
    context.meta.ns = made->meta.ns;
    context.meta.name = made->meta.name;
    context.meta.owner = made->meta.uid;
    for (uint32_t node = 0; node < 4; ++node) context.potential.push_back(NodeId(node));
    if (random_.Below(2) == 0) context.selected = NodeId(static_cast<uint32_t>(random_.Below(4)));
    Send(Verb::kCreate, context);
  }
  // As the claim controller when the last pod has ended.
  void Release(const ResourceClaim& claim) {
    ResourceClaim next = claim;
    next.status.reserved_for.clear();
    next.status.deallocation_requested =
        next.status.allocation != nullptr && next.spec.mode != kImmediate;
    Send(Verb::kUpdateStatus, next);
  }
  void Advance(SimDuration time) {
    const SimTime until = network_.now() + time;
    while (network_.Step(until)) {
      if (std::exchange(committed_, false)) Check();
    }
    network_.RunUntil(until);
  }
  // Claims that are not to be given back fit in what there is.
  void Check() {
    absl::btree_map<NodeId, int64_t> used;
    int64_t allocations = 0;
    for (const auto& claim : All<ResourceClaim>()) {
      const ClaimStatus& status = claim->status;
      const bool released =
          status.reserved_for.empty() && (claim->meta.deleting || status.deallocation_requested);
      if (status.allocation == nullptr) continue;
      ++allocations;
      if (!released && ++used[status.allocation->node] > 2) {
        ADD_FAILURE() << "node " << status.allocation->node.value() << " is given twice";
      }
    }
    allocations_ = std::max(allocations_, allocations);
  }

  Random random_;
  NamePool names_;
  ApiNetwork network_;
  CountingDriver driver_;
  DriverController controller_;
  ApiClient* client_ = nullptr;
  std::vector<std::string> log_;
  int next_name_ = 0;
  int64_t allocations_ = 0;
  bool committed_ = false;  // something was, since the last check
};

TEST(DriverControllerSoakTest, DevicesAreNeverGivenTwiceAndAllComeBack) {
  for (uint64_t seed = 0; seed < SoakSeeds(5) && !HasFailure(); ++seed) {
    for (const bool strict : {false, true}) {
      SCOPED_TRACE(absl::StrCat("seed ", seed, strict ? " strict" : ""));
      Soak(seed, strict).Run();
      if (HasFailure()) break;
    }
  }
}

}  // namespace driver_controller_soak_test
}  // namespace drasim
