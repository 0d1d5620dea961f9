#include "sim/run/claim_entries.h"

#include <cstdint>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace drasim {

std::string AsObjectName(absl::string_view text) {
  std::string name = absl::AsciiStrToLower(text);
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && c != '.') c = '-';
  }
  return name;
}

std::string FreeEntryName(const std::vector<ClaimEntry>& claims, const std::string& wanted) {
  std::string name = wanted;
  const auto is_taken = [&name](const ClaimEntry& claim) { return claim.name == name; };
  for (int number = 2; absl::c_any_of(claims, is_taken); ++number) {
    name = absl::StrCat(wanted, "-", number);
  }
  return name;
}

void MoveGpusToClaims(PodShape* shape) {
  ResourceRequest& request = shape->request;
  request.nominal_milli += int64_t{request.gpu_count} * request.gpu_milli;
  if (shape->demand.gpus == 0) {
    shape->demand.gpus = request.gpu_count;
    shape->demand.milli = request.gpu_milli;
  }
  request.gpu_count = 0;
  request.gpu_milli = 0;
}

}  // namespace drasim
