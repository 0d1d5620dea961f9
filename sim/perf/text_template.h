// Templates of Kubernetes objects: the part of Go's text/template that scheduler_perf uses.
//
//   ASSIGN_OR_RETURN(const TextTemplate pod, TextTemplate::Parse(text, "pod.yaml"));
//   TemplateInput input;
//   input.index = 3;
//   input.count = 10;
//   ASSIGN_OR_RETURN(const std::string yaml, pod.Fill(input));
//
// Values: .Index, .Count, the parameters by name (.priority), `.` in a range, variables ($x), whole
// numbers, fractions, texts, true, false, nil. Actions: pipelines, $x := ..., $x = ..., if, else
// if, else, range (over a list or a whole number; also $v := and $i, $v :=), end, comments, trim
// markers. Functions: DivideInt, div, Mod, AddInt, Int, JSON, or, and, not, eq, ne, lt, le, gt, ge.
//
// Source: Go's text/template documentation; the functions by their use in kubernetes/kubernetes
// test/integration/scheduler_perf.
#ifndef DRASIM_SIM_PERF_TEXT_TEMPLATE_H_
#define DRASIM_SIM_PERF_TEXT_TEMPLATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/perf/template_node.h"

namespace drasim::perf {

class TextTemplate {
 public:
  // `file` is used in errors. InvalidArgument ("FILE:LINE: ...") for anything but the language
  // above, and for blocks nested more than 100 deep.
  static absl::StatusOr<TextTemplate> Parse(absl::string_view text, absl::string_view file);

  // InvalidArgument ("FILE:LINE: ...") for a parameter that is printed or computed with and not
  // given, for operands of the wrong kind, a division by zero, a whole number beyond 64 bits, a
  // range over more than a million, and more than 16 MiB of text. Thread-safe.
  absl::StatusOr<std::string> Fill(const TemplateInput& input) const;

  const std::string& file() const { return file_; }
  // Whether the text may differ between objects of one step.
  bool uses_index() const { return uses_index_; }

 private:
  TextTemplate() = default;

  std::string file_;
  std::vector<TemplateNode> nodes_;
  bool uses_index_ = false;
};

}  // namespace drasim::perf

#endif  // DRASIM_SIM_PERF_TEXT_TEMPLATE_H_
