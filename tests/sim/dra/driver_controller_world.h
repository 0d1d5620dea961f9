// A component rig with a driver that follows a script, and the DriverController around it.
#ifndef DRASIM_TESTS_SIM_DRA_DRIVER_CONTROLLER_WORLD_H_
#define DRASIM_TESTS_SIM_DRA_DRIVER_CONTROLLER_WORLD_H_

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
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/state_io.h"
#include "model/time.h"
#include "policies/framework/claim_driver.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/dra_release.h"
#include "sim/dra/driver_controller.h"
#include "tests/sim/dra/component_rig.h"

namespace drasim::driver_controller_testing {

using Outcome = DriverController::Outcome;
using Texts = std::vector<std::string>;
using component_testing::MetaText;
using component_testing::Objects;
using Nodes = std::vector<NodeId>;

inline constexpr char kDriverName[] = "mock-driver";
inline constexpr NodeId kWorker{uint32_t{4}};
inline constexpr NodeId kWorker2{uint32_t{9}};

inline std::string NodesText(absl::Span<const NodeId> nodes) {
  return absl::StrJoin(nodes, " ", [](std::string* out, NodeId node) {
    absl::StrAppend(out, node.valid() ? absl::StrCat(node.value()) : "-");
  });
}

// Allocates everything on the node, shareable or not, and finds every node suitable, unless told
// otherwise. Its calls are kept as text.
class MockDriver : public ClaimDriver {
 public:
  explicit MockDriver(std::function<SimTime()> clock) : clock_(std::move(clock)) {}

  // By name of the claim.
  std::map<std::string, absl::Status> allocate_errors;
  std::map<std::string, absl::Status> parameter_errors;
  std::map<std::string, Nodes> unsuitable;  // by entry of the pod
  absl::Status deallocate_error;
  bool gives_null = false;
  // Writes down when calls come, and parameters.
  bool verbose = false;

  absl::string_view name() const override { return kDriverName; }
  absl::Status CheckParameters(const ClaimToAllocate& claim) const override {
    const std::string text(claim.claim->meta.name.text());
    if (verbose) Note("CheckParameters ", ClaimText(claim));
    const auto found = parameter_errors.find(text);
    return found == parameter_errors.end() ? absl::OkStatus() : found->second;
  }
  std::vector<ClaimAllocation> Allocate(absl::Span<const ClaimToAllocate> claims,
                                        NodeId node) override {
    Note("Allocate ", ClaimTexts(claims), " on ", NodesText({node}));
    std::vector<ClaimAllocation> results;
    for (const ClaimToAllocate& claim : claims) {
      const auto failed = allocate_errors.find(std::string(claim.claim->meta.name.text()));
      ClaimAllocation result;
      if (failed != allocate_errors.end()) {
        result.status = failed->second;
      } else if (!gives_null) {
        result.allocation = AllocationFor(*claim.claim, node, claim.resource_class->driver);
      }
      results.push_back(std::move(result));
    }
    return results;
  }
  std::vector<std::vector<NodeId>> UnsuitableNodes(
      absl::Span<const ClaimToAllocate> claims, absl::Span<const NodeId> potential) const override {
    Note("UnsuitableNodes ", ClaimTexts(claims), " of ", NodesText(potential));
    std::vector<std::vector<NodeId>> lists;
    for (const ClaimToAllocate& claim : claims) {
      const auto found = unsuitable.find(std::string(claim.entry.text()));
      lists.push_back(found == unsuitable.end() ? Nodes() : found->second);
    }
    return lists;
  }
  absl::Status Deallocate(Uid claim) override {
    Note("Deallocate ", claim);
    return deallocate_error;
  }
  void Restore(absl::Span<const Ref<ResourceClaim>> allocated) override {
    restored_ = absl::StrJoin(allocated, " ", [](std::string* out, const Ref<ResourceClaim>& it) {
      absl::StrAppend(out, it->meta.name.text());
    });
  }
  void Save(StateWriter&) const override {}
  absl::Status Load(StateReader& in) override { return in.status(); }

  static Ref<Allocation> AllocationFor(const ResourceClaim& claim, NodeId node, Name driver) {
    auto allocation = std::make_shared<Allocation>();
    allocation->handles.push_back({driver, absl::StrCat("for ", claim.meta.uid)});
    if (node.valid()) allocation->available_on = NodeSet::Of({node});
    allocation->node = node;
    return allocation;
  }
  Texts TakeCalls() { return std::exchange(calls_, {}); }
  const std::string& restored() const { return restored_; }

 private:
  template <typename... Parts>
  void Note(const Parts&... parts) const {
    const std::string when = verbose ? absl::StrCat(clock_().ns() / 1'000'000, " ms: ") : "";
    calls_.push_back(absl::StrCat(when, parts...));
  }
  std::string ClaimText(const ClaimToAllocate& claim) const {
    std::string text(claim.claim->meta.name.text());
    if (!claim.entry.empty()) absl::StrAppend(&text, "=", claim.entry.text());
    if (claim.class_parameters != nullptr) {
      absl::StrAppend(&text, " class:", claim.class_parameters->meta.name.text());
    }
    if (claim.claim_parameters != nullptr) {
      absl::StrAppend(&text, " claim:", claim.claim_parameters->meta.name.text());
    }
    return text;
  }
  std::string ClaimTexts(absl::Span<const ClaimToAllocate> claims) const {
    return absl::StrJoin(claims, ",", [this](std::string* out, const ClaimToAllocate& claim) {
      absl::StrAppend(out, ClaimText(claim));
    });
  }

  std::function<SimTime()> clock_;
  mutable Texts calls_;
  std::string restored_;
};

inline std::string ObjectsText(const Objects& objects) {
  std::string text;
  for (const ResourceClaim& claim : objects.claims) {
    const ClaimStatus& status = claim.status;
    absl::StrAppend(&text, "  claim ", MetaText(claim.meta));
    if (status.allocation != nullptr) {
      const Allocation& given = *status.allocation;
      absl::StrAppend(
          &text, " by ", status.driver.text(), " on ",
          given.available_on.everywhere() ? "every node" : NodesText(given.available_on.nodes()));
      for (const auto& handle : given.handles) absl::StrAppend(&text, " {", handle.data, "}");
    }
    for (const Consumer& consumer : status.reserved_for) {
      absl::StrAppend(&text, " for ", consumer.resource.text(), "/", consumer.name.text(), "(",
                      consumer.uid, ")");
    }
    absl::StrAppend(&text, status.deallocation_requested ? " deallocate\n" : "\n");
  }
  for (const PodSchedulingContext& context : objects.contexts) {
    absl::StrAppend(&text, "  context ", MetaText(context.meta), " potential [",
                    NodesText(context.potential), "] selected ", NodesText({context.selected}));
    for (const auto& claim : context.claims) {
      absl::StrAppend(&text, " ", claim.entry.text(), " not [", NodesText(claim.unsuitable), "]");
    }
    text += "\n";
  }
  return text;
}

struct WorldOptions {
  DriverControllerOptions controller;
  // Seconds; 0: none.
  double read = 0;
  double write = 0;
  double watch = 0;
};

class World : public component_testing::ComponentRig {
 public:
  explicit World(const WorldOptions& options = WorldOptions())
      : driver([this] { return network().now(); }),
        options_(options),
        controller_(&driver, options.controller) {}

  // The controller's cache starts with what is there now; all of it is synced at once as far as no
  // call takes time. Nothing else happens until the network runs.
  void Connect() {
    client_ = network().Connect(
        component_testing::ClientWith("driver", DriverController::kWatches, options_.read,
                                      options_.write, options_.watch),
        &controller_);
  }
  void Start() {
    if (client_ == nullptr) Connect();
    controller_.Start(client_);
  }
  DriverController& controller() { return controller_; }
  ApiClient& client() { return *client_; }
  Name N(absl::string_view text) { return In(text); }
  void RunTo(int64_t ms) { network().RunUntil(SimTime(ms * 1'000'000)); }

  template <typename T>
  Ref<T> Change(Verb verb, const T& object, const std::function<void(T*)>& change) {
    T next = *network().server().objects().of<T>().Find(object.meta.uid);
    change(&next);
    return Send(verb, next);
  }
  Ref<ResourceClaim> ChangeStatus(const ResourceClaim& claim,
                                  const std::function<void(ClaimStatus*)>& change) {
    return Change<ResourceClaim>(Verb::kUpdateStatus, claim,
                                 [&](ResourceClaim* next) { change(&next->status); });
  }
  template <typename T>
  void Delete(const T& object, bool force = false) {
    ComponentRig::Delete(KindOf(ObjectRef(Ref<T>())), object.meta.ns, object.meta.name, force);
  }
  // With its status: created, then given one.
  Ref<ResourceClaim> AddClaim(const ResourceClaim& claim) {
    ResourceClaim bare = claim;
    bare.status = ClaimStatus();
    const Ref<ResourceClaim> added = Send(Verb::kCreate, bare);
    if (claim.status == ClaimStatus()) return added;
    const auto set = [&](bool request) {
      return ChangeStatus(*added, [&](ClaimStatus* status) {
        *status = claim.status;
        // The handle names the claim by its uid.
        if (status->allocation != nullptr) {
          status->allocation =
              MockDriver::AllocationFor(*added, claim.status.allocation->node, claim.status.driver);
        }
        status->deallocation_requested = request;
      });
    };
    const Ref<ResourceClaim> full = set(false);
    return claim.status.deallocation_requested ? set(true) : full;
  }
  Ref<ResourceClass> AddClass(absl::string_view name, absl::string_view driver_name) {
    ResourceClass made;
    made.meta.name = N(name);
    made.driver = N(driver_name);
    return Send(Verb::kCreate, made);
  }
  Ref<Pod> AddPod(const std::vector<std::pair<std::string, std::string>>& entries,
                  absl::string_view name = "pod") {
    Pod made;
    made.meta.ns = N("default");
    made.meta.name = N(name);
    for (const auto& [entry, claim] : entries) {
      PodClaim source;
      source.entry = N(entry);
      source.claim = N(claim);
      made.claims.push_back(source);
    }
    return Send(Verb::kCreate, made);
  }
  Ref<PodSchedulingContext> AddContext(const Pod& pod, const Nodes& potential, NodeId selected) {
    PodSchedulingContext made;
    made.meta.ns = pod.meta.ns;
    made.meta.name = pod.meta.name;
    made.meta.owner = pod.meta.uid;
    made.potential = potential;
    made.selected = selected;
    return Send(Verb::kCreate, made);
  }
  ResourceClaim ClaimOf(absl::string_view name, absl::string_view class_name = "mock-class",
                        AllocationMode mode = AllocationMode::kWaitForFirstConsumer) {
    ResourceClaim claim;
    claim.meta.ns = N("default");
    claim.meta.name = N(name);
    claim.spec.class_name = N(class_name);
    claim.spec.mode = mode;
    return claim;
  }
  Name Finalizer() { return N("mock-driver/deletion-protection"); }

  // As the driver and its controller leave an allocated claim.
  void Allocated(NodeId node, ResourceClaim* claim) {
    if (claim->meta.finalizers.empty()) claim->meta.finalizers.push_back(Finalizer());
    claim->status.driver = N(kDriverName);
    claim->status.allocation = MockDriver::AllocationFor(*claim, node, N(kDriverName));
  }
  void Reserved(const Pod& pod, ResourceClaim* claim) {
    claim->status.reserved_for.push_back({N("pods"), pod.meta.name, pod.meta.uid});
  }

  // "done 1, requeue 0, periodic 0, failed 1".
  std::string Outcomes() const {
    return absl::StrCat("done ", controller_.outcomes(Outcome::kDone), ", requeue ",
                        controller_.outcomes(Outcome::kRequeue), ", periodic ",
                        controller_.outcomes(Outcome::kPeriodic), ", failed ",
                        controller_.outcomes(Outcome::kFailed));
  }

  MockDriver driver;

 private:
  WorldOptions options_;
  DriverController controller_;
  ApiClient* client_ = nullptr;
};

// What is to have happened: to the objects, and who was called.
struct Want {
  std::function<void(World&, Objects*)> change;  // of what was there before
  Texts driver_calls;
  Texts messages;
  std::string outcomes;
  std::string error;
};

inline void Verify(World& world, const Objects& before, const Want& want) {
  Objects wanted = before;
  if (want.change) want.change(world, &wanted);
  const Objects now = world.Snapshot();
  EXPECT_TRUE(now == wanted) << "left\n" << ObjectsText(now) << "not\n" << ObjectsText(wanted);
  const Texts calls = world.driver.TakeCalls();
  EXPECT_EQ(calls, want.driver_calls) << "asked the driver\n  " << absl::StrJoin(calls, "\n  ");
  const Texts messages = world.TakeMessages();
  EXPECT_EQ(messages, want.messages) << "sent\n  " << absl::StrJoin(messages, "\n  ");
  EXPECT_EQ(world.Outcomes(), want.outcomes);
  EXPECT_EQ(world.controller().last_result().error, want.error);
}

}  // namespace drasim::driver_controller_testing

#endif  // DRASIM_TESTS_SIM_DRA_DRIVER_CONTROLLER_WORLD_H_
