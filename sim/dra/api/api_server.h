// ApiServer: one consistent table of objects, with resource versions, the validation rules of
// resource.k8s.io/v1alpha2 (KEP-3063; pkg/apis/resource/validation of release 1.29), finalizers and
// graceful deletion. It knows no clients: ApiNetwork brings it requests and distributes its changes
// to watchers. The time of a request only stamps taints.
//
// Rules of ResourceClaim.status (422 kInvalid otherwise):
//  1. an allocation needs a driver name; at most 32 handles of at most 16 KiB;
//  2. reservedFor needs an allocation; at most 32 entries; uids unique; more than one only if the
//     allocation is shareable;
//  3. no new entry of reservedFor for a claim in deletion or with deallocation requested;
//  4. an allocation may be set and cleared, never changed;
//  5. deallocationRequested may become true only with an allocation and no consumer; it may become
//     false only when the allocation is, or is being, cleared.
// Specs of claims, templates and (in bound fields) pods are immutable. potentialNodes and
// unsuitableNodes hold at most 128 names without repetition. The class name of a template or claim
// is not empty. A pod's claim entries have unique names, each with exactly one source, and the list
// has every entry that a container uses (checked by the reader of pods).
//
// Deletion of an object with finalizers, or of a bound pod without `force`, only sets
// deletionTimestamp, a change that watches see. The object goes when kUpdate removes the last
// finalizer, a bound pod when it is deleted with `force`. A bound pod that has ended (Succeeded,
// Failed) goes at once. The dependents of a deleted pod are left to the garbage collector.
#ifndef DRASIM_SIM_DRA_API_API_SERVER_H_
#define DRASIM_SIM_DRA_API_API_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "model/kube/name.h"
#include "model/random.h"
#include "model/time.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/object_cache.h"

namespace drasim {

class ApiServer {
 public:
  // `on_change` receives every committed change, in order. The pool must outlive the server. `seed`
  // determines the suffixes of generated names (five of upstream's 27 letters and digits).
  ApiServer(NamePool* names, uint64_t seed, std::function<void(const WatchEvent&)> on_change);

  // Commits or rejects. A write without effect commits nothing (same version, no event) and returns
  // kOk. `now`: when it is committed. Amortised O(size of the object).
  ApiReply Handle(const ApiRequest& request, SimTime now = SimTime());

  const ObjectCache& objects() const { return objects_; }
  NamePool& names() { return *names_; }
  ResourceVersion version() const { return version_; }

  // For checkpoints (plane_archive.h).
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.suffixes_, s.objects_, s.next_uid_, s.version_);
  }

 private:
  template <typename T>
  ApiReply HandleKind(const ApiRequest& request);
  template <typename T>
  ApiReply Create(const ApiRequest& request);
  template <typename T>
  ApiReply Write(const ApiRequest& request);
  template <typename T>
  ApiReply Delete(const ApiRequest& request);
  template <typename T>
  ApiReply Commit(WatchEvent::Type type, std::shared_ptr<T> object);
  ApiReply Bind(const ApiRequest& request);
  template <typename T>
  Name GeneratedName(Name ns, Name prefix);

  NamePool* names_;
  Random suffixes_;
  std::function<void(const WatchEvent&)> on_change_;
  ObjectCache objects_;
  Uid next_uid_ = 1;
  ResourceVersion version_ = 0;
  SimTime now_;  // of the request in work
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_API_SERVER_H_
