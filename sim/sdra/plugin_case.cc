#include "sim/sdra/plugin_case.h"

#include <google/protobuf/message.h>

#include <algorithm>
#include <cstddef>
#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "sim/sdra/json_message.h"
#include "sim/sdra/plugin_run.h"

namespace drasim {
namespace {

using google::protobuf::FieldDescriptor;
using proto::kube::SdraStepAnswer;

// The field as JSON; empty if it is not set.
std::string StepFieldText(const SdraStepAnswer& answer, const FieldDescriptor* field) {
  SdraStepAnswer rest = answer;
  SdraStepAnswer only;
  answer.GetReflection()->SwapFields(&rest, &only, {field});
  if (only.ByteSizeLong() == 0) return "";
  JsonWriter json(JsonWriter::Layout::kOneLine);
  WriteJson(only, QuantityForm::kNumber, &json);
  return std::string(absl::StripTrailingAsciiWhitespace(json.text()));
}

}  // namespace

absl::StatusOr<std::vector<SdraStepAnswer>> AnswerPluginCase(
    const proto::kube::SdraCase& given, const SelectorVerdictsMaker& make_verdicts,
    const AllocatorOptions& upstream) {
  ASSIGN_OR_RETURN(const std::unique_ptr<PluginRun> run,
                   PluginRun::Make(given, make_verdicts, upstream));
  return run->Run();
}

std::string PluginAnswerLine(const std::string& name, absl::Span<const SdraStepAnswer> answers) {
  JsonWriter json(JsonWriter::Layout::kOneLine);
  json.BeginObject();
  json.Key("name").String(name);
  json.Key("want").BeginArray();
  for (const SdraStepAnswer& answer : answers) WriteJson(answer, QuantityForm::kAsWritten, &json);
  json.EndArray();
  json.EndObject();
  return json.text();
}

void ComparePluginAnswers(const proto::kube::SdraCase& given, absl::Span<const SdraStepAnswer> ours,
                          absl::Span<const SdraStepAnswer> theirs, CaseTable* table) {
  table->Begin(given.name(), given.theme());
  const SdraStepAnswer none;
  for (size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const SdraStepAnswer& our_step = i < ours.size() ? ours[i] : none;
    const SdraStepAnswer& their_step = i < theirs.size() ? theirs[i] : none;
    for (int f = 0; f < SdraStepAnswer::descriptor()->field_count(); ++f) {
      const FieldDescriptor* const field = SdraStepAnswer::descriptor()->field(f);
      const std::string our_text = StepFieldText(our_step, field);
      const std::string their_text = StepFieldText(their_step, field);
      if (our_text.empty() && their_text.empty()) continue;
      table->Note(std::string(field->json_name()), absl::StrCat("step ", i, " ", our_step.step()),
                  our_text, their_text);
    }
  }
}

}  // namespace drasim
