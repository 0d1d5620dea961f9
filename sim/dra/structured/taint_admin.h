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
#include "sim/dra/api/plane_component.h"

namespace drasim {

struct TaintRuleEvent {
  enum class Action : uint8_t { kCreate, kChange, kDelete };
  SimTime at;
  Action action = Action::kCreate;
  proto::kube::DeviceTaintRule rule;  // kDelete: the name is enough
  size_t number = 0;                  // of the entry, for messages
};

class TaintAdmin : public PlaneComponent {
 public:
  static constexpr char kName[] = "administrator";

  // Events of one time keep their order. A rule is created before it is changed or deleted.
  explicit TaintAdmin(std::vector<TaintRuleEvent> events);

  std::string name() const override { return kName; }
  uint32_t watches() const override { return 0; }
  void Start(ApiClient* client, const PlaneHost* host) override;
  bool IsBusy() const override { return next_ < events_.size() || calling_; }

  void OnWatch(const WatchEvent&) override {}
  void OnReply(uint64_t token, const ApiReply& reply) override;
  void OnTimer(uint64_t token) override;
  // An administrator is no process: what is planned will be done.
  void OnRestart() override;

  void Save(PlaneWriter& out) const override;
  void Load(PlaneReader& in) override;

 private:
  template <typename Archive, typename Self>
  static void Fields(Archive& archive, Self& self);
  // Calls as long as events are due, then waits for the next one.
  void Proceed();
  ApiRequest RequestOf(const TaintRuleEvent& event) const;

  std::vector<TaintRuleEvent> events_;
  ApiClient* client_ = nullptr;
  uint64_t next_ = 0;  // event
  bool calling_ = false;
};

}  // namespace drasim

#endif  // DRASIM_SIM_DRA_STRUCTURED_TAINT_ADMIN_H_
