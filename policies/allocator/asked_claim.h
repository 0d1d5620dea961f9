// AskedClaim: a claim as the allocator reads it.
#ifndef DRASIM_POLICIES_ALLOCATOR_ASKED_CLAIM_H_
#define DRASIM_POLICIES_ALLOCATOR_ASKED_CLAIM_H_

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"

namespace drasim {

// All that it points to outlives it.
struct AskedClaim {
  AskedClaim(const proto::kube::DeviceClaim* asked_devices, absl::string_view of_ns,
             absl::string_view of_name)
      : devices(asked_devices), ns(of_ns), name(of_name) {}
  // NOLINTNEXTLINE(google-explicit-constructor): the claim, less what the allocator does not read
  AskedClaim(const proto::kube::ResourceClaimV1* claim)
      : AskedClaim(&claim->spec().devices(), claim->metadata().namespace_(),
                   claim->metadata().name()) {}

  const proto::kube::DeviceClaim* devices;  // spec.devices; not null
  absl::string_view ns;
  absl::string_view name;

  // "namespace/name", or "name".
  std::string text() const { return ns.empty() ? std::string(name) : absl::StrCat(ns, "/", name); }
  // Whether both are the same claim: the address of the devices counts, not what they are.
  friend bool operator==(const AskedClaim&, const AskedClaim&) = default;
};

using AskedClaims = absl::Span<const AskedClaim>;

inline std::vector<AskedClaim> AskFor(
    absl::Span<const proto::kube::ResourceClaimV1* const> claims) {
  return {claims.begin(), claims.end()};
}

}  // namespace drasim

#endif  // DRASIM_POLICIES_ALLOCATOR_ASKED_CLAIM_H_
