#include "model/kube/case_reader.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;
using google::protobuf::Struct;
using google::protobuf::Value;

// Whole numbers have no decimal point and no exponent, which would be another unit.
std::string NumberText(double number) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::floor(number) == number && std::fabs(number) <= kExact) {
    return absl::StrCat(static_cast<int64_t>(number));
  }
  char text[32];
  std::snprintf(text, sizeof(text), "%.15g", number);
  return text;
}

absl::Status ParseJson(absl::string_view text, google::protobuf::Message* message) {
  google::protobuf::util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  const auto parsed =
      google::protobuf::util::JsonStringToMessage(std::string(text), message, options);
  if (parsed.ok()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("not a case: ", std::string(parsed.message().data(), parsed.message().size())));
}

// Kubernetes also reads quantities that are JSON numbers.
// Members that are quantities, or maps of them.
bool HoldsQuantities(absl::string_view name) {
  constexpr absl::string_view kNames[] = {"requests",           "limits",           "allocatable",
                                          "capacity",           "overhead",         "sizeLimit",
                                          "allocatedResources", "maximumVolumeSize"};
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void NumbersToTexts(bool are_quantities, Value* value) {
  if (value->has_list_value()) {
    for (Value& item : *value->mutable_list_value()->mutable_values()) {
      NumbersToTexts(/*are_quantities=*/false, &item);
    }
  } else if (value->has_struct_value()) {
    for (auto& [name, member] : *value->mutable_struct_value()->mutable_fields()) {
      NumbersToTexts(are_quantities || HoldsQuantities(name), &member);
    }
  } else if (are_quantities && value->kind_case() == Value::kNumberValue) {
    value->set_string_value(NumberText(value->number_value()));
  }
}

// The line with such numbers as texts; the line itself when it is no JSON object.
std::string WithTextQuantities(absl::string_view line) {
  Value tree;
  if (!ParseJson(line, tree.mutable_struct_value()).ok()) return std::string(line);
  NumbersToTexts(/*are_quantities=*/false, &tree);
  std::string text;
  const auto written = google::protobuf::util::MessageToJsonString(tree, &text);
  return written.ok() ? text : std::string(line);
}

// "nodeSelector": {}, in whatever spacing.
bool MayHaveEmptyNodeSelector(absl::string_view line) {
  constexpr absl::string_view kKey = "\"nodeSelector\"";
  for (size_t at = line.find(kKey); at != absl::string_view::npos; at = line.find(kKey, at + 1)) {
    absl::string_view rest = line.substr(at + kKey.size());
    for (const char expected : {':', '{', '}'}) {
      rest = absl::StripLeadingAsciiWhitespace(rest);
      if (rest.empty() || rest[0] != expected) break;
      if (expected == '}') return true;
      rest.remove_prefix(1);
    }
  }
  return false;
}

// Null when there is none.
const Value* Member(const Struct& object, const char* name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? nullptr : &found->second;
}

void MarkPod(const Struct& given, kube::Pod* pod) {
  const Value* spec = Member(given, "spec");
  if (spec == nullptr) return;
  const Value* selector = Member(spec->struct_value(), "nodeSelector");
  if (selector == nullptr || !selector->has_struct_value()) return;
  if (selector->struct_value().fields().empty()) {
    pod->mutable_spec()->set_empty_node_selector(true);
  }
}

void MarkPods(const Struct& given, const char* name,
              google::protobuf::RepeatedPtrField<kube::Pod>* pods) {
  const Value* list = Member(given, name);
  if (list == nullptr) return;
  for (int i = 0; i < pods->size(); ++i) {
    MarkPod(list->list_value().values(i).struct_value(), &(*pods)[i]);
  }
}

// The messages cannot tell an empty selector from none.
absl::Status MarkEmptyNodeSelectors(absl::string_view line, kube::KubeCase* read) {
  Struct tree;
  const absl::Status parsed = ParseJson(line, &tree);
  if (!parsed.ok()) return parsed;
  const Struct& given = Member(tree, "case")->struct_value();
  MarkPods(given, "pods", read->mutable_pods());
  MarkPods(given, "queue", read->mutable_queue());
  for (int i = 0; i < read->events_size(); ++i) {
    const Struct& event = Member(given, "events")->list_value().values(i).struct_value();
    const Value* pod = Member(event, "pod");
    if (pod != nullptr) MarkPod(pod->struct_value(), read->mutable_events(i)->mutable_pod());
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<kube::KubeCase> ReadKubeCase(absl::string_view line) {
  kube::KubeCaseLine read;
  if (!ParseJson(line, &read).ok()) {
    read.Clear();
    const absl::Status parsed = ParseJson(WithTextQuantities(line), &read);
    if (!parsed.ok()) return parsed;
  }
  if (!read.has_case_()) return absl::InvalidArgumentError("not a case: no member \"case\"");
  if (MayHaveEmptyNodeSelector(line)) {
    const absl::Status marked = MarkEmptyNodeSelectors(line, read.mutable_case_());
    if (!marked.ok()) return marked;
  }
  return std::move(*read.mutable_case_());
}

}  // namespace drasim
