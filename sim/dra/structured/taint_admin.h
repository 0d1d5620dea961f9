// TaintAdmin: the administrator who creates, changes and deletes DeviceTaintRules at planned times.
//
// Calls go out in the order of their times, each after the reply to the one before. A change is a
// PATCH of the whole specification; the server keeps timeAdded as long as the effect stays.
#ifndef DRASIM_SIM_DRA_STRUCTURED_TAINT_ADMIN_H_
#define DRASIM_SIM_DRA_STRUCTURED_TAINT_ADMIN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/proto/resource.pb.h"
#include "model/time.h"
#include "sim/dra/api/plane_part.h"

namespace drasim {

struct TaintRuleEvent {
  enum class Action : uint8_t { kCreate, kChange, kDelete };
  SimTime at;
  Action action = Action::kCreate;
  proto::kube::DeviceTaintRule rule;  // kDelete: the name is enough
  size_t number = 0;                  // of the entry, for messages
};

class TaintAdmin : public PlanePart {
 public:
  static constexpr char kName[] = "administrator";

  // Events of one time keep their order. A rule is created before it is changed or deleted.
  // `connection`: with its name.
  TaintAdmin(std::vector<TaintRuleEvent> events, ClientOptions connection);

  ClientOptions connection() const override { return connection_; }
  // It is no process of the control plane.
  bool can_fail() const override { return false; }
  void Start(ApiClient* client) override;
  bool IsBusy() const override { return next_ < events_.size() || calling_; }

  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;

  void Save(PlaneWriter& out) const override;
  void Load(PlaneReader& in) override;

 private:
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);
  // Calls as long as events are due, then waits for the next one.
  void Proceed();
  ApiRequest RequestOf(const TaintRuleEvent& event) const;

  std::vector<TaintRuleEvent> events_;
  ClientOptions connection_;
  ApiClient* client_ = nullptr;
  uint64_t next_ = 0;  // event
  bool calling_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_TAINT_ADMIN_H_
