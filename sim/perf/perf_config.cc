#include "sim/perf/perf_config.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <set>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/text/shown_text.h"
#include "model/text/yaml_node.h"
#include "model/text/yaml_tree.h"

namespace drasim::perf {
namespace {

using NodeKind = YamlNode::Kind;

struct OpcodeFields {
  Opcode opcode;
  absl::string_view name;
  absl::string_view fields;  // beside `opcode`
};

// A field NAMEParam names a parameter in place of the value of NAME.
constexpr std::array<OpcodeFields, 17> kOpcodes = {{
    {Opcode::kAllocResourceClaims, "allocResourceClaims", "namespace"},
    {Opcode::kBarrier, "barrier", "namespaces labelSelector stageRequirement"},
    {Opcode::kCheckPodScheduled, "checkPodScheduled",
     "namespace duration durationParam scheduled scheduledParam"},
    {Opcode::kChurn, "churn", "mode number templatePaths intervalMilliseconds"},
    {Opcode::kCreateAny, "createAny", "namespace templatePath count countParam templateParams"},
    {Opcode::kCreateNamespaces, "createNamespaces",
     "prefix count countParam namespaceTemplatePath"},
    {Opcode::kCreateNodes, "createNodes",
     "count countParam nodeTemplatePath nodeAllocatableStrategy labelNodePrepareStrategy "
     "templateParams"},
    {Opcode::kCreatePodGroups, "createPodGroups",
     "namespace templatePath count countParam templateParams"},
    {Opcode::kCreatePodSets, "createPodSets", "count countParam namespacePrefix createPodsOp"},
    {Opcode::kCreatePods, "createPods",
     "count countParam countMultiplier countMultiplierParam namespace podTemplatePath "
     "collectMetrics skipWaitToCompletion persistentVolumeTemplatePath "
     "persistentVolumeClaimTemplatePath steadyState duration durationParam templateParams"},
    {Opcode::kCreateResourceDriver, "createResourceDriver",
     "driverName nodes maxClaimsPerNode maxClaimsPerNodeParam"},
    {Opcode::kDeletePods, "deletePods",
     "namespace labelSelector deletePodsPerSecond skipWaitToCompletion"},
    {Opcode::kSleep, "sleep", "duration durationParam"},
    {Opcode::kStartCollectingMetrics, "startCollectingMetrics", "name namespaces labelSelector"},
    {Opcode::kStopCollectingMetrics, "stopCollectingMetrics", ""},
    {Opcode::kUpdateAny, "updateAny",
     "namespace templatePath count countParam templateParams updatePerSecond subresources"},
    {Opcode::kUpdateDeviceConditions, "updateDeviceConditions",
     "namespace conditionType conditionTypeParam conditionStatus conditionStatusParam duration "
     "durationParam"},
}};
constexpr absl::string_view kCaseFields =
    "name defaultPodTemplatePath featureGates labels "
    "workloadTemplate workloads";
constexpr absl::string_view kWorkloadFields = "name labels threshold featureGates params";

std::vector<std::string> NamesIn(absl::string_view list) {
  return absl::StrSplit(list, ' ', absl::SkipEmpty());
}

struct Member {
  std::string name;  // as the schema spells it
  const YamlNode* key = nullptr;
  const YamlNode* value = nullptr;
};

class ConfigReader {
 public:
  ConfigReader(const YamlTree& tree, absl::string_view file) : tree_(tree), file_(file) {}

  absl::StatusOr<PerfConfig> Read() {
    PerfConfig config;
    config.file = std::string(file_);
    const YamlNode* const root = tree_.root();
    if (root == nullptr || root->kind != NodeKind::kSequence) {
      return absl::InvalidArgumentError(
          absl::StrCat(file_, ":1:1: expected a list of cases, each with a name"));
    }
    std::set<std::string> names;
    for (const YamlNode* node : root->children) {
      ASSIGN_OR_RETURN(PerfCase one, ReadCase(*node));
      if (!names.insert(one.name).second) {
        return At(*node, absl::StrCat("found the case '", ShownText(one.name), "' twice"));
      }
      config.cases.push_back(std::move(one));
    }
    return config;
  }

 private:
  absl::Status At(const YamlNode& node, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(tree_.Locate(node.position), ": ", what));
  }

  // The members of a mapping; all must be known.
  absl::StatusOr<std::vector<Member>> Members(const YamlNode& node, absl::string_view what,
                                              const std::vector<std::string>& known) const {
    if (node.kind != NodeKind::kMapping)
      return At(node, absl::StrCat("expected ", what, ", a mapping"));
    std::vector<Member> members;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      const YamlNode& key = *node.children[i];
      const auto name = std::find_if(known.begin(), known.end(), [&key](const std::string& one) {
        return absl::EqualsIgnoreCase(one, key.text);
      });
      if (name == known.end()) {
        return At(key, absl::StrCat("unknown field '", ShownText(key.text), "' of ", what,
                                    Suggest(key.text, known)));
      }
      for (const Member& earlier : members) {
        if (earlier.name == *name) return At(key, absl::StrCat("found '", *name, "' twice"));
      }
      members.push_back({*name, &key, node.children[i + 1]});
    }
    return members;
  }

  static const YamlNode* ValueIn(const std::vector<Member>& members, absl::string_view name) {
    for (const Member& member : members) {
      if (member.name == name && member.value->kind != NodeKind::kNull) return member.value;
    }
    return nullptr;
  }

  // Empty unless it is given.
  absl::StatusOr<std::string> TextIn(const std::vector<Member>& members,
                                     absl::string_view name) const {
    const YamlNode* const value = ValueIn(members, name);
    if (value == nullptr) return std::string();
    if (value->kind != NodeKind::kScalar)
      return At(*value, absl::StrCat(name, ": expected a text"));
    return value->text;
  }

  absl::StatusOr<std::string> NameIn(const YamlNode& node, const std::vector<Member>& members,
                                     absl::string_view what) const {
    ASSIGN_OR_RETURN(const std::string name, TextIn(members, "name"));
    if (name.empty()) return At(node, absl::StrCat(what, " has no name"));
    // The name is part of lines of CSV.
    if (name.find_first_of(",\"\r\n") != std::string::npos) {
      return At(node, absl::StrCat("name: found '", ShownText(name),
                                   "', expected one without commas and quotes"));
    }
    return name;
  }

  absl::StatusOr<std::vector<std::string>> TextsIn(const std::vector<Member>& members,
                                                   absl::string_view name) const {
    std::vector<std::string> texts;
    const YamlNode* const value = ValueIn(members, name);
    if (value == nullptr) return texts;
    if (value->kind != NodeKind::kSequence)
      return At(*value, absl::StrCat(name, ": expected a list"));
    for (const YamlNode* item : value->children) {
      if (item->kind != NodeKind::kScalar) return At(*item, absl::StrCat(name, ": expected texts"));
      texts.push_back(item->text);
    }
    return texts;
  }

  absl::StatusOr<FeatureGates> ReadGates(const std::vector<Member>& members) const {
    FeatureGates gates;
    const YamlNode* const value = ValueIn(members, "featureGates");
    if (value == nullptr) return gates;
    if (value->kind != NodeKind::kMapping) return At(*value, "featureGates: expected a mapping");
    for (size_t i = 0; i + 1 < value->children.size(); i += 2) {
      const YamlNode& gate = *value->children[i + 1];
      if (gate.text != "true" && gate.text != "false") {
        return At(gate, absl::StrCat("featureGates.", value->children[i]->text,
                                     ": expected true or false"));
      }
      gates.emplace_back(value->children[i]->text, gate.text == "true");
    }
    return gates;
  }

  absl::StatusOr<PerfCase> ReadCase(const YamlNode& node) const {
    ASSIGN_OR_RETURN(const std::vector<Member> members,
                     Members(node, "a case", NamesIn(kCaseFields)));
    PerfCase one;
    one.where = tree_.Locate(node.position);
    ASSIGN_OR_RETURN(one.name, NameIn(node, members, "the case"));
    ASSIGN_OR_RETURN(one.default_pod_template, TextIn(members, "defaultPodTemplatePath"));
    ASSIGN_OR_RETURN(one.gates, ReadGates(members));
    ASSIGN_OR_RETURN(const std::vector<std::string> labels, TextsIn(members, "labels"));
    const YamlNode* const steps = ValueIn(members, "workloadTemplate");
    if (steps == nullptr || steps->kind != NodeKind::kSequence) {
      return At(node, "the case has no workloadTemplate, a list of operations");
    }
    for (const YamlNode* step : steps->children) {
      ASSIGN_OR_RETURN(PerfStep read, ReadStep(*step));
      one.steps.push_back(std::move(read));
    }
    const YamlNode* const workloads = ValueIn(members, "workloads");
    if (workloads == nullptr || workloads->kind != NodeKind::kSequence) {
      return At(node, "the case has no workloads, a list");
    }
    std::set<std::string> names;
    for (const YamlNode* workload : workloads->children) {
      ASSIGN_OR_RETURN(PerfWorkload read, ReadWorkload(*workload));
      read.labels.insert(read.labels.end(), labels.begin(), labels.end());
      if (!names.insert(read.name).second) {
        return At(*workload, absl::StrCat("found the workload '", ShownText(read.name), "' twice"));
      }
      one.workloads.push_back(std::move(read));
    }
    return one;
  }

  absl::StatusOr<PerfWorkload> ReadWorkload(const YamlNode& node) const {
    ASSIGN_OR_RETURN(const std::vector<Member> members,
                     Members(node, "a workload", NamesIn(kWorkloadFields)));
    PerfWorkload workload;
    workload.where = tree_.Locate(node.position);
    ASSIGN_OR_RETURN(workload.name, NameIn(node, members, "the workload"));
    ASSIGN_OR_RETURN(workload.labels, TextsIn(members, "labels"));
    ASSIGN_OR_RETURN(workload.gates, ReadGates(members));
    if (const YamlNode* const threshold = ValueIn(members, "threshold"); threshold != nullptr) {
      double value = 0;
      if (!absl::SimpleAtod(threshold->text, &value) || !(value >= 0 && value < 1e12)) {
        return At(*threshold, absl::StrCat("threshold: found '", ShownText(threshold->text),
                                           "', expected pods a second, a number from 0 on"));
      }
      workload.threshold = value;
    }
    const YamlNode* const params = ValueIn(members, "params");
    if (params == nullptr) return workload;
    if (params->kind != NodeKind::kMapping) return At(*params, "params: expected a mapping");
    workload.params = ValueOfYaml(*params).fields;
    return workload;
  }

  absl::StatusOr<PerfStep> ReadStep(const YamlNode& node) const {
    if (node.kind != NodeKind::kMapping) return At(node, "expected an operation, a mapping");
    const YamlNode* name = nullptr;
    for (size_t i = 0; i + 1 < node.children.size(); i += 2) {
      if (absl::EqualsIgnoreCase(node.children[i]->text, "opcode")) name = node.children[i + 1];
    }
    if (name == nullptr) return At(node, "the operation has no opcode");
    const auto* const known =
        std::find_if(kOpcodes.begin(), kOpcodes.end(),
                     [name](const OpcodeFields& one) { return one.name == name->text; });
    if (known == kOpcodes.end()) {
      std::vector<std::string> names;
      for (const OpcodeFields& one : kOpcodes) names.emplace_back(one.name);
      return At(*name, absl::StrCat("unknown operation '", ShownText(name->text), "'",
                                    Suggest(name->text, names)));
    }
    std::vector<std::string> fields = NamesIn(known->fields);
    fields.emplace_back("opcode");
    ASSIGN_OR_RETURN(const std::vector<Member> members, Members(node, known->name, fields));
    PerfStep step;
    step.opcode = known->opcode;
    step.where = tree_.Locate(node.position);
    for (const Member& member : members) {
      if (member.name == "opcode" || member.value->kind == NodeKind::kNull) continue;
      if (member.name == "createPodsOp") {
        ASSIGN_OR_RETURN(PerfStep nested, ReadStep(*member.value));
        if (nested.opcode != Opcode::kCreatePods) {
          return At(*member.value, "createPodsOp: expected the operation createPods");
        }
        step.nested.push_back(std::move(nested));
        continue;
      }
      step.fields.push_back(
          {member.name, ValueOfYaml(*member.value), tree_.Locate(member.value->position)});
    }
    return step;
  }

  const YamlTree& tree_;
  absl::string_view file_;
};

}  // namespace

absl::string_view OpcodeName(Opcode opcode) { return kOpcodes[static_cast<size_t>(opcode)].name; }

const PerfField* PerfStep::Find(absl::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [name](const PerfField& field) { return field.name == name; });
  return found == fields.end() ? nullptr : &*found;
}

absl::StatusOr<PerfConfig> ReadPerfConfig(absl::string_view text, absl::string_view file) {
  ASSIGN_OR_RETURN(const YamlTree tree, YamlTree::Parse(text, file));
  return ConfigReader(tree, file).Read();
}

FeatureGates GatesOf(const PerfCase& of, const PerfWorkload& workload) {
  std::map<std::string, bool> gates(of.gates.begin(), of.gates.end());
  for (const auto& [name, on] : workload.gates) gates[name] = on;
  return {gates.begin(), gates.end()};
}

}  // namespace drasim::perf
