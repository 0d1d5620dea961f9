// ReadNodes, and both readers over the public openb lists.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"
#include "traces/table_source.h"

namespace drasim {
namespace read_nodes_test {

constexpr int64_t kMib = int64_t{1} << 20;

proto::TableMapping Mapping(absl::string_view yaml) {
  absl::StatusOr<proto::TableMapping> mapping = ParseMapping(yaml, "test.yaml");
  EXPECT_TRUE(mapping.ok()) << mapping.status();
  return mapping.ok() ? *mapping : proto::TableMapping();
}

const proto::TableMapping& Openb() {
  static const auto* const kMapping = new absl::StatusOr<proto::TableMapping>(LoadMapping("openb"));
  EXPECT_TRUE(kMapping->ok()) << kMapping->status();
  return kMapping->ok() ? **kMapping : proto::TableMapping::default_instance();
}

absl::StatusOr<std::vector<NodeSpec>> Nodes(const proto::TableMapping& mapping,
                                            absl::string_view text) {
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("n.csv", text);
  if (!bytes.ok()) return bytes.status();
  return ReadNodes(*std::move(bytes), mapping);
}

TEST(ReadNodesTest, ReadsOpenbNodes) {
  absl::StatusOr<std::vector<NodeSpec>> nodes = Nodes(
      Openb(), "sn,cpu_milli,memory_mib,gpu,model\nn-0,32000,262144,0,\nn-1,64000,262144,2,P100\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  ASSERT_EQ(nodes->size(), 2u);
  EXPECT_EQ((*nodes)[0].name, "n-0");
  EXPECT_EQ((*nodes)[0].cpu_milli, 32000);
  EXPECT_EQ((*nodes)[0].memory_bytes, 262144 * kMib);
  EXPECT_EQ((*nodes)[0].pods, 1001);
  EXPECT_EQ((*nodes)[0].gpu_count, 0);
  EXPECT_EQ((*nodes)[0].gpu_model, "");
  EXPECT_EQ((*nodes)[1].gpu_count, 2);
  EXPECT_EQ((*nodes)[1].gpu_model, "P100");
  EXPECT_TRUE((*nodes)[1].labels.empty());
}

TEST(ReadNodesTest, AsManyGpusAsANodeMayHave) {
  const absl::StatusOr<std::vector<NodeSpec>> nodes =
      Nodes(Openb(), "sn,cpu_milli,memory_mib,gpu,model\nn-0,1,1,33,T4\nn-1,1,1,64,T4\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ((*nodes)[0].gpu_count, 33);
  EXPECT_EQ((*nodes)[1].gpu_count, kMaxDevicesPerNode);
}

TEST(ReadNodesTest, PodSlots) {
  absl::StatusOr<std::vector<NodeSpec>> nodes =
      Nodes(Openb(), "sn,cpu_milli,memory_mib,gpu,model,pods\nn-0,1,1,0,junk,250\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ((*nodes)[0].pods, 250);
  EXPECT_EQ((*nodes)[0].gpu_model, "");
  nodes = Nodes(Mapping("name: n\nnodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n"),
                "n,c\nx,1\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ((*nodes)[0].pods, 110);
}

TEST(ReadNodesTest, ExplainsBadNodes) {
  const auto error = [](absl::string_view rows) {
    return std::string(Nodes(Openb(), absl::StrCat("sn,cpu_milli,memory_mib,gpu,model\n", rows))
                           .status()
                           .message());
  };
  EXPECT_EQ(error("n,1,1,0,\nn,1,1,0,\n"),
            "n.csv:3:1: sn: found 'n', expected a name that no earlier row has");
  EXPECT_EQ(error("n,1,1,65,T4\n"), "n.csv:2:7: gpu: found '65', expected at most 64");
  EXPECT_EQ(error("n,1,1,1,\n"), "n.csv:2:9: model: found '', expected a text that is not empty");
  EXPECT_EQ(error("n,1,1,0\n"), "n.csv:2:8: row: found 4 fields, expected 5");
  EXPECT_EQ(error("n,1,64Gi,0,\n"),
            "n.csv:2:5: memory_mib: found '64Gi', expected a plain number of MiB; the mapping's "
            "unit quantity reads such amounts");
  EXPECT_EQ(Nodes(Openb(), "sn,cpu_milli,gpu,model\n").status().message(),
            "n.csv:1:1: memory_mib: found the columns 'sn,cpu_milli,gpu,model', expected one of "
            "this name");
}

TEST(ReadNodesTest, FiltersAreForPodsWhereThereArePods) {
  const std::string nodes_yaml =
      "nodes:\n  name: {column: n}\n  cpu: {column: c, unit: cores}\n"
      "filters:\n  - {column: c, at_least: 2}\n";
  absl::StatusOr<std::vector<NodeSpec>> nodes =
      Nodes(Mapping(absl::StrCat("name: x\n", nodes_yaml)), "n,c\na,1\nb,2\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ(nodes->size(), 1u);
  nodes =
      Nodes(Mapping(absl::StrCat("name: x\npods:\n  cpu: {column: c, unit: cores}\n", nodes_yaml)),
            "n,c\na,1\nb,2\n");
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  EXPECT_EQ(nodes->size(), 2u);
}

// The figures of the public lists, when they are at hand: <DRASIM_SHARED>/traces/openb.
TEST(OpenbFilesTest, TheListsHaveTheirKnownTotals) {
  DRASIM_NEEDS_SHARED_DATA("traces/MANIFEST.csv");
  const std::string shared = SharedFolder();
  const std::string folder = absl::StrCat(shared, "/traces/openb/openb_");
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes =
      OpenByteSource(absl::StrCat(folder, "node_list_gpu_node.csv"));
  ASSERT_TRUE(bytes.ok()) << bytes.status();
  absl::StatusOr<std::vector<NodeSpec>> nodes = ReadNodes(*std::move(bytes), Openb());
  ASSERT_TRUE(nodes.ok()) << nodes.status();
  int64_t gpus = 0;
  int64_t cpu_milli = 0;
  GpuModelTable models;
  for (const NodeSpec& node : *nodes) {
    gpus += node.gpu_count;
    cpu_milli += node.cpu_milli;
    ASSERT_TRUE(models.Intern(node.gpu_model).ok());
  }
  EXPECT_EQ(nodes->size(), 1213u);
  EXPECT_EQ(gpus, 6212);
  EXPECT_EQ(cpu_milli, 107018000);

  struct Known {
    const char* list;
    int64_t pods;
    int64_t gpu_milli;  // requested
    bool sorted;
  };
  constexpr Known kKnown[] = {{"default", 8152, 6086800, true},
                              {"cpu250", 9420, 6086800, false},
                              {"gpushare40", 8152, 5641250, false},
                              {"gpuspec33", 8152, 6086800, true},
                              {"multigpu50", 9061, 11358800, true}};
  for (const Known& known : kKnown) {
    for (const ArrivalOrder order : {ArrivalOrder::kSort, ArrivalOrder::kRequire}) {
      ShapeTable shapes(&models);
      bytes = OpenByteSource(absl::StrCat(folder, "pod_list_", known.list, ".csv.gz"));
      ASSERT_TRUE(bytes.ok()) << bytes.status();
      TableSourceOptions options;
      options.order = order;
      absl::StatusOr<std::unique_ptr<TableSource>> source =
          TableSource::Open(*std::move(bytes), Openb(), &shapes, options);
      ASSERT_TRUE(source.ok()) << source.status();
      int64_t gpu_milli = 0;
      JobArrival pod;
      absl::StatusOr<bool> got = (*source)->Next(&pod);
      for (; got.ok() && *got; got = (*source)->Next(&pod)) {
        gpu_milli += shapes.row(pod.shape).total_gpu_milli();
      }
      EXPECT_EQ(got.ok(), known.sorted || order == ArrivalOrder::kSort) << known.list;
      if (!got.ok()) continue;
      EXPECT_EQ((*source)->delivered(), known.pods) << known.list;
      EXPECT_EQ(gpu_milli, known.gpu_milli) << known.list;
      EXPECT_TRUE((*source)->warnings().empty()) << known.list;
      EXPECT_TRUE(shapes.unknown_models().empty()) << known.list;
    }
  }
}

}  // namespace read_nodes_test
}  // namespace drasim
