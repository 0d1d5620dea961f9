// Small dumps of clusters for tests of drasim explain, and what it says of them.
#ifndef DRASIM_TESTS_SIM_EXPLAIN_CLUSTER_RIG_H_
#define DRASIM_TESTS_SIM_EXPLAIN_CLUSTER_RIG_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "sim/explain/cluster.h"
#include "tests/testing/temp_dir.h"

namespace drasim::explain_rig {

// One object as a YAML document; the parts are in flow style, without their outer braces.
inline std::string NodeYaml(absl::string_view name, absl::string_view allocatable,
                            absl::string_view spec = "", absl::string_view labels = "") {
  return absl::StrCat("---\n{apiVersion: v1, kind: Node, metadata: {name: ", name, ", labels: {",
                      labels, "}}, spec: {", spec, "}, status: {allocatable: {", allocatable,
                      "}}}\n");
}

// `name` may be "NAMESPACE/NAME"; the uid is "u-NAME". `meta`: more of the metadata.
inline std::string PodYaml(absl::string_view name, absl::string_view spec,
                           absl::string_view status = "phase: Pending",
                           absl::string_view meta = "") {
  const size_t slash = name.find('/');
  const bool with_namespace = slash != absl::string_view::npos;
  const absl::string_view alone = with_namespace ? name.substr(slash + 1) : name;
  return absl::StrCat("---\n{apiVersion: v1, kind: Pod, metadata: {name: ", alone, ", uid: u-",
                      alone, ", namespace: ", with_namespace ? name.substr(0, slash) : "default",
                      meta.empty() ? "" : ", ", meta, "}, spec: {", spec, "}, status: {", status,
                      "}}\n");
}

// "containers: [...]" of a pod with one container.
inline std::string Asks(absl::string_view requests) {
  return absl::StrCat("containers: [{name: a, resources: {requests: {", requests, "}, limits: {",
                      requests, "}}}]");
}

// A pod that runs on a node.
inline std::string RunningYaml(absl::string_view name, absl::string_view node,
                               absl::string_view requests, absl::string_view meta = "") {
  return PodYaml(name, absl::StrCat("nodeName: ", node, ", ", Asks(requests)), "phase: Running",
                 meta);
}

// Without this, and a second namespace, every text would say that namespaces may be missing.
inline std::string SystemPodYaml() { return PodYaml("kube-system/dns", "containers: [{name: a}]"); }

struct Explained {
  std::string text;  // or the error's message
  std::vector<std::string> warnings;
};

inline Explained ExplainText(absl::string_view dump, const std::string& pod, bool json = false) {
  const TempDir dir;
  dir.Write("dump.yaml", dump);
  Explained explained;
  const absl::StatusOr<std::string> text =
      ExplainCluster({dir.PathOf("dump.yaml")}, pod,
                     json ? OutputFormat::kJson : OutputFormat::kText, &explained.warnings);
  explained.text = text.ok() ? *text : std::string(text.status().message());
  return explained;
}

// The lines below a title, without their indentation; "" when there is no such title.
inline std::string SectionOf(absl::string_view text, absl::string_view title) {
  std::vector<std::string> lines;
  bool inside = false;
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (inside && line.empty()) break;
    if (inside) lines.push_back(std::string(line.substr(2)));
    if (line == absl::StrCat(title, ":")) inside = true;
  }
  return absl::StrJoin(lines, "\n");
}

// The second line: kube-scheduler's message.
inline std::string MessageOf(absl::string_view text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n');
  return lines.size() > 1 ? lines[1] : std::string();
}

// The rejections of a single pod "p" by the nodes of `dump`, or the number of nodes that take it.
inline std::string RejectionOf(absl::string_view dump) {
  const std::string text = ExplainText(absl::StrCat(dump, SystemPodYaml()), "p").text;
  const std::string groups = SectionOf(text, "Nodes that do not take it");
  return groups.empty() ? text.substr(0, text.find('\n')) : groups;
}

}  // namespace drasim::explain_rig

#endif  // DRASIM_TESTS_SIM_EXPLAIN_CLUSTER_RIG_H_
