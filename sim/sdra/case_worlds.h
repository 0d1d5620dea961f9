// Worlds of cases for structured DRA that are generated, each from a few numbers. Equal numbers
// give equal cases on every machine.
//
//   ASSIGN_OR_RETURN(const CaseSet set, MakeCaseWorld("gpus", {.nodes = 500, .wanted = 4}));
//
// docs/benchmarks.md describes the worlds for users.
#ifndef DRASIM_SIM_SDRA_CASE_WORLDS_H_
#define DRASIM_SIM_SDRA_CASE_WORLDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "sim/sdra/case_set.h"

namespace drasim {

// The numbers that are given; a world has defaults for the others.
struct CaseWorldSize {
  std::optional<int64_t> nodes;
  std::optional<int64_t> devices;  // of a node
  std::optional<int64_t> wanted;   // devices of a claim
  std::optional<int64_t> pods;
};

// The names of the worlds, in the order of the documentation.
std::vector<std::string> CaseWorldNames();

// The form of the world's cases. InvalidArgument, with the key `world`, for an unknown name (with a
// suggestion), and with the key of the number for one that the world does not know, that is below
// 1, or that makes the world larger than 1,000,000 devices; KeyOfError has the keys.
absl::StatusOr<CaseKind> CheckCaseWorld(absl::string_view name, const CaseWorldSize& size);

// The cases. Errors of CheckCaseWorld. O(devices).
absl::StatusOr<CaseSet> MakeCaseWorld(absl::string_view name, const CaseWorldSize& size);

}  // namespace drasim

#endif  // DRASIM_SIM_SDRA_CASE_WORLDS_H_
