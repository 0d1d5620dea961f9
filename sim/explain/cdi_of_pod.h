// drasim cdi: the CDI specifications that the kubelet plugins of drivers wrote for a pod's claims,
// of classic and of structured DRA, from the ledger of the run.
//
//   ASSIGN_OR_RETURN(const PodCdi cdi, CdiOfPod({"out", "default/train-0", std::nullopt}));
//   for (const CdiSpec& spec : cdi.specs) std::puts(CdiSpecJson(spec).c_str());
#ifndef DRASIM_SIM_EXPLAIN_CDI_OF_POD_H_
#define DRASIM_SIM_EXPLAIN_CDI_OF_POD_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/time.h"
#include "sim/dra/api/cdi_spec.h"

namespace drasim {

struct CdiRequest {
  std::string path;  // of the ledger, or of the folder it is in
  std::string pod;   // "NAMESPACE/NAME", or "NAME" in the namespace default
  // Claims that the pod uses then; absent: those that it used last.
  std::optional<SimTime> at;
};

struct PodCdi {
  // One for each claim and driver, in the order in which the claims were created.
  std::vector<CdiSpec> specs;
  // Claims whose driver's specification is not known, with the reason.
  std::vector<std::string> warnings;
};

// A claim is the pod's when the pod owns it or is in its reservedFor. NotFound: no ledger, no such
// pod among the users of claims (with similar names), no allocation then. Errors of the ledger are
// those of LedgerSeek. O(changes of claims).
absl::StatusOr<PodCdi> CdiOfPod(const CdiRequest& request);

}  // namespace drasim

#endif  // DRASIM_SIM_EXPLAIN_CDI_OF_POD_H_
