// The driver that counts: what it gives, what it rules out, what it forgets and remembers; and many
// random calls against an oracle that adds up everything each time.
#include "policies/devices/counting_driver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/name.h"
#include "model/kube/node_set.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/state_io.h"
#include "policies/framework/claim_driver.h"
#include "tests/testing/soak.h"

namespace drasim {
namespace counting_driver_test {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr char kDriver[] = "test-driver.cdi.k8s.io";

NodeId N(uint32_t id) { return NodeId(id); }
using Nodes = std::vector<NodeId>;

// Claims with what they refer to; they live as long as this.
class Claims {
 public:
  Claims() {
    resource_class_.meta.name = names_.Intern("class");
    resource_class_.driver = names_.Intern(kDriver);
  }
  Name Intern(absl::string_view text) { return names_.Intern(text); }
  // Empty texts: no such parameter.
  ClaimToAllocate Make(Uid uid, absl::string_view count = "", absl::string_view class_count = "",
                       absl::string_view class_shareable = "") {
    auto claim = std::make_shared<ResourceClaim>();
    claim->meta.uid = uid;
    claims_.push_back(claim);
    ClaimToAllocate made;
    made.claim = claim.get();
    made.resource_class = &resource_class_;
    if (!count.empty()) made.claim_parameters = Parameters("mine", {{"count", count}});
    std::vector<std::pair<absl::string_view, absl::string_view>> of_class;
    if (!class_count.empty()) of_class.emplace_back("count", class_count);
    if (!class_shareable.empty()) of_class.emplace_back("shareable", class_shareable);
    if (!of_class.empty()) made.class_parameters = Parameters("common", of_class);
    return made;
  }
  // As the server has it when the driver's controller has written the status.
  Ref<ResourceClaim> Allocated(Uid uid, Ref<Allocation> allocation) {
    auto claim = std::make_shared<ResourceClaim>();
    claim->meta.uid = uid;
    claim->status.driver = names_.Intern(kDriver);
    claim->status.allocation = std::move(allocation);
    return claim;
  }

 private:
  const ParametersObject* Parameters(
      absl::string_view name,
      const std::vector<std::pair<absl::string_view, absl::string_view>>& fields) {
    auto object = std::make_shared<ParametersObject>();
    object->meta.name = names_.Intern(name);
    for (const auto& [path, text] : fields) object->fields.emplace_back(path, text);
    parameters_.push_back(object);
    return object.get();
  }

  NamePool names_;
  ResourceClass resource_class_;
  std::vector<Ref<ResourceClaim>> claims_;
  std::vector<Ref<ParametersObject>> parameters_;
};

// Nodes 2, 3 and 7 with 4, 1 and 2 units.
CountingDriverOptions Local() {
  CountingDriverOptions options;
  options.units = {{N(2), 4}, {N(3), 1}, {N(7), 2}};
  return options;
}
CountingDriverOptions Network(int64_t units) {
  CountingDriverOptions options = Local();
  options.node_local = false;
  options.network_units = units;
  return options;
}

Allocation Given(Claims& claims, NodeId node, int64_t units, const NodeSet& nodes,
                 bool shareable = false) {
  Allocation allocation;
  const std::string place = node.valid() ? absl::StrCat(node.value()) : "network";
  allocation.handles.push_back(
      {claims.Intern(kDriver), absl::StrCat("node=", place, ",units=", units)});
  allocation.available_on = nodes;
  allocation.shareable = shareable;
  allocation.node = node;
  return allocation;
}
NodeSet Only(NodeId node) { return NodeSet::Of({node}); }

std::string AllocationText(const Allocation& allocation) {
  std::string text;
  for (const ResourceHandle& handle : allocation.handles) {
    absl::StrAppend(&text, handle.driver.text(), " ", handle.data, " ");
  }
  absl::StrAppend(&text, allocation.shareable ? "shareable " : "", "on");
  if (allocation.available_on.everywhere()) return absl::StrCat(text, " every node");
  for (const NodeId node : allocation.available_on.nodes()) {
    absl::StrAppend(&text, " ", node.value());
  }
  return absl::StrCat(text, " of ", allocation.node.value());
}

void ExpectGiven(const ClaimAllocation& result, const Allocation& wanted) {
  ASSERT_TRUE(result.status.ok()) << result.status;
  ASSERT_NE(result.allocation, nullptr);
  EXPECT_TRUE(*result.allocation == wanted)
      << AllocationText(*result.allocation) << "\nnot " << AllocationText(wanted);
}

TEST(CountingDriverTest, GivesUnitsOfTheNodeAskedForUntilTheyAreGone) {
  Claims claims;
  CountingDriver driver(Local());
  const std::vector<ClaimAllocation> results =
      driver.Allocate({claims.Make(1, "3"), claims.Make(2, "2"), claims.Make(3)}, N(2));
  ASSERT_EQ(results.size(), 3u);
  ExpectGiven(results[0], Given(claims, N(2), 3, Only(N(2))));
  // Results are independent: a claim that does not fit does not affect others.
  EXPECT_EQ(results[1].status, absl::ResourceExhaustedError("2 units wanted, 1 free on the node"));
  EXPECT_EQ(results[1].allocation, nullptr);
  ExpectGiven(results[2], Given(claims, N(2), 1, Only(N(2))));
  EXPECT_EQ(driver.free_units(N(2)), 0);
  EXPECT_EQ(driver.free_units(N(3)), 1);
  EXPECT_EQ(driver.free_units(N(5)), 0);
  EXPECT_EQ(driver.allocated_claims(), 2u);
}

TEST(CountingDriverTest, ServesOnlyItsNodes) {
  Claims claims;
  for (const CountingDriverOptions& options : {Local(), Network(9)}) {
    CountingDriver driver(options);
    EXPECT_EQ(driver.Allocate({claims.Make(1)}, N(5))[0].status,
              absl::InvalidArgumentError("test-driver.cdi.k8s.io does not serve the node"));
    EXPECT_EQ(driver.allocated_claims(), 0u);
    EXPECT_THAT(driver.UnsuitableNodes({claims.Make(1)}, {N(2), N(5), N(9)}),
                ElementsAre(ElementsAre(N(5), N(9))));
  }
}

TEST(CountingDriverTest, WithoutANodeTakesTheFirstWithRoom) {
  Claims claims;
  CountingDriver driver(Local());
  const auto results = driver.Allocate(
      {claims.Make(1, "3"), claims.Make(2, "2"), claims.Make(3), claims.Make(4), claims.Make(5)},
      NodeId());
  ExpectGiven(results[0], Given(claims, N(2), 3, Only(N(2))));
  ExpectGiven(results[1], Given(claims, N(7), 2, Only(N(7))));
  ExpectGiven(results[2], Given(claims, N(2), 1, Only(N(2))));
  ExpectGiven(results[3], Given(claims, N(3), 1, Only(N(3))));
  EXPECT_EQ(results[4].status, absl::ResourceExhaustedError("no node has 1 free units"));
}

TEST(CountingDriverTest, NetworkDevicesAreAvailableOnAllItsNodes) {
  Claims claims;
  CountingDriver driver(Network(3));
  const NodeSet all = NodeSet::Of({N(2), N(3), N(7)});
  const auto results = driver.Allocate({claims.Make(1, "2"), claims.Make(2, "2")}, N(3));
  ExpectGiven(results[0], Given(claims, NodeId(), 2, all));
  EXPECT_EQ(results[1].status, absl::ResourceExhaustedError("2 units wanted, 1 free"));
  ExpectGiven(driver.Allocate({claims.Make(3)}, NodeId())[0], Given(claims, NodeId(), 1, all));
  EXPECT_EQ(driver.free_units(N(2)), 0);
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(4)}, {N(2), N(7)}),
              ElementsAre(ElementsAre(N(2), N(7))));
  ASSERT_TRUE(driver.Deallocate(1).ok());
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(4, "2")}, {N(2), N(7)}), ElementsAre(IsEmpty()));
}

TEST(CountingDriverTest, ANodeMustHoldAllClaimsOfThePod) {
  Claims claims;
  const CountingDriver driver(Local());
  const Nodes nodes = {N(2), N(3), N(7)};
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(1)}, nodes), ElementsAre(IsEmpty()));
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(1, "2")}, nodes), ElementsAre(ElementsAre(N(3))));
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(1, "2"), claims.Make(2)}, nodes),
              ElementsAre(ElementsAre(N(3), N(7)), ElementsAre(N(3), N(7))));
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(1, "2"), claims.Make(2)}, {N(7)}),
              ElementsAre(ElementsAre(N(7)), ElementsAre(N(7))));
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(1)}, {}), ElementsAre(IsEmpty()));
}

TEST(CountingDriverTest, AnAllocationWhoseStatusWasNeverWrittenIsGivenAgain) {
  Claims claims;
  CountingDriver driver(Local());
  const Allocation first = Given(claims, N(7), 2, Only(N(7)), true);
  ExpectGiven(driver.Allocate({claims.Make(1, "2", "", "true")}, N(7))[0], first);
  // Its node is no worse for it; others have to have room.
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(1, "2", "", "true")}, {N(2), N(3), N(7)}),
              ElementsAre(ElementsAre(N(3))));
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(2)}, {N(2), N(3), N(7)}),
              ElementsAre(ElementsAre(N(7))));
  // The same devices, even with another node or other parameters.
  ExpectGiven(driver.Allocate({claims.Make(1, "1")}, N(2))[0], first);
  ExpectGiven(driver.Allocate({claims.Make(1, "no number")}, NodeId())[0], first);
  EXPECT_EQ(driver.free_units(N(7)), 0);
  EXPECT_EQ(driver.free_units(N(2)), 4);
}

TEST(CountingDriverTest, DeallocateGivesBackOnce) {
  Claims claims;
  CountingDriver driver(Local());
  driver.Allocate({claims.Make(1, "3")}, N(2));
  EXPECT_TRUE(driver.Deallocate(1).ok());
  EXPECT_EQ(driver.free_units(N(2)), 4);
  EXPECT_TRUE(driver.Deallocate(1).ok());
  EXPECT_TRUE(driver.Deallocate(99).ok());
  EXPECT_EQ(driver.free_units(N(2)), 4);
  EXPECT_EQ(driver.allocated_claims(), 0u);
}

TEST(CountingDriverTest, TheClaimsCountGoesBeforeTheClasss) {
  Claims claims;
  CountingDriver driver(Local());
  ExpectGiven(driver.Allocate({claims.Make(1, "", "2")}, N(2))[0],
              Given(claims, N(2), 2, Only(N(2))));
  ExpectGiven(driver.Allocate({claims.Make(2, "1", "2")}, N(2))[0],
              Given(claims, N(2), 1, Only(N(2))));
}

TEST(CountingDriverTest, TheClassSaysWhetherAllocationsAreShareable) {
  Claims claims;
  for (const bool by_default : {false, true}) {
    CountingDriverOptions options = Local();
    options.shareable = by_default;
    CountingDriver driver(options);
    const auto results = driver.Allocate(
        {claims.Make(1), claims.Make(2, "", "", "true"), claims.Make(3, "", "", "false")}, N(2));
    ExpectGiven(results[0], Given(claims, N(2), 1, Only(N(2)), by_default));
    ExpectGiven(results[1], Given(claims, N(2), 1, Only(N(2)), true));
    ExpectGiven(results[2], Given(claims, N(2), 1, Only(N(2)), false));
  }
}

TEST(CountingDriverTest, SaysWhatIsWrongWithParameters) {
  Claims claims;
  CountingDriver driver(Local());
  EXPECT_TRUE(driver.CheckParameters(claims.Make(1)).ok());
  EXPECT_TRUE(driver.CheckParameters(claims.Make(1, "1000000000", "1", "false")).ok());
  for (const char* count : {"0", "-1", "1000000001", "x", "1.5", "99999999999999999999"}) {
    const std::string why = absl::StrCat("count: expected 1 to 1000000000, not \"", count, "\"");
    EXPECT_EQ(driver.CheckParameters(claims.Make(1, count)),
              absl::InvalidArgumentError(absl::StrCat("parameters \"mine\": ", why)));
    EXPECT_EQ(driver.CheckParameters(claims.Make(1, "1", count)),
              absl::InvalidArgumentError(absl::StrCat("parameters \"common\": ", why)));
  }
  const absl::Status shareable = absl::InvalidArgumentError(
      "parameters \"common\": shareable: expected \"true\" or \"false\", not \"yes\"");
  EXPECT_EQ(driver.CheckParameters(claims.Make(1, "1", "", "yes")), shareable);
  EXPECT_EQ(driver.Allocate({claims.Make(1, "1", "", "yes")}, N(2))[0].status, shareable);
  EXPECT_THAT(driver.UnsuitableNodes({claims.Make(1, "0")}, {N(2)}),
              ElementsAre(ElementsAre(N(2))));
  EXPECT_EQ(driver.allocated_claims(), 0u);
}

TEST(CountingDriverTest, RestoreForgetsAllElse) {
  Claims claims;
  CountingDriver driver(Local());
  const auto given = driver.Allocate({claims.Make(1, "3"), claims.Make(2)}, N(2));
  driver.Allocate({claims.Make(3)}, N(3));
  auto unreadable = std::make_shared<Allocation>(*given[0].allocation);
  unreadable->handles[0].data = "node=2,units=many";
  auto elsewhere = std::make_shared<Allocation>(*given[0].allocation);
  elsewhere->handles[0].data = "node=5,units=1";
  auto foreign = std::make_shared<Allocation>(*given[0].allocation);
  foreign->handles[0].driver = claims.Intern("other");
  driver.Restore({claims.Allocated(1, given[0].allocation), claims.Allocated(5, unreadable),
                  claims.Allocated(6, elsewhere), claims.Allocated(7, foreign)});
  EXPECT_EQ(driver.allocated_claims(), 1u);
  EXPECT_EQ(driver.free_units(N(2)), 1);
  EXPECT_EQ(driver.free_units(N(3)), 1);
  ExpectGiven(driver.Allocate({claims.Make(1)}, N(7))[0], *given[0].allocation);
  driver.Restore({});
  EXPECT_EQ(driver.allocated_claims(), 0u);
  EXPECT_EQ(driver.free_units(N(2)), 4);
}

TEST(CountingDriverTest, RestoredClaimsMayHoldMoreThanThereIsNow) {
  Claims claims;
  CountingDriver driver(Local());
  auto large = std::make_shared<Allocation>(Given(claims, N(3), 3, Only(N(3))));
  driver.Restore({claims.Allocated(1, large)});
  EXPECT_EQ(driver.free_units(N(3)), -2);
  EXPECT_EQ(driver.Allocate({claims.Make(2)}, N(3))[0].status,
            absl::ResourceExhaustedError("1 units wanted, 0 free on the node"));
  EXPECT_TRUE(driver.Deallocate(1).ok());
  EXPECT_EQ(driver.free_units(N(3)), 1);
}

TEST(CountingDriverTest, LoadRefusesWhatItCannotHaveGiven) {
  // Claim, node + 1, units, shareable.
  using Row = std::vector<int64_t>;
  const std::vector<Row> good = {{4, 3, 2, 0}};
  const std::vector<std::vector<Row>> bad = {
      {{4, 0, 2, 0}},                 // network devices
      {{4, 6, 2, 0}},                 // of a node that it does not serve
      {{4, 3, 0, 0}},                 // none
      {{4, int64_t{1} << 32, 1, 0}},  // of no node
      {{4, 3, int64_t{1} << 40, 0}},  // too many for a claim
      {{4, 3, 2, 0}, {4, 3, 1, 0}},   // twice
  };
  const auto load = [](const std::vector<Row>& rows, CountingDriver& driver) {
    StateWriter out;
    out.Section("counting driver");
    out.U64(rows.size());
    for (const Row& row : rows) {
      out.U64(static_cast<uint64_t>(row[0]));
      out.U64(static_cast<uint64_t>(row[1]));
      out.I64(row[2]);
      out.Bool(row[3] != 0);
    }
    StateReader in(out.bytes());
    return driver.Load(in);
  };
  CountingDriver driver(Local());
  ASSERT_TRUE(load(good, driver).ok());
  EXPECT_EQ(driver.free_units(N(2)), 2);
  for (size_t i = 0; i < bad.size(); ++i) {
    EXPECT_FALSE(load(bad[i], driver).ok()) << "case " << i;
    EXPECT_EQ(driver.free_units(N(2)), 2) << "case " << i;
    EXPECT_EQ(driver.allocated_claims(), 1u) << "case " << i;
  }
}

// --- Random calls. ---

// The same rules, by counting everything that was given out each time.
struct Oracle {
  struct Held {
    NodeId node;
    int64_t units;
    bool shareable;
  };
  struct Wish {
    Uid uid;
    int64_t units;
    bool shareable;
  };
  CountingDriverOptions options;
  std::map<Uid, Held> held;

  bool Serves(NodeId node) const {
    return std::any_of(options.units.begin(), options.units.end(),
                       [node](const auto& entry) { return entry.first == node; });
  }
  int64_t Free(NodeId node) const {
    int64_t free = options.network_units;
    if (options.node_local) {
      free = 0;
      for (const auto& [known, units] : options.units) free += known == node ? units : 0;
    }
    for (const auto& [uid, given] : held) {
      if (!options.node_local || given.node == node) free -= given.units;
    }
    return free;
  }
  // False: no.
  bool Allocate(const Wish& wish, NodeId node) {
    if (held.count(wish.uid) > 0) return true;
    if (node.valid() && !Serves(node)) return false;
    for (const auto& [candidate, units] : options.units) {
      if (node.valid() && candidate != node) continue;
      if (Free(candidate) < wish.units) continue;
      held[wish.uid] = {options.node_local ? candidate : NodeId(), wish.units, wish.shareable};
      return true;
    }
    return false;
  }
  // Whether the pod's claims could all be there at once, if those held elsewhere had to come too.
  bool Suits(const std::vector<Wish>& wishes, NodeId node) const {
    if (!Serves(node)) return false;
    int64_t wanted = 0;
    for (const Wish& wish : wishes) {
      const auto known = held.find(wish.uid);
      if (known == held.end()) {
        wanted += wish.units;
      } else if (options.node_local && known->second.node != node) {
        wanted += known->second.units;
      }
    }
    return wanted == 0 || wanted <= Free(node);
  }
};

class RandomCalls {
 public:
  explicit RandomCalls(uint64_t seed)
      : random_(seed, "counting driver test"), driver_(RandomOptions()) {}

  void Run() {
    for (step_ = 0; step_ < 300 && !::testing::Test::HasFailure(); ++step_) {
      switch (random_.Below(8)) {
        case 0:
        case 1:
        case 2:
          Allocate();
          break;
        case 3:
        case 4:
          Probe();
          break;
        case 5:
        case 6: {
          const Uid uid = RandomUid();
          Log("Deallocate ", uid);
          EXPECT_TRUE(driver_.Deallocate(uid).ok());
          oracle_.held.erase(uid);
          break;
        }
        default:
          random_.Below(2) == 0 ? Restart() : Reload();
      }
      Compare();
    }
    if (::testing::Test::HasFailure()) ADD_FAILURE() << absl::StrJoin(log_, "\n");
  }

 private:
  template <typename... Parts>
  void Log(const Parts&... parts) {
    log_.push_back(absl::StrCat(step_, ": ", parts...));
  }
  CountingDriverOptions RandomOptions() {
    CountingDriverOptions options;
    for (uint32_t node = 0; node < 6; ++node) {
      if (random_.Below(3) == 0) continue;
      options.units.emplace_back(N(node), static_cast<int64_t>(random_.Below(6)));
    }
    options.node_local = random_.Below(3) > 0;
    if (!options.node_local) options.network_units = static_cast<int64_t>(random_.Below(12));
    oracle_.options = options;
    return options;
  }
  Uid RandomUid() { return 1 + random_.Below(12); }
  std::vector<Oracle::Wish> RandomWishes() {
    std::vector<Oracle::Wish> wishes;
    const uint64_t count = 1 + random_.Below(3);
    while (wishes.size() < count) {
      const Uid uid = RandomUid();
      const bool is_new = std::none_of(wishes.begin(), wishes.end(),
                                       [uid](const auto& wish) { return wish.uid == uid; });
      if (!is_new) continue;
      wishes.push_back({uid, 1 + static_cast<int64_t>(random_.Below(3)), random_.Below(2) == 0});
      Log("  claim ", uid, " of ", wishes.back().units);
    }
    return wishes;
  }
  std::vector<ClaimToAllocate> ClaimsOf(const std::vector<Oracle::Wish>& wishes) {
    std::vector<ClaimToAllocate> claims;
    for (const Oracle::Wish& wish : wishes) {
      claims.push_back(
          claims_.Make(wish.uid, absl::StrCat(wish.units), "", wish.shareable ? "true" : "false"));
    }
    return claims;
  }
  Allocation HeldAllocation(Uid uid) {
    const Oracle::Held& held = oracle_.held.at(uid);
    Nodes nodes;
    for (const auto& [node, units] : oracle_.options.units) nodes.push_back(node);
    return Given(claims_, held.node, held.units,
                 held.node.valid() ? Only(held.node) : NodeSet::Of(nodes), held.shareable);
  }

  void Allocate() {
    const std::vector<Oracle::Wish> wishes = RandomWishes();
    const NodeId node =
        random_.Below(3) == 0 ? NodeId() : N(static_cast<uint32_t>(random_.Below(6)));
    Log("Allocate for ", node.value());
    const auto results = driver_.Allocate(ClaimsOf(wishes), node);
    ASSERT_EQ(results.size(), wishes.size());
    for (size_t i = 0; i < wishes.size(); ++i) {
      const bool given = oracle_.Allocate(wishes[i], node);
      EXPECT_EQ(results[i].status.ok(), given) << results[i].status;
      if (given) ExpectGiven(results[i], HeldAllocation(wishes[i].uid));
    }
  }
  void Probe() {
    const std::vector<Oracle::Wish> wishes = RandomWishes();
    Nodes potential;
    Nodes unsuitable;
    for (uint32_t node = 0; node < 7; ++node) {
      if (random_.Below(3) == 0) continue;
      potential.push_back(N(node));
      if (!oracle_.Suits(wishes, N(node))) unsuitable.push_back(N(node));
    }
    Log("UnsuitableNodes");
    EXPECT_EQ(driver_.UnsuitableNodes(ClaimsOf(wishes), potential),
              std::vector<Nodes>(wishes.size(), unsuitable));
  }
  // Some of the statuses were written; what the others held is free again.
  void Restart() {
    std::vector<Ref<ResourceClaim>> written;
    std::map<Uid, Oracle::Held> kept;
    for (const auto& [uid, held] : oracle_.held) {
      if (random_.Below(4) == 0) continue;
      kept.emplace(uid, held);
      written.push_back(claims_.Allocated(uid, std::make_shared<Allocation>(HeldAllocation(uid))));
    }
    oracle_.held = kept;
    Log("Restore ", kept.size());
    driver_.Restore(written);
  }
  void Reload() {
    Log("Save and Load");
    StateWriter out;
    driver_.Save(out);
    driver_ = CountingDriver(oracle_.options);
    StateReader in(out.bytes());
    ASSERT_TRUE(driver_.Load(in).ok());
    EXPECT_TRUE(in.AtEnd());
  }
  void Compare() {
    EXPECT_EQ(driver_.allocated_claims(), oracle_.held.size());
    for (uint32_t node = 0; node < 7; ++node) {
      EXPECT_EQ(driver_.free_units(N(node)), oracle_.Free(N(node))) << "node " << node;
    }
  }

  Random random_;
  Oracle oracle_;
  Claims claims_;
  CountingDriver driver_;
  std::vector<std::string> log_;
  int step_ = 0;
};

TEST(CountingDriverTest, RandomCallsAgainstTheOracle) {
  for (uint64_t seed = 0; seed < SoakSeeds(60) && !HasFailure(); ++seed) {
    SCOPED_TRACE(absl::StrCat("seed ", seed));
    RandomCalls(seed).Run();
  }
}

}  // namespace counting_driver_test
}  // namespace drasim
