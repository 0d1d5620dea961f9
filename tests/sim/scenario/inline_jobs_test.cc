// Jobs that a scenario writes out, and what is checked of workloads before the cluster is known.
#include "sim/scenario/inline_jobs.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/mig_product.h"
#include "model/proto/scenario.pb.h"
#include "model/random.h"
#include "model/text/yaml_writer.h"
#include "sim/scenario/resolve.h"
#include "tests/testing/data_text.h"
#include "tests/testing/key_errors.h"
#include "tests/testing/run_spec_of.h"

namespace drasim {
namespace inline_jobs_test {

using Extended = std::vector<std::pair<std::string, int64_t>>;

MigProduct Product(const std::string& group, int32_t units,
                   const std::vector<std::pair<std::string, int32_t>>& sizes) {
  MigProduct product;
  product.group = group;
  product.units = units;
  for (const auto& [name, size] : sizes) {
    MigProfile profile;
    profile.name = name;
    profile.size = size;
    product.profiles.push_back(profile);
  }
  return product;
}

// Both know 1g.10gb, and mean different shares of a GPU.
std::vector<MigProduct> Products() {
  std::vector<MigProduct> products = {
      Product("A100-40GB", 8, {{"1g.5gb", 1}, {"1g.10gb", 2}, {"3g.20gb", 4}, {"7g.40gb", 8}}),
      Product("A100-80GB", 8, {{"1g.10gb", 1}, {"2g.20gb", 2}, {"7g.80gb", 8}})};
  products[1].profiles[1].names = {"2g.24gb"};
  return products;
}

absl::StatusOr<std::vector<JobArrival>> MadeOf(const proto::Scenario& scenario,
                                               const std::vector<MigProduct>& products,
                                               ShapeTable* shapes) {
  const absl::StatusOr<std::vector<InlineJob>> read = ReadInlineJobs(scenario.workload());
  if (!read.ok()) return read.status();
  return MakeInlineJobs(*read, products, shapes);
}

// The jobs of a YAML list, and the table of their shapes.
struct Inline {
  explicit Inline(absl::string_view list, const std::vector<MigProduct>& products = Products())
      : shapes(&models) {
    const proto::Scenario scenario = ScenarioOf(absl::StrCat("workload:\n  jobs:\n", list));
    absl::StatusOr<std::vector<JobArrival>> made = MadeOf(scenario, products, &shapes);
    status = made.status();
    if (made.ok()) jobs = *std::move(made);
  }

  const PodShape& ShapeOf(size_t job) const { return shapes.row(jobs.at(job).shape); }

  GpuModelTable models;
  ShapeTable shapes;
  absl::Status status;
  std::vector<JobArrival> jobs;
};

std::vector<std::string> NamesOf(const std::vector<JobArrival>& jobs) {
  std::vector<std::string> names;
  for (const JobArrival& job : jobs) names.push_back(job.name);
  return names;
}

TEST(InlineJobsTest, ANameIsEnough) {
  const Inline made("  - {name: a}\n");
  ASSERT_EQ(made.status, absl::OkStatus());
  JobArrival expected;
  expected.name = "a";
  expected.shape = ShapeId(size_t{0});
  ASSERT_EQ(made.jobs.size(), 1u);
  EXPECT_TRUE(made.jobs[0] == expected);
  GpuModelTable models;
  ShapeTable nothing(&models);
  EXPECT_EQ(made.shapes.content_hash(ShapeId(size_t{0})),
            nothing.content_hash(nothing.Intern(PodShape())));
}

TEST(InlineJobsTest, EveryKeyHasItsPlace) {
  const Inline made(TestText("EveryKeyHasItsPlace"));
  ASSERT_EQ(made.status, absl::OkStatus());
  ASSERT_EQ(made.jobs.size(), 1u);
  const JobArrival& job = made.jobs[0];
  EXPECT_EQ(job.name, "train");
  EXPECT_EQ(job.pods, 3);
  EXPECT_EQ(job.time, SimTime() + SimDuration::Seconds(60));
  EXPECT_TRUE(job.has_run_time);
  EXPECT_EQ(job.run_time, SimDuration::Seconds(5400));
  EXPECT_EQ(job.priority, -7);
  EXPECT_EQ(job.tenant, "team");
  PodShape expected;
  expected.request.cpu_milli = 1500;
  expected.request.memory_bytes = int64_t{2} << 30;
  expected.request.gpu_count = 2;
  expected.request.gpu_milli = 250;
  expected.request.gpu_spec = "A|B";
  expected.demand.memory_mib = 2 * 9537;  // 10^10 bytes are 9536.7 MiB
  expected.request.extended = {{"a.com/c", 2}, {"z.com/b", 3}};
  expected.constraints.node_selector = {{"arch", "arm"}, {"zone", "west"}};
  expected.device_plugin.function = "decode";
  EXPECT_EQ(made.ShapeOf(0).demand.memory_mib, expected.demand.memory_mib);
  EXPECT_EQ(made.ShapeOf(0).request.extended, expected.request.extended);
  GpuModelTable models;
  ShapeTable others(&models);
  EXPECT_EQ(made.shapes.content_hash(job.shape), others.content_hash(others.Intern(expected)));
}

TEST(InlineJobsTest, AGpuIsWholeUnlessItSaysOtherwise) {
  const Inline made("  - {name: a, gpus: 2}\n  - {name: b, gpus: 1, gpu_memory: 1Mi}\n");
  ASSERT_EQ(made.status, absl::OkStatus());
  EXPECT_EQ(made.ShapeOf(0).request.gpu_count, 2);
  EXPECT_EQ(made.ShapeOf(0).request.gpu_milli, 1000);
  EXPECT_EQ(made.ShapeOf(0).demand.memory_mib, 0);
  EXPECT_EQ(made.ShapeOf(1).demand.memory_mib, 1);
}

TEST(InlineJobsTest, ARunTimeOfZeroIsNoService) {
  const Inline made("  - {name: a, run_time: 0s}\n  - {name: b, run_time: ''}\n");
  ASSERT_EQ(made.status, absl::OkStatus());
  EXPECT_TRUE(made.jobs[0].has_run_time);
  EXPECT_EQ(made.jobs[0].run_time, SimDuration());
  EXPECT_FALSE(made.jobs[1].has_run_time);
}

TEST(InlineJobsTest, SortedByArrivalAndElseAsWritten) {
  const Inline made(TestText("SortedByArrivalAndElseAsWritten"));
  ASSERT_EQ(made.status, absl::OkStatus());
  EXPECT_EQ(NamesOf(made.jobs),
            (std::vector<std::string>{"first", "second", "r-0", "r-1", "r-2", "one-0", "late"}));
  for (size_t i = 2; i < 5; ++i) EXPECT_EQ(made.ShapeOf(i).request.cpu_milli, 1000);
  EXPECT_EQ(made.ShapeOf(5).request.cpu_milli, 0);
  // Shapes in the order of the list, equal ones once.
  EXPECT_EQ(made.shapes.size(), 2u);
  EXPECT_EQ(made.jobs[6].shape, ShapeId(size_t{0}));
}

TEST(InlineJobsTest, InstancesStandForTheirLeastShare) {
  const std::string& list = TestText("InstancesStandForTheirLeastShare.list");
  const Inline made(list);
  ASSERT_EQ(made.status, absl::OkStatus());
  EXPECT_EQ(made.ShapeOf(0).request.mig, (std::vector<std::pair<std::string, int32_t>>{
                                             {"1g.10gb", 3}, {"2G.24gb", 1}, {"7g.80gb", 1}}));
  EXPECT_EQ(made.ShapeOf(0).request.nominal_milli, 1000 + 3 * 125 + 250);
  EXPECT_EQ(made.ShapeOf(0).request.gpu_count, 0);
  EXPECT_EQ(made.ShapeOf(0).request.gpu_spec, "A100-80GB");
  const Inline other(list, {Products()[1]});
  ASSERT_EQ(other.status, absl::OkStatus());
  EXPECT_EQ(other.ShapeOf(0).request.nominal_milli, 1000 + 3 * 125 + 250);
  // Without products nothing is looked up.
  const Inline unknown("  - {name: a, mig: [{profile: 9g.1tb}]}\n", {});
  ASSERT_EQ(unknown.status, absl::OkStatus());
  EXPECT_EQ(unknown.ShapeOf(0).request.nominal_milli, 0);
  EXPECT_EQ(unknown.ShapeOf(0).request.mig.at(0).first, "9g.1tb");
}

TEST(InlineJobsTest, ContainersAreKeptAndAddedUp) {
  const Inline made(TestText("ContainersAreKeptAndAddedUp"));
  ASSERT_EQ(made.status, absl::OkStatus());
  const PodShape& shape = made.ShapeOf(0);
  // Three GPUs last, two are the peak before; one NIC lasts, six are the peak.
  EXPECT_EQ(shape.request.extended,
            (Extended{{"a.com/x", 4}, {"b.com/nic", 6}, {"nvidia.com/gpu", 3}}));
  ASSERT_EQ(shape.device_plugin.containers.size(), 5u);
  const ContainerRequest first{true, false, {{"nvidia.com/gpu", 2}}};
  const ContainerRequest sidecar{true, true, {{"b.com/nic", 1}}};
  const ContainerRequest last{false, false, {{"a.com/x", 4}, {"nvidia.com/gpu", 2}}};
  EXPECT_TRUE(shape.device_plugin.containers[0] == first);
  EXPECT_TRUE(shape.device_plugin.containers[1] == sidecar);
  EXPECT_TRUE(shape.device_plugin.containers[4] == last);
  EXPECT_EQ(shape.request.gpu_count, 0);
}

// kube-scheduler's rule as it is documented: whole lists of resources are added and compared,
// container by container, in their order.
Extended NaiveRequest(const proto::InlineJob& job) {
  using List = std::map<std::string, int64_t>;
  const auto plus = [](List a, const List& b) {
    for (const auto& [name, amount] : b) a[name] += amount;
    return a;
  };
  const auto greater = [](List a, const List& b) {
    for (const auto& [name, amount] : b) a[name] = std::max(a[name], amount);
    return a;
  };
  List request;
  List sidecars;
  List peak;
  for (const bool init : {false, true}) {
    for (const proto::Container& container : job.containers()) {
      if (container.init() != init) continue;
      List own;
      for (const proto::ExtendedAmount& e : container.extended()) {
        own[e.resource()] = std::stoll(e.amount());
      }
      if (container.gpus() > 0) own["nvidia.com/gpu"] = container.gpus();
      if (!init || container.restartable()) request = plus(request, own);
      if (!init) continue;
      if (container.restartable()) {
        sidecars = plus(sidecars, own);
        peak = greater(peak, sidecars);
      } else {
        peak = greater(peak, plus(own, sidecars));
      }
    }
  }
  Extended result;
  for (const auto& [name, amount] : greater(request, peak)) {
    if (amount > 0) result.emplace_back(name, amount);
  }
  return result;
}

TEST(InlineJobsTest, RandomContainersAddUpAsTheRuleSays) {
  Random random(5, "test/containers");
  const std::vector<std::string> resources = {"a.com/x", "b.com/y", "c.com/z"};
  for (int round = 0; round < 500; ++round) {
    proto::Scenario scenario;
    proto::InlineJob* job = scenario.mutable_workload()->add_jobs();
    job->set_name("a");
    job->add_containers()->set_gpus(static_cast<int32_t>(random.Below(3)));
    for (uint64_t more = random.Below(6); more > 0; --more) {
      proto::Container* container = job->add_containers();
      container->set_init(random.Below(4) > 0);
      if (container->init()) container->set_restartable(random.Below(2) == 0);
      container->set_gpus(static_cast<int32_t>(random.Below(4)));
      for (const std::string& resource : resources) {
        if (random.Below(2) == 0) continue;
        proto::ExtendedAmount* extended = container->add_extended();
        extended->set_resource(resource);
        extended->set_amount(absl::StrCat(random.Below(9)));
      }
    }
    GpuModelTable models;
    ShapeTable shapes(&models);
    const absl::StatusOr<std::vector<JobArrival>> jobs = MadeOf(scenario, {}, &shapes);
    ASSERT_TRUE(jobs.ok()) << jobs.status();
    EXPECT_EQ(shapes.row((*jobs)[0].shape).request.extended, NaiveRequest(*job)) << ToYaml(*job);
  }
}

// Checks the errors of the list; the text up to the first job's key is left out.
void ExpectRefused(const TextRows<2>& cases) {
  for (const auto& [keys, message] : cases) {
    const Inline made(absl::StrCat("  - {name: a, ", keys, "}\n"));
    EXPECT_EQ(made.status.code(), absl::StatusCode::kInvalidArgument) << keys;
    EXPECT_TRUE(absl::StartsWith(made.status.message(), "workload.jobs.0." + message))
        << made.status;
  }
}

TEST(InlineJobsTest, RefusesBadAmountsByTheirKeys) {
  ExpectRefused(TestRows<2>("RefusesBadAmountsByTheirKeys"));
}

TEST(InlineJobsTest, RefusesNumbersOutOfRange) {
  ExpectRefused(TestRows<2>("RefusesNumbersOutOfRange"));
}

TEST(InlineJobsTest, RefusesKeysThatDoNotGoTogether) {
  ExpectRefused(TestRows<2>("RefusesKeysThatDoNotGoTogether"));
}

TEST(InlineJobsTest, RefusesProfilesThatNoGpuOfTheClusterHas) {
  ExpectRefused({
      {"mig: [{profile: 1g.5gb}, {profile: 3g.20bg}]",
       "mig.1.profile: found '3g.20bg', expected a MIG profile that a GPU of the cluster has (did "
       "you mean '3g.20gb'?)"},
      {"mig: [{count: 2}]", "mig.0.profile: found none, expected a MIG profile"},
      {"mig: [{profile: 1g.5gb}, {profile: 1g.5gb}]",
       "mig.1.profile: found '1g.5gb' a second time, expected each profile once, with its count"},
  });
}

TEST(InlineJobsTest, NamesTheJobThatIsWrong) {
  const Inline made("  - {name: a}\n  - {name: b}\n  - {name: c, cpu: x}\n");
  EXPECT_TRUE(absl::StartsWith(made.status.message(), "workload.jobs.2.cpu: ")) << made.status;
  const Inline nameless("  - {name: a}\n  - {cpu: '1'}\n");
  EXPECT_EQ(
      WithoutCheckedKey(nameless.status),
      absl::InvalidArgumentError("workload.jobs.1.name: found none, expected the job's name"));
}

TEST(InlineJobsTest, RefusesNamesThatComeTwice) {
  const auto twice = [](absl::string_view list, absl::string_view message) {
    EXPECT_EQ(WithoutCheckedKey(Inline(list).status), absl::InvalidArgumentError(message));
  };
  twice("  - {name: a}\n  - {name: b}\n  - {name: a}\n",
        "workload.jobs.2.name: found the name 'a', which workload.jobs.0 has, too, expected names "
        "of their own for jobs and pods");
  twice("  - {name: a-1}\n  - {name: a, replicas: 2}\n",
        "workload.jobs.1.name: found the name 'a-1', which workload.jobs.0 has, too, expected "
        "names of their own for jobs and pods");
  twice("  - {name: a, pods: 2}\n  - {name: a-0}\n",
        "workload.jobs.1.name: found the name 'a-0', which workload.jobs.0 has, too, expected "
        "names of their own for jobs and pods");
  EXPECT_EQ(Inline("  - {name: a, pods: 2}\n  - {name: a-2}\n").status, absl::OkStatus());
  EXPECT_EQ(Inline("  - {name: a, pods: 2, replicas: 2}\n").status, absl::OkStatus());
}

TEST(InlineJobsTest, ThereIsALimitOfPods) {
  EXPECT_EQ(WithoutCheckedKey(
                Inline("  - {name: a}\n  - {name: b, pods: 100000, replicas: 10}\n").status),
            absl::InvalidArgumentError(
                "workload.jobs.1.pods: found 1000001 pods with those of the jobs before, expected "
                "at most 1000000; a trace may have more"));
}

// --- Facts known without the cluster -------------------------------------------------------------

// The resolved workload as YAML, or the error.
std::string Resolved(absl::string_view workload) {
  const proto::Scenario scenario = ScenarioOf(absl::StrCat("workload: ", workload));
  const absl::StatusOr<RunSpec> spec = ResolveScenario(scenario);
  return spec.ok() ? ToYaml(spec->written->workload()) : std::string(spec.status().message());
}

TEST(ResolveWorkloadTest, OnlyATableHasDefaults) {
  EXPECT_EQ(Resolved("{jobs: [{name: a}]}"), "jobs:\n  - name: a\n");
  EXPECT_EQ(Resolved("{generated: {pods: 3, mig: [{profile: 1g.5gb, weight: 1}]}}"),
            "generated:\n  pods: 3\n  mig:\n    - profile: 1g.5gb\n      weight: 1\n");
  EXPECT_EQ(Resolved("{generated: {pods: 3}}"),
            "generated:\n  table: openb-like\n  pods: 3\n  sampling: quota\n");
}

TEST(ResolveWorkloadTest, NamesTheKeyThatIsWrong) {
  const std::string mig = "mig: [{profile: 1g.5gb, weight: 1}]";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"{jobs: [{name: a, pods: -1}]}",
       "workload.jobs.0.pods: found -1, expected 0, which is 1, to 100000"},
      {"{jobs: [{name: a}], generated: {pods: 1}}",
       "workload.jobs: found workload.generated, too, expected one of them"},
      {"{jobs: [{name: a}], trace: {path: p.csv}}",
       "workload.jobs: found workload.trace.path, too, expected one of them"},
      {"{generated: {offered_percent: 85}}",
       "workload.generated.offered_percent: found no workload.generated.mig, expected it beside"},
      {"{generated: {" + mig + "}}",
       "workload.generated.mig: found neither pods nor offered_percent, expected one of them"},
      {"{generated: {pods: 1, offered_percent: 85, " + mig + "}}",
       "workload.generated.offered_percent: found pods, too, expected one of them"},
      {"{generated: {offered_percent: 0, " + mig + "}}",
       "workload.generated.offered_percent: found 0, expected above 0, at most 1000000"},
      {"{generated: {offered_percent: 2e6, " + mig + "}}",
       "workload.generated.offered_percent: found 2e+06, expected above 0, at most 1000000"},
      {"{generated: {pods: 1, mig: [{profile: 1g.5gb}]}}",
       "workload.generated.mig.0.weight: found 0, expected a number above 0"},
      {"{generated: {pods: 1, table: openb-like, " + mig + "}}",
       "workload.generated.table: found workload.generated.mig, too, expected one of them"},
      {"{generated: {pods: 1, gangs: [{gpus: 1, weight: 1}], " + mig + "}}",
       "workload.generated.gangs: found workload.generated.mig, too, expected one of them"},
      {"{generated: {pods: 1, load_percent: 80, " + mig + "}}",
       "workload.generated.load_percent: found workload.generated.mig, too, expected one of them"},
      {"{generated: {pods: 1, daily_swing: 0, " + mig + "}}",
       "workload.generated.daily_swing: found workload.generated.mig, too, expected one of them"},
      {"{generated: {pods: 1, sampling: independent, " + mig + "}}",
       "workload.generated.sampling: found workload.generated.mig, too, expected one of them"},
  };
  for (const auto& [workload, message] : cases) EXPECT_EQ(Resolved(workload), message) << workload;
}

}  // namespace inline_jobs_test
}  // namespace drasim
