// OpenMetrics text: names, labels and units of kube-scheduler and kube-state-metrics.
#include "model/kube/metrics_text.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/model/kube/manifests.h"
#include "tests/testing/data_text.h"
#include "tests/testing/open_metrics.h"

namespace drasim {
namespace metrics_text_test {

std::string MetricsOf(absl::string_view yaml) {
  KubeReadOptions options;
  options.validate = false;
  const KubeManifest read = kube_manifests::ReadManifest(yaml, options);
  KubeMetrics metrics;
  for (const KubeObject& object : read.objects) {
    if (object.object.has_node()) metrics.AddNode(object.object.node());
    if (object.object.has_pod()) metrics.AddPod(object.object.pod());
  }
  return metrics.Text();
}

TEST(KubeMetricsTest, AClusterWithoutObjects) {
  const OpenMetrics read(KubeMetrics().Text());
  EXPECT_EQ(read.families(),
            (std::set<std::string>{
                "kube_node_spec_taint", "kube_node_spec_unschedulable",
                "kube_node_status_allocatable", "kube_node_status_capacity",
                "kube_pod_container_resource_limits", "kube_pod_container_resource_requests",
                "kube_pod_resource_limit", "kube_pod_resource_request", "kube_pod_status_phase",
                "kube_pod_status_scheduled", "kube_pod_status_unschedulable"}));
}

TEST(KubeMetricsTest, NodesAndPods) {
  const std::string text = MetricsOf(TestText("NodesAndPods"));
  EXPECT_EQ(text, TestText("NodesAndPods.text"));
  const OpenMetrics read(text);
  EXPECT_EQ(read.At("kube_node_status_allocatable{node=\"n-1\",resource=\"nvidia_com_gpu\","
                    "unit=\"integer\"}"),
            8);
}

// The larger of the running containers and the initialisation, and overhead on both.
TEST(KubeMetricsTest, RequestsAndLimitsAreEffectiveOnes) {
  const OpenMetrics read(MetricsOf(TestText("RequestsAndLimitsAreEffectiveOnes")));
  const auto of = [](absl::string_view family, absl::string_view resource, absl::string_view unit) {
    return absl::StrCat("kube_pod_resource_", family,
                        "{namespace=\"ml\",pod=\"p\",node=\"\",scheduler=\"mine\",priority=\"\","
                        "resource=\"",
                        resource, "\",unit=\"", unit, "\"}");
  };
  EXPECT_EQ(read.At(of("request", "cpu", "cores")), 3.25);  // init 3, overhead 0.25
  EXPECT_EQ(read.At(of("limit", "cpu", "cores")), 4.25);    // init 4
  EXPECT_EQ(read.At(of("request", "memory", "bytes")), 67108864.0 + 1048576.0);
  EXPECT_FALSE(read.Has(of("limit", "memory", "bytes")));  // overhead makes no limit
  // A limit is a request, too; extended resources have no unit.
  EXPECT_EQ(read.At(of("request", "nvidia.com/gpu", "")), 2);
  EXPECT_EQ(read.At(of("limit", "nvidia.com/gpu", "")), 2);
  EXPECT_EQ(read.At(of("request", "hugepages-2Mi", "bytes")), 4194304.0);
}

TEST(KubeMetricsTest, LabelsAreEscaped) {
  const OpenMetrics read(
      MetricsOf("{apiVersion: v1, kind: Node, metadata: {name: \"a\\\"b\\\\c\\nd\"}}"));
  EXPECT_EQ(read.Of("kube_node_spec_unschedulable"),
            (std::vector<std::string>{"kube_node_spec_unschedulable{node=\"a\\\"b\\\\c\\nd\"}"}));
}

}  // namespace metrics_text_test
}  // namespace drasim
