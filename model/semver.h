// Semver: a semantic version such as "1.10.0-rc.1+linux", as Kubernetes reads and compares it.
//
// Source of the rules: Semantic Versioning 2.0.0, and for the texts of errors
// github.com/blang/semver 4.0.0, which resource.k8s.io and the CEL library of Kubernetes 1.37 use.
//
//   ASSIGN_OR_RETURN(const Semver version, Semver::Parse("1.10.0-rc.1"));
//   version.Compare(*Semver::Parse("1.9.0"));                              // 1
#ifndef DRASIM_MODEL_SEMVER_H_
#define DRASIM_MODEL_SEMVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

class Semver {
 public:
  // 0.0.0
  Semver() = default;

  // Reads major.minor.patch[-prerelease][+build], all three numbers below 2^64 and without leading
  // zeros. InvalidArgument otherwise.
  static absl::StatusOr<Semver> Parse(absl::string_view text);

  // The same after a lenient clean-up: one leading "v" is dropped, leading zeros are dropped, and
  // missing minor and patch numbers are zero.
  static absl::StatusOr<Semver> ParseTolerant(absl::string_view text);

  uint64_t major() const { return major_; }
  uint64_t minor() const { return minor_; }
  uint64_t patch() const { return patch_; }

  // -1, 0 or 1, by precedence: a prerelease precedes its release; build metadata counts for
  // nothing.
  int Compare(const Semver& right) const;

 private:
  struct Identifier {
    bool numeric = false;
    uint64_t number = 0;
    std::string text;
  };
  static absl::StatusOr<Identifier> ParseIdentifier(absl::string_view text);
  static int CompareIdentifiers(const Identifier& left, const Identifier& right);

  uint64_t major_ = 0;
  uint64_t minor_ = 0;
  uint64_t patch_ = 0;
  std::vector<Identifier> prerelease_;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_SEMVER_H_
