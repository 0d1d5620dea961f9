#include "sim/scenario/taint_rule_events.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/key_error.h"
#include "model/kube/api_check.h"
#include "model/kube/kube_problem.h"
#include "model/kube/validate_device.h"
#include "model/proto/scenario.pb.h"
#include "model/status_macros.h"
#include "sim/scenario/duration_text.h"

namespace drasim {
namespace {

constexpr absl::string_view kKey = "front_end.structured.taint_rules";

// The key of the scenario for a field of the object.
std::string KeyOfField(const std::string& field) {
  const size_t dot = field.rfind('.');
  return dot == std::string::npos ? field : field.substr(dot + 1);
}

absl::StatusOr<TaintRuleEvent> ReadEvent(const proto::TaintRuleEvent& given,
                                         const std::string& key) {
  TaintRuleEvent event;
  SimDuration at;
  RETURN_IF_ERROR(ReadDuration(absl::StrCat(key, ".at"), given.at(), &at));
  event.at = SimTime() + at;
  proto::kube::DeviceTaintRule& rule = event.rule;
  rule.mutable_metadata()->set_name(given.name());
  if (given.name().empty()) return KeyError(absl::StrCat(key, ".name"), "expected a name");
  if (given.delete_()) {
    event.action = TaintRuleEvent::Action::kDelete;
    for (const auto& [name, text] :
         {std::pair("driver", &given.driver()), std::pair("pool", &given.pool()),
          std::pair("device", &given.device()), std::pair("key", &given.key()),
          std::pair("value", &given.value()), std::pair("effect", &given.effect())}) {
      if (text->empty()) continue;
      return KeyError(absl::StrCat(key, ".", name),
                      absl::StrCat("found '", *text, "', expected none with delete: true"));
    }
    return event;
  }
  proto::kube::DeviceTaintSelector* const selector = rule.mutable_spec()->mutable_device_selector();
  if (!given.driver().empty()) selector->set_driver(given.driver());
  if (!given.pool().empty()) selector->set_pool(given.pool());
  if (!given.device().empty()) selector->set_device(given.device());
  proto::kube::DeviceTaint* const taint = rule.mutable_spec()->mutable_taint();
  taint->set_key(given.key());
  taint->set_value(given.value());
  taint->set_effect(given.effect().empty() ? "NoExecute" : given.effect());
  std::vector<KubeProblem> problems;
  ApiCheck check(&problems);
  CheckDeviceTaintRule(rule, &check);
  if (problems.empty()) return event;
  return KeyError(absl::StrCat(key, ".", KeyOfField(problems[0].path)), problems[0].what);
}

}  // namespace

absl::StatusOr<std::vector<TaintRuleEvent>> ReadTaintRules(const proto::StructuredDra& given,
                                                           bool rules_count) {
  if (given.taint_rules_size() > 0 && !rules_count) {
    return KeyError(kKey, absl::StrCat("expected none, for the gates DRADeviceTaints and "
                                       "DRADeviceTaintRules are not both on in release ",
                                       given.release()));
  }
  std::vector<TaintRuleEvent> events;
  for (int i = 0; i < given.taint_rules_size(); ++i) {
    ASSIGN_OR_RETURN(TaintRuleEvent event,
                     ReadEvent(given.taint_rules(i), absl::StrCat(kKey, ".", i)));
    event.number = static_cast<size_t>(i);
    events.push_back(std::move(event));
  }
  return events;
}

absl::StatusOr<std::vector<TaintRuleEvent>> ArrangeTaintRules(std::vector<TaintRuleEvent> events,
                                                              std::set<std::string> known) {
  std::stable_sort(events.begin(), events.end(),
                   [](const TaintRuleEvent& a, const TaintRuleEvent& b) { return a.at < b.at; });
  for (TaintRuleEvent& event : events) {
    const std::string& name = event.rule.metadata().name();
    if (event.action == TaintRuleEvent::Action::kDelete) {
      if (known.erase(name) > 0) continue;
      return KeyError(absl::StrCat(kKey, ".", event.number, ".name"),
                      absl::StrCat("found '", name,
                                   "', expected a DeviceTaintRule that exists at the time of its "
                                   "deletion"));
    }
    const bool is_new = known.insert(name).second;
    event.action = is_new ? TaintRuleEvent::Action::kCreate : TaintRuleEvent::Action::kChange;
  }
  return events;
}

}  // namespace drasim
