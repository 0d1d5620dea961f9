#include "model/semver.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "model/status_macros.h"

namespace drasim {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool AllDigits(absl::string_view text) { return std::all_of(text.begin(), text.end(), IsDigit); }

bool AllIdentifierCharacters(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return absl::ascii_isalnum(c) || c == '-'; });
}

bool HasLeadingZero(absl::string_view text) { return text.size() > 1 && text[0] == '0'; }

absl::Status Error(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(what, " \"", text, "\""));
}

absl::StatusOr<uint64_t> ParseUnsigned(absl::string_view text) {
  uint64_t number = 0;
  if (absl::SimpleAtoi(text, &number)) return number;
  return absl::InvalidArgumentError(
      absl::StrCat("strconv.ParseUint: parsing \"", text,
                   text.empty() ? "\": invalid syntax" : "\": value out of range"));
}

// `name` and `title` are "major" and "Major", say.
absl::StatusOr<uint64_t> ParseNumber(absl::string_view text, absl::string_view name,
                                     absl::string_view title) {
  if (!AllDigits(text)) {
    return Error(absl::StrCat("Invalid character(s) found in ", name, " number"), text);
  }
  if (HasLeadingZero(text)) {
    return Error(absl::StrCat(title, " number must not contain leading zeroes"), text);
  }
  return ParseUnsigned(text);
}

absl::Status CheckBuild(absl::string_view text) {
  for (const absl::string_view part : absl::StrSplit(text, '.')) {
    if (part.empty()) return absl::InvalidArgumentError("Build meta data is empty");
    if (!AllIdentifierCharacters(part)) {
      return Error("Invalid character(s) found in build meta data", part);
    }
  }
  return absl::OkStatus();
}

// -1, 0 or 1.
template <typename T>
int CompareValues(const T& left, const T& right) {
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

}  // namespace

absl::StatusOr<Semver::Identifier> Semver::ParseIdentifier(absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("Prerelease is empty");
  Identifier identifier;
  identifier.text = std::string(text);
  if (AllDigits(text)) {
    if (HasLeadingZero(text)) {
      return Error("Numeric PreRelease version must not contain leading zeroes", text);
    }
    identifier.numeric = true;
    ASSIGN_OR_RETURN(identifier.number, ParseUnsigned(text));
    return identifier;
  }
  if (AllIdentifierCharacters(text)) return identifier;
  return Error("Invalid character(s) found in prerelease", text);
}

absl::StatusOr<Semver> Semver::Parse(absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("Version string empty");
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('.', 2));
  if (parts.size() != 3) {
    return absl::InvalidArgumentError("No Major.Minor.Patch elements found");
  }
  Semver version;
  ASSIGN_OR_RETURN(version.major_, ParseNumber(parts[0], "major", "Major"));
  ASSIGN_OR_RETURN(version.minor_, ParseNumber(parts[1], "minor", "Minor"));
  absl::string_view patch = parts[2];
  absl::string_view build;
  const size_t plus = patch.find('+');
  if (plus != absl::string_view::npos) {
    build = patch.substr(plus + 1);
    patch = patch.substr(0, plus);
  }
  absl::string_view prerelease;
  const size_t dash = patch.find('-');
  if (dash != absl::string_view::npos) {
    prerelease = patch.substr(dash + 1);
    patch = patch.substr(0, dash);
  }
  ASSIGN_OR_RETURN(version.patch_, ParseNumber(patch, "patch", "Patch"));
  if (dash != absl::string_view::npos) {
    for (const absl::string_view part : absl::StrSplit(prerelease, '.')) {
      ASSIGN_OR_RETURN(Identifier identifier, ParseIdentifier(part));
      version.prerelease_.push_back(std::move(identifier));
    }
  }
  if (plus != absl::string_view::npos) RETURN_IF_ERROR(CheckBuild(build));
  return version;
}

absl::StatusOr<Semver> Semver::ParseTolerant(absl::string_view text) {
  text = absl::StripPrefix(text, "v");
  std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('.', 2));
  for (std::string& part : parts) {
    if (part.size() <= 1) continue;
    part.erase(0, part.find_first_not_of('0'));
    if (part.empty() || !IsDigit(part[0])) part.insert(0, "0");
  }
  if (parts.size() < 3 && parts.back().find_first_of("+-") != std::string::npos) {
    return absl::InvalidArgumentError("short version cannot contain PreRelease/Build meta data");
  }
  parts.resize(3, "0");
  return Parse(absl::StrJoin(parts, "."));
}

int Semver::CompareIdentifiers(const Identifier& left, const Identifier& right) {
  if (left.numeric != right.numeric) return left.numeric ? -1 : 1;
  if (left.numeric) return CompareValues(left.number, right.number);
  return CompareValues(left.text, right.text);
}

int Semver::Compare(const Semver& right) const {
  if (major_ != right.major_) return CompareValues(major_, right.major_);
  if (minor_ != right.minor_) return CompareValues(minor_, right.minor_);
  if (patch_ != right.patch_) return CompareValues(patch_, right.patch_);
  // A release follows all of its prereleases.
  if (prerelease_.empty() || right.prerelease_.empty()) {
    return CompareValues(prerelease_.empty(), right.prerelease_.empty());
  }
  const size_t common = std::min(prerelease_.size(), right.prerelease_.size());
  for (size_t i = 0; i < common; ++i) {
    const int order = CompareIdentifiers(prerelease_[i], right.prerelease_[i]);
    if (order != 0) return order;
  }
  return CompareValues(prerelease_.size(), right.prerelease_.size());
}

}  // namespace drasim
