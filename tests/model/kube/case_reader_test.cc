#include "model/kube/case_reader.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/testing/assert_ok.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

TEST(ReadKubeCaseTest, ReadsTheCaseAlone) {
  ASSERT_OK_AND_ASSIGN(
      const kube::KubeCase read,
      ReadKubeCase(R"({"case": {"id": "c-1", "passes": 2, "config": {"a": [1]}, "nodes":
        [{"metadata": {"name": "n1"}, "status": {"images": [{"names": ["a"], "sizeBytes": 5}]}}],
        "queue": [{"spec": {"containers": [{"ports": [{"hostIP": "10.0.0.1"}]}], "volumes":
        [{"awsElasticBlockStore": {"volumeID": "v"}}], "newField": 1}}], "csiNodes":
        [{"spec": {"drivers": [{"nodeID": "n"}]}}], "events": [{"type": "podDelete", "name":
        "default/e"}]}, "answer": {"id": "other", "attempts": [1]}})"));
  EXPECT_EQ(read.id(), "c-1");
  EXPECT_EQ(read.passes(), 2);
  EXPECT_EQ(read.config().fields().count("a"), 1u);
  EXPECT_EQ(read.nodes(0).status().images(0).size_bytes(), 5);
  EXPECT_EQ(read.queue(0).spec().containers(0).ports(0).host_ip(), "10.0.0.1");
  EXPECT_EQ(read.queue(0).spec().volumes(0).aws_elastic_block_store().volume_id(), "v");
  EXPECT_EQ(read.csi_nodes(0).spec().drivers(0).node_id(), "n");
  EXPECT_EQ(read.events(0).name(), "default/e");
  EXPECT_FALSE(read.queue(0).spec().empty_node_selector());
}

TEST(ReadKubeCaseTest, TellsAnEmptyNodeSelectorFromNone) {
  for (const absl::string_view empty : {"{}", "{ }", "  {\t}"}) {
    ASSERT_OK_AND_ASSIGN(
        const kube::KubeCase read,
        ReadKubeCase(
            absl::StrCat(R"({"case": {"queue": [{"spec": {"nodeSelector":{"a": "b"}}}, )"
                         R"({"spec": {"nodeSelector":)",
                         empty, R"(}}, {}], "pods": [{"spec": {"nodeSelector" :)", empty,
                         R"(}}], "events": [{"type": "podAdd", "pod": {"spec": {"nodeSelector":)",
                         empty, R"(}}}, {"type": "nodeDelete"}]}})")));
    EXPECT_FALSE(read.queue(0).spec().empty_node_selector());
    EXPECT_TRUE(read.queue(1).spec().empty_node_selector());
    EXPECT_FALSE(read.queue(2).has_spec());
    EXPECT_TRUE(read.pods(0).spec().empty_node_selector());
    EXPECT_TRUE(read.events(0).pod().spec().empty_node_selector());
    EXPECT_FALSE(read.events(1).has_pod());
  }
}

TEST(ReadKubeCaseTest, AmountsMayBeNumbers) {
  ASSERT_OK_AND_ASSIGN(
      const kube::KubeCase read,
      ReadKubeCase(R"({"case": {"id": "c", "passes": 3, "nodes": [{"status": {"allocatable":
        {"cpu": 4, "memory": 8589934592, "pods": "9"}}}], "queue": [{"spec": {"nodeSelector": {},
        "containers": [{"resources": {"requests": {"cpu": 1.5, "memory": 1e30}}}]}}],
        "csiStorageCapacities": [{"capacity": 5}],
        "events": [{"pod": {"spec": {"overhead": {"cpu": -2}}}}]}})"));
  EXPECT_EQ(read.passes(), 3);
  const auto& allocatable = read.nodes(0).status().allocatable();
  EXPECT_EQ(allocatable.at("cpu"), "4");
  EXPECT_EQ(allocatable.at("memory"), "8589934592");
  EXPECT_EQ(allocatable.at("pods"), "9");
  const auto& requests = read.queue(0).spec().containers(0).resources().requests();
  EXPECT_EQ(requests.at("cpu"), "1.5");
  EXPECT_EQ(requests.at("memory"), "1e+30");
  EXPECT_TRUE(read.queue(0).spec().empty_node_selector());
  EXPECT_EQ(read.csi_storage_capacities(0).capacity(), "5");
  EXPECT_EQ(read.events(0).pod().spec().overhead().at("cpu"), "-2");
}

TEST(ReadKubeCaseTest, RefusesWhatIsNoCase) {
  for (const absl::string_view line :
       {"", "{", "[]", "{}", R"({"case": 1})", R"({"case": {"nodes": 1}})",
        R"({"case": {"queue": [{"spec": {"priority": "x"}}]}})"}) {
    const absl::Status status = ReadKubeCase(line).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << line;
    EXPECT_TRUE(absl::StartsWith(status.message(), "not a case: ")) << status.message();
  }
}

}  // namespace
}  // namespace drasim
