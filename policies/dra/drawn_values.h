// Values that upstream draws at random, from a seed: equal seeds and subjects give equal values, in
// any order and on every machine.
#ifndef DRASIM_POLICIES_DRA_DRAWN_VALUES_H_
#define DRASIM_POLICIES_DRA_DRAWN_VALUES_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "model/proto/resource.pb.h"

namespace drasim {

uint64_t DrawnWord(uint64_t seed, absl::string_view subject, uint64_t number);

// A UUID of version 4, such as 3f1c…-4…-a….
std::string DrawnUuid(uint64_t seed, absl::string_view subject, uint64_t number);

// Gives every share of the allocation an identity of its own.
void DrawShareIds(uint64_t seed, absl::string_view subject,
                  proto::kube::AllocationResultV1* allocation);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_DRAWN_VALUES_H_
