// The API server: one consistent table of objects, with resource versions, the validation rules of
// resource.k8s.io/v1alpha2 (KEP-3063; pkg/apis/resource/validation of release 1.29), finalizers and
// graceful deletion. It knows no time and no clients: ApiNetwork brings requests to it and what
// changed to those who watch.
//
// Rules of ResourceClaim.status (422 kInvalid otherwise):
//  1. an allocation needs a driver name; at most 32 handles of at most 16 KiB;
//  2. reservedFor needs an allocation; at most 32 entries; uids unique; more than one only if the
//     allocation is shareable;
//  3. no new entry of reservedFor while the claim is being deleted or deallocation is requested;
//  4. an allocation may be set and cleared, never changed;
//  5. deallocationRequested may become true only with an allocation and no consumer; it may become
//     false only when the allocation is, or is being, cleared.
// Specs of claims, templates and (of bound fields) pods are immutable. potentialNodes and
// unsuitableNodes hold at most 128 names, each once; a template's or claim's class name may not be
// empty; a pod's claim entries have unique names, each with exactly one source, and every entry
// that a container uses is in the list (checked where pods are read).
//
// Deletion: of an object with finalizers, and of a bound pod without `force`, sets
// deletionTimestamp (a change that watches see) and nothing else; the object goes when the last
// finalizer is removed by kUpdate, or a bound pod when somebody deletes it with `force`. A bound
// pod that has ended (Succeeded, Failed) goes at once. What a deleted pod owned is the garbage
// collector's business.
#ifndef DRASIM_SIM_DRA_API_SERVER_H_
#define DRASIM_SIM_DRA_API_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "model/kube/name.h"
#include "model/random.h"
#include "sim/dra/api_types.h"
#include "sim/dra/object_cache.h"

namespace drasim {

class ApiServer {
 public:
  // `on_change` hears of every committed change, in order. The pool outlives the server. `seed` is
  // for the suffixes of generated names (five of upstream's 27 letters and digits).
  ApiServer(NamePool* names, uint64_t seed, std::function<void(const WatchEvent&)> on_change);

  // Commits or refuses. A write that changes nothing commits nothing (same version, no event) and
  // is kOk. Amortised O(size of the object).
  ApiReply Handle(const ApiRequest& request);

  const ObjectCache& objects() const { return objects_; }
  NamePool& names() { return *names_; }
  ResourceVersion version() const { return version_; }

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
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_API_SERVER_H_
