// ClaimingPod: the fields of a pod that the scheduler plugin for structured DRA reads.
#ifndef DRASIM_POLICIES_DRA_CLAIMING_POD_H_
#define DRASIM_POLICIES_DRA_CLAIMING_POD_H_

#include <memory>
#include <string>
#include <vector>

#include "model/proto/kube.pb.h"

namespace drasim {

struct ClaimingPod {
  // An entry of spec.resourceClaims: the name of a claim, or of the template of a claim.
  struct Entry {
    std::string name;
    std::string claim;
    std::string from_template;

    // For checkpoints (sim/dra/api/plane_archive.h).
    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.name, s.claim, s.from_template);
    }
  };
  // An entry of status.resourceClaimStatuses.
  struct Generated {
    std::string entry;
    std::string claim;  // empty: none was needed

    template <typename Archive, typename Self>
    static void Fields(Archive& a, Self& s) {
      a(s.entry, s.claim);
    }
  };

  std::string ns;
  std::string name;
  std::string uid;
  std::vector<Entry> claims;
  std::vector<Generated> generated;
  // The specification of the containers; null: none requests an extended resource.
  std::shared_ptr<const proto::kube::PodSpec> containers;

  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.ns, s.name, s.uid, s.claims, s.generated, s.containers);
  }
};

// Shares the pod's specification. O(claims).
ClaimingPod ClaimingPodOf(const std::shared_ptr<const proto::kube::Pod>& pod);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIMING_POD_H_
