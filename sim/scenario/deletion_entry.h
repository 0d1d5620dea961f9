// An entry of `workload.deletions`, and the names of objects in it.
#ifndef DRASIM_SIM_SCENARIO_DELETION_ENTRY_H_
#define DRASIM_SIM_SCENARIO_DELETION_ENTRY_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "model/time.h"

namespace drasim {

// user_deletions.h explains the three kinds.
struct UserDeletion {
  enum class Kind : uint8_t { kPod, kJob, kClaim };
  Kind kind = Kind::kPod;
  std::string name;  // as written
  SimTime at;
  std::string at_text;  // as written
};

// The key of an entry: "workload.deletions[3]".
std::string DeletionKey(size_t number);

// The name of the job: without the namespace "default".
std::string PlainObjectName(const std::string& text);

// Splits "NAMESPACE/NAME"; a name alone is in "default".
void SplitObjectName(const std::string& text, std::string* ns, std::string* name);

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_DELETION_ENTRY_H_
