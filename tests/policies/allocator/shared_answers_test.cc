// Nodes in the same state share answers: what makes a state, and that sharing changes no answer.

#include "policies/allocator/shared_answers.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/device_inventory.h"
#include "model/hash.h"
#include "model/kube/slice_facts_of.h"
#include "model/random.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/device_use.h"
#include "policies/allocator/held_devices.h"
#include "policies/allocator/node_outcomes.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/plan_cache.h"
#include "policies/allocator/structured_allocator.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::DeviceClaim;
using proto::kube::DeviceClass;
using proto::kube::Node;
using proto::kube::ResourceClaimV1;
using proto::kube::ResourceSlice;

// Expressions are numbers. A verdict follows from the expression and the row alone.
class CountedVerdicts final : public SelectorVerdicts {
 public:
  explicit CountedVerdicts(uint64_t errors) : errors_(errors) {}

  int Selector(absl::string_view expression) override {
    int number = 0;
    EXPECT_TRUE(absl::SimpleAtoi(expression, &number));
    return number;
  }
  const std::string& CompileError(int) override { return none_; }
  SelectorVerdict Evaluate(int selector, DeviceRow row) override {
    ++evaluations_;
    if (selector == 0) return SelectorVerdict::kYes;
    const uint64_t dice = MixWord(static_cast<uint64_t>(selector), row.value()) % 100;
    if (dice < errors_) return SelectorVerdict::kError;
    return dice < 75 ? SelectorVerdict::kYes : SelectorVerdict::kNo;
  }
  std::string ErrorText(int selector, DeviceRow row) override {
    return absl::StrCat("error of ", selector, " at ", row.value());
  }
  absl::StatusOr<DeviceValue> Derive(absl::string_view, DeviceRow) override {
    return absl::InvalidArgumentError("nothing derives");
  }
  int64_t evaluations() const { return evaluations_; }

 private:
  uint64_t errors_;  // percent
  std::string none_;
  int64_t evaluations_ = 0;
};

// A cluster that can be changed by a test before it is published.
struct SharingWorld {
  std::vector<ResourceSlice> slices;
  std::vector<DeviceClass> classes;
  std::vector<ResourceClaimV1> claims;
  std::vector<Node> nodes;

  ResourceSlice& AddSlice(const std::string& node, const std::string& pool) {
    slices.emplace_back();
    ResourceSlice& slice = slices.back();
    slice.mutable_metadata()->set_name(absl::StrCat("slice-", slices.size(), "-", pool));
    slice.mutable_spec()->set_driver("driver");
    if (node.empty()) {
      slice.mutable_spec()->set_all_nodes(true);
    } else {
      slice.mutable_spec()->set_node_name(node);
    }
    slice.mutable_spec()->mutable_pool()->set_name(pool);
    slice.mutable_spec()->mutable_pool()->set_resource_slice_count(1);
    return slice;
  }
  void AddNode(const std::string& name) {
    nodes.emplace_back();
    nodes.back().mutable_metadata()->set_name(name);
  }
  void AddClass(int selector) {
    classes.emplace_back();
    classes.back().mutable_metadata()->set_name(absl::StrCat("class-", selector));
    classes.back().mutable_spec()->add_selectors()->mutable_cel()->set_expression(
        absl::StrCat(selector));
  }
};

void AddColoredDevice(const std::string& name, int64_t color, ResourceSlice* slice) {
  Device* device = slice->mutable_spec()->add_devices();
  device->set_name(name);
  (*device->mutable_attributes())["color"].set_int_value(color);
}

ResourceClaimV1 CountClaim(const std::string& name, int64_t count) {
  ResourceClaimV1 claim;
  claim.mutable_metadata()->set_name(name);
  auto* request = claim.mutable_spec()->mutable_devices()->add_requests();
  request->set_name("r");
  request->mutable_exactly()->set_device_class_name("class-0");
  request->mutable_exactly()->set_allocation_mode("ExactCount");
  request->mutable_exactly()->set_count(count);
  return claim;
}

template <typename Object>
std::vector<const Object*> SharingPointers(const std::vector<Object>& objects) {
  std::vector<const Object*> addresses;
  for (const Object& object : objects) addresses.push_back(&object);
  return addresses;
}

struct PublishedSharing {
  PublishedSharing(const SharingWorld& given, AllocatorOptions options, uint64_t errors = 0)
      : world(given), verdicts(std::make_shared<CountedVerdicts>(errors)) {
    auto catalog = DeviceCatalog::Make(SharingPointers(world.slices));
    EXPECT_TRUE(catalog.ok()) << catalog.status();
    pools = std::make_shared<NodePools>(options, *catalog);
    held = std::make_shared<HeldDevices>(pools);
    for (const Node& node : world.nodes) views.push_back(&pools->ViewOf(node));
  }
  std::unique_ptr<StructuredAllocator> Allocator() const {
    return StructuredAllocator::Make(held, verdicts, SharingPointers(world.classes));
  }
  // Numbers of the nodes' states, renumbered from 0 in order of their first occurrence.
  std::vector<size_t> States() const {
    std::vector<uint32_t> known;
    std::vector<size_t> states;
    held->states().Refresh();
    for (const NodeView* view : views) {
      const uint32_t state = held->states().StateOf(*view);
      size_t at = 0;
      while (at < known.size() && known[at] != state) ++at;
      if (at == known.size()) known.push_back(state);
      states.push_back(at);
    }
    return states;
  }

  const SharingWorld& world;
  std::shared_ptr<CountedVerdicts> verdicts;
  std::shared_ptr<NodePools> pools;
  std::shared_ptr<HeldDevices> held;
  std::vector<const NodeView*> views;
};

// `count` nodes of four devices, the last two of another color.
SharingWorld EqualNodesWorld(int count) {
  SharingWorld world;
  world.AddClass(0);
  for (int i = 0; i < count; ++i) {
    const std::string name = absl::StrCat("node-", i);
    world.AddNode(name);
    ResourceSlice& slice = world.AddSlice(name, absl::StrCat("pool-of-", name));
    for (int d = 0; d < 4; ++d) AddColoredDevice(absl::StrCat(name, "-d", d), d / 2, &slice);
  }
  return world;
}

DeviceUse HeldAlone(const std::string& node, int device) {
  DeviceUse use;
  use.dedicated.push_back(
      {"driver", absl::StrCat("pool-of-", node), absl::StrCat(node, "-d", device)});
  return use;
}

TEST(SharedAnswersTest, NamesDoNotMatterButContentAndUseDo) {
  SharingWorld world = EqualNodesWorld(6);
  AddColoredDevice("more", 0, &world.slices[1]);
  (*world.slices[2].mutable_spec()->mutable_devices(3)->mutable_attributes())["color"]
      .set_int_value(7);
  world.slices[3].mutable_spec()->mutable_devices()->SwapElements(0, 3);
  PublishedSharing cluster(world, {});
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 1, 2, 3, 0, 0}));
  ASSERT_TRUE(cluster.held->Add(HeldAlone("node-4", 0)).ok());
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 1, 2, 3, 4, 0}));
  ASSERT_TRUE(cluster.held->Add(HeldAlone("node-5", 1)).ok());
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 1, 2, 3, 4, 5}));
  ASSERT_TRUE(cluster.held->Add(HeldAlone("node-0", 0)).ok());
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 1, 2, 3, 0, 4}));
  // Held twice: one release is not enough.
  ASSERT_TRUE(cluster.held->Add(HeldAlone("node-0", 0)).ok());
  cluster.held->Remove(HeldAlone("node-0", 0));
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 1, 2, 3, 0, 4}));
  cluster.held->Remove(HeldAlone("node-0", 0));
  cluster.held->Remove(HeldAlone("node-4", 0));
  cluster.held->Remove(HeldAlone("node-5", 1));
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 1, 2, 3, 0, 0}));
}

TEST(SharedAnswersTest, CountersAndTheirUseMatter) {
  SharingWorld world = EqualNodesWorld(5);
  for (int i = 0; i < 5; ++i) {
    ResourceSlice& slice = world.slices[static_cast<size_t>(i)];
    slice.mutable_spec()->mutable_pool()->set_resource_slice_count(2);
    auto* use = slice.mutable_spec()->mutable_devices(0)->add_consumes_counters();
    use->set_counter_set(absl::StrCat("set-", i));
    (*use->mutable_counters())["memory"].set_value(i == 1 ? "2" : "1");
  }
  for (int i = 0; i < 5; ++i) {
    const std::string name = absl::StrCat("node-", i);
    auto* set =
        world.AddSlice(name, absl::StrCat("pool-of-", name)).mutable_spec()->add_shared_counters();
    set->set_name(absl::StrCat("set-", i));
    (*set->mutable_counters())["memory"].set_value(i == 2 ? "7" : "4");
    world.slices.back().mutable_spec()->mutable_pool()->set_resource_slice_count(2);
  }
  PublishedSharing cluster(world, {});
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 1, 2, 0, 0}));
}

TEST(SharedAnswersTest, DevicesOfOtherNodesMatterThroughTheirCounters) {
  // One pool for two nodes; each sees its own devices, and both charge the same counters.
  SharingWorld world;
  world.AddClass(0);
  const auto add_slice = [&world](const std::string& node) {
    ResourceSlice& slice = world.AddSlice(node, "pool");
    slice.mutable_spec()->mutable_pool()->set_resource_slice_count(3);
    return &slice;
  };
  world.slices.reserve(3);
  auto* set = add_slice("")->mutable_spec()->add_shared_counters();
  set->set_name("set");
  (*set->mutable_counters())["memory"].set_value("2");
  for (const char* name : {"a", "b"}) {
    world.AddNode(name);
    ResourceSlice* slice = add_slice(name);
    for (int d = 0; d < 2; ++d) {
      AddColoredDevice(absl::StrCat(name, "-d", d), 0, slice);
      auto* use = slice->mutable_spec()->mutable_devices(d)->add_consumes_counters();
      use->set_counter_set("set");
      (*use->mutable_counters())["memory"].set_value("1");
    }
  }
  PublishedSharing cluster(world, {});
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 0}));
  const ResourceClaimV1 claim = CountClaim("claim", 2);
  std::vector<AllocationOutcome> outcomes(2);
  cluster.Allocator()->DecideAll(cluster.views, {&claim}, absl::MakeSpan(outcomes));
  EXPECT_EQ(outcomes[0], AllocationOutcome::kAllocated);
  EXPECT_EQ(outcomes[1], AllocationOutcome::kAllocated);
  DeviceUse use;
  use.dedicated.push_back({"driver", "pool", "a-d0"});
  ASSERT_TRUE(cluster.held->Add(use).ok());
  EXPECT_EQ(cluster.States(), (std::vector<size_t>{0, 1}));
  cluster.Allocator()->DecideAll(cluster.views, {&claim}, absl::MakeSpan(outcomes));
  EXPECT_EQ(outcomes[0], AllocationOutcome::kDoesNotFit);
  EXPECT_EQ(outcomes[1], AllocationOutcome::kDoesNotFit);
  const ResourceClaimV1 one = CountClaim("one", 1);
  cluster.Allocator()->DecideAll(cluster.views, {&one}, absl::MakeSpan(outcomes));
  EXPECT_EQ(outcomes[0], AllocationOutcome::kAllocated);
  EXPECT_EQ(outcomes[1], AllocationOutcome::kAllocated);
}

TEST(SharedAnswersTest, EqualNodesCostOneSearch) {
  const SharingWorld world = EqualNodesWorld(50);
  for (const bool shares : {true, false}) {
    AllocatorOptions options;
    options.share_answers = shares;
    options.count_steps = true;
    PublishedSharing cluster(world, options);
    int64_t steps = -1;
    const auto allocator = cluster.Allocator();
    const ResourceClaimV1 claim = CountClaim("claim", 3);
    for (const Node& node : world.nodes) {
      const AllocationAnswer answer = allocator->Decide(node, {&claim});
      EXPECT_EQ(answer.outcome, AllocationOutcome::kAllocated);
      if (steps >= 0) {
        EXPECT_EQ(answer.steps, steps);
      }
      steps = answer.steps;
    }
    // Plans of equal content share answers, whatever the claims are called; others do not.
    const int64_t before = cluster.verdicts->evaluations();
    const ResourceClaimV1 same = CountClaim("another name", 3);
    EXPECT_EQ(cluster.Allocator()->Decide(world.nodes[0], {&same}).outcome,
              AllocationOutcome::kAllocated);
    EXPECT_EQ(cluster.verdicts->evaluations() == before, shares);
    const ResourceClaimV1 larger = CountClaim("claim", 5);
    EXPECT_EQ(cluster.Allocator()->Decide(world.nodes[0], {&larger}).outcome,
              AllocationOutcome::kDoesNotFit);
  }
}

TEST(SharedAnswersTest, ErrorsNameTheDevicesOfTheirNode) {
  SharingWorld world = EqualNodesWorld(2);
  world.AddClass(1);
  PublishedSharing cluster(world, {}, /*errors=*/100);
  ResourceClaimV1 claim = CountClaim("claim", 1);
  claim.mutable_spec()
      ->mutable_devices()
      ->mutable_requests(0)
      ->mutable_exactly()
      ->set_device_class_name("class-1");
  const auto allocator = cluster.Allocator();
  for (const char* node : {"node-0", "node-1"}) {
    Node of;
    of.mutable_metadata()->set_name(node);
    const AllocationAnswer answer = allocator->Decide(of, {&claim});
    EXPECT_EQ(answer.outcome, AllocationOutcome::kError);
    EXPECT_NE(answer.error.find(absl::StrCat("driver/pool-of-", node, "/", node, "-d0")),
              std::string::npos)
        << answer.error;
  }
}

TEST(SharedAnswersTest, ForgetsWhenThereIsTooMuch) {
  SharedAnswers answers;
  const auto verdicts = std::make_shared<CountedVerdicts>(0);
  const auto known = answers.For("a", verdicts);
  known->Keep(7, AllocationOutcome::kNodeError, 3);
  EXPECT_EQ(answers.For("a", verdicts), known);
  EXPECT_NE(answers.For("b", verdicts), known);
  EXPECT_EQ(known->Of(7), AllocationOutcome::kNodeError);
  EXPECT_EQ(known->StepsOf(7), 3);
  EXPECT_FALSE(known->Of(6).has_value());
  EXPECT_FALSE(known->Of(1000).has_value());
  // Selectors have other ids elsewhere.
  EXPECT_NE(answers.For("a", std::make_shared<CountedVerdicts>(0)), known);
  for (uint64_t i = 0; i <= 1U << 18; ++i) answers.node_contents().IdOf({i});
  EXPECT_FALSE(answers.Trim(/*nodes=*/1U << 20));
  EXPECT_TRUE(answers.Trim(/*nodes=*/1));
  EXPECT_EQ(answers.generation(), 1U);
  EXPECT_EQ(answers.node_contents().size(), 0U);
}

// --- Random clusters ---

class SharingWorldMaker {
 public:
  explicit SharingWorldMaker(uint64_t seed) : random_(seed, "sharing") {}

  // Nodes of a few forms, so that many are equal, and pools for all nodes.
  SharingWorld Make(uint64_t max_claims) {
    SharingWorld world;
    for (int i = 0; i < 3; ++i) world.AddClass(i);
    const uint64_t forms = 1 + random_.Below(3);
    const uint64_t nodes = 3 + random_.Below(5);
    for (uint64_t i = 0; i < nodes; ++i) {
      const std::string name = absl::StrCat("node-", random_.Below(1000), "-", i);
      world.AddNode(name);
      Random form(random_.Below(forms), "form");
      const uint64_t pools = 1 + form.Below(2);
      for (uint64_t pool = 0; pool < pools; ++pool) {
        AddPool(name, absl::StrCat(name, "-pool-", pool), &form, &world);
      }
    }
    if (Chance(40)) AddPool("", "network", &random_, &world);
    const uint64_t claims = 1 + random_.Below(max_claims);
    for (uint64_t i = 0; i < claims; ++i) AddClaim(i, &world);
    return world;
  }

  // Devices that a claim holds.
  DeviceUse Use(const SharingWorld& world) {
    DeviceUse use;
    const ResourceSlice& slice = world.slices[random_.Below(world.slices.size())];
    if (slice.spec().devices().empty()) return use;
    const auto& devices = slice.spec().devices();
    const Device& device =
        devices[static_cast<int>(random_.Below(static_cast<uint64_t>(devices.size())))];
    const DeviceId id = {"driver", slice.spec().pool().name(), device.name()};
    if (!device.allow_multiple_allocations()) {
      use.dedicated.push_back(id);
    } else {
      use.shared.push_back(id);
      if (Chance(70)) use.consumed[id]["memory"] = *Quantity::Parse(Chance(50) ? "1" : "2");
    }
    return use;
  }

  bool Chance(uint64_t percent) { return random_.Below(100) < percent; }

 private:
  void AddPool(const std::string& node, const std::string& name, Random* form,
               SharingWorld* world) {
    const auto chance = [form](uint64_t percent) { return form->Below(100) < percent; };
    const bool counters = chance(50);
    const bool per_device = chance(20);
    if (counters) {
      ResourceSlice& slice = world->AddSlice(node, name);
      slice.mutable_spec()->mutable_pool()->set_resource_slice_count(2);
      auto* set = slice.mutable_spec()->add_shared_counters();
      set->set_name(absl::StrCat("set-of-", name));
      (*set->mutable_counters())["a"].set_value(absl::StrCat(2 + form->Below(5)));
    }
    ResourceSlice& slice = world->AddSlice(node, name);
    slice.mutable_spec()->mutable_pool()->set_resource_slice_count((counters ? 2 : 1) +
                                                                   (chance(4) ? 1 : 0));
    if (per_device) {
      slice.mutable_spec()->clear_node_name();
      slice.mutable_spec()->clear_all_nodes();
      slice.mutable_spec()->set_per_device_node_selection(true);
    }
    const uint64_t devices = 1 + form->Below(3);
    for (uint64_t i = 0; i < devices; ++i) {
      AddColoredDevice(absl::StrCat(name, "-", i), static_cast<int64_t>(form->Below(3)), &slice);
      Device* device = slice.mutable_spec()->mutable_devices(static_cast<int>(i));
      if (per_device && chance(60) && !node.empty()) {
        device->set_node_name(node);
      } else if (per_device) {
        device->set_all_nodes(true);
      }
      if (chance(30)) {
        device->set_allow_multiple_allocations(true);
        auto& capacity = (*device->mutable_capacity())["memory"];
        capacity.set_value(absl::StrCat(2 + form->Below(4)));
        capacity.mutable_request_policy()->set_default_value("1");
      }
      if (counters && chance(80)) {
        auto* use = device->add_consumes_counters();
        use->set_counter_set(absl::StrCat("set-of-", name));
        (*use->mutable_counters())["a"].set_value(absl::StrCat(form->Below(4)));
      }
      if (chance(10)) device->add_binding_conditions("Ready");
    }
    if (chance(3)) *slice.mutable_spec()->add_devices() = slice.spec().devices(0);  // invalid
  }

  void AddClaim(uint64_t index, SharingWorld* world) {
    ResourceClaimV1 claim;
    claim.mutable_metadata()->set_name(absl::StrCat("claim-", index));
    auto* devices = claim.mutable_spec()->mutable_devices();
    const uint64_t requests = 1 + random_.Below(2);
    for (uint64_t i = 0; i < requests; ++i) {
      auto* request = devices->add_requests();
      request->set_name(absl::StrCat("r", i));
      const auto fill = [this](auto* given) {
        given->set_device_class_name(absl::StrCat("class-", random_.Below(3)));
        const bool all = Chance(8);
        given->set_allocation_mode(all ? "All" : "ExactCount");
        if (!all) given->set_count(1 + static_cast<int64_t>(random_.Below(2)));
      };
      if (Chance(20)) {
        for (int sub = 0; sub < 2; ++sub) {
          request->add_first_available()->set_name(absl::StrCat("s", sub));
          fill(request->mutable_first_available(sub));
        }
      } else {
        fill(request->mutable_exactly());
        if (Chance(6)) request->mutable_exactly()->set_admin_access(true);
      }
    }
    if (Chance(40)) devices->add_constraints()->set_match_attribute("driver/color");
    world->claims.push_back(claim);
  }

  Random random_;
};

std::string SharedAnswerText(const AllocationAnswer& answer) {
  std::string text =
      absl::StrCat(static_cast<int>(answer.outcome), " ", answer.steps, " ", answer.error);
  for (const auto& result : answer.results) absl::StrAppend(&text, "\n", result.DebugString());
  return text;
}

TEST(SharedAnswersTest, SharingChangesNoAnswer) {
  const uint64_t cases = SoakSeeds(600);
  uint64_t equal_nodes = 0;
  uint64_t errors = 0;
  uint64_t allocated = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    SharingWorldMaker maker(seed);
    // Release 1.35 tries every order of a set, which takes long with many devices.
    const bool old_release = seed % 5 == 0;
    const SharingWorld world = maker.Make(old_release ? 1 : 2);
    AllocatorOptions options;
    options.count_steps = seed % 2 == 0;
    options.release = old_release ? StructuredRelease::k1_35 : StructuredRelease::k1_37;
    options.features = SupportedDraFeatures(options.variant, options.release);
    const uint64_t percent = seed % 4 == 0 ? 10 : 0;
    PublishedSharing shared(world, options, percent);
    options.share_answers = false;
    PublishedSharing alone(world, options, percent);
    std::vector<DeviceUse> uses;
    for (int round = 0; round < 4; ++round) {
      const auto with = shared.Allocator();
      const auto without = alone.Allocator();
      std::vector<AllocationOutcome> outcomes(world.nodes.size());
      with->DecideAll(shared.views, AskFor(SharingPointers(world.claims)),
                      absl::MakeSpan(outcomes));
      for (size_t i = 0; i < world.nodes.size(); ++i) {
        const auto claims = AskFor(SharingPointers(world.claims));
        const AllocationAnswer decided = without->Decide(world.nodes[i], claims);
        ASSERT_EQ(outcomes[i], decided.outcome) << i;
        ASSERT_EQ(SharedAnswerText(with->Decide(world.nodes[i], claims)), SharedAnswerText(decided))
            << i;
        ASSERT_EQ(SharedAnswerText(with->Allocate(world.nodes[i], claims)),
                  SharedAnswerText(without->Allocate(world.nodes[i], claims)))
            << i;
        errors += decided.error.empty() ? 0U : 1U;
        allocated += decided.outcome == AllocationOutcome::kAllocated ? 1U : 0U;
      }
      const std::vector<size_t> states = shared.States();
      for (size_t i = 0; i < states.size(); ++i) equal_nodes += states[i] < i ? 1U : 0U;
      // States that were kept up to date are those that a fresh look finds.
      PublishedSharing fresh(world, options, percent);
      for (const DeviceUse& use : uses) ASSERT_TRUE(fresh.held->Add(use).ok());
      ASSERT_EQ(fresh.States(), states);
      if (!uses.empty() && maker.Chance(40)) {
        shared.held->Remove(uses.back());
        alone.held->Remove(uses.back());
        uses.pop_back();
      }
      uses.push_back(maker.Use(world));
      ASSERT_TRUE(shared.held->Add(uses.back()).ok());
      ASSERT_TRUE(alone.held->Add(uses.back()).ok());
    }
  }
  EXPECT_GE(equal_nodes, cases);
  EXPECT_GE(errors * 2, cases);
  EXPECT_GE(allocated, cases);
}

// Slices in an inventory whose holders change.
struct HeldSharing {
  explicit HeldSharing(const SharingWorld& world) {
    std::vector<CatalogSource> sources;
    for (const ResourceSlice& slice : world.slices) {
      const absl::StatusOr<SliceFacts> facts = SliceFactsOf(slice);
      EXPECT_TRUE(facts.ok()) << facts.status();
      sources.push_back({inventory.AddSlice(), &slice});
      inventory.SetSlice(sources.back().id,
                         std::make_shared<const InventorySlice>(inventory.InternSlice(*facts)));
    }
    auto made = DeviceCatalog::Make(&inventory, &inventory.columns(), sources);
    EXPECT_TRUE(made.ok()) << made.status();
    catalog = *made;
  }
  DeviceUndo Hold(const std::string& claim, bool pending, const DeviceUse& use) {
    const bool share = !use.shared.empty();
    const std::vector<DeviceId>& ids = share ? use.shared : use.dedicated;
    DeviceHolding holding;
    for (const DeviceId& id : ids) {
      HoldFacts facts = {id.driver, id.pool, id.device, share, {}};
      if (const auto found = use.consumed.find(id); found != use.consumed.end()) {
        for (const auto& [name, amount] : found->second) facts.amounts.emplace_back(name, amount);
      }
      for (DeviceHold& hold : inventory.InternHolds({facts})) holding.holds.push_back(hold);
    }
    DeviceUndo undo;
    inventory.SetHolder({inventory.columns().texts().Intern(claim), pending}, holding, &undo);
    return undo;
  }

  DeviceInventory inventory;
  std::shared_ptr<DeviceCatalog> catalog;
};

// Every release, undone change and late look is followed by the same decisions as a look at the
// inventory from the beginning, without sharing.
TEST(SharedAnswersTest, OutcomesThatAreKeptAreThoseOfAFreshLook) {
  const uint64_t cases = SoakSeeds(150);
  uint64_t fits = 0;
  uint64_t changes = 0;
  for (uint64_t seed = 0; seed < cases; ++seed) {
    SCOPED_TRACE(seed);
    SharingWorldMaker maker(seed);
    const SharingWorld world = maker.Make(/*max_claims=*/2);
    HeldSharing cluster(world);
    AllocatorOptions options;
    options.features = SupportedDraFeatures(options.variant, options.release);
    const auto verdicts = std::make_shared<CountedVerdicts>(seed % 4 == 0 ? 10 : 0);
    const auto pools = std::make_shared<NodePools>(options, cluster.catalog);
    const auto held = std::make_shared<HeldDevices>(pools);
    std::vector<const NodeView*> views;
    for (const Node& node : world.nodes) views.push_back(&pools->ViewOf(node));
    held->SetNodes(views);
    options.share_answers = false;
    const auto alone = std::make_shared<NodePools>(options, cluster.catalog);
    PlanCache plans;
    std::vector<AllocationOutcome> before;
    for (int round = 0; round < 12; ++round) {
      ASSERT_TRUE(held->Sync(cluster.inventory).ok());
      // Claims of two kinds take turns, so that each finds what the other has not seen.
      auto claims = AskFor(SharingPointers(world.claims));
      if (round % 3 == 2) claims.erase(claims.begin() + 1, claims.end());
      const auto allocator =
          StructuredAllocator::Make(held, verdicts, SharingPointers(world.classes));
      if (seed % 2 == 0) {
        allocator->SharePlans(&plans, [&claims](size_t claim) {
          return std::shared_ptr<const DeviceClaim>(std::shared_ptr<const void>(),
                                                    claims[claim].devices);
        });
      }
      const NodeOutcomes* const kept = allocator->DecideNodes(claims);
      ASSERT_NE(kept, nullptr);
      ASSERT_EQ(kept->size(), world.nodes.size());
      const auto fresh = StructuredAllocator::Make(alone, verdicts, SharingPointers(world.classes),
                                                   UseOf(cluster.inventory));
      ASSERT_TRUE(fresh.ok());
      std::vector<NodeId> fitting;
      std::vector<NodeId> others;
      size_t errors = 0;
      for (size_t i = 0; i < world.nodes.size(); ++i) {
        const AllocationOutcome expected = (*fresh)->Decide(world.nodes[i], claims).outcome;
        ASSERT_EQ(kept->Of(NodeId(i)), expected) << "round " << round << ", node " << i;
        (expected == AllocationOutcome::kAllocated ? fitting : others).push_back(NodeId(i));
        errors += expected == AllocationOutcome::kError ? 1U : 0U;
        changes += before.size() > i && before[i] != expected ? 1U : 0U;
        before.resize(world.nodes.size());
        before[i] = expected;
      }
      ASSERT_EQ(std::vector<NodeId>(kept->fitting().begin(), kept->fitting().end()), fitting);
      ASSERT_EQ(std::vector<NodeId>(kept->others().begin(), kept->others().end()), others);
      ASSERT_EQ(kept->errors(), errors);
      fits += fitting.size();
      // Now and then more changes than an inventory remembers.
      const int steps = seed % 50 == 0 && round == 5 ? 3000 : 1 + round % 3;
      for (int step = 0; step < steps; ++step) {
        const std::string claim = absl::StrCat("holder-", maker.Chance(50) ? 1 : step % 7);
        const bool pending = maker.Chance(30);
        const DeviceUndo undo =
            cluster.Hold(claim, pending, maker.Chance(60) ? maker.Use(world) : DeviceUse());
        if (maker.Chance(20)) cluster.inventory.Undo(undo);
      }
    }
  }
  EXPECT_GE(fits, cases * 10);
  EXPECT_GE(changes, cases * 4);
}

}  // namespace
}  // namespace drasim
