// Slices made from the catalogue, beside those of stored cases and of real clusters.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "model/kube/reader_json.h"
#include "model/kube/slice_reader.h"
#include "model/quantity.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/drivers/slice_publishers.h"
#include "sim/kube/case_file.h"
#include "sim/sdra/allocator_case.h"
#include "sim/sdra/allocator_rounds.h"
#include "sim/sdra/case_table.h"
#include "sim/sdra/json_message.h"
#include "tests/policies/drivers/slice_differences.h"
#include "tests/testing/assert_ok.h"
#include "tests/testing/shared_data.h"
#include "traces/byte_source.h"

namespace drasim {
namespace {

using proto::kube::Device;
using proto::kube::ResourceSlice;
using Differences = std::map<std::string, int>;

constexpr char kNvidiaPools[] = "expected/sdra/nvidia_pools_shared.jsonl.gz";

std::string StringAttribute(const Device& device, const char* name) {
  const auto found = device.attributes().find(name);
  return found == device.attributes().end() ? "" : found->second.string_value();
}

// The GPU that the devices of a slice belong to, from the attributes of the first.
GpuHardware GpuOfDevice(const Device& device) {
  GpuHardware gpu;
  gpu.model = std::string(absl::StripPrefix(StringAttribute(device, "productName"), "NVIDIA "));
  gpu.pcie_root = StringAttribute(device, "resource.kubernetes.io/pcieRoot");
  gpu.pci_bus_id = StringAttribute(device, "resource.kubernetes.io/pciBusID");
  const auto numa = device.attributes().find("resource.kubernetes.io/numaNode");
  if (numa != device.attributes().end()) {
    gpu.numa_node = static_cast<int32_t>(numa->second.int_value());
  }
  return gpu;
}

// The slices of a node in the order of their names, which begin with an index.
std::vector<ResourceSlice> SlicesOfNode(const std::vector<ResourceSlice>& slices,
                                        const std::string& node) {
  std::vector<ResourceSlice> of_node;
  for (const ResourceSlice& slice : slices) {
    if (slice.spec().node_name() == node) of_node.push_back(slice);
  }
  std::sort(of_node.begin(), of_node.end(), [](const ResourceSlice& a, const ResourceSlice& b) {
    return a.metadata().name() < b.metadata().name();
  });
  return of_node;
}

void ForEachCase(const std::function<void(const std::string& line, const YamlNode& root,
                                          AllocatorCase given)>& handle) {
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<ByteSource> source,
                       OpenByteSource(SharedPath(kNvidiaPools)));
  const absl::Status read = ForEachCaseLine(*source, [&](absl::string_view line) -> absl::Status {
    std::deque<YamlNode> nodes;
    const JsonTree tree = ParseJsonTree(line, 0, &nodes);
    ASSIGN_OR_RETURN(AllocatorCase given, ReadAllocatorCase(line, *JsonMember(*tree.root, "case")));
    handle(std::string(line), *tree.root, std::move(given));
    return absl::OkStatus();
  });
  EXPECT_TRUE(read.ok()) << read;
}

// Ours for the hardware of the stored slices of one node.
std::vector<ResourceSlice> PublishedLike(const std::vector<ResourceSlice>& stored,
                                         SlicePublisher* publisher) {
  NodeHardware node;
  node.name = stored[0].spec().node_name();
  for (const ResourceSlice& slice : stored) {
    if (slice.spec().devices_size() > 0) node.gpus.push_back(GpuOfDevice(slice.spec().devices(0)));
  }
  const absl::StatusOr<std::vector<ResourceSlice>> made =
      publisher->Publish(node, stored[0].spec().pool().generation());
  EXPECT_TRUE(made.ok()) << made.status();
  return made.ok() ? *made : std::vector<ResourceSlice>();
}

std::unique_ptr<SlicePublisher> DynamicMigPublisher() {
  proto::SliceDriver options;
  options.set_kind("gpu.nvidia.com");
  options.set_mig("dynamic");
  auto made = MakeSlicePublisher(options, {});
  EXPECT_TRUE(made.ok()) << made.status();
  return *std::move(made);
}

using AmountMap = google::protobuf::Map<std::string, proto::kube::Counter>;

// Equal amounts as equal texts: 97280Mi is 95Gi.
void NormalizeAmounts(AmountMap* counters) {
  for (auto& [name, counter] : *counters) {
    counter.set_value(Quantity::Parse(counter.value())->Canonical());
  }
}

// The slice without what a driver or the API server draws, in one form.
std::string WithoutDrawnParts(ResourceSlice slice) {
  proto::kube::ResourceSliceSpec* spec = slice.mutable_spec();
  for (auto& set : *spec->mutable_shared_counters()) NormalizeAmounts(set.mutable_counters());
  for (Device& device : *spec->mutable_devices()) {
    for (auto& [name, capacity] : *device.mutable_capacity()) {
      capacity.set_value(Quantity::Parse(capacity.value())->Canonical());
    }
    NormalizeAmounts(device.mutable_consumes_counters(0)->mutable_counters());
    device.mutable_attributes()->erase("uuid");
    device.mutable_attributes()->erase("parentUUID");
  }
  return spec->DebugString();
}

// Names, counters, capacities, attributes, slices and their order: all but what is drawn. Of each
// product the first slice is compared field by field, so that the difference would be named.
TEST(SharedPoolsTest, DynamicMigIsPublishedAsStored) {
  DRASIM_NEEDS_SHARED_DATA(kNvidiaPools);
  const std::unique_ptr<SlicePublisher> publisher = DynamicMigPublisher();
  Differences differences;
  std::map<std::string, int> gpus;  // by product
  int nodes = 0;
  ForEachCase([&](const std::string&, const YamlNode&, const AllocatorCase& given) {
    for (const proto::kube::Node& node : given.nodes) {
      const std::vector<ResourceSlice> stored = SlicesOfNode(given.slices, node.metadata().name());
      const std::vector<ResourceSlice> made = PublishedLike(stored, publisher.get());
      ASSERT_EQ(made.size(), stored.size());
      ++nodes;
      for (size_t i = 0; i < made.size(); ++i) {
        // Five digits, driver and node.
        const size_t prefix = made[i].metadata().name().size() - 5;
        EXPECT_EQ(made[i].metadata().name().substr(0, prefix),
                  stored[i].metadata().name().substr(0, prefix));
        EXPECT_TRUE(WithoutDrawnParts(made[i]) == WithoutDrawnParts(stored[i]))
            << given.name << " " << stored[i].metadata().name();
        if (i == 0) continue;
        const int seen = ++gpus[StringAttribute(made[i].spec().devices(0), "productName")];
        if (seen == 1) CountDifferences(made[i], stored[i], &differences);
      }
    }
  });
  // Nine slices: seven products with 25 instances, an A30 with 13, an RTX PRO 6000 with 30.
  const Differences by_nature = {
      {"apiVersion", 9},
      {"kind", 9},
      {"metadata.generateName", 9},
      {"metadata.name", 9},
      {"spec.devices.attributes.parentUUID.string", 7 * 25 + 13 + 30},
      {"spec.devices.attributes.uuid.string", 9},
  };
  EXPECT_EQ(differences, by_nature);
  EXPECT_EQ(nodes, 190);
  const std::map<std::string, int> products = {
      {"NVIDIA A100-40GB", 50},  {"NVIDIA A100-80GB", 23},      {"NVIDIA A30", 43},
      {"NVIDIA GH200-96GB", 55}, {"NVIDIA H100-80GB-PCIe", 43}, {"NVIDIA H100-80GB-SXM", 15},
      {"NVIDIA H100-94GB", 34},  {"NVIDIA H200-141GB", 26},     {"NVIDIA RTX-PRO-6000", 22},
  };
  EXPECT_EQ(gpus, products);
}

// The stored slices are replaced by ours, in the order of the case; names of slices differ.
TEST(SharedPoolsTest, AllocatorAnswersOnOurSlicesAsStored) {
  DRASIM_NEEDS_SHARED_DATA(kNvidiaPools);
  const std::unique_ptr<SlicePublisher> publisher = DynamicMigPublisher();
  AllocatorOptions options;
  options.count_steps = true;
  CaseTable table;
  ForEachCase([&](const std::string& line, const YamlNode& root, AllocatorCase given) {
    std::map<std::string, ResourceSlice> made;  // by the first bytes of their names
    const auto key_of = [](const ResourceSlice& slice) {
      return absl::StrCat(slice.metadata().name().substr(0, 5), slice.spec().node_name());
    };
    for (const proto::kube::Node& node : given.nodes) {
      const std::vector<ResourceSlice> stored = SlicesOfNode(given.slices, node.metadata().name());
      for (ResourceSlice& slice : PublishedLike(stored, publisher.get())) {
        made[key_of(slice)] = slice;
      }
    }
    for (ResourceSlice& slice : given.slices) slice = made.at(key_of(slice));
    const absl::StatusOr<std::vector<AllocationAnswer>> answers =
        AnswerAllocatorCase(given, options, MakeCelVerdicts);
    ASSERT_TRUE(answers.ok()) << answers.status();
    EXPECT_TRUE(CompareAllocatorAnswers(line, *JsonMember(root, "want"), given, *answers,
                                        "incubating", true, &table)
                    .ok());
  });
  EXPECT_EQ(table.cases(), 40u);
  EXPECT_EQ(table.unequal_cases(), 0u) << table.Text();
}

struct RealDump {
  const char* file;
  const char* addressing_mode;
  const char* driver_version;
  Differences by_nature;
};

std::vector<ResourceSlice> ReadDump(const char* file) {
  absl::StatusOr<std::unique_ptr<ByteSource>> source =
      OpenByteSource(SharedPath(absl::StrCat("slices/", file)));
  EXPECT_TRUE(source.ok()) << source.status();
  const absl::StatusOr<std::string> text = ReadAll(**source, size_t{1} << 20U);
  absl::StatusOr<PublishedSlices> read = ReadResourceSlices(*text, file);
  EXPECT_TRUE(read.ok()) << read.status();
  return read.ok() ? std::move(read->slices) : std::vector<ResourceSlice>();
}

// Slices of NVIDIA's driver without DynamicMIG, from clusters of two clouds.
// Their library named slices in another way; the catalogue lacks the memory of GB200 and GB300.
TEST(SharedPoolsTest, WholeGpusArePublishedAsInRealClusters) {
  DRASIM_NEEDS_SHARED_DATA("slices");
  const RealDump dumps[] = {
      {"dranet-aws-eks-examples-gpu-efa-resourceslice-gpu.yaml",
       "HMM",
       "580.126.9",
       {{"metadata.generateName", 1},
        {"metadata.name", 1},
        {"metadata.ownerReferences.apiVersion", 1},
        {"metadata.ownerReferences.controller", 1},
        {"metadata.ownerReferences.kind", 1},
        {"metadata.ownerReferences.name", 1},
        {"spec.devices.attributes.uuid.string", 8}}},
      {"dranet-azure-aks-examples-gb300-resourceslice-gpu.yaml",
       "ATS",
       "580.105.8",
       {{"metadata.generateName", 1},
        {"metadata.name", 1},
        {"metadata.ownerReferences.apiVersion", 1},
        {"metadata.ownerReferences.controller", 1},
        {"metadata.ownerReferences.kind", 1},
        {"metadata.ownerReferences.name", 1},
        {"metadata.ownerReferences.uid", 1},
        {"metadata.uid", 1},
        {"spec.devices.attributes.uuid.string", 4},
        {"spec.devices.capacity.memory.value", 4}}},
      {"dranet-oci-oke-examples-bm-gpu-gb200-v3-4-resourceslice-gpu.yaml",
       "ATS",
       "580.126.20",
       {{"metadata.generateName", 1},
        {"metadata.name", 1},
        {"spec.devices.attributes.uuid.string", 4},
        {"spec.devices.capacity.memory.value", 4}}},
  };
  for (const RealDump& dump : dumps) {
    SCOPED_TRACE(dump.file);
    proto::SliceDriver options;
    options.set_kind("gpu.nvidia.com");
    options.set_addressing_mode(dump.addressing_mode);
    options.set_driver_version(dump.driver_version);
    ASSERT_OK_AND_ASSIGN(const std::unique_ptr<SlicePublisher> publisher,
                         MakeSlicePublisher(options, {}));
    Differences differences;
    for (const ResourceSlice& slice : ReadDump(dump.file)) {
      NodeHardware node;
      node.name = slice.spec().node_name();
      for (const Device& device : slice.spec().devices()) node.gpus.push_back(GpuOfDevice(device));
      ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> made,
                           publisher->Publish(node, slice.spec().pool().generation()));
      ASSERT_EQ(made.size(), 1u);
      CountDifferences(made[0], slice, &differences);
    }
    EXPECT_EQ(differences, dump.by_nature);
  }
}

// dra-example-driver's identifiers follow from the node's name, so even they are equal.
TEST(SharedPoolsTest, ExampleDriverIsPublishedAsInItsReadme) {
  DRASIM_NEEDS_SHARED_DATA("slices");
  proto::SliceDriver options;
  options.set_kind("gpu.example.com");
  ASSERT_OK_AND_ASSIGN(const std::unique_ptr<SlicePublisher> publisher,
                       MakeSlicePublisher(options, {}));
  const std::vector<ResourceSlice> read = ReadDump("example-readme-1.yaml");
  ASSERT_EQ(read.size(), 1u);
  NodeHardware node;
  node.name = read[0].spec().node_name();
  ASSERT_OK_AND_ASSIGN(const std::vector<ResourceSlice> made, publisher->Publish(node, 0));
  ASSERT_EQ(made.size(), 1u);
  Differences differences;
  CountDifferences(made[0], read[0], &differences);
  const Differences by_nature = {
      {"metadata.creationTimestamp", 1},
      {"metadata.generateName", 1},
      {"metadata.name", 1},
      {"metadata.ownerReferences.apiVersion", 1},
      {"metadata.ownerReferences.controller", 1},
      {"metadata.ownerReferences.kind", 1},
      {"metadata.ownerReferences.name", 1},
      {"metadata.ownerReferences.uid", 1},
      {"metadata.resourceVersion", 1},
      {"metadata.uid", 1},
  };
  EXPECT_EQ(differences, by_nature);
}

}  // namespace
}  // namespace drasim
