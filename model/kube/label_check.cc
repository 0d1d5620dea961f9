#include "model/kube/label_check.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/proto/kube.pb.h"

namespace drasim {
namespace {

constexpr size_t kMaxName = 63;
constexpr size_t kMaxSubdomain = 253;
constexpr char kNameRule[] =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
    "alphanumeric character";
constexpr char kNamePattern[] = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
constexpr char kSubdomainPattern[] =
    "[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*";

// The examples stand as upstream prints them, with a comma of their own.
std::string PatternProblem(absl::string_view rule, absl::string_view pattern,
                           absl::Span<const absl::string_view> examples) {
  std::string text = absl::StrCat(rule, " (e.g. ");
  for (size_t i = 0; i < examples.size(); ++i) {
    absl::StrAppend(&text, i > 0 ? " or '" : "'", examples[i], "', ");
  }
  absl::StrAppend(&text, "regex used for validation is '", pattern, "')");
  return text;
}

std::string NameProblem() {
  return PatternProblem(kNameRule, kNamePattern, {"MyName", "my.name", "123-abc"});
}

std::string LengthProblem(size_t most) {
  return absl::StrCat("must be no more than ", most, " characters");
}

bool IsAlphanumeric(char c) { return absl::ascii_isalnum(static_cast<unsigned char>(c)); }

bool FitsNamePattern(absl::string_view text) {
  return !text.empty() && IsAlphanumeric(text.front()) && IsAlphanumeric(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool FitsSubdomainPattern(absl::string_view text) {
  const auto is_inner = [](char c) {
    return c == '-' || absl::ascii_isdigit(static_cast<unsigned char>(c)) ||
           absl::ascii_islower(static_cast<unsigned char>(c));
  };
  for (const absl::string_view label : absl::StrSplit(text, '.')) {
    if (label.empty() || label.front() == '-' || label.back() == '-') return false;
    if (!std::all_of(label.begin(), label.end(), is_inner)) return false;
  }
  return true;
}

// As Go quotes a text.
std::string Quoted(absl::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out.append("\\n");
    } else if (c == '\t') {
      out.append("\\t");
    } else {
      out.push_back(c);
    }
  }
  out.push_back('"');
  return out;
}

template <typename Texts>
std::string ListText(const Texts& texts) {
  if (texts.empty()) return "null";
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(Quoted(text));
  return absl::StrCat("[", absl::StrJoin(quoted, ","), "]");
}

}  // namespace

std::vector<std::string> QualifiedNameProblems(absl::string_view name) {
  std::vector<std::string> problems;
  const std::vector<absl::string_view> parts = absl::StrSplit(name, '/');
  if (parts.size() > 2) {
    problems.push_back(
        absl::StrCat("a qualified name ", NameProblem(),
                     " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"));
    return problems;
  }
  if (parts.size() == 2) {
    const absl::string_view prefix = parts[0];
    if (prefix.empty()) {
      problems.emplace_back("prefix part must be non-empty");
    } else {
      if (prefix.size() > kMaxSubdomain) {
        problems.push_back(absl::StrCat("prefix part ", LengthProblem(kMaxSubdomain)));
      }
      if (!FitsSubdomainPattern(prefix)) {
        problems.push_back(absl::StrCat(
            "prefix part ",
            PatternProblem("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                           "characters, '-' or '.', and must start and end with an alphanumeric "
                           "character",
                           kSubdomainPattern, {"example.com"})));
      }
    }
  }
  const absl::string_view last = parts.back();
  if (last.empty()) {
    problems.emplace_back("name part must be non-empty");
  } else if (last.size() > kMaxName) {
    problems.push_back(absl::StrCat("name part ", LengthProblem(kMaxName)));
  }
  if (!FitsNamePattern(last)) problems.push_back(absl::StrCat("name part ", NameProblem()));
  return problems;
}

std::vector<std::string> LabelValueProblems(absl::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kMaxName) problems.push_back(LengthProblem(kMaxName));
  if (!value.empty() && !FitsNamePattern(value)) {
    problems.push_back(
        PatternProblem(absl::StrCat("a valid label must be an empty string or ",
                                    absl::string_view(kNameRule).substr(sizeof("must"))),
                       absl::StrCat("(", kNamePattern, ")?"), {"MyValue", "my_value", "12345"}));
  }
  return problems;
}

std::vector<std::string> RequirementProblems(absl::string_view path,
                                             const proto::kube::SelectorRequirement& requirement) {
  std::vector<std::string> problems;
  const std::string dot = path.empty() ? "" : absl::StrCat(path, ".");
  const std::string values_path = absl::StrCat(dot, "values");
  const auto fail = [&problems](absl::string_view at, absl::string_view shown,
                                absl::string_view problem) {
    problems.push_back(InvalidValue(at, shown, problem));
  };
  const std::vector<std::string> of_key = QualifiedNameProblems(requirement.key());
  if (!of_key.empty()) {
    fail(absl::StrCat(dot, "key"), Quoted(requirement.key()), absl::StrJoin(of_key, "; "));
  }
  const std::string& op = requirement.operator_();
  const auto& values = requirement.values();
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      fail(values_path, ListText(values), "for 'in', 'notin' operators, values set can't be empty");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      fail(values_path, ListText(values), "values set must be empty for exists and does not exist");
    }
  } else {
    if (values.size() != 1) {
      fail(values_path, ListText(values),
           "for 'Gt', 'Lt' operators, exactly one value is required");
    }
    for (int i = 0; i < values.size(); ++i) {
      int64_t ignored = 0;
      if (!absl::SimpleAtoi(values.Get(i), &ignored)) {
        fail(absl::StrCat(values_path, "[", i, "]"), Quoted(values.Get(i)),
             "for 'Gt', 'Lt' operators, the value must be an integer");
      }
    }
  }
  for (int i = 0; i < values.size(); ++i) {
    const std::vector<std::string> of_value = LabelValueProblems(values.Get(i));
    if (of_value.empty()) continue;
    fail(absl::StrCat(values_path, "[", i, "][", requirement.key(), "]"), Quoted(values.Get(i)),
         absl::StrJoin(of_value, "; "));
  }
  return problems;
}

std::string InvalidValue(absl::string_view path, absl::string_view shown,
                         absl::string_view problem) {
  return absl::StrCat(path, ": Invalid value: ", shown, ": ", problem);
}

std::string UnsupportedValue(absl::string_view path, absl::string_view value,
                             absl::Span<const absl::string_view> supported) {
  std::vector<std::string> quoted;
  for (const absl::string_view one : supported) quoted.push_back(Quoted(one));
  return absl::StrCat(path, ": Unsupported value: ", Quoted(value),
                      ": supported values: ", absl::StrJoin(quoted, ", "));
}

std::string AggregateText(absl::Span<const std::string> problems) {
  std::vector<std::string> distinct;
  for (const std::string& problem : problems) {
    if (std::find(distinct.begin(), distinct.end(), problem) == distinct.end()) {
      distinct.push_back(problem);
    }
  }
  if (distinct.size() == 1) return distinct[0];
  return distinct.empty() ? std::string() : absl::StrCat("[", absl::StrJoin(distinct, ", "), "]");
}

}  // namespace drasim
