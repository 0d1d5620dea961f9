#include "traces/generator.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/distributions.h"
#include "model/random.h"
#include "tests/traces/generator_rig.h"
#include "traces/embedded.h"

namespace drasim {
namespace generator_test {

using generator_rig::ExpectGoesOnFromEveryPosition;
using generator_rig::ExpectRefusesPositionOf;
using generator_rig::ExpectTimeLimits;
using generator_rig::GeneratedBy;

constexpr int64_t kMib = int64_t{1} << 20;

// Three shapes A, B, C in the ratio 5 : 3 : 2, and two kinds of node in the ratio 3 : 1.
constexpr absl::string_view kTable =
    "# a comment\n"
    "kind,count,cpu_milli,memory_mib,gpu_count,gpu_milli,gpu_model\n"
    "pod,5,1000,1024,1,500,\r\n"
    "\n"
    "pod,3,2000,2048,8,1000,V100M16|V100M32\n"
    "node,3,96000,393216,8,,G2\n"
    "pod,2,500,0,0,0,\n"
    "node,1,8000,1024,0,,";

WorkloadTable Parsed(absl::string_view text) {
  absl::StatusOr<WorkloadTable> table = ParseWorkloadTable(text, "table.csv");
  EXPECT_TRUE(table.ok()) << table.status();
  return table.ok() ? *std::move(table) : WorkloadTable();
}

struct Generated : GeneratedBy<GeneratedSource> {
  Generated(const WorkloadTable& table, const GeneratedOptions& options) {
    Take(GeneratedSource::Create(table, options, &shapes));
  }
};

// One letter per pod: A for the table's first shape, and so on.
std::string Letters(const std::vector<JobArrival>& pods) {
  std::string letters;
  for (const JobArrival& pod : pods) {
    letters.push_back(static_cast<char>('A' + static_cast<int>(pod.shape.value())));
  }
  return letters;
}

std::string GeneratedLetters(const GeneratedOptions& options) {
  return Letters(Generated(Parsed(kTable), options).All());
}

TEST(WorkloadTableTest, ReadsPodAndNodeRows) {
  const WorkloadTable table = Parsed(kTable);
  ASSERT_EQ(table.pods.size(), 3u);
  EXPECT_EQ(table.pods[0].count, 5);
  EXPECT_EQ(table.pods[0].shape.request.cpu_milli, 1000);
  EXPECT_EQ(table.pods[0].shape.request.memory_bytes, 1024 * kMib);
  EXPECT_EQ(table.pods[0].shape.request.gpu_count, 1);
  EXPECT_EQ(table.pods[0].shape.request.gpu_milli, 500);
  EXPECT_EQ(table.pods[0].shape.request.gpu_spec, "");
  EXPECT_EQ(table.pods[1].shape.request.gpu_spec, "V100M16|V100M32");
  EXPECT_EQ(table.pods[1].shape.request.total_gpu_milli(), 8000);
  EXPECT_EQ(table.pods[2].count, 2);
  EXPECT_EQ(table.pods[2].shape.request.memory_bytes, 0);
  EXPECT_EQ(table.pods[2].shape.request.gpu_count, 0);
  ASSERT_EQ(table.nodes.size(), 2u);
  EXPECT_EQ(table.nodes[0].count, 3);
  EXPECT_EQ(table.nodes[0].node.cpu_milli, 96000);
  EXPECT_EQ(table.nodes[0].node.memory_bytes, 393216 * kMib);
  EXPECT_EQ(table.nodes[0].node.gpu_count, 8);
  EXPECT_EQ(table.nodes[0].node.gpu_model, "G2");
  EXPECT_EQ(table.nodes[0].node.pods, 1001);
  EXPECT_EQ(table.nodes[1].node.gpu_model, "");
  EXPECT_EQ(table.pod_count(), 10);
  EXPECT_EQ(table.node_count(), 4);
}

TEST(WorkloadTableTest, ErrorsSayWhereAndWhat) {
  const std::string header = "kind,count,cpu_milli,memory_mib,gpu_count,gpu_milli,gpu_model\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kind,count\n",
       "t:1:1: found 'kind,count', expected the header "
       "'kind,count,cpu_milli,memory_mib,gpu_count,gpu_milli,gpu_model'"},
      {"#\n\n" + header, "t:4:1: found the end of the table, expected a pod or node row"},
      {"", "t:1:1: found the end of the table, expected a pod or node row"},
      {header + "pod,1,2\n", "t:2:1: found 3 fields, expected 7"},
      {header + "job,1,2,3,0,0,\n", "t:2:1: kind 'job': expected pod or node"},
      {header + "pod,0,2,3,0,0,\n",
       "t:2:5: count '0': expected a whole number from 1 to 2147483647"},
      {header + "pod,1,-2,3,0,0,\n",
       "t:2:7: cpu_milli '-2': expected a whole number from 0 to 1000000000000"},
      {header + "pod,1,2,1.5,0,0,\n",
       "t:2:9: memory_mib '1.5': expected a whole number from 0 to 1099511627776"},
      {header + "pod,1,2,99999999999999999999,0,0,\n",
       "t:2:9: memory_mib '99999999999999999999': expected a whole number from 0 to "
       "1099511627776"},
      {header + "#\npod,1,20,3,65,0,\n",
       "t:3:12: gpu_count '65': expected a whole number from 0 to 64"},
      {header + "pod,1,2,3,1,,\n", "t:2:13: gpu_milli '': expected a whole number from 1 to 1000"},
      {header + "pod,1,2,3,1,1001,\n",
       "t:2:13: gpu_milli '1001': expected a whole number from 1 to 1000"},
      {header + "pod,1,2,3,0,500,\n", "t:2:13: gpu_milli '500': expected 0"},
      {header + "pod,1,2,3,0,0,T4\n",
       "t:2:15: gpu_model 'T4': expected nothing for a pod without GPUs"},
      {header + "pod,2147483647,2,3,0,0,\npod,1,3,3,0,0,\n",
       "t:3:5: count '1': expected the counts of all pod rows to add up to at most 2147483647"},
      {header + "node,16777217,2,3,0,,\n",
       "t:2:6: count '16777217': expected a whole number from 1 to 16777216"},
      {header + "node,1,2,3,1,1000,T4\n",
       "t:2:14: gpu_milli '1000': expected nothing in a node row"},
      {header + "node,1,2,3,0,,T4\n",
       "t:2:15: gpu_model 'T4': expected nothing for a node without GPUs"},
      {header + "node,1,2,3,1,,T4|G2\n", "t:2:15: gpu_model 'T4|G2': expected one model"},
  };
  for (const auto& [text, message] : cases) {
    const absl::StatusOr<WorkloadTable> table = ParseWorkloadTable(text, "t");
    ASSERT_FALSE(table.ok()) << text;
    EXPECT_EQ(table.status(), absl::InvalidArgumentError(message));
  }
}

// The figures of the trace's own description, counted by other means.
TEST(WorkloadTableTest, EmbeddedTableHasTheFiguresOfOpenb) {
  const WorkloadTable table = Parsed(EmbeddedOpenbLikeTable());
  EXPECT_EQ(table.pods.size(), 151u);
  EXPECT_EQ(table.pod_count(), 8152);
  int64_t gpu_milli = 0;
  int64_t share_pods = 0;
  std::map<int32_t, int64_t> by_gpu_count;
  for (const WorkloadTable::PodRow& row : table.pods) {
    gpu_milli += row.count * row.shape.request.total_gpu_milli();
    if (row.shape.request.is_share()) share_pods += row.count;
    by_gpu_count[row.shape.request.gpu_count] += row.count;
    EXPECT_EQ(row.shape.request.gpu_spec, "");
  }
  EXPECT_EQ(gpu_milli, 6086800);
  EXPECT_EQ(share_pods, 3078);
  const std::map<int32_t, int64_t> expected = {{0, 1088}, {1, 6989}, {2, 16}, {4, 15}, {8, 44}};
  EXPECT_EQ(by_gpu_count, expected);

  EXPECT_EQ(table.nodes.size(), 15u);
  EXPECT_EQ(table.node_count(), 1213);
  int64_t cpu_milli = 0;
  int64_t memory_bytes = 0;
  std::map<std::string, int64_t> gpus_by_model;
  for (const WorkloadTable::NodeRow& row : table.nodes) {
    cpu_milli += row.count * row.node.cpu_milli;
    memory_bytes += row.count * row.node.memory_bytes;
    gpus_by_model[row.node.gpu_model] += row.count * row.node.gpu_count;
  }
  EXPECT_EQ(cpu_milli, 107018000);
  EXPECT_EQ(memory_bytes, 503828480 * kMib);
  const std::map<std::string, int64_t> models = {{"A10", 2},      {"G2", 4392}, {"G3", 312},
                                                 {"P100", 265},   {"T4", 842},  {"V100M16", 195},
                                                 {"V100M32", 204}};
  EXPECT_EQ(gpus_by_model, models);
}

TEST(GenerateNodesTest, TableCountsInterleavedAndNumbered) {
  const std::vector<NodeSpec> nodes = GenerateNodes(Parsed(kTable), 0);
  ASSERT_EQ(nodes.size(), 4u);
  // Places 1/6, 3/6, 5/6 for the three and 1/2 for the one: the tie goes to the earlier row.
  const std::vector<std::string> expected = {"G2", "G2", "", "G2"};
  for (size_t i = 0; i < nodes.size(); ++i) {
    EXPECT_EQ(nodes[i].gpu_model, expected[i]) << i;
    EXPECT_EQ(nodes[i].name, absl::StrCat("node-00000", i));
    EXPECT_EQ(nodes[i].pods, 1001);
  }
  EXPECT_EQ(nodes[2].cpu_milli, 8000);
  EXPECT_EQ(nodes[2].gpu_count, 0);
}

TEST(GenerateNodesTest, LargestRemainderWithTiesToTheEarlierRow) {
  // 7.5 and 2.5: one is left over and both remainders are equal.
  const std::vector<NodeSpec> nodes = GenerateNodes(Parsed(kTable), 10);
  ASSERT_EQ(nodes.size(), 10u);
  EXPECT_EQ(std::count_if(nodes.begin(), nodes.end(),
                          [](const NodeSpec& node) { return node.gpu_model == "G2"; }),
            8);
}

TEST(GenerateNodesTest, NoNodeRowsNoNodes) {
  WorkloadTable table = Parsed(kTable);
  table.nodes.clear();
  EXPECT_TRUE(GenerateNodes(table, 0).empty());
  EXPECT_TRUE(GenerateNodes(table, 5).empty());
}

using Kind = std::tuple<int64_t, int64_t, int32_t, std::string>;

Kind KindOf(const NodeSpec& node) {
  return {node.cpu_milli, node.memory_bytes, node.gpu_count, node.gpu_model};
}

// The counts against largest remainders worked out with plain products. With K kinds, n of N nodes
// of one kind and places at (2i + 1) / 2n, that kind is off its share of any prefix by at most
// 1/2 + K n / 2N.
TEST(GenerateNodesTest, SharesAreWithinOneAndEveryPrefixIsMixed) {
  const WorkloadTable table = Parsed(EmbeddedOpenbLikeTable());
  const auto kinds = static_cast<int64_t>(table.nodes.size());
  for (const int64_t total : {1, 7, 100, 1213, 5000}) {
    const std::vector<NodeSpec> nodes = GenerateNodes(table, total);
    ASSERT_EQ(static_cast<int64_t>(nodes.size()), total);
    std::map<Kind, int64_t> counts;
    for (const NodeSpec& node : nodes) ++counts[KindOf(node)];
    int64_t leftover = total;
    std::vector<std::pair<int64_t, size_t>> remainders;  // negated, so that the largest sorts first
    std::vector<int64_t> expected;
    for (size_t row = 0; row < table.nodes.size(); ++row) {
      expected.push_back(table.nodes[row].count * total / 1213);
      remainders.emplace_back(-(table.nodes[row].count * total % 1213), row);
      leftover -= expected.back();
    }
    std::sort(remainders.begin(), remainders.end());
    for (size_t i = 0; i < static_cast<size_t>(leftover); ++i) ++expected[remainders[i].second];
    for (size_t row = 0; row < table.nodes.size(); ++row) {
      EXPECT_EQ(counts[KindOf(table.nodes[row].node)], expected[row]) << total << " row " << row;
    }
    std::map<Kind, int64_t> so_far;
    for (size_t i = 0; i < nodes.size(); ++i) {
      ++so_far[KindOf(nodes[i])];
      const auto length = static_cast<int64_t>(i) + 1;
      for (const auto& [kind, count] : so_far) {
        const int64_t share = counts[kind];
        EXPECT_LE(2 * std::abs(count * total - share * length), total + kinds * share) << i;
      }
    }
  }
}

TEST(GeneratedSourceTest, QuotaGivesExactShares) {
  GeneratedOptions options;
  options.pods = 1000;
  const std::string letters = GeneratedLetters(options);
  EXPECT_EQ(std::count(letters.begin(), letters.end(), 'A'), 500);
  EXPECT_EQ(std::count(letters.begin(), letters.end(), 'B'), 300);
  EXPECT_EQ(std::count(letters.begin(), letters.end(), 'C'), 200);
}

// The orders were computed by a second implementation of the generator and the shuffle.
TEST(GeneratedSourceTest, QuotaOrderIsPinned) {
  GeneratedOptions options;
  options.seed = 42;
  EXPECT_EQ(GeneratedLetters(options), "AACBCAABBA");
  options.sampling = "";
  EXPECT_EQ(GeneratedLetters(options), "AACBCAABBA");
  options.pods = 7;  // 3.5, 2.1 and 1.4: the largest remainder is A's
  EXPECT_EQ(GeneratedLetters(options), "BCAABAA");
  options.pods = 0;
  options.seed = 43;
  EXPECT_EQ(GeneratedLetters(options), "ABAABACCBA");
}

TEST(GeneratedSourceTest, IndependentDrawsArePinned) {
  GeneratedOptions options;
  options.sampling = "independent";
  options.pods = 30;
  options.seed = 42;
  EXPECT_EQ(GeneratedLetters(options), "CAAAAAAAACAACAAABBCAABCABBCBAA");
  options.seed = 43;
  EXPECT_EQ(GeneratedLetters(options), "CBBAAABABABAAACBBAACAACACABABB");
}

TEST(GeneratedSourceTest, IndependentDrawsFollowTheWeights) {
  const WorkloadTable table = Parsed(EmbeddedOpenbLikeTable());
  GeneratedOptions options;
  options.sampling = "independent";
  options.pods = 20000;
  options.seed = 7;
  const Generated generated(table, options);
  Random oracle(7, "workload/shape");
  for (const JobArrival& pod : generated.All()) {
    auto draw = static_cast<int64_t>(oracle.Below(8152));
    size_t row = 0;
    while (draw >= table.pods[row].count) draw -= table.pods[row++].count;
    ASSERT_EQ(pod.shape.value(), row) << pod.name;
  }
}

TEST(GeneratedSourceTest, ShapesAreThoseOfTheTable) {
  const WorkloadTable table = Parsed(kTable);
  const Generated generated(table, GeneratedOptions());
  ASSERT_EQ(generated.shapes.size(), 3u);
  EXPECT_EQ(generated.shapes.row(ShapeId(size_t{1})).request.gpu_spec, "V100M16|V100M32");
  EXPECT_EQ(generated.shapes.row(ShapeId(size_t{2})).request.cpu_milli, 500);
}

TEST(GeneratedSourceTest, NamesSortInOrderOfCreation) {
  GeneratedOptions options;
  options.pods = 12;
  const Generated small(Parsed(kTable), options);
  const std::vector<JobArrival> pods = small.All();
  ASSERT_EQ(pods.size(), 12u);
  EXPECT_EQ(pods[0].name, "pod-0000000");
  EXPECT_EQ(pods[11].name, "pod-0000011");

  JobArrival pod;
  options.sampling = "independent";
  options.pods = 10000000;  // the last one is number 9999999
  const Generated seven(Parsed(kTable), options);
  ASSERT_TRUE(seven.source->Next(&pod).ok());
  EXPECT_EQ(pod.name, "pod-0000000");
  options.pods = 10000001;
  const Generated eight(Parsed(kTable), options);
  ASSERT_TRUE(eight.source->Next(&pod).ok());
  EXPECT_EQ(pod.name, "pod-00000000");
}

TEST(GeneratedSourceTest, WithoutDistributionsAllArriveAtZeroAndNeverEnd) {
  const Generated generated(Parsed(kTable), GeneratedOptions());
  EXPECT_EQ(generated.source->pods(), 10);
  const std::vector<JobArrival> pods = generated.All();
  ASSERT_EQ(pods.size(), 10u);
  for (const JobArrival& pod : pods) {
    EXPECT_EQ(pod.time, SimTime(0));
    EXPECT_FALSE(pod.has_run_time);
    EXPECT_EQ(pod.priority, 0);
  }
  JobArrival pod;
  const absl::StatusOr<bool> after_end = generated.source->Next(&pod);
  ASSERT_TRUE(after_end.ok());
  EXPECT_FALSE(*after_end);
}

TEST(GeneratedSourceTest, ConstantTimes) {
  GeneratedOptions options;
  options.interarrival = "constant(1.5)";
  options.run_time = "constant(0.0000000016)";
  const std::vector<JobArrival> pods = Generated(Parsed(kTable), options).All();
  ASSERT_EQ(pods.size(), 10u);
  for (size_t i = 0; i < pods.size(); ++i) {
    EXPECT_EQ(pods[i].time.ns(), static_cast<int64_t>(i) * 1500000000) << i;
    EXPECT_TRUE(pods[i].has_run_time);
    EXPECT_EQ(pods[i].run_time.ns(), 2);  // 1.6 ns, rounded
  }
}

TEST(GeneratedSourceTest, TimesComeFromTheirOwnStreams) {
  GeneratedOptions options;
  options.seed = 11;
  options.pods = 200;
  options.interarrival = "exponential(mean=30)";
  options.run_time = "lognormal(median=600,sigma=2)";
  const std::vector<JobArrival> pods = Generated(Parsed(kTable), options).All();
  ASSERT_EQ(pods.size(), 200u);
  const absl::StatusOr<Distribution> gaps = Distribution::Exponential(30);
  const absl::StatusOr<Distribution> lengths = Distribution::LogNormal(600, 2);
  ASSERT_TRUE(gaps.ok() && lengths.ok());
  Random gap_stream(11, "workload/interarrival");
  Random length_stream(11, "workload/run_time");
  EXPECT_EQ(pods[0].time.ns(), 0);
  for (size_t i = 0; i < pods.size(); ++i) {
    if (i > 0) {
      const double gap_ns = gaps->Sample(gap_stream) * 1e9;
      const int64_t found = pods[i].time.ns() - pods[i - 1].time.ns();
      EXPECT_LE(std::abs(static_cast<double>(found) - gap_ns), 0.5) << i;
    }
    const double length_ns = lengths->Sample(length_stream) * 1e9;
    EXPECT_LE(std::abs(static_cast<double>(pods[i].run_time.ns()) - length_ns), 0.5) << i;
  }

  // Another distribution of run times leaves shapes and arrivals alone.
  options.run_time = "constant(1)";
  const std::vector<JobArrival> others = Generated(Parsed(kTable), options).All();
  EXPECT_EQ(Letters(others), Letters(pods));
  for (size_t i = 0; i < pods.size(); ++i) EXPECT_EQ(others[i].time, pods[i].time) << i;
}

TEST(GeneratedSourceTest, NegativeSamplesCountAsZero) {
  GeneratedOptions options;
  options.pods = 400;
  options.interarrival = "normal(mean=0,stddev=1)";
  options.run_time = "constant(-5)";
  const std::vector<JobArrival> pods = Generated(Parsed(kTable), options).All();
  ASSERT_EQ(pods.size(), 400u);
  int at_once = 0;
  for (size_t i = 0; i < pods.size(); ++i) {
    EXPECT_EQ(pods[i].run_time.ns(), 0);
    if (i == 0) continue;
    EXPECT_GE(pods[i].time, pods[i - 1].time);
    if (pods[i].time == pods[i - 1].time) ++at_once;
  }
  // Half of 399 on average, with a standard deviation of 10.
  EXPECT_GT(at_once, 140);
  EXPECT_LT(at_once, 260);
}

TEST(GeneratedSourceTest, TimesBeyondTheLimitAreErrorsThatStick) {
  ExpectTimeLimits(GeneratedOptions(), "pod", [](const GeneratedOptions& options) {
    return Generated(Parsed(kTable), options);
  });
}

TEST(GeneratedSourceTest, GoesOnFromASavedPosition) {
  for (const absl::string_view sampling : {"quota", "independent"}) {
    GeneratedOptions options;
    options.sampling = std::string(sampling);
    options.pods = 25;
    options.seed = 3;
    options.interarrival = "exponential(mean=10)";
    options.run_time = "uniform(low=1,high=9)";
    SCOPED_TRACE(sampling);
    const WorkloadTable table = Parsed(kTable);
    EXPECT_EQ(Generated(table, options).All().size(), 25u);
    ExpectGoesOnFromEveryPosition([&] { return Generated(table, options); });
  }
}

TEST(GeneratedSourceTest, RefusesAPositionOfAnotherWorkload) {
  GeneratedOptions options;
  const Generated ten(Parsed(kTable), options);
  options.pods = 11;
  ExpectRefusesPositionOf(ten, Generated(Parsed(kTable), options), "has 11 pods, the saved one 10");
}

TEST(GeneratedSourceTest, RefusesBadOptions) {
  GpuModelTable models;
  ShapeTable shapes(&models);
  const auto error = [&shapes](const WorkloadTable& table, const GeneratedOptions& options) {
    const absl::Status status = GeneratedSource::Create(table, options, &shapes).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return std::string(status.message());
  };
  const WorkloadTable table = Parsed(kTable);
  EXPECT_EQ(error(WorkloadTable(), GeneratedOptions()),
            "the workload table has no pod rows to generate pods from");
  GeneratedOptions options;
  options.pods = -1;
  EXPECT_EQ(error(table, options), "pods: found -1, expected 0 to 4294967295");
  options.pods = int64_t{1} << 32;
  EXPECT_EQ(error(table, options), "pods: found 4294967296, expected 0 to 4294967295");
  options = GeneratedOptions();
  options.sampling = "quotas";
  EXPECT_EQ(error(table, options), "sampling: found 'quotas', expected quota or independent");
  options = GeneratedOptions();
  options.interarrival = "exponential(30";
  EXPECT_EQ(error(table, options).rfind("interarrival: ", 0), 0u);
  options = GeneratedOptions();
  options.run_time = "sometimes";
  EXPECT_EQ(error(table, options).rfind("run_time: ", 0), 0u);
}

}  // namespace generator_test
}  // namespace drasim
