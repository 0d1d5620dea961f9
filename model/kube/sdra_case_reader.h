// Reads cases of structured DRA and their stored answers (model/proto/sdra_case.proto).
//
//   ASSIGN_OR_RETURN(const SdraLine line, SdraLine::Parse(text, "cases.jsonl:17"));
//   ASSIGN_OR_RETURN(const proto::kube::SdraCase given, line.Case());
//   if (given.steps().empty()) { ASSIGN_OR_RETURN(const auto want, line.AllocatorWant()); }
#ifndef DRASIM_MODEL_KUBE_SDRA_CASE_READER_H_
#define DRASIM_MODEL_KUBE_SDRA_CASE_READER_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/kube/reader.h"
#include "model/kube/reader_source.h"
#include "model/proto/sdra_case.pb.h"

namespace drasim {

// One line of a file of cases. Unknown fields are left out; names of fields match without regard to
// case ("Name", "name"). Nothing is defaulted, lifted or validated. Quantities, maps and times stay
// texts.
//
// Errors of all functions (InvalidArgument): "FILE:LINE:COLUMN: PATH: what was found, what was
// expected".
class SdraLine {
 public:
  // The text must be one JSON object. `file` is used in messages only. `warnings`, unless null,
  // outlives the line and collects a warning for every sort of unknown field. O(text).
  static absl::StatusOr<SdraLine> Parse(absl::string_view text, absl::string_view file,
                                        KubeWarnings* warnings = nullptr);

  // The member "case", which must be there. The stored answer is not looked at. O(case).
  absl::StatusOr<proto::kube::SdraCase> Case() const;

  // The member "want" of an allocator's case: one answer by variant, one answer, or one for each
  // node. Nothing is set when there is no such member. O(answer).
  absl::StatusOr<proto::kube::SdraAllocatorWant> AllocatorWant() const;

  // The member "want" of a plugin's case, one for each step; empty when there is none. O(answer).
  absl::StatusOr<std::vector<proto::kube::SdraStepAnswer>> PluginWant() const;

 private:
  SdraLine(KubeSource source, KubeWarnings* warnings)
      : source_(std::move(source)), warnings_(warnings) {}

  // A member of the line; null if there is none, or null is written.
  const YamlNode* Member(absl::string_view name) const;
  absl::Status Read(const YamlNode& node, google::protobuf::Message* message) const;

  KubeSource source_;
  KubeWarnings* warnings_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_SDRA_CASE_READER_H_
