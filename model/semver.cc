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

bool AreDigits(absl::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isdigit(static_cast<unsigned char>(c)); });
}

bool AreIdentifierChars(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-';
  });
}

bool HasLeadingZero(absl::string_view digits) { return digits.size() > 1 && digits[0] == '0'; }

absl::Status SemverError(absl::string_view what, absl::string_view text) {
  return absl::InvalidArgumentError(absl::StrCat(what, " \"", text, "\""));
}

absl::StatusOr<uint64_t> ParseDigits(absl::string_view digits) {
  uint64_t number = 0;
  if (!digits.empty() && absl::SimpleAtoi(digits, &number)) return number;
  return absl::InvalidArgumentError(
      absl::StrCat("strconv.ParseUint: parsing \"", digits,
                   "\": ", digits.empty() ? "invalid syntax" : "value out of range"));
}

// `upper` and `lower`: the number's name, in upstream's messages with and without a capital.
absl::StatusOr<uint64_t> ParseNumber(absl::string_view digits, absl::string_view upper,
                                     absl::string_view lower) {
  if (!AreDigits(digits)) {
    return SemverError(absl::StrCat("Invalid character(s) found in ", lower, " number"), digits);
  }
  if (HasLeadingZero(digits)) {
    return SemverError(absl::StrCat(upper, " number must not contain leading zeroes"), digits);
  }
  return ParseDigits(digits);
}

absl::StatusOr<Semver::Identifier> ParseIdentifier(absl::string_view text) {
  Semver::Identifier identifier;
  if (text.empty()) return absl::InvalidArgumentError("Prerelease is empty");
  if (AreDigits(text)) {
    if (HasLeadingZero(text)) {
      return SemverError("Numeric PreRelease version must not contain leading zeroes", text);
    }
    identifier.is_number = true;
    ASSIGN_OR_RETURN(identifier.number, ParseDigits(text));
    return identifier;
  }
  if (!AreIdentifierChars(text)) {
    return SemverError("Invalid character(s) found in prerelease", text);
  }
  identifier.text = std::string(text);
  return identifier;
}

template <typename T>
int Sign(const T& left, const T& right) {
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

int CompareIdentifiers(const Semver::Identifier& left, const Semver::Identifier& right) {
  if (left.is_number != right.is_number) return left.is_number ? -1 : 1;
  return left.is_number ? Sign(left.number, right.number) : Sign(left.text, right.text);
}

// The parts of "PATCH-PRERELEASE+BUILD"; the last two are null where there is none.
struct PatchParts {
  absl::string_view patch;
  absl::string_view prerelease;
  absl::string_view build;
};

PatchParts SplitPatch(absl::string_view text) {
  PatchParts parts;
  const size_t plus = text.find('+');
  if (plus != absl::string_view::npos) parts.build = text.substr(plus + 1);
  text = text.substr(0, plus);
  const size_t dash = text.find('-');
  if (dash != absl::string_view::npos) parts.prerelease = text.substr(dash + 1);
  parts.patch = text.substr(0, dash);
  return parts;
}

bool IsNumberSyntax(absl::string_view text) {
  return !text.empty() && AreDigits(text) && !HasLeadingZero(text);
}

bool ArePrereleaseSyntax(absl::string_view text) {
  for (const absl::string_view part : absl::StrSplit(text, '.')) {
    if (part.empty() || !AreIdentifierChars(part)) return false;
    if (AreDigits(part) && HasLeadingZero(part)) return false;
  }
  return true;
}

bool AreBuildSyntax(absl::string_view text) {
  for (const absl::string_view part : absl::StrSplit(text, '.')) {
    if (part.empty() || !AreIdentifierChars(part)) return false;
  }
  return true;
}

}  // namespace

absl::Status Semver::ParseRest(absl::string_view text) {
  const PatchParts parts = SplitPatch(text);
  ASSIGN_OR_RETURN(patch_, ParseNumber(parts.patch, "Patch", "patch"));
  if (parts.prerelease.data() != nullptr) {
    for (const absl::string_view part : absl::StrSplit(parts.prerelease, '.')) {
      ASSIGN_OR_RETURN(Identifier identifier, ParseIdentifier(part));
      prerelease_.push_back(std::move(identifier));
    }
  }
  if (parts.build.data() == nullptr) return absl::OkStatus();
  for (const absl::string_view part : absl::StrSplit(parts.build, '.')) {
    if (part.empty()) return absl::InvalidArgumentError("Build meta data is empty");
    if (!AreIdentifierChars(part)) {
      return SemverError("Invalid character(s) found in build meta data", part);
    }
  }
  build_ = std::string(parts.build);
  return absl::OkStatus();
}

absl::StatusOr<Semver> Semver::Parse(absl::string_view text) {
  if (text.empty()) return absl::InvalidArgumentError("Version string empty");
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('.', 2));
  if (parts.size() != 3) return absl::InvalidArgumentError("No Major.Minor.Patch elements found");
  Semver version;
  ASSIGN_OR_RETURN(version.major_, ParseNumber(parts[0], "Major", "major"));
  ASSIGN_OR_RETURN(version.minor_, ParseNumber(parts[1], "Minor", "minor"));
  RETURN_IF_ERROR(version.ParseRest(parts[2]));
  return version;
}

absl::StatusOr<Semver> Semver::ParseNormalized(absl::string_view text) {
  absl::ConsumePrefix(&text, "v");
  std::vector<std::string> parts = absl::StrSplit(text, absl::MaxSplits('.', 2));
  for (std::string& part : parts) {
    if (part.size() < 2) continue;
    part.erase(0, part.find_first_not_of('0'));
    // As upstream, a part that does not begin with a digit gets one: "1.2.-rc" is 1.2.0-rc.
    if (part.empty() || !absl::ascii_isdigit(static_cast<unsigned char>(part[0]))) {
      part = absl::StrCat("0", part);
    }
  }
  if (parts.size() < 3) {
    if (parts.back().find_first_of("+-") != std::string::npos) {
      return absl::InvalidArgumentError("short version cannot contain PreRelease/Build meta data");
    }
    parts.resize(3, "0");
  }
  return Parse(absl::StrJoin(parts, "."));
}

int Semver::Compare(const Semver& right) const {
  if (major_ != right.major_) return Sign(major_, right.major_);
  if (minor_ != right.minor_) return Sign(minor_, right.minor_);
  if (patch_ != right.patch_) return Sign(patch_, right.patch_);
  if (prerelease_.empty() != right.prerelease_.empty()) return prerelease_.empty() ? 1 : -1;
  const size_t both = std::min(prerelease_.size(), right.prerelease_.size());
  for (size_t i = 0; i < both; ++i) {
    const int order = CompareIdentifiers(prerelease_[i], right.prerelease_[i]);
    if (order != 0) return order;
  }
  return Sign(prerelease_.size(), right.prerelease_.size());
}

std::string Semver::ToString() const {
  const std::string prerelease =
      absl::StrJoin(prerelease_, ".", [](std::string* out, const Identifier& identifier) {
        absl::StrAppend(out, identifier.text);
        if (identifier.is_number) absl::StrAppend(out, identifier.number);
      });
  return absl::StrCat(major_, ".", minor_, ".", patch_, prerelease.empty() ? "" : "-", prerelease,
                      build_.empty() ? "" : "+", build_);
}

bool HasSemverSyntax(absl::string_view text) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, absl::MaxSplits('.', 2));
  if (parts.size() != 3 || !IsNumberSyntax(parts[0]) || !IsNumberSyntax(parts[1])) return false;
  const PatchParts rest = SplitPatch(parts[2]);
  return IsNumberSyntax(rest.patch) &&
         (rest.prerelease.data() == nullptr || ArePrereleaseSyntax(rest.prerelease)) &&
         (rest.build.data() == nullptr || AreBuildSyntax(rest.build));
}

}  // namespace drasim
