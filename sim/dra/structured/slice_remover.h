// SliceRemover: deletes ResourceSlices of nodes on behalf of others than their driver:
//
//  * the garbage collector of kube-controller-manager, when the node object is gone that owns them;
//  * kubelets, when they start, and when a driver's plugin is away for too long
//    (pkg/kubelet/cm/dra/plugin, wipeResourceSlices). One DeleteCollection is a DELETE per slice
//    here.
//
// A call names the slice by its uid, so a younger one of its name stays.
#ifndef DRASIM_SIM_DRA_STRUCTURED_SLICE_REMOVER_H_
#define DRASIM_SIM_DRA_STRUCTURED_SLICE_REMOVER_H_

#include <cstdint>
#include <utility>

#include "model/kube/objects.h"
#include "sim/dra/api/plane_part.h"

namespace drasim {

class SliceRemover : public PlanePart {
 public:
  // `connection`: with its name, without watches.
  explicit SliceRemover(ClientOptions connection) : connection_(std::move(connection)) {}

  void Remove(const ObjectMeta& slice);

  ClientOptions connection() const override { return connection_; }
  bool can_fail() const override { return false; }
  void Start(ApiClient* client) override { client_ = client; }
  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t, const ApiReply&) override {}  // gone, by this call or another
  void OnTimer(uint64_t) override {}
  void Save(PlaneWriter&) const override {}
  void Load(PlaneReader&) override {}

 private:
  ClientOptions connection_;
  ApiClient* client_ = nullptr;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_SLICE_REMOVER_H_
