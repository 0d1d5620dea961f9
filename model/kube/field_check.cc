#include "model/kube/field_check.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/kube/rules.h"
#include "model/quantity.h"
#include "model/text/did_you_mean.h"
#include "model/text/proto_scalar.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr size_t kMaxSubdomain = 253;
constexpr size_t kMaxDnsLabel = 63;

bool IsDnsLabel(absl::string_view text) {
  const auto is_end = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return absl::ascii_islower(byte) || absl::ascii_isdigit(byte);
  };
  return !text.empty() && is_end(text.front()) && is_end(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_end(c) || c == '-'; });
}

bool IsSubdomain(absl::string_view text) {
  if (text.empty() || text.size() > kMaxSubdomain) return false;
  for (const absl::string_view part : absl::StrSplit(text, '.')) {
    if (!IsDnsLabel(part)) return false;
  }
  return true;
}

}  // namespace

void KubeCheck::Required(const std::string& path, const std::string& value) {
  if (value.empty()) Fail(path, "not given, expected a text");
}

void KubeCheck::Subdomain(const std::string& path, const std::string& value) {
  if (IsSubdomain(value)) return;
  Fail(path, absl::StrCat("found '", Shorten(value),
                          "', expected lower-case letters, digits, '-' and '.', with letters or "
                          "digits at both ends, at most ",
                          kMaxSubdomain, " characters"));
}

void KubeCheck::DnsLabel(const std::string& path, const std::string& value) {
  if (value.size() <= kMaxDnsLabel && IsDnsLabel(value)) return;
  Fail(path, absl::StrCat("found '", Shorten(value),
                          "', expected lower-case letters, digits and '-', with letters or digits "
                          "at both ends, at most ",
                          kMaxDnsLabel, " characters"));
}

void KubeCheck::OneOf(const std::string& path, const std::string& value, absl::string_view choices,
                      bool optional) {
  const std::vector<std::string> words = absl::StrSplit(choices, ' ');
  if (std::find(words.begin(), words.end(), value) != words.end()) return;
  if (value.empty() && optional) return;
  const std::string expected =
      absl::StrCat(words.size() > 1 ? "one of " : "", absl::StrJoin(words, ", "));
  if (value.empty()) return Fail(path, absl::StrCat("not given, expected ", expected));
  Fail(path,
       absl::StrCat("found '", Shorten(value), "', expected ", expected, Suggest(value, words)));
}

void KubeCheck::Unique(const std::string& path, const std::string& value,
                       std::set<std::string>* seen) {
  if (value.empty() || seen->insert(value).second) return;
  Fail(path, absl::StrCat("found '", Shorten(value), "' a second time"));
}

void KubeCheck::AtLeast(const std::string& path, int64_t value, int64_t least) {
  if (value >= least) return;
  Fail(path, absl::StrCat("found ", value, ", expected at least ", least));
}

void KubeCheck::Amounts(const std::string& path, const KubeTexts& amounts) {
  for (const auto& [name, text] : SortedTexts(amounts)) {
    const absl::StatusOr<Quantity> amount = Quantity::Parse(text);
    const std::string at = absl::StrCat(path, "[", name, "]");
    if (!amount.ok()) {
      Fail(at, absl::StrCat("found '", Shorten(text), "', expected a quantity"));
    } else if (amount->Compare(Quantity()) < 0) {
      Fail(at, absl::StrCat("found ", text, ", expected at least 0"));
    }
  }
}

void KubeCheck::Metadata(const kube::ObjectMeta& meta, bool named) {
  if (!meta.name().empty()) {
    Subdomain("metadata.name", meta.name());
  } else if (named && meta.generate_name().empty()) {
    Fail("metadata.name", "not given, expected a name");
  }
  if (!meta.generate_name().empty()) {
    const absl::string_view base = absl::StripSuffix(meta.generate_name(), "-");
    Subdomain("metadata.generateName", std::string(base));
  }
  if (!meta.namespace_().empty()) DnsLabel("metadata.namespace", meta.namespace_());
  for (int i = 0; i < meta.owner_references_size(); ++i) {
    const std::string path = KubeItem("metadata", "ownerReferences", i);
    Required(KubeField(path, "apiVersion"), meta.owner_references(i).api_version());
    Required(KubeField(path, "kind"), meta.owner_references(i).kind());
    Required(KubeField(path, "name"), meta.owner_references(i).name());
    Required(KubeField(path, "uid"), meta.owner_references(i).uid());
  }
}

void KubeCheck::Requirement(const std::string& path, const kube::SelectorRequirement& requirement,
                            bool of_nodes) {
  Required(KubeField(path, "key"), requirement.key());
  const std::string& op = requirement.operator_();
  OneOf(KubeField(path, "operator"), op,
        of_nodes ? "In NotIn Exists DoesNotExist Gt Lt" : "In NotIn Exists DoesNotExist", false);
  const int values = requirement.values_size();
  const std::string values_path = KubeField(path, "values");
  if ((op == "In" || op == "NotIn") && values == 0) {
    Fail(values_path, absl::StrCat("not given, expected values for ", op));
  } else if ((op == "Exists" || op == "DoesNotExist") && values > 0) {
    Fail(values_path, absl::StrCat("found values, expected none for ", op));
  } else if (of_nodes && (op == "Gt" || op == "Lt")) {
    int64_t ignored = 0;
    if (values != 1 || !absl::SimpleAtoi(requirement.values(0), &ignored)) {
      Fail(values_path, absl::StrCat("expected one whole number, as a text, for ", op));
    }
  }
}

void KubeCheck::Selector(const std::string& path, const kube::LabelSelector& selector) {
  for (int i = 0; i < selector.match_expressions_size(); ++i) {
    Requirement(KubeItem(path, "matchExpressions", i), selector.match_expressions(i), false);
  }
}

void KubeCheck::Nodes(const std::string& path, const kube::NodeSelector& selector) {
  for (int i = 0; i < selector.node_selector_terms_size(); ++i) {
    NodeTerm(KubeItem(path, "nodeSelectorTerms", i), selector.node_selector_terms(i));
  }
}

void KubeCheck::NodeTerm(const std::string& path, const kube::NodeSelectorTerm& term) {
  for (int i = 0; i < term.match_expressions_size(); ++i) {
    Requirement(KubeItem(path, "matchExpressions", i), term.match_expressions(i), true);
  }
  for (int i = 0; i < term.match_fields_size(); ++i) {
    const std::string at = KubeItem(path, "matchFields", i);
    OneOf(KubeField(at, "key"), term.match_fields(i).key(), "metadata.name", false);
    OneOf(KubeField(at, "operator"), term.match_fields(i).operator_(), "In NotIn", false);
    if (term.match_fields(i).values_size() != 1) {
      Fail(KubeField(at, "values"), "expected one value");
    }
  }
}

}  // namespace drasim
