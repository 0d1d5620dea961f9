// ClaimEntry: an entry of pod.spec.resourceClaims.
#ifndef DRASIM_MODEL_CLAIM_ENTRY_H_
#define DRASIM_MODEL_CLAIM_ENTRY_H_

#include <cstdint>
#include <string>

namespace drasim {

// Names an existing claim, or a template for a new one.
struct ClaimEntry {
  std::string name;           // of the entry
  std::string claim;          // resourceClaimName, or empty
  std::string from_template;  // resourceClaimTemplateName, or empty
  // The request of a claim created by lowering, for reports.
  std::string mig_profile = {};
  int32_t gpus = 0;  // whole GPUs; with a profile its instances, 0 is 1
  bool operator==(const ClaimEntry&) const = default;
};

}  // namespace drasim

#endif  // DRASIM_MODEL_CLAIM_ENTRY_H_
