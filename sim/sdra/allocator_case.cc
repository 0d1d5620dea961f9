#include "sim/sdra/allocator_case.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/quantity.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "sim/sdra/json_message.h"

namespace drasim {
namespace {

using proto::kube::AllocationResultV1;

using NodeList = std::vector<const YamlNode*>;

// The items of a list member; none if it is missing or null.
absl::StatusOr<NodeList> ItemsOf(const YamlNode& object, absl::string_view name) {
  const YamlNode* list = JsonMember(object, name);
  if (list == nullptr || list->kind == YamlNode::Kind::kNull) return NodeList();
  if (list->kind != YamlNode::Kind::kSequence) return WrongJsonMember(name, "a list");
  return list->children;
}

std::string TextOf(const YamlNode& object, absl::string_view name) {
  const YamlNode* member = JsonMember(object, name);
  return member == nullptr ? "" : member->text;
}

std::string ItemText(absl::string_view list, size_t index) {
  return absl::StrCat(list, "[", index, "]");
}

template <typename Object>
absl::Status ReadList(absl::string_view text, const YamlNode& given, absl::string_view name,
                      std::vector<Object>* list) {
  ASSIGN_OR_RETURN(const NodeList items, ItemsOf(given, name));
  for (size_t i = 0; i < items.size(); ++i) {
    list->emplace_back();
    RETURN_IF_ERROR(AtJsonPlace(ItemText(name, i), MergeJson(text, *items[i], &list->back())));
  }
  return absl::OkStatus();
}

// "driver/pool/device"; the pool's name may contain slashes.
absl::StatusOr<DeviceId> ReadDeviceId(const std::string& place, const std::string& text) {
  const size_t first = text.find('/');
  const size_t last = text.rfind('/');
  if (first == std::string::npos || first == last) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": found '", text, "', expected driver/pool/device"));
  }
  return DeviceId{text.substr(0, first), text.substr(first + 1, last - first - 1),
                  text.substr(last + 1)};
}

absl::Status ReadConsumed(const std::string& place, const YamlNode& item,
                          std::map<std::string, Quantity>* consumed) {
  const YamlNode* amounts = JsonMember(item, "Consumed");
  if (amounts == nullptr || amounts->kind == YamlNode::Kind::kNull) return absl::OkStatus();
  if (amounts->kind != YamlNode::Kind::kMapping) return WrongJsonMember(place, "an object");
  for (size_t i = 0; i + 1 < amounts->children.size(); i += 2) {
    const std::string& name = amounts->children[i]->text;
    const std::string& text = amounts->children[i + 1]->text;
    const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
    if (!amount.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(place, "[", name, "]: found '", text,
                                                     "', expected a quantity such as 2 or 1.5Gi"));
    }
    (*consumed)[name] = *amount;
  }
  return absl::OkStatus();
}

absl::Status ReadUse(const YamlNode& given, DeviceUse* use) {
  ASSIGN_OR_RETURN(const NodeList dedicated, ItemsOf(given, "AllocatedDevices"));
  for (size_t i = 0; i < dedicated.size(); ++i) {
    ASSIGN_OR_RETURN(DeviceId id,
                     ReadDeviceId(ItemText("AllocatedDevices", i), dedicated[i]->text));
    use->dedicated.push_back(std::move(id));
  }
  ASSIGN_OR_RETURN(const NodeList shared, ItemsOf(given, "AllocatedSharedDeviceIDs"));
  for (size_t i = 0; i < shared.size(); ++i) {
    const std::string place = absl::StrCat(ItemText("AllocatedSharedDeviceIDs", i), ".Device");
    ASSIGN_OR_RETURN(DeviceId id, ReadDeviceId(place, TextOf(*shared[i], "Device")));
    use->shared.push_back(std::move(id));
  }
  ASSIGN_OR_RETURN(const NodeList aggregated, ItemsOf(given, "AggregatedCapacity"));
  for (size_t i = 0; i < aggregated.size(); ++i) {
    const std::string place = ItemText("AggregatedCapacity", i);
    ASSIGN_OR_RETURN(const DeviceId id, ReadDeviceId(absl::StrCat(place, ".Device"),
                                                     TextOf(*aggregated[i], "Device")));
    RETURN_IF_ERROR(
        ReadConsumed(absl::StrCat(place, ".Consumed"), *aggregated[i], &use->consumed[id]));
  }
  return absl::OkStatus();
}

std::string MessageText(const google::protobuf::Message& message) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  WriteJson(message, QuantityForm::kNumber, &json);
  std::string text = json.text();
  text.pop_back();
  return text;
}

void WriteAnswer(const std::string& node, const AllocationAnswer& answer, bool steps,
                 JsonWriter* json) {
  json->BeginObject();
  if (!node.empty()) json->Key("Node").String(node);
  if (!answer.results.empty()) {
    json->Key("Results").BeginArray();
    for (const AllocationResultV1& result : answer.results) {
      WriteJson(result, QuantityForm::kAsWritten, json);
    }
    json->EndArray();
  }
  if (!answer.error.empty()) json->Key("Error").String(answer.error);
  if (answer.outcome == AllocationOutcome::kNodeError) json->Key("ErrorNodeLocal").Bool(true);
  if (steps) json->Key("NumAllocateOne").Int(answer.steps);
  json->EndObject();
}

// The fields of an answer as texts, in the order of the table.
struct AnswerTexts {
  std::string outcome;
  std::string devices;
  std::string config;
  std::string node_selector;
  std::string error;
  std::string steps;
};

AnswerTexts TextsOf(const AllocationAnswer& answer) {
  AnswerTexts texts;
  switch (answer.outcome) {
    case AllocationOutcome::kAllocated:
      // Files do not tell an allocation of no claims from none.
      texts.outcome = answer.results.empty() ? "does not fit" : "allocated";
      break;
    case AllocationOutcome::kDoesNotFit:
      texts.outcome = "does not fit";
      break;
    case AllocationOutcome::kNodeError:
      texts.outcome = "error of the node";
      break;
    case AllocationOutcome::kError:
      texts.outcome = "error";
      break;
  }
  for (const AllocationResultV1& result : answer.results) {
    proto::kube::DeviceAllocationResult devices;
    *devices.mutable_results() = result.devices().results();
    absl::StrAppend(&texts.devices, MessageText(devices), " ");
    proto::kube::DeviceAllocationResult config;
    *config.mutable_config() = result.devices().config();
    absl::StrAppend(&texts.config, MessageText(config), " ");
    absl::StrAppend(&texts.node_selector,
                    result.has_node_selector() ? MessageText(result.node_selector()) : "none", " ");
  }
  texts.error = answer.error;
  texts.steps = absl::StrCat(answer.steps);
  return texts;
}

absl::StatusOr<AllocationAnswer> ReadAnswer(absl::string_view text, const YamlNode& want) {
  AllocationAnswer answer;
  RETURN_IF_ERROR(ReadList(text, want, "Results", &answer.results));
  answer.error = TextOf(want, "Error");
  if (JsonMember(want, "Results") != nullptr) {
    answer.outcome = AllocationOutcome::kAllocated;
  } else if (!answer.error.empty()) {
    answer.outcome = TextOf(want, "ErrorNodeLocal").empty() ? AllocationOutcome::kError
                                                            : AllocationOutcome::kNodeError;
  }
  const std::string steps = TextOf(want, "NumAllocateOne");
  if (!steps.empty() && !absl::SimpleAtoi(steps, &answer.steps)) {
    return absl::InvalidArgumentError("NumAllocateOne: expected a whole number");
  }
  return answer;
}

void NoteAnswer(const std::string& place, const AllocationAnswer& ours,
                const AllocationAnswer& theirs, bool steps, CaseTable* table) {
  const AnswerTexts is = TextsOf(ours);
  const AnswerTexts expected = TextsOf(theirs);
  table->Note("outcome", place, is.outcome, expected.outcome);
  if (theirs.outcome == AllocationOutcome::kAllocated) {
    table->Note("devices", place, is.devices, expected.devices);
    table->Note("config", place, is.config, expected.config);
    table->Note("nodeSelector", place, is.node_selector, expected.node_selector);
  }
  table->Note("error", place, is.error, expected.error);
  if (steps) table->Note("steps", place, is.steps, expected.steps);
}

}  // namespace

absl::StatusOr<AllocatorCase> ReadAllocatorCase(absl::string_view text, const YamlNode& given) {
  AllocatorCase read;
  if (given.kind != YamlNode::Kind::kMapping) return WrongJsonMember("case", "an object");
  read.name = TextOf(given, "Name");
  ASSIGN_OR_RETURN(const NodeList features, ItemsOf(given, "Features"));
  for (size_t i = 0; i < features.size(); ++i) {
    const absl::Status set = SetDraFeature(features[i]->text, true, &read.features);
    if (set.ok()) continue;
    return absl::InvalidArgumentError(absl::StrCat(ItemText("Features", i), ": ", set.message()));
  }
  const YamlNode* node = JsonMember(given, "Node");
  read.several_nodes = node == nullptr;
  if (node != nullptr) {
    read.nodes.emplace_back();
    RETURN_IF_ERROR(AtJsonPlace("Node", MergeJson(text, *node, &read.nodes.back())));
  }
  RETURN_IF_ERROR(ReadList(text, given, "Nodes", &read.nodes));
  RETURN_IF_ERROR(ReadList(text, given, "Classes", &read.classes));
  RETURN_IF_ERROR(ReadList(text, given, "Slices", &read.slices));
  RETURN_IF_ERROR(ReadList(text, given, "Claims", &read.claims));
  RETURN_IF_ERROR(ReadUse(given, &read.use));
  return read;
}

std::string AllocatorAnswerJson(const AllocatorCase& given,
                                const std::vector<AllocationAnswer>& answers, bool steps) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  if (given.several_nodes) json.BeginArray();
  for (size_t i = 0; i < answers.size(); ++i) {
    WriteAnswer(given.several_nodes ? given.nodes[i].metadata().name() : "", answers[i], steps,
                &json);
  }
  if (given.several_nodes) json.EndArray();
  std::string text = json.text();
  text.pop_back();
  return text;
}

absl::StatusOr<bool> CompareAllocatorAnswers(absl::string_view text, const YamlNode& want,
                                             const AllocatorCase& given,
                                             const std::vector<AllocationAnswer>& answers,
                                             absl::string_view variant, bool steps,
                                             CaseTable* table) {
  if (given.several_nodes) {
    if (want.kind != YamlNode::Kind::kSequence || want.children.size() != answers.size()) {
      return absl::InvalidArgumentError("want: expected a list with one answer for each node");
    }
    table->Begin(given.name, "pools");
    for (size_t i = 0; i < answers.size(); ++i) {
      ASSIGN_OR_RETURN(const AllocationAnswer theirs, ReadAnswer(text, *want.children[i]));
      NoteAnswer(given.nodes[i].metadata().name(), answers[i], theirs, steps, table);
    }
    return true;
  }
  const bool by_variant = JsonMember(want, "stable") != nullptr ||
                          JsonMember(want, "incubating") != nullptr ||
                          JsonMember(want, "experimental") != nullptr;
  const YamlNode* entry = by_variant ? JsonMember(want, variant) : &want;
  if (entry == nullptr || !TextOf(*entry, "Unstable").empty()) return false;
  ASSIGN_OR_RETURN(const AllocationAnswer theirs, ReadAnswer(text, *entry));
  table->Begin(given.name, "allocator");
  NoteAnswer("", answers[0], theirs, steps, table);
  return true;
}

}  // namespace drasim
