#include "traces/mig_generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/random.h"
#include "tests/traces/generator_rig.h"

namespace drasim {
namespace mig_generator_test {

using generator_rig::ExpectGoesOnFromEveryPosition;
using generator_rig::ExpectOwnStreams;
using generator_rig::ExpectRefusesPositionOf;
using generator_rig::ExpectTimeLimits;
using generator_rig::GeneratedBy;

constexpr int64_t kSecond = 1'000'000'000;

using Shares = std::vector<std::pair<std::string, double>>;

MigProfile Profile(const std::string& name, int32_t size) {
  MigProfile profile;
  profile.name = name;
  profile.size = size;
  return profile;
}

// The plain profiles of an A100 with 80 GB, by size.
MigProduct A100() {
  MigProduct product;
  product.group = "A100-80GB";
  product.units = 8;
  product.profiles = {Profile("1g.10gb", 1), Profile("1g.20gb", 2), Profile("2g.20gb", 2),
                      Profile("3g.40gb", 4), Profile("4g.40gb", 4), Profile("7g.80gb", 8)};
  product.profiles[0].names = {"1g.12gb", "MIG 1g.10gb"};
  return product;
}

Shares Uniform() {
  return {{"7g.80gb", 1}, {"4g.40gb", 1}, {"3g.40gb", 1},
          {"2g.20gb", 1}, {"1g.20gb", 1}, {"1g.10gb", 1}};
}

MigMixOptions Pods(int64_t pods, Shares shares) {
  MigMixOptions options;
  options.pods = pods;
  options.shares = std::move(shares);
  return options;
}

MigMixOptions Offered(int64_t units, Shares shares) {
  MigMixOptions options = Pods(0, std::move(shares));
  options.offered_units = units;
  return options;
}

struct Generated : GeneratedBy<MigMixSource> {
  explicit Generated(const MigMixOptions& options) {
    Take(MigMixSource::Create(options, A100(), &shapes));
  }

  const std::string& ProfileOf(const JobArrival& pod) const {
    return shapes.row(pod.shape).request.mig.at(0).first;
  }
  // In eighths of a GPU.
  int64_t UnitsOf(const JobArrival& pod) const {
    return shapes.row(pod.shape).request.nominal_milli / 125;
  }
};

std::vector<JobArrival> All(const MigMixOptions& options) { return Generated(options).All(); }

std::vector<std::string> Profiles(const MigMixOptions& options) {
  const Generated generated(options);
  std::vector<std::string> names;
  for (const JobArrival& pod : generated.All()) names.push_back(generated.ProfileOf(pod));
  return names;
}

TEST(MigGeneratorTest, APodIsOneInstance) {
  const Generated generated(Pods(2, {{"3g.40gb", 1}}));
  JobArrival pod;
  pod.more_pods = {PodGroup{}};
  pod.tenant = "someone";
  pod.priority = 5;
  pod.has_deadline = true;
  pod.pods = 3;
  ASSERT_TRUE(generated.source->Next(&pod).ok());
  JobArrival expected;
  expected.name = "pod-0000000";
  expected.shape = ShapeId(size_t{0});
  EXPECT_TRUE(pod == expected);
  const PodShape& shape = generated.shapes.row(pod.shape);
  EXPECT_EQ(shape.request.mig, (std::vector<std::pair<std::string, int32_t>>{{"3g.40gb", 1}}));
  EXPECT_EQ(shape.request.nominal_milli, 500);
  EXPECT_EQ(shape.request.total_gpu_milli(), 500);
  EXPECT_EQ(shape.request.gpu_count, 0);
  EXPECT_EQ(shape.request.cpu_milli, 0);
  EXPECT_EQ(shape.request.memory_bytes, 0);
  ASSERT_TRUE(generated.source->Next(&pod).ok());
  EXPECT_EQ(pod.name, "pod-0000001");
  for (int i = 0; i < 2; ++i) {
    const absl::StatusOr<bool> more = generated.source->Next(&pod);
    ASSERT_TRUE(more.ok());
    EXPECT_FALSE(*more);
  }
}

TEST(MigGeneratorTest, ShapesStandForTheirShareOfTheGpu) {
  const Generated generated(Pods(1, Uniform()));
  std::map<std::string, int64_t> milli;
  for (size_t i = 0; i < generated.shapes.size(); ++i) {
    const PodShape& shape = generated.shapes.row(ShapeId(i));
    milli[shape.request.mig.at(0).first] = shape.request.nominal_milli;
  }
  EXPECT_EQ(milli, (std::map<std::string, int64_t>{{"7g.80gb", 1000},
                                                   {"4g.40gb", 500},
                                                   {"3g.40gb", 500},
                                                   {"2g.20gb", 250},
                                                   {"1g.20gb", 250},
                                                   {"1g.10gb", 125}}));
}

TEST(MigGeneratorTest, NamesHaveRoomForTheMostPodsThatThereCanBe) {
  // Only the first pod is made; 10,000,001 pods of one unit each need eight digits.
  JobArrival pod;
  const std::vector<std::pair<MigMixOptions, std::string>> cases = {
      {Pods(10'000'000, Uniform()), "pod-0000000"},
      {Pods(10'000'001, Uniform()), "pod-00000000"},
      {Offered(10'000'001, Uniform()), "pod-00000000"},
      {Offered(20'000'000, {{"2g.20gb", 1}, {"7g.80gb", 1}}), "pod-0000000"},
      {Offered(20'000'001, {{"2g.20gb", 1}, {"7g.80gb", 1}}), "pod-00000000"},
  };
  for (const auto& [options, name] : cases) {
    const Generated generated(options);
    ASSERT_TRUE(generated.source->Next(&pod).ok());
    EXPECT_EQ(pod.name, name);
  }
}

// The weights are 2^40, 2^39 and 2^39 of 2^41, so the highest of a draw's 41 bits decide.
TEST(MigGeneratorTest, DrawsAreThoseOfTheStream) {
  MigMixOptions options = Pods(1000, {{"7g.80gb", 2}, {"2g.20gb", 1}, {"1g.10gb", 1}});
  options.seed = 42;
  Random stream(42, "workload/mig_profile");
  std::vector<std::string> expected;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t quarter = stream.Below(uint64_t{1} << 41) >> 39;
    expected.emplace_back(quarter < 2 ? "7g.80gb" : quarter == 2 ? "2g.20gb" : "1g.10gb");
  }
  EXPECT_EQ(Profiles(options), expected);
  EXPECT_EQ(Profiles(options), expected);  // once more gives the same
  options.seed = 43;
  EXPECT_NE(Profiles(options), expected);
}

// A letter per profile; computed by a second implementation of the generator, the rounding of
// weights and the rule for the end.
TEST(MigGeneratorTest, MixesArePinned) {
  const std::map<std::string, char> letters = {{"7g.80gb", '7'}, {"4g.40gb", '4'},
                                               {"3g.40gb", '3'}, {"2g.20gb", '2'},
                                               {"1g.20gb", 'd'}, {"1g.10gb", 'g'}};
  const std::vector<std::pair<uint64_t, std::string>> cases = {
      {42, "ggdg4dgd334g3d27gggggdg422gg3gg23d4d"}, {43, "g32d2ggg2d32ddgddd43g73g22g42g4gggdd"}};
  for (const auto& [seed, expected] : cases) {
    MigMixOptions options = Offered(80, {{"7g.80gb", .05},
                                         {"4g.40gb", .1},
                                         {"3g.40gb", .1},
                                         {"2g.20gb", .2},
                                         {"1g.20gb", .25},
                                         {"1g.10gb", .3}});
    options.seed = seed;
    std::string drawn;
    for (const std::string& profile : Profiles(options)) drawn += letters.at(profile);
    EXPECT_EQ(drawn, expected);
  }
}

TEST(MigGeneratorTest, SharesAreNearTheirWeights) {
  const std::vector<Shares> mixes = {Uniform(),
                                     {{"7g.80gb", .05},
                                      {"4g.40gb", .1},
                                      {"3g.40gb", .1},
                                      {"2g.20gb", .2},
                                      {"1g.20gb", .25},
                                      {"1g.10gb", .3}},
                                     {{"7g.80gb", 30},
                                      {"4g.40gb", 15},
                                      {"3g.40gb", 5},
                                      {"2g.20gb", 5},
                                      {"1g.20gb", 15},
                                      {"1g.10gb", 30}}};
  constexpr int64_t kPods = 100'000;
  for (size_t m = 0; m < mixes.size(); ++m) {
    MigMixOptions options = Pods(kPods, mixes[m]);
    options.seed = 7 + m;
    std::map<std::string, int64_t> counts;
    for (const std::string& profile : Profiles(options)) ++counts[profile];
    double sum = 0;
    for (const auto& share : mixes[m]) sum += share.second;
    for (const auto& [profile, weight] : mixes[m]) {
      const double mean = static_cast<double>(kPods) * weight / sum;
      const double margin = 4 * std::sqrt(mean * (1 - weight / sum));
      EXPECT_NEAR(static_cast<double>(counts[profile]), mean, margin) << m << " " << profile;
    }
    // One pod does not foretell the next: pairs come as often as their weights say.
    const std::vector<std::string> drawn = Profiles(options);
    int64_t twice = 0;
    for (size_t i = 1; i < drawn.size(); ++i) {
      if (drawn[i] == "1g.10gb" && drawn[i - 1] == "1g.10gb") ++twice;
    }
    const double chance = mixes[m].back().second / sum;
    const double pairs = static_cast<double>(kPods) * chance * chance;
    EXPECT_NEAR(static_cast<double>(twice), pairs, 6 * std::sqrt(pairs)) << m;
  }
}

TEST(MigGeneratorTest, TinyWeightsAreHardlyEverDrawn) {
  for (const std::string& profile : Profiles(Pods(10'000, {{"7g.80gb", 1e-200}, {"1g.10gb", 1}}))) {
    ASSERT_EQ(profile, "1g.10gb");
  }
}

TEST(MigGeneratorTest, StopsWithThePodThatReachesTheOfferedUnits) {
  for (const int64_t units : {1, 2, 7, 8, 9, 100, 800, 801}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      MigMixOptions options = Offered(units, Uniform());
      options.seed = seed;
      const Generated generated(options);
      const std::vector<JobArrival> pods = generated.All();
      ASSERT_FALSE(pods.empty());
      int64_t asked = 0;
      for (const JobArrival& pod : pods) asked += generated.UnitsOf(pod);
      EXPECT_GE(asked, units) << seed;
      EXPECT_LT(asked - generated.UnitsOf(pods.back()), units) << seed;
    }
  }
}

TEST(MigGeneratorTest, AnExactFitIsReachedExactly) {
  const std::vector<JobArrival> pods = All(Offered(800, {{"4g.40gb", 1}}));
  EXPECT_EQ(pods.size(), 200u);
  EXPECT_EQ(All(Offered(801, {{"4g.40gb", 1}})).size(), 201u);
  EXPECT_EQ(All(Offered(1, {{"7g.80gb", 1}})).size(), 1u);
}

TEST(MigGeneratorTest, MoreOfferedUnitsOnlyAddPods) {
  MigMixOptions options = Offered(400, Uniform());
  options.run_time = "uniform(low=1,high=457)";
  options.interarrival = "constant(1)";
  const std::vector<JobArrival> few = All(options);
  options.offered_units = 3200;
  const std::vector<JobArrival> many = All(options);
  ASSERT_LT(few.size(), many.size());
  EXPECT_TRUE(std::equal(few.begin(), few.end(), many.begin()));
}

TEST(MigGeneratorTest, OnePodPerSecond) {
  MigMixOptions options = Pods(50, Uniform());
  for (const JobArrival& pod : All(options)) EXPECT_EQ(pod.time.ns(), 0);
  options.interarrival = "constant(1)";
  const std::vector<JobArrival> pods = All(options);
  for (size_t i = 0; i < pods.size(); ++i) {
    EXPECT_EQ(pods[i].time.ns(), static_cast<int64_t>(i) * kSecond);
    EXPECT_FALSE(pods[i].has_run_time);
  }
}

TEST(MigGeneratorTest, TimesComeFromTheirOwnStreams) {
  MigMixOptions options = Pods(200, Uniform());
  options.seed = 11;
  options.interarrival = "exponential(mean=30)";
  options.run_time = "uniform(low=1,high=457)";
  const std::vector<JobArrival> pods = All(options);
  ExpectOwnStreams(pods, 11, Distribution::Exponential(30), Distribution::Uniform(1, 457));
  const std::vector<std::string> profiles = Profiles(options);
  options.run_time = "";
  options.interarrival = "";
  EXPECT_EQ(Profiles(options), profiles);
}

TEST(MigGeneratorTest, NegativeSamplesCountAsZero) {
  MigMixOptions options = Pods(50, Uniform());
  options.interarrival = "constant(-1)";
  options.run_time = "constant(-5)";
  for (const JobArrival& pod : All(options)) {
    EXPECT_EQ(pod.time.ns(), 0);
    EXPECT_EQ(pod.run_time.ns(), 0);
  }
}

TEST(MigGeneratorTest, TimesBeyondTheLimitAreErrorsThatStick) {
  ExpectTimeLimits(Pods(5, Uniform()), "pod",
                   [](const MigMixOptions& options) { return Generated(options); });
}

TEST(MigGeneratorTest, GoesOnFromASavedPosition) {
  MigMixOptions by_units = Offered(80, Uniform());
  by_units.seed = 3;
  by_units.interarrival = "exponential(mean=9)";
  by_units.run_time = "normal(mean=100,stddev=50)";
  MigMixOptions by_pods = by_units;
  by_pods.offered_units = 0;
  by_pods.pods = 12;
  for (const MigMixOptions& options : {by_units, by_pods}) {
    EXPECT_GE(All(options).size(), 10u);
    ExpectGoesOnFromEveryPosition([&options = options] { return Generated(options); });
  }
}

TEST(MigGeneratorTest, RefusesAPositionOfAnotherWorkload) {
  ExpectRefusesPositionOf(Generated(Pods(10, Uniform())), Generated(Offered(10, Uniform())),
                          "has 0 pods or 10 units, the saved one 10 or 0");
}

TEST(MigGeneratorTest, ProfilesGoByAnyDriversName) {
  const MigProduct product = A100();
  ASSERT_NE(MigProfileNamed(product, "1G.12GB"), nullptr);
  EXPECT_EQ(MigProfileNamed(product, "1G.12GB")->name, "1g.10gb");
  EXPECT_EQ(MigProfileNamed(product, "7g.80gb")->size, 8);
  EXPECT_EQ(MigProfileNamed(product, "1g.5gb"), nullptr);
  EXPECT_EQ(MigProfileNamed(product, ""), nullptr);
  EXPECT_EQ(Profiles(Pods(1, {{"1G.12gb", 1}})), std::vector<std::string>{"1g.10gb"});
}

// A name that one profile has now and another one had is the first one's.
TEST(MigGeneratorTest, TheProductsOwnNameComesFirst) {
  MigProduct product = A100();
  product.profiles[0].names = {"3g.40gb"};
  EXPECT_EQ(MigProfileNamed(product, "3g.40gb")->size, 4);
}

struct BadOptions {
  std::function<void(MigMixOptions&)> set;
  std::string message;  // its begin, after "workload.generated."
};
using O = MigMixOptions;

TEST(MigGeneratorTest, RefusesBadOptionsByTheirKeys) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<BadOptions> rows = {
      {[](O& o) { o.shares.clear(); }, "mig: found no profile, expected one at least"},
      {[](O& o) { o.shares[1].second = 0; }, "mig.1.weight: found 0, expected a number above 0"},
      {[](O& o) { o.shares[0].second = -0.5; }, "mig.0.weight: found -0.5, expected"},
      {[nan](O& o) { o.shares[5].second = nan; }, "mig.5.weight: found nan, expected"},
      {[](O& o) { o.shares[2].first = "1g.10bg"; },
       "mig.2.profile: found '1g.10bg', expected a profile of A100-80GB: 1g.10gb, 1g.20gb, "
       "2g.20gb, 3g.40gb, 4g.40gb, 7g.80gb (did you mean '1g.10gb'?)"},
      {[](O& o) { o.shares[2].first = "everything"; }, "mig.2.profile: found 'everything', "},
      {[](O& o) { o.shares[3].first = "7G.80GB"; },
       "mig.3.profile: found '7G.80GB' a second time, expected each profile once"},
      {[](O& o) { o.shares[0].first = "1g.12gb"; },
       "mig.5.profile: found '1g.10gb' a second time, "},
      {[](O& o) { o.pods = 0; }, "mig: found neither pods nor offered_percent, expected one of "},
      {[](O& o) { o.pods = -1; }, "pods: found -1, expected 0 to 4294967295"},
      {[](O& o) { o.pods = int64_t{1} << 32; }, "pods: found 4294967296, expected"},
      {[](O& o) { o.offered_units = 8; }, "offered_percent: found pods, too, expected one of them"},
      {[](O& o) { o.offered_units = -8; }, "offered_percent: found -8 units, expected 1 to "},
      {[](O& o) { o.offered_units = int64_t{1} << 32; }, "offered_percent: found 4294967296 units"},
      {[](O& o) { o.interarrival = "exponential(30"; }, "interarrival: "},
      {[](O& o) { o.run_time = "sometimes"; }, "run_time: "},
  };
  GpuModelTable models;
  for (const BadOptions& row : rows) {
    ShapeTable shapes(&models);
    MigMixOptions options = Pods(10, Uniform());
    row.set(options);
    const absl::Status status = MigMixSource::Create(options, A100(), &shapes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.message;
    EXPECT_TRUE(absl::StartsWith(status.message(), "workload.generated." + row.message)) << status;
  }
}

}  // namespace mig_generator_test
}  // namespace drasim
