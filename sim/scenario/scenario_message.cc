#include "sim/scenario/scenario_message.h"

#include "model/proto/scenario.pb.h"

namespace drasim {

ScenarioMessage::ScenarioMessage() : message_(std::make_unique<proto::Scenario>()) {}

ScenarioMessage::ScenarioMessage(const proto::Scenario& scenario)
    : message_(std::make_unique<proto::Scenario>(scenario)) {}

ScenarioMessage::ScenarioMessage(const ScenarioMessage& other) : ScenarioMessage(*other) {}

ScenarioMessage::ScenarioMessage(ScenarioMessage&& other) noexcept = default;

ScenarioMessage& ScenarioMessage::operator=(const ScenarioMessage& other) {
  // A new message also serves an object that was moved from.
  if (this != &other) message_ = std::make_unique<proto::Scenario>(*other);
  return *this;
}

ScenarioMessage& ScenarioMessage::operator=(ScenarioMessage&& other) noexcept = default;

ScenarioMessage::~ScenarioMessage() = default;

}  // namespace drasim
