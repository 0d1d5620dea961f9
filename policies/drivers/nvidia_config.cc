#include "policies/drivers/nvidia_config.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/types/span.h"
#include "model/kube/reader_json.h"
#include "model/quantity.h"
#include "model/status_macros.h"
#include "model/text/yaml_node.h"

namespace drasim {
namespace {

using Kind = YamlNode::Kind;
using Words = absl::Span<const absl::string_view>;

absl::Status ConfigError(absl::string_view path, absl::string_view what) {
  return absl::InvalidArgumentError(path.empty() ? std::string(what)
                                                 : absl::StrCat(path, ": ", what));
}

// An object of the configuration, with its path.
class ConfigObject {
 public:
  // InvalidArgument when `node` is no object or has other members than `known`.
  static absl::StatusOr<ConfigObject> Of(const YamlNode& node, std::string path, Words known) {
    if (node.kind != Kind::kMapping) return ConfigError(path, "expected an object");
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const std::string& name = node.children[i]->text;
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      return ConfigError(path, absl::StrCat("found the field '", name, "', expected one of ",
                                            absl::StrJoin(known, ", ")));
    }
    return ConfigObject(&node, std::move(path));
  }

  // Null when the member is missing or null.
  const YamlNode* Find(absl::string_view name) const {
    for (size_t i = 0; i + 1 < node_->children.size(); i += 2) {
      if (node_->children[i]->text != name) continue;
      const YamlNode* value = node_->children[i + 1];
      return value->kind == Kind::kNull ? nullptr : value;
    }
    return nullptr;
  }
  // Empty when the member is missing or no scalar.
  std::string Text(absl::string_view name) const {
    const YamlNode* value = Find(name);
    return value == nullptr ? std::string() : value->text;
  }
  std::string PathOf(absl::string_view name) const {
    return path_.empty() ? std::string(name) : absl::StrCat(path_, ".", name);
  }
  absl::Status OneOf(absl::string_view name, Words values) const {
    const std::string text = Text(name);
    if (std::find(values.begin(), values.end(), text) != values.end()) return absl::OkStatus();
    return ConfigError(PathOf(name), absl::StrCat("found '", text, "', expected one of ",
                                                  absl::StrJoin(values, ", ")));
  }

 private:
  ConfigObject(const YamlNode* node, std::string path) : node_(node), path_(std::move(path)) {}

  const YamlNode* node_;
  std::string path_;
};

absl::Status CheckMemoryLimit(const std::string& path, const YamlNode& value) {
  const absl::StatusOr<Quantity> limit = Quantity::Parse(value.text);
  if (value.kind == Kind::kScalar && limit.ok() && limit->Value() >= int64_t{1} << 20U) {
    return absl::OkStatus();
  }
  return ConfigError(path,
                     absl::StrCat("found '", value.text, "', expected a quantity of 1Mi or more"));
}

absl::Status CheckMps(const ConfigObject& sharing) {
  const YamlNode* given = sharing.Find("mpsConfig");
  if (given == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ConfigObject mps, ConfigObject::Of(*given, sharing.PathOf("mpsConfig"),
                                                            {"defaultActiveThreadPercentage",
                                                             "defaultPinnedDeviceMemoryLimit",
                                                             "defaultPerDevicePinnedMemoryLimit"}));
  if (const YamlNode* percent = mps.Find("defaultActiveThreadPercentage"); percent != nullptr) {
    int64_t value = -1;
    if (!absl::SimpleAtoi(percent->text, &value) || value < 0 || value > 100) {
      return ConfigError(mps.PathOf("defaultActiveThreadPercentage"),
                         absl::StrCat("found '", percent->text, "', expected 0 to 100"));
    }
  }
  if (const YamlNode* limit = mps.Find("defaultPinnedDeviceMemoryLimit"); limit != nullptr) {
    RETURN_IF_ERROR(CheckMemoryLimit(mps.PathOf("defaultPinnedDeviceMemoryLimit"), *limit));
  }
  const YamlNode* limits = mps.Find("defaultPerDevicePinnedMemoryLimit");
  if (limits == nullptr) return absl::OkStatus();
  const std::string path = mps.PathOf("defaultPerDevicePinnedMemoryLimit");
  if (limits->kind != Kind::kMapping) return ConfigError(path, "expected an object");
  for (size_t i = 0; i + 1 < limits->children.size(); i += 2) {
    RETURN_IF_ERROR(CheckMemoryLimit(absl::StrCat(path, "[", limits->children[i]->text, "]"),
                                     *limits->children[i + 1]));
  }
  return absl::OkStatus();
}

absl::Status CheckTimeSlicing(const ConfigObject& sharing) {
  const YamlNode* given = sharing.Find("timeSlicingConfig");
  if (given == nullptr) return absl::OkStatus();
  ASSIGN_OR_RETURN(const ConfigObject slicing,
                   ConfigObject::Of(*given, sharing.PathOf("timeSlicingConfig"), {"interval"}));
  if (slicing.Find("interval") == nullptr) return absl::OkStatus();
  return slicing.OneOf("interval", {"Default", "Short", "Medium", "Long"});
}

absl::Status CheckSharing(const YamlNode& given, bool mig, const NvidiaSharingGates& gates) {
  std::vector<absl::string_view> fields = {"strategy", "mpsConfig"};
  if (!mig) fields.emplace_back("timeSlicingConfig");
  ASSIGN_OR_RETURN(const ConfigObject sharing, ConfigObject::Of(given, "sharing", fields));
  RETURN_IF_ERROR(sharing.OneOf("strategy", {"TimeSlicing", "MPS"}));
  const bool mps = sharing.Text("strategy") == "MPS";
  if (mps ? !gates.mps : !gates.time_slicing) {
    return ConfigError("sharing.strategy",
                       absl::StrCat("found '", sharing.Text("strategy"),
                                    "', which needs the driver's feature gate ",
                                    mps ? "MPSSupport" : "TimeSlicingSettings"));
  }
  const absl::string_view other = mps ? "timeSlicingConfig" : "mpsConfig";
  if (sharing.Find(other) != nullptr) {
    return ConfigError(sharing.PathOf(other),
                       absl::StrCat("not with the strategy ", sharing.Text("strategy")));
  }
  return mps ? CheckMps(sharing) : CheckTimeSlicing(sharing);
}

}  // namespace

absl::Status CheckNvidiaConfig(absl::string_view json, const NvidiaSharingGates& gates) {
  std::deque<YamlNode> nodes;
  const JsonTree tree = ParseJsonTree(json, 0, &nodes);
  if (tree.root == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("at byte ", tree.problem_position, ": ", tree.problem));
  }
  constexpr absl::string_view kConfigFields[] = {"apiVersion", "kind", "sharing", "iommu"};
  ASSIGN_OR_RETURN(const ConfigObject config, ConfigObject::Of(*tree.root, "", kConfigFields));
  RETURN_IF_ERROR(config.OneOf("apiVersion", {"resource.nvidia.com/v1beta1"}));
  RETURN_IF_ERROR(config.OneOf("kind", {"GpuConfig", "MigDeviceConfig", "VfioDeviceConfig"}));
  const std::string kind = config.Text("kind");
  const absl::string_view foreign = kind == "VfioDeviceConfig" ? "sharing" : "iommu";
  if (config.Find(foreign) != nullptr) {
    return ConfigError(foreign, absl::StrCat(kind, " has no such field"));
  }
  const YamlNode* sharing = config.Find("sharing");
  if (sharing == nullptr) return absl::OkStatus();
  return CheckSharing(*sharing, kind == "MigDeviceConfig", gates);
}

}  // namespace drasim
