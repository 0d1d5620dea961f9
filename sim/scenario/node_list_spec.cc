#include "sim/scenario/node_list_spec.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/device_set.h"
#include "model/key_error.h"
#include "model/kube/label_check.h"
#include "model/kube/rules.h"
#include "model/proto/scenario.pb.h"
#include "model/quantity.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "sim/scenario/field_errors.h"
#include "traces/generator.h"

namespace drasim {
namespace {

// Reads cluster.node.gpu_models. Entries with the same model in all of them make a node with one
// model.
absl::Status ReadGpuModels(const proto::NodeTemplate& t, NodeSpec* spec) {
  if (t.gpu_models_size() == 0) return absl::OkStatus();
  if (t.gpus() != 0 || !t.gpu_model().empty()) {
    return KeyError("cluster.node.gpu_models",
                    absl::StrCat("found ", t.gpus() != 0 ? "gpus" : "gpu_model",
                                 " beside it, expected one of them"));
  }
  std::vector<std::string> models;
  for (int i = 0; i < t.gpu_models_size(); ++i) {
    const std::string key = absl::StrCat("cluster.node.gpu_models[", i, "]");
    const proto::GpuModelCount& entry = t.gpu_models(i);
    if (entry.model().empty()) {
      return KeyError(absl::StrCat(key, ".model"), "expected a GPU model");
    }
    const int32_t left = kMaxDevicesPerNode - static_cast<int32_t>(models.size());
    if (entry.count() < 1 || entry.count() > left) {
      return KeyError(absl::StrCat(key, ".count"),
                      absl::StrCat("found ", entry.count(), ", expected at least 1, and at most ",
                                   kMaxDevicesPerNode, " in all entries"));
    }
    models.insert(models.end(), static_cast<size_t>(entry.count()), entry.model());
  }
  spec->gpu_count = static_cast<int32_t>(models.size());
  if (std::count(models.begin(), models.end(), models[0]) == spec->gpu_count) {
    spec->gpu_model = models[0];
  } else {
    spec->gpu_models = std::move(models);
  }
  return absl::OkStatus();
}

// The template of generated nodes, without a name.
absl::StatusOr<NodeSpec> ReadNodeTemplate(const proto::Cluster& cluster) {
  const proto::NodeTemplate& t = cluster.node();
  if (cluster.nodes() < 1) {
    return KeyError("cluster.nodes", "expected at least 1 beside cluster.node");
  }
  NodeSpec spec;
  const absl::StatusOr<int64_t> cpu = ParseMilli(t.cpu());
  if (!cpu.ok()) return UnderKey("cluster.node.cpu", cpu.status());
  const absl::StatusOr<int64_t> memory = ParseUnits(t.memory());
  if (!memory.ok()) return UnderKey("cluster.node.memory", memory.status());
  if (t.gpus() < 0 || t.gpus() > kMaxDevicesPerNode) {
    return KeyError("cluster.node.gpus",
                    absl::StrCat("found ", t.gpus(), ", expected 0 to ", kMaxDevicesPerNode));
  }
  if (t.pods() < 0) return KeyError("cluster.node.pods", "expected 0 or more");
  spec.cpu_milli = *cpu;
  spec.memory_bytes = *memory;
  spec.gpu_count = t.gpus();
  spec.gpu_model = t.gpu_model();
  RETURN_IF_ERROR(ReadGpuModels(t, &spec));
  if (t.pods() > 0) spec.pods = t.pods();
  for (int i = 0; i < t.extended_size(); ++i) {
    const std::string key = absl::StrCat("cluster.node.extended[", i, "]");
    const absl::StatusOr<int64_t> amount = ParseUnits(t.extended(i).amount());
    if (!amount.ok()) return UnderKey(absl::StrCat(key, ".amount"), amount.status());
    if (*amount < 0 || t.extended(i).resource().empty()) {
      return KeyError(key, "expected the name of a resource and an amount of 0 or more");
    }
    spec.extended.emplace_back(t.extended(i).resource(), *amount);
  }
  std::sort(spec.extended.begin(), spec.extended.end());
  return spec;
}

// The manifests are the whole cluster.
absl::Status CheckClusterManifests(const proto::Scenario& scenario) {
  const proto::Cluster& cluster = scenario.cluster();
  if (cluster.manifests_size() == 0) return absl::OkStatus();
  const char* const other =
      !cluster.path().empty()                          ? "cluster.path"
      : cluster.nodes() != 0                           ? "cluster.nodes"
      : cluster.has_node()                             ? "cluster.node"
      : cluster.has_scale()                            ? "cluster.scale"
      : scenario.workload().has_target_load_percent()  ? "workload.target_load_percent"
      : !scenario.workload().stream_interval().empty() ? "workload.stream_interval"
                                                       : nullptr;
  if (other == nullptr) return absl::OkStatus();
  return KeyError("cluster.manifests",
                  absl::StrCat("found ", other, ", too, expected one of them"));
}

// The first problem of a part of a label or taint, as an error of the key.
absl::Status NoProblem(absl::string_view key, absl::string_view found,
                       const std::vector<std::string>& problems) {
  if (problems.empty()) return absl::OkStatus();
  return KeyError(key, absl::StrCat("found '", ShownText(found), "': ", problems[0]));
}

absl::StatusOr<std::vector<NodeListSpec::DealtLabel>> ReadDealtLabels(
    const proto::NodeTemplate& t) {
  std::vector<NodeListSpec::DealtLabel> labels;
  for (const auto& [name, values] : SortedTexts(t.labels())) {
    const std::string key = absl::StrCat("cluster.node.labels.", name);
    RETURN_IF_ERROR(NoProblem(key, name, QualifiedNameProblems(name)));
    NodeListSpec::DealtLabel& label = labels.emplace_back();
    label.key = name;
    for (const absl::string_view value : absl::StrSplit(values, ',')) {
      label.values.emplace_back(absl::StripAsciiWhitespace(value));
      RETURN_IF_ERROR(NoProblem(key, label.values.back(), LabelValueProblems(label.values.back())));
    }
  }
  return labels;
}

absl::Status ReadTaints(const proto::NodeTemplate& t, NodeSpec* spec) {
  for (int i = 0; i < t.taints_size(); ++i) {
    const std::string key = absl::StrCat("cluster.node.taints[", i, "]");
    const proto::kube::Taint& taint = t.taints(i);
    RETURN_IF_ERROR(NoProblem(key + ".key", taint.key(), QualifiedNameProblems(taint.key())));
    RETURN_IF_ERROR(NoProblem(key + ".value", taint.value(), LabelValueProblems(taint.value())));
    RETURN_IF_ERROR(CheckChoice(key + ".effect", taint.effect(),
                                {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    for (const Taint& earlier : spec->taints) {
      if (earlier.key != taint.key() || earlier.effect != taint.effect()) continue;
      return KeyError(key, absl::StrCat("found the key and effect of an earlier taint, '",
                                        ShownText(taint.key()), "' and ", taint.effect()));
    }
    spec->taints.push_back({taint.key(), taint.value(), taint.effect()});
  }
  return absl::OkStatus();
}

}  // namespace

bool UsesKubePlugins(const proto::Scenario& scenario) {
  return scenario.scheduler().policy() == "kube-scheduler";
}

absl::StatusOr<NodeListSpec> MakeNodeListSpec(const proto::Scenario& scenario) {
  RETURN_IF_ERROR(CheckClusterManifests(scenario));
  const proto::Cluster& cluster = scenario.cluster();
  NodeListSpec spec;
  spec.path = cluster.path();
  spec.manifests.assign(cluster.manifests().begin(), cluster.manifests().end());
  spec.full_shapes = UsesKubePlugins(scenario);
  spec.format = cluster.format();
  spec.sha256 = cluster.sha256();
  spec.time_offset_ns = TraceOffsetNs(scenario.workload().trace());
  spec.lenient = scenario.workload().trace().lenient();
  spec.count = cluster.nodes();
  spec.table = scenario.workload().generated().table();
  if (!cluster.path().empty() || !spec.manifests.empty()) return spec;
  if (cluster.nodes() < 0 || cluster.nodes() > kMaxGeneratedNodes) {
    return KeyError("cluster.nodes", absl::StrCat("found ", cluster.nodes(), ", expected 0 to ",
                                                  kMaxGeneratedNodes));
  }
  if (cluster.has_node()) {
    ASSIGN_OR_RETURN(spec.like, ReadNodeTemplate(cluster));
    RETURN_IF_ERROR(ReadTaints(cluster.node(), &*spec.like));
    ASSIGN_OR_RETURN(spec.dealt_labels, ReadDealtLabels(cluster.node()));
  }
  return spec;
}

int64_t TraceOffsetNs(const proto::Trace& trace) {
  const double offset_s = trace.epoch_offset_seconds();
  const auto whole_s = static_cast<int64_t>(offset_s);
  return whole_s * 1'000'000'000 +
         static_cast<int64_t>((offset_s - static_cast<double>(whole_s)) * 1e9);
}

}  // namespace drasim
