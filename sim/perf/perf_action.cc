#include "sim/perf/perf_action.h"

#include <algorithm>
#include <cstddef>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/status_macros.h"
#include "model/text/shown_text.h"
#include "sim/scenario/duration_text.h"

namespace drasim::perf {
namespace {

using ValueKind = TemplateValue::Kind;

constexpr int64_t kMaxSets = 100'000;  // of one createPodSets

absl::Status ErrorAt(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": ", what));
}

// A field of a step, with `$name` replaced by the parameter.
struct Given {
  TemplateValue value;
  std::string where;
  bool found = false;
};

class StepExpander {
 public:
  StepExpander(const PerfStep& step, const PerfWorkload& workload)
      : step_(step), workload_(workload) {}

  absl::StatusOr<Given> Find(absl::string_view name) const {
    Given given;
    const PerfField* const plain = step_.Find(name);
    const PerfField* const param = step_.Find(absl::StrCat(name, "Param"));
    if (plain != nullptr && param != nullptr) {
      return ErrorAt(param->where, absl::StrCat("found ", plain->name, " and ", param->name,
                                                ", expected one of them"));
    }
    const PerfField* const field = plain != nullptr ? plain : param;
    if (field == nullptr) return given;
    given.found = true;
    given.where = absl::StrCat(field->where, ": ", field->name);
    ASSIGN_OR_RETURN(given.value, Resolve(field->value, given.where));
    return given;
  }

  absl::StatusOr<TemplateValue> Resolve(const TemplateValue& value, absl::string_view where) const {
    if (value.kind != ValueKind::kText || !absl::StartsWith(value.text, "$")) return value;
    const absl::string_view name = absl::string_view(value.text).substr(1);
    for (const auto& [key, param] : workload_.params) {
      if (key == name) return param;
    }
    return ErrorAt(where, absl::StrCat("the workload '", ShownText(workload_.name),
                                       "' has no parameter '", ShownText(name), "'"));
  }

  absl::Status Text(absl::string_view name, std::string* text) const {
    ASSIGN_OR_RETURN(const Given given, Find(name));
    if (!given.found) return absl::OkStatus();
    if (given.value.kind == ValueKind::kList || given.value.kind == ValueKind::kMap) {
      return ErrorAt(given.where,
                     absl::StrCat("found ", given.value.KindName(), ", expected a text"));
    }
    *text = given.value.kind == ValueKind::kNull ? "" : PrintedValue(given.value);
    return absl::OkStatus();
  }

  absl::Status Number(absl::string_view name, int64_t* number) const {
    ASSIGN_OR_RETURN(const Given given, Find(name));
    if (!given.found) return absl::OkStatus();
    if (given.value.kind != ValueKind::kInt || given.value.number < 0 ||
        given.value.number > kMaxCount) {
      return ErrorAt(given.where, absl::StrCat("found ", JsonOfValue(given.value),
                                               ", expected a whole number from 0 to ", kMaxCount));
    }
    *number = given.value.number;
    return absl::OkStatus();
  }

  absl::Status Switch(absl::string_view name, bool* on) const {
    ASSIGN_OR_RETURN(const Given given, Find(name));
    if (!given.found) return absl::OkStatus();
    if (given.value.kind != ValueKind::kBool) {
      return ErrorAt(given.where,
                     absl::StrCat("found ", JsonOfValue(given.value), ", expected true or false"));
    }
    *on = given.value.truth;
    return absl::OkStatus();
  }

  absl::Status Duration(absl::string_view name, SimDuration* duration) const {
    ASSIGN_OR_RETURN(const Given given, Find(name));
    if (!given.found) return absl::OkStatus();
    const absl::StatusOr<SimDuration> parsed =
        ParseDuration(given.value.kind == ValueKind::kText ? given.value.text : "?");
    if (!parsed.ok()) {
      return ErrorAt(given.where, absl::StrCat("found ", JsonOfValue(given.value),
                                               ", expected a duration such as 10s"));
    }
    *duration = *parsed;
    return absl::OkStatus();
  }

  absl::Status Texts(absl::string_view name, std::vector<std::string>* texts) const {
    ASSIGN_OR_RETURN(const Given given, Find(name));
    return given.found ? TextsOf(given.value, given.where, texts) : absl::OkStatus();
  }

  static absl::Status TextsOf(const TemplateValue& value, absl::string_view where,
                              std::vector<std::string>* texts) {
    if (value.kind != ValueKind::kList) return ErrorAt(where, "expected a list of texts");
    for (const TemplateValue& item : value.items) {
      if (item.kind == ValueKind::kList || item.kind == ValueKind::kMap ||
          item.kind == ValueKind::kNull) {
        return ErrorAt(where, "expected a list of texts");
      }
      texts->push_back(PrintedValue(item));
    }
    return absl::OkStatus();
  }

  absl::Status LabelsOf(absl::string_view name, Labels* labels) const {
    ASSIGN_OR_RETURN(const Given given, Find(name));
    if (!given.found) return absl::OkStatus();
    if (given.value.kind != ValueKind::kMap)
      return ErrorAt(given.where, "expected a mapping of labels");
    for (const auto& [key, value] : given.value.fields) {
      if (value.kind == ValueKind::kList || value.kind == ValueKind::kMap) {
        return ErrorAt(given.where, "expected texts as values of labels");
      }
      labels->emplace_back(key, value.kind == ValueKind::kNull ? "" : PrintedValue(value));
    }
    std::sort(labels->begin(), labels->end());
    return absl::OkStatus();
  }

  absl::Status Params(std::vector<std::pair<std::string, TemplateValue>>* params) const {
    const PerfField* const field = step_.Find("templateParams");
    if (field == nullptr) return absl::OkStatus();
    if (field->value.kind != ValueKind::kMap) {
      return ErrorAt(field->where, "templateParams: expected a mapping");
    }
    for (const auto& [key, value] : field->value.fields) {
      const std::string where = absl::StrCat(field->where, ": templateParams.", key);
      ASSIGN_OR_RETURN(TemplateValue resolved, Resolve(value, where));
      params->emplace_back(key, std::move(resolved));
    }
    return absl::OkStatus();
  }

  absl::Status Need(absl::string_view name, bool there) const {
    if (there) return absl::OkStatus();
    return ErrorAt(step_.where, absl::StrCat(OpcodeName(step_.opcode), ": ", name, " is missing"));
  }

 private:
  const PerfStep& step_;
  const PerfWorkload& workload_;
};

// A list of the only fields that a strategy may have.
absl::Status CheckFields(const Given& given, absl::string_view known) {
  if (given.value.kind != ValueKind::kMap) return ErrorAt(given.where, "expected a mapping");
  for (const auto& [name, value] : given.value.fields) {
    if (known.find(absl::StrCat(" ", name, " ")) == absl::string_view::npos) {
      return ErrorAt(given.where, absl::StrCat("unknown field '", ShownText(name), "'"));
    }
  }
  return absl::OkStatus();
}

absl::Status ReadLabelStrategy(const StepExpander& step, PerfAction* action) {
  ASSIGN_OR_RETURN(const Given given, step.Find("labelNodePrepareStrategy"));
  if (!given.found) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFields(given, " labelKey labelValues "));
  const TemplateValue* const key = given.value.Find("labelKey");
  const TemplateValue* const values = given.value.Find("labelValues");
  if (key == nullptr || key->kind != ValueKind::kText || values == nullptr) {
    return ErrorAt(given.where, "expected labelKey and labelValues");
  }
  action->label_key = key->text;
  RETURN_IF_ERROR(StepExpander::TextsOf(*values, given.where, &action->label_values));
  if (action->label_values.empty()) return ErrorAt(given.where, "labelValues is empty");
  return absl::OkStatus();
}

absl::Status ReadAllocatableStrategy(const StepExpander& step, PerfAction* action) {
  ASSIGN_OR_RETURN(const Given given, step.Find("nodeAllocatableStrategy"));
  if (!given.found) return absl::OkStatus();
  RETURN_IF_ERROR(CheckFields(given, " nodeAllocatable csiNodeAllocatable migratedPlugins "));
  if (const TemplateValue* amounts = given.value.Find("nodeAllocatable"); amounts != nullptr) {
    for (const auto& [resource, amount] : amounts->fields) {
      action->allocatable.emplace_back(resource, PrintedValue(amount));
    }
  }
  if (const TemplateValue* drivers = given.value.Find("csiNodeAllocatable"); drivers != nullptr) {
    for (const auto& [driver, limits] : drivers->fields) {
      const TemplateValue* const count = limits.Find("count");
      if (count == nullptr || count->kind != ValueKind::kInt || count->number < 0) {
        return ErrorAt(given.where, absl::StrCat("csiNodeAllocatable.", driver,
                                                 ": expected count, a whole number from 0 on"));
      }
      action->driver_limits.emplace_back(driver, count->number);
    }
  }
  if (const TemplateValue* plugins = given.value.Find("migratedPlugins"); plugins != nullptr) {
    return StepExpander::TextsOf(*plugins, given.where, &action->migrated_plugins);
  }
  return absl::OkStatus();
}

absl::Status ReadTemplates(const StepExpander& step, const PerfCase& of, PerfAction* action) {
  std::string path;
  switch (action->opcode) {
    case Opcode::kCreateNodes:
      RETURN_IF_ERROR(step.Text("nodeTemplatePath", &path));
      break;
    case Opcode::kCreatePods:
      path = of.default_pod_template;
      RETURN_IF_ERROR(step.Text("podTemplatePath", &path));
      RETURN_IF_ERROR(step.Text("persistentVolumeTemplatePath", &action->volume_template));
      RETURN_IF_ERROR(step.Text("persistentVolumeClaimTemplatePath", &action->claim_template));
      action->templates = {path};
      return step.Need("one of persistentVolumeTemplatePath and persistentVolumeClaimTemplatePath",
                       action->volume_template.empty() == action->claim_template.empty());
    case Opcode::kCreateNamespaces:
      RETURN_IF_ERROR(step.Text("namespaceTemplatePath", &path));
      break;
    case Opcode::kCreateAny:
    case Opcode::kUpdateAny:
    case Opcode::kCreatePodGroups:
      RETURN_IF_ERROR(step.Text("templatePath", &path));
      RETURN_IF_ERROR(step.Need("templatePath", !path.empty()));
      break;
    case Opcode::kChurn:
      RETURN_IF_ERROR(step.Texts("templatePaths", &action->templates));
      return step.Need("templatePaths", !action->templates.empty());
    default:
      return absl::OkStatus();
  }
  action->templates = {path};
  return absl::OkStatus();
}

absl::Status ReadChurn(const StepExpander& step, PerfAction* action) {
  std::string mode = "create";
  RETURN_IF_ERROR(step.Text("mode", &mode));
  if (mode != "create" && mode != "recreate") {
    return ErrorAt(action->where, absl::StrCat("mode: found '", ShownText(mode),
                                               "', expected create or recreate"));
  }
  action->recreates = mode == "recreate";
  action->number = action->recreates ? 1 : 0;
  RETURN_IF_ERROR(step.Number("number", &action->number));
  if (action->recreates) RETURN_IF_ERROR(step.Need("a number above 0", action->number > 0));
  int64_t interval = 500;
  RETURN_IF_ERROR(step.Number("intervalMilliseconds", &interval));
  RETURN_IF_ERROR(step.Need("intervalMilliseconds above 0", interval > 0));
  action->interval = SimDuration(interval * 1'000'000);
  return absl::OkStatus();
}

absl::Status ReadStage(const StepExpander& step, PerfAction* action) {
  std::string stage = "Scheduled";
  RETURN_IF_ERROR(step.Text("stageRequirement", &stage));
  action->attempted = stage == "Attempted";
  if (action->attempted || stage == "Scheduled") return absl::OkStatus();
  return ErrorAt(action->where, absl::StrCat("stageRequirement: found '", ShownText(stage),
                                             "', expected Scheduled or Attempted"));
}

absl::Status ReadSubresources(const StepExpander& step, PerfAction* action) {
  std::vector<std::string> names;
  RETURN_IF_ERROR(step.Texts("subresources", &names));
  for (const std::string& name : names) {
    if (name != "resize") {
      return ErrorAt(action->where,
                     absl::StrCat("subresources: found '", ShownText(name), "', expected resize"));
    }
    action->resize = true;
  }
  return absl::OkStatus();
}

absl::Status ReadDriver(const StepExpander& step, PerfAction* action) {
  RETURN_IF_ERROR(step.Text("driverName", &action->driver));
  RETURN_IF_ERROR(step.Need("driverName", !action->driver.empty()));
  RETURN_IF_ERROR(step.Text("nodes", &action->nodes));
  RETURN_IF_ERROR(step.Need("nodes", !action->nodes.empty()));
  // The only special character of Go's patterns that names of nodes are matched with here.
  const bool plain = action->nodes.find_first_of("?[\\") == std::string::npos;
  RETURN_IF_ERROR(step.Need("a pattern of nodes with * alone", plain));
  RETURN_IF_ERROR(step.Number("maxClaimsPerNode", &action->devices));
  return step.Need("maxClaimsPerNode above 0", action->devices > 0);
}

absl::Status ReadCondition(const StepExpander& step, PerfAction* action) {
  RETURN_IF_ERROR(step.Text("conditionType", &action->condition));
  RETURN_IF_ERROR(step.Text("conditionStatus", &action->condition_status));
  RETURN_IF_ERROR(step.Need("conditionType", !action->condition.empty()));
  // A parameter without quotes is a boolean, which is printed in lower case.
  std::string& status = action->condition_status;
  if (status == "true") status = "True";
  if (status == "false") status = "False";
  const bool known = status == "True" || status == "False" || status == "Unknown";
  return step.Need("a conditionStatus of True, False or Unknown", known);
}

absl::StatusOr<PerfAction> ExpandStep(const PerfStep& given, size_t position, const PerfCase& of,
                                      const PerfWorkload& workload) {
  const StepExpander step(given, workload);
  PerfAction action;
  action.opcode = given.opcode;
  action.where = given.where;
  action.ns = absl::StrCat("namespace-", position);
  if (given.opcode == Opcode::kAllocResourceClaims) action.ns.clear();
  RETURN_IF_ERROR(step.Text("namespace", &action.ns));
  const bool counts = given.opcode == Opcode::kCreateNodes || given.opcode == Opcode::kCreatePods ||
                      given.opcode == Opcode::kCreatePodSets;
  if (counts) {
    RETURN_IF_ERROR(step.Need("count or countParam", given.Find("count") != nullptr ||
                                                         given.Find("countParam") != nullptr));
  }
  RETURN_IF_ERROR(step.Number("count", &action.count));
  int64_t multiplier = 1;
  RETURN_IF_ERROR(step.Number("countMultiplier", &multiplier));
  // Both are at most kMaxCount.
  action.count *= multiplier;
  if (action.count > kMaxCount) {
    return ErrorAt(given.where,
                   absl::StrCat("found ", action.count, " objects, expected at most ", kMaxCount));
  }
  RETURN_IF_ERROR(ReadTemplates(step, of, &action));
  RETURN_IF_ERROR(step.Params(&action.params));
  RETURN_IF_ERROR(step.LabelsOf("labelSelector", &action.labels));
  RETURN_IF_ERROR(step.Texts("namespaces", &action.namespaces));
  RETURN_IF_ERROR(step.Switch("collectMetrics", &action.collects));
  RETURN_IF_ERROR(step.Switch("skipWaitToCompletion", &action.skips_wait));
  RETURN_IF_ERROR(step.Switch("steadyState", &action.steady));
  RETURN_IF_ERROR(step.Switch("scheduled", &action.scheduled));
  RETURN_IF_ERROR(step.Number("deletePodsPerSecond", &action.per_second));
  RETURN_IF_ERROR(step.Number("updatePerSecond", &action.per_second));
  RETURN_IF_ERROR(step.Duration("duration", &action.duration));
  RETURN_IF_ERROR(step.Text(given.opcode == Opcode::kCreatePodSets ? "namespacePrefix" : "prefix",
                            &action.prefix));
  if (given.opcode == Opcode::kCreateNamespaces || given.opcode == Opcode::kCreatePodSets) {
    RETURN_IF_ERROR(step.Need("a prefix of namespaces", !action.prefix.empty()));
  }
  // A steadyState without duration is one round.
  if (given.opcode == Opcode::kSleep) {
    RETURN_IF_ERROR(step.Need("duration or durationParam", action.duration > SimDuration()));
  }
  if (given.opcode == Opcode::kChurn) RETURN_IF_ERROR(ReadChurn(step, &action));
  if (given.opcode == Opcode::kCreateResourceDriver) RETURN_IF_ERROR(ReadDriver(step, &action));
  if (given.opcode == Opcode::kUpdateDeviceConditions)
    RETURN_IF_ERROR(ReadCondition(step, &action));
  RETURN_IF_ERROR(ReadStage(step, &action));
  RETURN_IF_ERROR(ReadSubresources(step, &action));
  RETURN_IF_ERROR(ReadLabelStrategy(step, &action));
  RETURN_IF_ERROR(ReadAllocatableStrategy(step, &action));
  return action;
}

}  // namespace

absl::StatusOr<std::vector<PerfAction>> ExpandWorkload(const PerfCase& of,
                                                       const PerfWorkload& workload) {
  std::vector<PerfAction> actions;
  for (size_t i = 0; i < of.steps.size(); ++i) {
    const PerfStep& step = of.steps[i];
    ASSIGN_OR_RETURN(PerfAction action, ExpandStep(step, i, of, workload));
    if (step.opcode != Opcode::kCreatePodSets) {
      actions.push_back(std::move(action));
      continue;
    }
    if (step.nested.empty()) {
      return ErrorAt(step.where, "createPodSets: createPodsOp is missing");
    }
    if (action.count > kMaxSets) {
      return ErrorAt(step.where, absl::StrCat("createPodSets: found ", action.count,
                                              " sets, expected at most ", kMaxSets));
    }
    ASSIGN_OR_RETURN(PerfAction nested, ExpandStep(step.nested.front(), i, of, workload));
    for (int64_t k = 0; k < action.count; ++k) {
      nested.ns = absl::StrCat(action.prefix, "-", k);
      actions.push_back(nested);
    }
  }
  return actions;
}

}  // namespace drasim::perf
