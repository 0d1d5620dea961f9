#include "model/kube/api_check.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "model/kube/label_check.h"
#include "model/text/proto_scalar.h"

namespace drasim {
namespace {

namespace kube = ::drasim::proto::kube;

constexpr size_t kMaxApiLabel = 63;
constexpr size_t kMaxApiSubdomain = 253;
constexpr size_t kMaxApiDriver = 63;
constexpr size_t kMaxIdentifier = 32;
constexpr size_t kMaxConditionReason = 1024;
constexpr size_t kMaxConditionMessage = 32768;

constexpr char kApiLabelRule[] =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
    "must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr char kApiSubdomainRule[] =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or "
    "'.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used "
    "for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr char kIdentifierRule[] =
    "a valid C identifier must start with alphabetic character or '_', followed by a string of "
    "alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for "
    "validation is '[A-Za-z_][A-Za-z0-9_]*')";
constexpr char kReasonRule[] =
    "a condition reason must start with alphabetic character, optionally followed by a string of "
    "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. "
    "'my_name',  or 'MY_NAME',  or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex "
    "used for validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";

bool IsAsciiLower(char c) { return absl::ascii_islower(static_cast<unsigned char>(c)); }
bool IsAsciiNumeral(char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); }
bool IsAsciiLetter(char c) { return absl::ascii_isalpha(static_cast<unsigned char>(c)); }
bool IsWordChar(char c) { return IsAsciiLetter(c) || IsAsciiNumeral(c) || c == '_'; }

bool FitsLabel(absl::string_view text) {
  const auto is_end = [](char c) { return IsAsciiLower(c) || IsAsciiNumeral(c); };
  return !text.empty() && is_end(text.front()) && is_end(text.back()) &&
         std::all_of(text.begin(), text.end(), [&](char c) { return is_end(c) || c == '-'; });
}

bool FitsSubdomain(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '.');
  return std::all_of(parts.begin(), parts.end(), FitsLabel);
}

bool FitsIdentifier(absl::string_view text) {
  return !text.empty() && !IsAsciiNumeral(text.front()) &&
         std::all_of(text.begin(), text.end(), IsWordChar);
}

bool FitsReason(absl::string_view text) {
  return IsAsciiLetter(text.front()) && IsWordChar(text.back()) &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return IsWordChar(c) || c == ',' || c == ':'; });
}

std::string LongText(size_t most) {
  return absl::StrCat("must be no more than ", most, " characters");
}

// As Go's %q, which leaves single quotes as they are.
std::string GoShown(absl::string_view value) {
  return absl::StrCat("\"", absl::StrReplaceAll(Shorten(value), {{"\\'", "'"}}), "\"");
}

}  // namespace

std::string KubeIndex(absl::string_view path, int index) {
  return absl::StrCat(path, "[", index, "]");
}

std::string KubeKeyPath(absl::string_view path, absl::string_view key) {
  return absl::StrCat(path, "[", Shorten(key), "]");
}

void ApiCheck::Required(const std::string& path, absl::string_view detail) {
  kube_.Fail(path, absl::StrCat("Required value", detail.empty() ? "" : ": ", detail));
}

void ApiCheck::Invalid(const std::string& path, absl::string_view value, absl::string_view detail) {
  InvalidShown(path, GoShown(value), detail);
}

void ApiCheck::InvalidShown(const std::string& path, absl::string_view shown,
                            absl::string_view detail) {
  kube_.Fail(path, absl::StrCat("Invalid value: ", shown, ": ", detail));
}

void ApiCheck::TooLong(const std::string& path, size_t most) {
  kube_.Fail(path, absl::StrCat("Too long: may not be more than ", most, " bytes"));
}

void ApiCheck::Duplicate(const std::string& path, absl::string_view value) {
  kube_.Fail(path, absl::StrCat("Duplicate value: ", GoShown(value)));
}

void ApiCheck::Forbidden(const std::string& path, absl::string_view detail) {
  kube_.Fail(path, absl::StrCat("Forbidden: ", detail));
}

void ApiCheck::NotFound(const std::string& path, absl::string_view value) {
  kube_.Fail(path, absl::StrCat("Not found: ", GoShown(value)));
}

bool ApiCheck::AtMost(const std::string& path, int count, int most) {
  if (count <= most) return true;
  kube_.Fail(path, absl::StrCat("Too many: ", count, ": must have at most ", most,
                                most == 1 ? " item" : " items"));
  return false;
}

void ApiCheck::MaxBytes(const std::string& path, absl::string_view value, size_t most) {
  if (value.size() > most) TooLong(path, most);
}

void ApiCheck::Unique(const std::string& path, const std::string& value,
                      std::set<std::string>* seen) {
  if (!seen->insert(value).second) Duplicate(path, value);
}

void ApiCheck::OneOf(const std::string& path, const std::string& value,
                     absl::Span<const absl::string_view> supported) {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return;
  if (value.empty()) return Required(path);
  kube_.Fail(path, absl::StrCat("Unsupported value: ", GoShown(value), ": supported values: \"",
                                absl::StrJoin(supported, "\", \""), "\""));
}

void ApiCheck::DnsLabel(const std::string& path, const std::string& value) {
  if (value.size() > kMaxApiLabel) Invalid(path, value, LongText(kMaxApiLabel));
  if (!FitsLabel(value)) Invalid(path, value, kApiLabelRule);
}

void ApiCheck::Subdomain(const std::string& path, const std::string& value) {
  if (value.size() > kMaxApiSubdomain) Invalid(path, value, LongText(kMaxApiSubdomain));
  if (!FitsSubdomain(value)) Invalid(path, value, kApiSubdomainRule);
}

void ApiCheck::DriverName(const std::string& path, const std::string& value) {
  if (value.empty()) return Required(path);
  MaxBytes(path, value, kMaxApiDriver);
  if (!FitsSubdomain(absl::AsciiStrToLower(value))) Invalid(path, value, kApiSubdomainRule);
}

void ApiCheck::PoolName(const std::string& path, const std::string& value) {
  if (value.empty()) return Required(path);
  MaxBytes(path, value, kMaxApiSubdomain);
  for (const std::string& part : std::vector<std::string>(absl::StrSplit(value, '/'))) {
    Subdomain(path, part);
  }
}

void ApiCheck::CIdentifier(const std::string& path, absl::string_view id) {
  MaxBytes(path, id, kMaxIdentifier);
  if (!FitsIdentifier(id)) Invalid(path, id, kIdentifierRule);
}

void ApiCheck::QualifiedName(const std::string& path, const std::string& value) {
  const std::vector<std::string> parts = absl::StrSplit(value, '/');
  if (parts.size() > 2) return Invalid(path, value, "must not contain more than one slash");
  if (parts.size() == 2) {
    if (parts[0].empty()) {
      Invalid(path, "", "the domain must not be empty");
    } else {
      DriverName(path, parts[0]);
    }
  }
  if (parts.size() == 2 && parts[1].empty()) {
    Invalid(path, "", "the name must not be empty");
  } else {
    CIdentifier(path, parts.back());
  }
}

void ApiCheck::FullyQualifiedName(const std::string& path, const std::string& value) {
  QualifiedName(path, value);
  if (absl::StrContains(value, '/')) return;
  Invalid(path, value, "a fully qualified name must be a domain and a name separated by a slash");
}

void ApiCheck::LabelKey(const std::string& path, const std::string& value) {
  for (const std::string& problem : QualifiedNameProblems(value)) Invalid(path, value, problem);
}

void ApiCheck::LabelValue(const std::string& path, const std::string& value) {
  for (const std::string& problem : LabelValueProblems(value)) Invalid(path, value, problem);
}

void ApiCheck::Uuid(const std::string& path, const std::string& value) {
  constexpr absl::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  bool fits = value.size() == kForm.size();
  for (size_t i = 0; fits && i < kForm.size(); ++i) {
    const bool digit = IsAsciiNumeral(value[i]) || (value[i] >= 'a' && value[i] <= 'f');
    fits = kForm[i] == '-' ? value[i] == '-' : digit;
  }
  if (fits) return;
  Invalid(path, value,
          absl::StrCat("uid must be in RFC 4122 normalized form, `", kForm,
                       "` with lowercase hexadecimal characters"));
}

void ApiCheck::JsonObject(const std::string& path, const std::string& json, size_t most) {
  if (json.empty()) return Required(path);
  if (json.size() > most) return TooLong(path, most);
  if (json[0] != '{') Invalid(path, "<value omitted>", "must be a valid JSON object");
}

void ApiCheck::Conditions(const std::string& path,
                          const google::protobuf::RepeatedPtrField<kube::Condition>& conditions,
                          int most) {
  if (!AtMost(path, conditions.size(), most)) return;
  std::set<std::string> types;
  for (int i = 0; i < conditions.size(); ++i) {
    const kube::Condition& condition = conditions.Get(i);
    const std::string at = KubeIndex(path, i);
    Unique(KubeField(at, "type"), condition.type(), &types);
    LabelKey(KubeField(at, "type"), condition.type());
    OneOf(KubeField(at, "status"), condition.status(), {"False", "True", "Unknown"});
    if (condition.last_transition_time().empty()) {
      Required(KubeField(at, "lastTransitionTime"), "must be set");
    }
    const std::string reason = KubeField(at, "reason");
    if (condition.reason().empty()) {
      Required(reason, "must be set");
    } else {
      if (!FitsReason(condition.reason())) Invalid(reason, condition.reason(), kReasonRule);
      MaxBytes(reason, condition.reason(), kMaxConditionReason);
    }
    MaxBytes(KubeField(at, "message"), condition.message(), kMaxConditionMessage);
  }
}

void ApiCheck::NodeSelector(const std::string& path, const kube::NodeSelector& selector) {
  if (selector.node_selector_terms().empty()) {
    Required(KubeField(path, "nodeSelectorTerms"), "must have at least one node selector term");
  }
  kube_.Nodes(path, selector);
}

}  // namespace drasim
