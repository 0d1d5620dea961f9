#include "sim/dra/structured/taint_admin.h"

#include <algorithm>
#include <optional>

#include "sim/dra/api/plane_archive.h"

namespace drasim {

TaintAdmin::TaintAdmin(std::vector<TaintRuleEvent> events, ClientOptions connection)
    : events_(std::move(events)), connection_(std::move(connection)) {
  std::stable_sort(events_.begin(), events_.end(),
                   [](const TaintRuleEvent& a, const TaintRuleEvent& b) { return a.at < b.at; });
}

void TaintAdmin::Start(ApiClient* client) {
  client_ = client;
  if (!events_.empty()) client_->ArmTimer(events_.front().at - client_->now(), 0);
}

void TaintAdmin::OnReply(uint64_t /*token*/, const ApiReply& /*reply*/) {
  calling_ = false;
  Proceed();
}

void TaintAdmin::OnTimer(uint64_t token) {
  if (token == next_ && !calling_) Proceed();
}

void TaintAdmin::Proceed() {
  while (next_ < events_.size()) {
    const TaintRuleEvent& event = events_[next_];
    if (event.at > client_->now()) return client_->ArmTimer(event.at - client_->now(), next_);
    ++next_;
    if (client_->Call(RequestOf(event), 0).has_value()) continue;
    calling_ = true;
    return;
  }
}

ApiRequest TaintAdmin::RequestOf(const TaintRuleEvent& event) const {
  const Name name = client_->names().Intern(event.rule.metadata().name());
  if (event.action == TaintRuleEvent::Action::kDelete) {
    return NamedRequest(Verb::kDelete, ObjectKind::kDeviceTaintRule, Name(), name);
  }
  auto object = std::make_shared<DeviceTaintRuleObject>();
  object->meta.name = name;
  object->object = SharedMessage<proto::kube::DeviceTaintRule>(event.rule);
  const bool is_new = event.action == TaintRuleEvent::Action::kCreate;
  return WriteRequest(is_new ? Verb::kCreate : Verb::kApply,
                      Ref<DeviceTaintRuleObject>(std::move(object)));
}

template <typename Archive, typename Self>
void TaintAdmin::Fields(Archive& archive, Self& self) {
  archive(self.next_, self.calling_);
}

void TaintAdmin::Save(PlaneWriter& out) const { Fields(out, *this); }

void TaintAdmin::Load(PlaneReader& in) {
  Fields(in, *this);
  if (in.ok() && next_ > events_.size()) in.Fail("more has been done to taint rules than planned");
}

}  // namespace drasim
