#include "policies/devices/claim_parameters.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"

namespace drasim {

ParameterFields::ParameterFields(const ParametersObject* object) : object_(object) {
  if (object == nullptr) return;
  for (const auto& [path, text] : object->fields) {
    absl::string_view rest = path;
    if (absl::StartsWith(rest, "metadata.") || rest == "apiVersion" || rest == "kind") continue;
    absl::ConsumePrefix(&rest, "spec.");
    fields_.emplace_back(absl::StrReplaceAll(rest, {{"[", "."}, {"]", ""}}), text);
  }
}

absl::string_view ParameterFields::kind() const {
  return object_ == nullptr ? absl::string_view() : object_->kind.text();
}

const std::string* ParameterFields::Find(absl::string_view path) const {
  for (const auto& [known, text] : fields_) {
    if (known == path) return &text;
  }
  return nullptr;
}

bool ParameterFields::HasPrefix(absl::string_view prefix) const {
  return std::any_of(fields_.begin(), fields_.end(),
                     [prefix](const auto& field) { return absl::StartsWith(field.first, prefix); });
}

absl::Status ParameterFields::Wrong(absl::string_view path, absl::string_view expected) const {
  const std::string* found = Find(path);
  const std::string not_this =
      found == nullptr ? std::string() : absl::StrCat(", not \"", *found, "\"");
  return absl::InvalidArgumentError(absl::StrCat("parameters \"", object_->meta.name.text(),
                                                 "\": ", path, ": expected ", expected, not_this));
}

absl::Status ParameterFields::ReadInt(absl::string_view path, int64_t least, int64_t most,
                                      int64_t* out) const {
  const std::string* text = Find(path);
  if (text == nullptr) return absl::OkStatus();
  int64_t value = 0;
  if (!absl::SimpleAtoi(*text, &value) || value < least || value > most) {
    return Wrong(path, absl::StrCat(least, " to ", most));
  }
  *out = value;
  return absl::OkStatus();
}

absl::Status ParameterFields::ReadBool(absl::string_view path, bool* out) const {
  const std::string* text = Find(path);
  if (text == nullptr) return absl::OkStatus();
  if (*text != "true" && *text != "false") return Wrong(path, "\"true\" or \"false\"");
  *out = *text == "true";
  return absl::OkStatus();
}

absl::Status ParameterFields::ReadWord(absl::string_view path,
                                       const std::vector<absl::string_view>& words,
                                       std::string* out) const {
  const std::string* text = Find(path);
  if (text == nullptr) return absl::OkStatus();
  if (std::find(words.begin(), words.end(), *text) == words.end()) {
    return Wrong(path, absl::StrJoin(words, ", "));
  }
  *out = *text;
  return absl::OkStatus();
}

absl::Status ParameterFields::CheckGroup(absl::string_view group) const {
  if (object_ == nullptr || object_->api_group.empty()) return absl::OkStatus();
  absl::string_view found = object_->api_group.text();
  found = found.substr(0, found.find('/'));
  if (found == group) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("parameters \"", object_->meta.name.text(),
                                                 "\": expected API group ", group, ", not ",
                                                 object_->api_group.text()));
}

std::string JsonQuoted(absl::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      absl::StrAppend(&quoted, "\\u00");
      quoted.push_back(kHex[byte >> 4]);
      quoted.push_back(kHex[byte & 15]);
      continue;
    }
    if (c == '"' || c == '\\') quoted.push_back('\\');
    quoted.push_back(c);
  }
  quoted.push_back('"');
  return quoted;
}

}  // namespace drasim
