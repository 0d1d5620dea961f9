#include "policies/dra/drawn_values.h"

#include "absl/strings/str_cat.h"
#include "model/hash.h"

namespace drasim {

uint64_t DrawnWord(uint64_t seed, absl::string_view subject, uint64_t number) {
  return MixWord(MixWord(seed, Fnv1a(subject)), number);
}

std::string DrawnUuid(uint64_t seed, absl::string_view subject, uint64_t number) {
  // The version is the digit after the second hyphen, the variant the one after the third.
  std::string digits = absl::StrCat(HexHash(DrawnWord(seed, subject, 2 * number)),
                                    HexHash(DrawnWord(seed, subject, 2 * number + 1)));
  digits[12] = '4';
  digits[16] = "89ab"[DrawnWord(seed, subject, ~number) % 4];
  const absl::string_view all = digits;
  return absl::StrCat(all.substr(0, 8), "-", all.substr(8, 4), "-", all.substr(12, 4), "-",
                      all.substr(16, 4), "-", all.substr(20));
}

void DrawShareIds(uint64_t seed, absl::string_view subject,
                  proto::kube::AllocationResultV1* allocation) {
  uint64_t number = 0;
  for (auto& result : *allocation->mutable_devices()->mutable_results()) {
    if (result.has_share_id()) result.set_share_id(DrawnUuid(seed, subject, number));
    ++number;
  }
}

}  // namespace drasim
