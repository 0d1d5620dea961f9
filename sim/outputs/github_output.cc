#include "sim/outputs/github_output.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"

namespace drasim {
namespace {

std::string MessageText(absl::string_view text) {
  return absl::StrReplaceAll(text, {{"%", "%25"}, {"\r", "%0D"}, {"\n", "%0A"}});
}

std::string PropertyText(absl::string_view text) {
  return absl::StrReplaceAll(MessageText(text), {{":", "%3A"}, {",", "%2C"}});
}

}  // namespace

std::string GithubAnnotations(const ResultSet& results) {
  std::string out;
  for (const ResultCheck& check : results.checks) {
    if (check.outcome == CheckOutcome::kPassed) continue;
    absl::StrAppend(&out, check.outcome == CheckOutcome::kChanged ? "::warning " : "::error ");
    if (!check.file.empty()) {
      absl::StrAppend(&out, "file=", PropertyText(check.file), ",");
      if (check.line > 0) absl::StrAppend(&out, "line=", check.line, ",");
      if (check.column > 0) absl::StrAppend(&out, "col=", check.column, ",");
    }
    absl::StrAppend(&out, "title=", PropertyText(check.name),
                    "::", MessageText(check.message.empty() ? results.summary : check.message),
                    "\n");
  }
  return out;
}

}  // namespace drasim
