#include "sim/sdra/case_answers.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/message.h>

#include <cstddef>
#include <deque>
#include <memory>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/hash.h"
#include "model/kube/reader_json.h"
#include "model/kube/sdra_case_reader.h"
#include "model/status_macros.h"
#include "model/text/json_writer.h"
#include "policies/allocator/cel_verdicts.h"
#include "sim/sdra/allocator_rounds.h"
#include "sim/sdra/json_message.h"
#include "sim/sdra/plugin_case.h"

namespace drasim {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using proto::kube::SdraStepAnswer;

// The hash of a message's bytes, in which maps are in the order of their keys. The length keeps
// neighbours apart.
uint64_t MixMessage(const Message& message, uint64_t hash) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return Fnv1a(bytes, MixWord(hash, bytes.size()));
}

uint64_t MixText(absl::string_view text, uint64_t hash) {
  return Fnv1a(text, MixWord(hash, text.size()));
}

bool IsError(AllocationOutcome outcome) {
  return outcome == AllocationOutcome::kError || outcome == AllocationOutcome::kNodeError;
}

// Sums of a round's outcomes; rounds must agree.
struct RoundSum {
  int64_t allocations = 0;
  int64_t errors = 0;
  int64_t steps = 0;

  bool operator==(const RoundSum&) const = default;
};

RoundSum SumOf(absl::Span<const AllocationAnswer> answers) {
  RoundSum sum;
  for (const AllocationAnswer& answer : answers) {
    sum.allocations += answer.outcome == AllocationOutcome::kAllocated ? 1 : 0;
    sum.errors += IsError(answer.outcome) ? 1 : 0;
    sum.steps += answer.steps;
  }
  return sum;
}

RoundSum SumOf(absl::Span<const SdraStepAnswer> answers) {
  RoundSum sum;
  for (const SdraStepAnswer& answer : answers) {
    bool error = false;
    for (const proto::kube::SdraNodeStatus& node : answer.filter()) error |= node.code() == "Error";
    for (const proto::kube::SdraStatus* status :
         {&answer.pre_enqueue(), &answer.pre_filter(), &answer.post_filter(), &answer.reserve(),
          &answer.pre_bind()}) {
      error |= status->code() == "Error";
    }
    sum.allocations += answer.chosen().empty() ? 0 : 1;
    sum.errors += error ? 1 : 0;
  }
  return sum;
}

RoundSum SumOf(const CelAnswer& answer) {
  RoundSum sum;
  sum.allocations = answer.match ? 1 : 0;
  sum.errors = answer.match_error.empty() && answer.compile_error.empty() ? 0 : 1;
  return sum;
}

class CaseRunner {
 public:
  CaseRunner(const CaseRunOptions& options,
             const std::function<void(const std::string&)>& on_answer)
      : options_(options), on_answer_(on_answer) {
    if (options.count_steps) answers_.steps = 0;
  }

  absl::Status Add(const StoredCase& stored) {
    const absl::Status answered =
        std::visit([&](const auto& given) { return Answer(given, stored.line); }, stored.given);
    if (answered.ok()) return answered;
    return absl::Status(answered.code(),
                        absl::StrCat("case ", NameOf(stored.given), ": ", answered.message()));
  }

  CaseAnswers Finish() {
    uint64_t hash = kFnvOffset;
    for (const AnswerDigest& digest : answers_.digests) {
      hash = MixWord(MixText(digest.field, MixText(digest.name, hash)), digest.hash);
    }
    answers_.fingerprint = hash;
    if (answers_.table.cases() > 0) {
      answers_.mismatches = static_cast<int64_t>(answers_.table.unequal_cases());
    }
    return std::move(answers_);
  }

 private:
  // Adds the first round, and answers the other rounds by `again`.
  absl::Status AddRounds(const RoundSum& first, int64_t decisions,
                         absl::FunctionRef<absl::StatusOr<RoundSum>()> again) {
    ++answers_.cases;
    answers_.allocations += first.allocations;
    answers_.errors += first.errors;
    if (answers_.steps.has_value()) *answers_.steps += first.steps;
    answers_.decisions += decisions * options_.rounds;
    for (int64_t round = 1; round < options_.rounds; ++round) {
      ASSIGN_OR_RETURN(const RoundSum sum, again());
      if (sum == first) continue;
      return absl::InternalError(
          absl::StrCat("round ", round + 1, " has other outcomes than the first: ", sum.allocations,
                       " allocations and ", sum.errors, " errors, not ", first.allocations, " and ",
                       first.errors));
    }
    return absl::OkStatus();
  }

  void AddDigest(const std::string& name, absl::string_view field, uint64_t hash) {
    answers_.digests.push_back({answers_.cases, name, std::string(field), hash});
  }

  void Tell(const std::string& line) const {
    if (on_answer_) on_answer_(line);
  }

  absl::Status Answer(const AllocatorCase& given, const std::string& line) {
    AllocatorOptions options;
    options.variant = options_.variant;
    options.count_steps = options_.count_steps;
    ASSIGN_OR_RETURN(AllocatorRounds rounds,
                     AllocatorRounds::Make(given, options, MakeCelVerdicts));
    ASSIGN_OR_RETURN(const std::vector<AllocationAnswer> first,
                     rounds.Answer(/*with_results=*/true));
    Digest(given, first);
    if (on_answer_) {
      JsonWriter json(JsonWriter::Layout::kOneLine);
      json.BeginObject().Key("name").String(given.name);
      json.Key("want").Json(AllocatorAnswerJson(given, first, options.count_steps)).EndObject();
      Tell(json.text());
    }
    RETURN_IF_ERROR(Compare(given, first, line));
    return AddRounds(SumOf(first), static_cast<int64_t>(first.size()),
                     [&]() -> absl::StatusOr<RoundSum> {
                       if (options_.cold) rounds.Forget();
                       ASSIGN_OR_RETURN(const std::vector<AllocationAnswer> answers,
                                        rounds.Answer(/*with_results=*/false));
                       return SumOf(answers);
                     });
  }

  void Digest(const AllocatorCase& given, absl::Span<const AllocationAnswer> answers) {
    uint64_t outcome = kFnvOffset;
    uint64_t devices = kFnvOffset;
    uint64_t config = kFnvOffset;
    uint64_t node_selector = kFnvOffset;
    uint64_t error = kFnvOffset;
    uint64_t steps = kFnvOffset;
    for (const AllocationAnswer& answer : answers) {
      outcome = MixWord(outcome, static_cast<uint64_t>(answer.outcome));
      error = MixText(answer.error, error);
      steps = MixWord(steps, static_cast<uint64_t>(answer.steps));
      devices = MixWord(devices, answer.results.size());
      for (const proto::kube::AllocationResultV1& result : answer.results) {
        for (const auto& device : result.devices().results()) devices = MixMessage(device, devices);
        for (const auto& one : result.devices().config()) config = MixMessage(one, config);
        node_selector = MixMessage(result.node_selector(), node_selector);
      }
    }
    AddDigest(given.name, "outcome", outcome);
    AddDigest(given.name, "devices", devices);
    AddDigest(given.name, "config", config);
    AddDigest(given.name, "nodeSelector", node_selector);
    AddDigest(given.name, "error", error);
    if (options_.count_steps) AddDigest(given.name, "steps", steps);
  }

  absl::Status Compare(const AllocatorCase& given, const std::vector<AllocationAnswer>& answers,
                       const std::string& line) {
    if (line.empty()) return absl::OkStatus();
    std::deque<YamlNode> nodes;
    const JsonTree tree = ParseJsonTree(line, 0, &nodes);
    const absl::string_view variant = VariantName(options_.variant);
    return CompareAllocatorAnswers(line, *JsonMember(*tree.root, "want"), given, answers, variant,
                                   options_.count_steps, &answers_.table)
        .status();
  }

  absl::Status Answer(const proto::kube::SdraCase& given, const std::string& line) {
    ASSIGN_OR_RETURN(const std::vector<SdraStepAnswer> first,
                     AnswerPluginCase(given, MakeCelVerdicts));
    for (int f = 0; f < SdraStepAnswer::descriptor()->field_count(); ++f) {
      const FieldDescriptor* const field = SdraStepAnswer::descriptor()->field(f);
      AddDigest(given.name(), field->json_name(), DigestOf(first, field));
    }
    if (on_answer_) Tell(PluginAnswerLine(given.name(), first));
    if (!line.empty()) {
      ASSIGN_OR_RETURN(const SdraLine read, SdraLine::Parse(line, "line"));
      ASSIGN_OR_RETURN(const std::vector<SdraStepAnswer> want, read.PluginWant());
      ComparePluginAnswers(given, first, want, &answers_.table);
    }
    return AddRounds(SumOf(first), static_cast<int64_t>(first.size()),
                     [&]() -> absl::StatusOr<RoundSum> {
                       ASSIGN_OR_RETURN(const std::vector<SdraStepAnswer> answers,
                                        AnswerPluginCase(given, MakeCelVerdicts));
                       return SumOf(answers);
                     });
  }

  static uint64_t DigestOf(absl::Span<const SdraStepAnswer> steps, const FieldDescriptor* field) {
    uint64_t hash = kFnvOffset;
    for (const SdraStepAnswer& step : steps) {
      SdraStepAnswer rest = step;
      SdraStepAnswer only;
      only.GetReflection()->SwapFields(&rest, &only, {field});
      hash = MixMessage(only, hash);
    }
    return hash;
  }

  absl::Status Answer(const CelCase& given, const std::string&) {
    ASSIGN_OR_RETURN(const CelAnswer first, AnswerCelCase(given));
    AddDigest(given.name, "match", first.match ? 1 : 0);
    AddDigest(given.name, "matchError", MixText(first.match_error, kFnvOffset));
    AddDigest(given.name, "compileError", MixText(first.compile_error, kFnvOffset));
    AddDigest(given.name, "worstCost", MixWord(kFnvOffset, first.worst_cost));
    if (on_answer_) Tell(CelAnswerJson(given, first));
    if (given.has_want) CompareCelAnswer(given, first, &answers_.table);
    return AddRounds(SumOf(first), 1, [&]() -> absl::StatusOr<RoundSum> {
      ASSIGN_OR_RETURN(const CelAnswer answer, AnswerCelCase(given));
      return SumOf(answer);
    });
  }

  const CaseRunOptions& options_;
  const std::function<void(const std::string&)>& on_answer_;
  CaseAnswers answers_;
};

}  // namespace

absl::StatusOr<CaseAnswers> AnswerCaseSet(
    const CaseSet& cases, const CaseRunOptions& options,
    const std::function<void(const std::string& line)>& on_answer) {
  CaseRunner runner(options, on_answer);
  for (const StoredCase& stored : cases) RETURN_IF_ERROR(runner.Add(stored));
  return runner.Finish();
}

}  // namespace drasim
