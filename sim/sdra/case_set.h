// CaseSet: cases for structured DRA, from a file or a generated world.
//
//   ASSIGN_OR_RETURN(const CaseSet set, ReadCaseSet(CaseKind::kSdra, "cases.jsonl", text));
//   ASSIGN_OR_RETURN(const CaseAnswers answers, AnswerCaseSet(set, {}));  // case_answers.h
#ifndef DRASIM_SIM_SDRA_CASE_SET_H_
#define DRASIM_SIM_SDRA_CASE_SET_H_

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/sdra_case.pb.h"
#include "sim/sdra/allocator_case.h"
#include "sim/sdra/cel_case.h"

namespace drasim {

// The form of a file: JSON Lines of `drasim cases sdra`, or the array of `drasim cases cel`.
enum class CaseKind : uint8_t { kSdra, kCel };

using AnyCase = std::variant<AllocatorCase, proto::kube::SdraCase, CelCase>;

struct StoredCase {
  AnyCase given;
  // The line of the file, if it holds an answer to compare with. Cases for CEL hold theirs.
  std::string line;
};

using CaseSet = std::vector<StoredCase>;

// Cases of a file's text, in its order. InvalidArgument for malformed cases, beginning with
// "NAME:LINE: " or, for CEL, "NAME: case POSITION: ". O(text).
absl::StatusOr<CaseSet> ReadCaseSet(CaseKind kind, absl::string_view name, absl::string_view text);

absl::string_view NameOf(const AnyCase& given);

// The case as a line of a file of its kind, without an answer: CEL cases are items of the array.
std::string CaseText(const AnyCase& given);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_CASE_SET_H_
