// Semver: a version such as "1.10.0-rc.1+build5", as device attributes hold it and CEL's semver()
// reads it.
//
// Source of the rules: SemVer 2.0.0 (semver.org), and the limits of github.com/blang/semver/v4,
// the library of Kubernetes' CEL: numbers are 64 bits wide. Texts of errors are that library's.
//
// Usage:
//
//   ASSIGN_OR_RETURN(const Semver left, Semver::Parse("1.2.3-rc.1"));
//   ASSIGN_OR_RETURN(const Semver right, Semver::ParseNormalized("v1.02"));  // 1.2.0
//   left.Compare(right);                                                     // 1
#ifndef DRASIM_MODEL_SEMVER_H_
#define DRASIM_MODEL_SEMVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

// An immutable, self-contained value.
class Semver {
 public:
  // One identifier between the dots of a pre-release: a number, or a text that is no number.
  struct Identifier {
    bool is_number = false;
    uint64_t number = 0;
    std::string text;  // of identifiers that are no number
  };

  // 0.0.0
  Semver() = default;

  // Strict: exactly MAJOR.MINOR.PATCH[-PRERELEASE][+BUILD], numbers without leading zeros.
  // InvalidArgument for anything else, also for numbers beyond 2^64-1. O(text).
  static absl::StatusOr<Semver> Parse(absl::string_view text);

  // Parse after normalizing, as CEL's semver(text, true): one leading "v" and leading zeros of the
  // three numbers are dropped, and a missing minor or patch number is 0. A version that lacks one
  // must not have a pre-release or build: "1.2-rc" is an error.
  static absl::StatusOr<Semver> ParseNormalized(absl::string_view text);

  uint64_t major_number() const { return major_; }
  uint64_t minor_number() const { return minor_; }
  uint64_t patch_number() const { return patch_; }
  const std::vector<Identifier>& prerelease() const { return prerelease_; }

  // -1, 0 or 1 by precedence: a pre-release comes before its release, numbers before texts. Build
  // metadata does not count.
  int Compare(const Semver& right) const;

  // The text that Parse gives this version for, with its build metadata.
  std::string ToString() const;

 private:
  absl::Status ParseRest(absl::string_view text);

  uint64_t major_ = 0;
  uint64_t minor_ = 0;
  uint64_t patch_ = 0;
  std::vector<Identifier> prerelease_;
  std::string build_;  // without its "+"
};

// Whether the API server takes `text` as the version of a device attribute: the syntax of
// Semver::Parse, with numbers of any length. O(text).
bool HasSemverSyntax(absl::string_view text);

}  // namespace drasim

#endif  // DRASIM_MODEL_SEMVER_H_
