// Cases for CEL: one expression and one device each.
#ifndef DRASIM_SIM_SDRA_CEL_CASE_H_
#define DRASIM_SIM_SDRA_CEL_CASE_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"
#include "model/text/yaml_node.h"
#include "policies/cel/compile.h"
#include "policies/cel/program.h"
#include "sim/sdra/case_table.h"

namespace drasim {

// The outcome of an expression on its device.
struct CelAnswer {
  bool match = false;
  std::string match_error;
  std::string compile_error;
  uint64_t worst_cost = 0;  // the estimate at admission; 0 if it does not compile
};

struct CelCase {
  std::string name;
  std::string expression;
  std::string driver;
  proto::kube::Device device;
  cel::CompileOptions options;
  CelAnswer want;         // the stored answer; errors need only be contained in ours
  bool has_want = false;  // some member of `want` is there
};

// Reads a member of the array that a file of cases is. InvalidArgument for values of a wrong type.
absl::StatusOr<CelCase> ReadCelCase(absl::string_view text, const YamlNode& given);

absl::StatusOr<CelAnswer> AnswerCelCase(const CelCase& given);

// {"name": ..., "want": {...}} in one line.
std::string CelAnswerJson(const CelCase& given, const CelAnswer& answer);

// Notes the differences from the stored answer.
void CompareCelAnswer(const CelCase& given, const CelAnswer& answer, CaseTable* table);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_CEL_CASE_H_
