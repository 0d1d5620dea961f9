#include "sim/outputs/junit_output.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/number_text.h"
#include "sim/outputs/xml_text.h"

namespace drasim {
namespace {

struct Suite {
  std::string name;
  std::vector<const ResultCheck*> checks;
};

std::vector<Suite> SuitesOf(const ResultSet& results) {
  std::vector<Suite> suites;
  for (const ResultCheck& check : results.checks) {
    auto suite = std::find_if(suites.begin(), suites.end(),
                              [&](const Suite& s) { return s.name == check.group; });
    if (suite == suites.end()) suite = suites.insert(suites.end(), {check.group, {}});
    suite->checks.push_back(&check);
  }
  return suites;
}

bool IsFailure(const ResultCheck& check) {
  return check.outcome == CheckOutcome::kChanged || check.outcome == CheckOutcome::kFailed;
}

// " tests=... failures=... errors=... time=..."
std::string CountsOf(const std::vector<const ResultCheck*>& checks) {
  size_t failures = 0;
  size_t errors = 0;
  double seconds = 0;
  for (const ResultCheck* check : checks) {
    if (IsFailure(*check)) ++failures;
    if (check->outcome == CheckOutcome::kMissing) ++errors;
    seconds += check->seconds;
  }
  return absl::StrCat(" tests=\"", checks.size(), "\" failures=\"", failures, "\" errors=\"",
                      errors, "\" time=\"", FixedText(seconds, 3), "\"");
}

void AppendCase(const ResultCheck& check, const std::string& classname, std::string* out) {
  absl::StrAppend(out, "    <testcase name=\"", XmlText(check.name), "\" classname=\"",
                  XmlText(classname), "\" time=\"", FixedText(check.seconds, 3), "\"");
  if (!check.file.empty()) absl::StrAppend(out, " file=\"", XmlText(check.file), "\"");
  if (check.line > 0) absl::StrAppend(out, " line=\"", check.line, "\"");
  if (check.outcome == CheckOutcome::kPassed) {
    *out += "/>\n";
    return;
  }
  const absl::string_view element = IsFailure(check) ? "failure" : "error";
  const absl::string_view type = check.outcome == CheckOutcome::kChanged  ? "changed"
                                 : check.outcome == CheckOutcome::kFailed ? "failed"
                                                                          : "missing";
  absl::StrAppend(out, ">\n      <", element, " type=\"", type, "\" message=\"",
                  XmlText(check.message), "\"/>\n    </testcase>\n");
}

}  // namespace

std::string JunitXml(const ResultSet& results) {
  std::vector<const ResultCheck*> all;
  for (const ResultCheck& check : results.checks) all.push_back(&check);
  std::string out =
      absl::StrCat("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"drasim ",
                   XmlText(results.command), "\"", CountsOf(all), ">\n");
  for (const Suite& suite : SuitesOf(results)) {
    absl::StrAppend(&out, "  <testsuite name=\"", XmlText(suite.name), "\"", CountsOf(suite.checks),
                    ">\n");
    for (const ResultCheck* check : suite.checks) {
      AppendCase(*check, absl::StrCat("drasim.", suite.name), &out);
    }
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace drasim
