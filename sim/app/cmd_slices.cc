// drasim slices.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "model/device_set.h"
#include "model/key_error.h"
#include "model/kube/slice_reader.h"
#include "model/kube/validate.h"
#include "model/kube/writer.h"
#include "model/proto/kube.pb.h"
#include "model/proto/slice_driver.pb.h"
#include "model/status_macros.h"
#include "model/text/yaml_proto.h"
#include "policies/drivers/node_hardware.h"
#include "policies/drivers/slice_publisher.h"
#include "policies/drivers/slice_publishers.h"
#include "sim/app/commands.h"
#include "sim/app/scenario_flags.h"
#include "sim/run/device_plan.h"
#include "sim/run/input_files.h"
#include "sim/scenario/given_scenario.h"
#include "traces/byte_source.h"
#include "traces/shaping.h"

namespace drasim {
namespace {

using proto::kube::ResourceSlice;

constexpr size_t kMostSliceBytes = size_t{1} << 30U;
// Flags that are keys of SliceDriver; the others come with --option.
constexpr absl::string_view kOptionFlags[] = {"order", "release", "mig", "layout", "slices"};

absl::StatusOr<proto::SliceDriver> DriverOptionsOf(const ParsedFlags& flags) {
  proto::SliceDriver options;
  const std::optional<std::string> kind = flags.Get("driver");
  if (!kind.has_value()) {
    return absl::InvalidArgumentError("slices needs --driver, such as gpu.nvidia.com");
  }
  options.set_kind(*kind);
  for (const absl::string_view key : kOptionFlags) {
    const std::optional<std::string> value = flags.Get(key);
    if (!value.has_value()) continue;
    RETURN_IF_ERROR(SetField(key, *value, absl::StrCat("--", key), &options));
  }
  for (const std::string& setting : flags.All("option")) {
    if (setting.find('=') == std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("--option: found '", setting, "', expected KEY=VALUE"));
    }
    const std::pair<absl::string_view, absl::string_view> pair =
        absl::StrSplit(setting, absl::MaxSplits('=', 1));
    RETURN_IF_ERROR(SetField(pair.first, pair.second, "--option", &options));
  }
  return options;
}

// An error about a key names the flag.
absl::Status AtFlag(const absl::Status& status) {
  const std::string key = KeyOfError(status);
  if (key.empty()) return status;
  for (const absl::string_view flag : kOptionFlags) {
    if (key == flag) return absl::InvalidArgumentError(absl::StrCat("--", status.message()));
  }
  return absl::InvalidArgumentError(
      absl::StrCat(key == "kind" ? "--driver: " : "--option: ", status.message()));
}

absl::StatusOr<std::vector<ResourceSlice>> SlicesOfFile(const std::string& path) {
  if (path.empty()) return std::vector<ResourceSlice>();
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMostSliceBytes));
  ASSIGN_OR_RETURN(PublishedSlices published, ReadResourceSlices(text, path));
  for (const std::string& warning : published.warnings) {
    std::fprintf(stderr, "drasim: warning: %s\n", warning.c_str());
  }
  return std::move(published.slices);
}

bool HasScenario(const ParsedFlags& flags) {
  return !flags.positional().empty() || flags.Has("scenario") || flags.Has("nodes") ||
         flags.Has("snapshot") || flags.Has("set");
}

// Nodes of --gpu, --count and --node.
absl::StatusOr<std::vector<NodeHardware>> MadeNodes(const ParsedFlags& flags) {
  uint32_t count = flags.Has("gpu") ? 1 : 0;
  const std::optional<std::string> given = flags.Get("count");
  if (given.has_value() &&
      (!absl::SimpleAtoi(*given, &count) || count < 1 || count > kMaxDevicesPerNode)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--count: found '", *given, "', expected 1 to ", kMaxDevicesPerNode));
  }
  std::vector<std::string> names = flags.All("node");
  if (names.empty()) names.emplace_back("node-1");
  std::vector<NodeHardware> nodes;
  for (const std::string& name : names) {
    nodes.push_back(MadeHardware(name, flags.GetOr("gpu", ""), count));
  }
  return nodes;
}

absl::StatusOr<std::vector<NodeHardware>> ScenarioNodes(const ParsedFlags& flags) {
  for (const absl::string_view flag : {"gpu", "count", "node"}) {
    if (!flags.Has(flag)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--", flag, ": not beside a scenario or a cluster, which have the nodes"));
  }
  ASSIGN_OR_RETURN(const GivenScenario given, ScenarioFromFlags(flags));
  ASSIGN_OR_RETURN(const RunSpec spec, ResolveGiven(given));
  ASSIGN_OR_RETURN(NodeInput input, ReadNodeInput(spec.cluster.nodes));
  if (spec.cluster.scale.has_value()) {
    ASSIGN_OR_RETURN(input.nodes, MultiplyCluster(std::move(input.nodes), *spec.cluster.scale));
  }
  RETURN_IF_ERROR(DevicePlan(&spec).DescribeNodes(&input.nodes));
  std::vector<NodeHardware> nodes;
  for (const NodeSpec& node : input.nodes) nodes.push_back(HardwareOf(node));
  return nodes;
}

// Problems for which the API server would refuse the object.
absl::Status CheckObject(const proto::kube::Object& object) {
  const std::vector<KubeProblem> problems = ValidateKubeObject(object);
  if (problems.empty()) return absl::OkStatus();
  const ResourceSlice& slice = object.resource_slice();
  return absl::InvalidArgumentError(absl::StrCat("the API server would refuse the slice ",
                                                 slice.metadata().name(), ": ", problems[0].path,
                                                 ": ", problems[0].what));
}

void PrintSlices(const std::vector<proto::kube::Object>& objects, bool json) {
  if (objects.size() == 1) {
    const KubeTextFormat format = json ? KubeTextFormat::kJson : KubeTextFormat::kYaml;
    std::fputs(PrintKubeObject(objects[0], format).c_str(), stdout);
    return;
  }
  if (json) {
    std::vector<const proto::kube::Object*> pointers;
    for (const proto::kube::Object& object : objects) pointers.push_back(&object);
    std::fputs(PrintKubeList(pointers, KubeTextFormat::kJson).c_str(), stdout);
    return;
  }
  std::fputs(std::string(kKubeListHead).c_str(), stdout);
  for (const proto::kube::Object& object : objects) {
    std::fputs(KubeListItem(object).c_str(), stdout);
  }
  std::fputs(std::string(kKubeListTail).c_str(), stdout);
}

}  // namespace

absl::Status SlicesCommand(const ParsedFlags& flags) {
  ASSIGN_OR_RETURN(const proto::SliceDriver options, DriverOptionsOf(flags));
  ASSIGN_OR_RETURN(std::vector<ResourceSlice> of_file, SlicesOfFile(options.slices()));
  absl::StatusOr<std::unique_ptr<SlicePublisher>> publisher = MakeSlicePublisher(options, of_file);
  if (!publisher.ok()) return AtFlag(publisher.status());
  ASSIGN_OR_RETURN(const std::vector<NodeHardware> nodes,
                   HasScenario(flags) ? ScenarioNodes(flags) : MadeNodes(flags));
  std::vector<proto::kube::Object> objects;
  const auto add = [&objects](std::vector<ResourceSlice> slices) -> absl::Status {
    for (ResourceSlice& slice : slices) {
      *objects.emplace_back().mutable_resource_slice() = std::move(slice);
      RETURN_IF_ERROR(CheckObject(objects.back()));
    }
    return absl::OkStatus();
  };
  RETURN_IF_ERROR(add((*publisher)->NetworkSlices()));
  for (const NodeHardware& node : nodes) {
    absl::StatusOr<std::vector<ResourceSlice>> slices = (*publisher)->Publish(node, 1);
    if (!slices.ok()) return AtFlag(slices.status());
    RETURN_IF_ERROR(add(*std::move(slices)));
  }
  if (objects.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no slices: ", options.kind(),
        options.slices().empty() ? " runs on nodes with GPUs, and there is none; --gpu gives one"
                                 : " has none for these nodes, and no template matches them"));
  }
  PrintSlices(objects, flags.GetOr("format", "yaml") == "json");
  return absl::OkStatus();
}

}  // namespace drasim
