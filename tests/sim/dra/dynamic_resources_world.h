// A component rig with the scheduler's plugin DynamicResources as its only client.
#ifndef DRASIM_TESTS_SIM_DRA_DYNAMIC_RESOURCES_WORLD_H_
#define DRASIM_TESTS_SIM_DRA_DYNAMIC_RESOURCES_WORLD_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/time.h"
#include "sim/dra/api_network.h"
#include "sim/dra/api_types.h"
#include "sim/dra/dra_release.h"
#include "sim/dra/dynamic_resources.h"
#include "tests/sim/dra/component_rig.h"

namespace drasim::dynamic_resources_testing {

using Plugin = DynamicResources;
using Code = Plugin::Code;
using Reason = Plugin::Reason;
using Hint = Plugin::Hint;
using Status = Plugin::Status;
using component_testing::MetaText;
using component_testing::Objects;

inline constexpr NodeId kWorker{uint32_t{7}};

inline std::string NodesText(const std::vector<NodeId>& nodes) {
  return absl::StrCat(
      "[",
      absl::StrJoin(nodes, " ",
                    [](std::string* out, NodeId node) { absl::StrAppend(out, node.value()); }),
      "]");
}

inline std::string NodeSetText(const NodeSet& set) {
  if (set.everywhere()) return "everywhere";
  return NodesText(std::vector<NodeId>(set.nodes().begin(), set.nodes().end()));
}

inline std::string ObjectsText(const Objects& objects) {
  std::string text;
  for (const ResourceClaim& claim : objects.claims) {
    absl::StrAppend(&text, "  claim ", MetaText(claim.meta), " class ",
                    claim.spec.class_name.text(),
                    claim.spec.mode == AllocationMode::kImmediate ? " Immediate" : "");
    const ClaimStatus& status = claim.status;
    if (status.allocation != nullptr) {
      absl::StrAppend(&text, " allocated on ", NodeSetText(status.allocation->available_on));
    }
    for (const Consumer& consumer : status.reserved_for) {
      absl::StrAppend(&text, " for ", consumer.resource.text(), "/", consumer.name.text(), "(",
                      consumer.uid, ")");
    }
    for (const auto& label : claim.labels) absl::StrAppend(&text, " ", label.first);
    absl::StrAppend(&text, status.deallocation_requested ? " deallocate\n" : "\n");
  }
  for (const PodSchedulingContext& context : objects.contexts) {
    absl::StrAppend(&text, "  context ", MetaText(context.meta), " potential ",
                    NodesText(context.potential));
    if (context.selected.valid()) absl::StrAppend(&text, " selected ", context.selected.value());
    for (const auto& claim : context.claims) {
      absl::StrAppend(&text, " ", claim.entry.text(), " not ", NodesText(claim.unsuitable));
    }
    text += "\n";
  }
  return text;
}

inline std::string StatusDump(const Status& status) {
  return absl::StrCat("code ", static_cast<int>(status.code), " reason ",
                      static_cast<int>(status.reason), " (", StatusText(status), ") object '",
                      status.object.text(), "'");
}

struct WorldOptions {
  DraBehaviour behaviour;
  // Seconds; 0: none.
  double read = 0;
  double write = 0;
  double watch = 0;
  uint64_t seed = 1;
};

inline WorldOptions OfRelease(DraRelease release) {
  WorldOptions options;
  options.behaviour.release = release;
  return options;
}

class World : public component_testing::ComponentRig, public Actor {
 public:
  explicit World(const WorldOptions& options) : ComponentRig(options.seed), options_(options) {}

  // The plugin's cache starts with what is there now.
  void Start() {
    client_ = network().Connect(component_testing::ClientWith("scheduler", kWatchAll, options_.read,
                                                              options_.write, options_.watch),
                                this);
    plugin_ = std::make_unique<Plugin>(client_, options_.behaviour, options_.seed);
    cycle.token = 77;
  }

  Name N(absl::string_view text) { return In(text); }
  Plugin& plugin() { return *plugin_; }
  ApiClient& client() { return *client_; }
  const DraBehaviour& behaviour() const { return options_.behaviour; }

  void Delete(ObjectKind kind, absl::string_view name) {
    ComponentRig::Delete(kind, N("default"), N(name));
  }
  // With its status: created, then given one.
  Ref<ResourceClaim> AddClaim(const ResourceClaim& claim) {
    ResourceClaim empty = claim;
    empty.status = ClaimStatus();
    Ref<ResourceClaim> added = Send(Verb::kCreate, empty);
    if (!(claim.status == ClaimStatus())) {
      ResourceClaim full = *added;
      full.status = claim.status;
      full.status.deallocation_requested = false;
      added = Send(Verb::kUpdateStatus, full);
    }
    if (claim.status.deallocation_requested) {
      ResourceClaim full = *added;
      full.status.deallocation_requested = true;
      added = Send(Verb::kUpdateStatus, full);
    }
    return added;
  }
  Ref<PodSchedulingContext> AddContext(const PodSchedulingContext& context) {
    PodSchedulingContext empty = context;
    empty.claims.clear();
    const Ref<PodSchedulingContext> added = Send(Verb::kCreate, empty);
    if (context.claims.empty()) return added;
    PodSchedulingContext full = *added;
    full.claims = context.claims;
    return Send(Verb::kUpdateStatus, full);
  }
  Ref<ResourceClass> AddClass(absl::string_view name, const NodeSet& nodes = NodeSet()) {
    ResourceClass made;
    made.meta.name = N(name);
    made.driver = N("some-driver");
    made.suitable_nodes = nodes;
    return Send(Verb::kCreate, made);
  }
  // A pod with a named claim per entry, "my-resource" = "my-pod-my-resource".
  Pod PodWith(absl::string_view name, const std::vector<std::string>& entries) {
    Pod made;
    made.meta.ns = N("default");
    made.meta.name = N(name);
    for (const std::string& entry : entries) {
      PodClaim claim;
      claim.entry = N(entry);
      claim.claim = N(absl::StrCat("my-pod-", entry));
      made.claims.push_back(claim);
    }
    return made;
  }
  Ref<Pod> AddPod(const Pod& made) {
    Pod empty = made;
    empty.claim_names.clear();
    Ref<Pod> added = Send(Verb::kCreate, empty);
    if (!made.claim_names.empty()) {
      Pod full = *added;
      full.claim_names = made.claim_names;
      added = Send(Verb::kUpdateStatus, full);
    }
    return added;
  }
  ResourceClaim ClaimOf(absl::string_view entry, AllocationMode mode, Uid owner) {
    ResourceClaim claim;
    claim.meta.ns = N("default");
    claim.meta.name = N(absl::StrCat("my-pod-", entry));
    claim.meta.owner = owner;
    claim.spec.class_name = N("my-resource-class");
    claim.spec.mode = mode;
    return claim;
  }
  void Allocate(const NodeSet& nodes, bool shareable, ResourceClaim* claim) {
    auto allocation = std::make_shared<Allocation>();
    allocation->available_on = nodes;
    allocation->shareable = shareable;
    claim->status.driver = N("some-driver");
    claim->status.allocation = std::move(allocation);
  }
  Consumer ConsumerOf(const Pod& of) { return {N("pods"), of.meta.name, of.meta.uid}; }
  PodSchedulingContext ContextOf(const Pod& of) {
    PodSchedulingContext context;
    context.meta.ns = of.meta.ns;
    context.meta.name = of.meta.name;
    context.meta.owner = of.meta.uid;
    return context;
  }

  // What is due now: with no watch latency the cache is then as the server.
  void Settle() { network().RunUntil(network().now()); }
  // Everything under way arrives.
  void Rest() { EXPECT_TRUE(network().RunToRest(network().now() + SimDuration::Seconds(1000))); }
  // The result of a step, waited for if it has to wait.
  Status Await(Status status) {
    waited_ = status.code == Code::kWaiting;
    last_ = status;
    while (last_.code == Code::kWaiting &&
           network().Step(network().now() + SimDuration::Seconds(1000))) {
    }
    EXPECT_NE(last_.code, Code::kWaiting) << "no reply came";
    return last_;
  }
  // Whether the step awaited last had to wait at all.
  bool waited() const { return waited_; }

  // Without the uids of contexts.
  Objects Snapshot() const {
    Objects found = ComponentRig::Snapshot();
    for (PodSchedulingContext& context : found.contexts) context.meta.uid = 0;
    return found;
  }
  const ResourceClaim& ClaimNow(absl::string_view name) {
    return *network().server().objects().claim(N("default"), N(name));
  }
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t token, const ApiReply& reply) override {
    EXPECT_EQ(token, cycle.token);
    last_ = plugin_->Resume(&cycle, reply);
  }
  void OnTimer(uint64_t) override { ADD_FAILURE() << "the plugin arms no timers"; }

  Plugin::Cycle cycle;
  Ref<Pod> pod;  // the one that the test is about

 private:
  WorldOptions options_;
  ApiClient* client_ = nullptr;
  std::unique_ptr<Plugin> plugin_;
  Status last_;
  bool waited_ = false;
};

// What a point of the plugin is to do: its result, what becomes of the objects, its calls.
struct Want {
  Status status;
  std::function<void(Objects*)> change;
  std::vector<std::string> calls;
};

// Compares after a step; `before` is what Snapshot() was before it.
inline void Verify(World& world, absl::string_view step, const Status& status,
                   const Objects& before, const Want& want) {
  Objects wanted = before;
  if (want.change) want.change(&wanted);
  const Objects now = world.Snapshot();
  const std::vector<std::string> calls = world.TakeMessages();
  EXPECT_TRUE(status == want.status)
      << step << " returned " << StatusDump(status) << "\nnot " << StatusDump(want.status);
  EXPECT_TRUE(now == wanted) << step << " left\n"
                             << ObjectsText(now) << "not\n"
                             << ObjectsText(wanted);
  EXPECT_EQ(calls, want.calls) << step << " called\n  " << absl::StrJoin(calls, "\n  ");
}

}  // namespace drasim::dynamic_resources_testing

#endif  // DRASIM_TESTS_SIM_DRA_DYNAMIC_RESOURCES_WORLD_H_
