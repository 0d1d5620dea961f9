#include "sim/sdra/cel_case.h"

#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "model/device_columns.h"
#include "model/kube/device_facts_of.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "policies/cel/selector.h"
#include "sim/sdra/json_message.h"

namespace drasim {
namespace {

absl::Status ReadText(const YamlNode& given, absl::string_view name, std::string* text) {
  const YamlNode* member = JsonMember(given, name);
  if (member == nullptr || member->kind == YamlNode::Kind::kNull) return absl::OkStatus();
  if (member->kind != YamlNode::Kind::kScalar) return WrongJsonMember(name, "a text");
  *text = member->text;
  return absl::OkStatus();
}

absl::Status ReadBool(const YamlNode& given, absl::string_view name, bool* value) {
  const YamlNode* member = JsonMember(given, name);
  if (member == nullptr || member->kind == YamlNode::Kind::kNull) return absl::OkStatus();
  if (member->kind == YamlNode::Kind::kScalar && absl::SimpleAtob(member->text, value)) {
    return absl::OkStatus();
  }
  return WrongJsonMember(name, "true or false");
}

absl::Status ReadCost(const YamlNode& given, uint64_t* cost) {
  const YamlNode* member = JsonMember(given, "ExpectCost");
  if (member == nullptr || absl::SimpleAtoi(member->text, cost)) return absl::OkStatus();
  return WrongJsonMember("ExpectCost", "a number");
}

absl::Status ReadDevice(absl::string_view text, const YamlNode& given, CelCase* read) {
  bool multiple = false;
  RETURN_IF_ERROR(ReadBool(given, "AllowMultipleAllocations", &multiple));
  read->device.set_allow_multiple_allocations(multiple);
  for (const bool capacity : {false, true}) {
    const absl::string_view name = capacity ? "Capacity" : "Attributes";
    const YamlNode* members = JsonMember(given, name);
    if (members == nullptr || members->kind == YamlNode::Kind::kNull) continue;
    if (members->kind != YamlNode::Kind::kMapping) return WrongJsonMember(name, "an object");
    for (size_t i = 0; i + 1 < members->children.size(); i += 2) {
      const std::string& key = members->children[i]->text;
      google::protobuf::Message* entry = nullptr;
      if (capacity) {
        entry = &(*read->device.mutable_capacity())[key];
      } else {
        entry = &(*read->device.mutable_attributes())[key];
      }
      RETURN_IF_ERROR(AtJsonPlace(absl::StrCat(name, "[", key, "]"),
                                  MergeJson(text, *members->children[i + 1], entry)));
    }
  }
  return absl::OkStatus();
}

// As the tables of cases say it: ours must contain the stored text.
std::string ContainedText(const std::string& ours, const std::string& stored) {
  const bool contained = stored.empty() ? ours.empty() : absl::StrContains(ours, stored);
  return contained ? stored : ours;
}

}  // namespace

absl::StatusOr<CelCase> ReadCelCase(absl::string_view text, const YamlNode& given) {
  CelCase read;
  if (given.kind != YamlNode::Kind::kMapping) {
    return absl::InvalidArgumentError("not a case: expected an object");
  }
  RETURN_IF_ERROR(ReadText(given, "Name", &read.name));
  RETURN_IF_ERROR(ReadText(given, "Expression", &read.expression));
  RETURN_IF_ERROR(ReadText(given, "Driver", &read.driver));
  RETURN_IF_ERROR(ReadBool(given, "NewExpressions", &read.options.new_expression));
  RETURN_IF_ERROR(ReadBool(given, "EnableConsumableCapacity", &read.options.consumable_capacity));
  RETURN_IF_ERROR(ReadBool(given, "EnableListTypeAttributes", &read.options.list_attributes));
  RETURN_IF_ERROR(ReadDevice(text, given, &read));
  RETURN_IF_ERROR(ReadBool(given, "ExpectMatch", &read.want.match));
  RETURN_IF_ERROR(ReadText(given, "ExpectMatchError", &read.want.match_error));
  RETURN_IF_ERROR(ReadText(given, "ExpectCompileError", &read.want.compile_error));
  RETURN_IF_ERROR(ReadCost(given, &read.want.worst_cost));
  for (const absl::string_view name :
       {"ExpectMatch", "ExpectMatchError", "ExpectCompileError", "ExpectCost"}) {
    read.has_want |= JsonMember(given, name) != nullptr;
  }
  return read;
}

absl::StatusOr<CelAnswer> AnswerCelCase(const CelCase& given) {
  CelAnswer answer;
  const absl::StatusOr<cel::Program> program = cel::Compile(given.expression, given.options);
  if (!program.ok()) {
    answer.compile_error = std::string(program.status().message());
    return answer;
  }
  answer.worst_cost = program->worst_cost;
  ASSIGN_OR_RETURN(const DeviceFacts facts, DeviceFactsOf(given.driver, given.device));
  DeviceColumns columns;
  const DeviceRow row = columns.Add(facts);
  cel::DeviceSelector selector(&*program, &columns);
  cel::Evaluation evaluation = selector.Explain(row);
  answer.match = evaluation.verdict == cel::Verdict::kTrue;
  answer.match_error = std::move(evaluation.error);
  return answer;
}

std::string CelAnswerJson(const CelCase& given, const CelAnswer& answer) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject().Key("name").String(given.name).Key("want").BeginObject();
  json.Key("ExpectMatch").Bool(answer.match);
  if (!answer.match_error.empty()) json.Key("ExpectMatchError").String(answer.match_error);
  if (!answer.compile_error.empty()) json.Key("ExpectCompileError").String(answer.compile_error);
  json.Key("ExpectCost").Uint(answer.worst_cost).EndObject().EndObject();
  return json.text();
}

void CompareCelAnswer(const CelCase& given, const CelAnswer& answer, CaseTable* table) {
  const CelAnswer& want = given.want;
  table->Begin(given.name, "cel");
  table->Note("ExpectMatch", "", answer.match ? "true" : "false", want.match ? "true" : "false");
  table->Note("ExpectMatchError", "", ContainedText(answer.match_error, want.match_error),
              want.match_error);
  table->Note("ExpectCompileError", "", ContainedText(answer.compile_error, want.compile_error),
              want.compile_error);
  table->Note("ExpectCost", "", absl::StrCat(answer.worst_cost), absl::StrCat(want.worst_cost));
}

}  // namespace drasim
