// A proto::Scenario by value, for headers that only declare the message: the generated header is
// slow to compile.
//
//   ScenarioMessage message(scenario);  // a copy
//   message->set_seed(43);              // the .cc file includes model/proto/scenario.pb.h
//   const ScenarioMessage other = message;
//   Use(*other);
#ifndef DRASIM_SIM_SCENARIO_SCENARIO_MESSAGE_H_
#define DRASIM_SIM_SCENARIO_SCENARIO_MESSAGE_H_

#include <memory>

namespace drasim {

namespace proto {
class Scenario;
}

// A value type: copies are deep, and constness extends to the message. After a move from it, the
// object may only be assigned to or destroyed.
class ScenarioMessage {
 public:
  ScenarioMessage();  // an empty scenario
  explicit ScenarioMessage(const proto::Scenario& scenario);
  ScenarioMessage(const ScenarioMessage& other);
  ScenarioMessage(ScenarioMessage&& other) noexcept;
  ScenarioMessage& operator=(const ScenarioMessage& other);
  ScenarioMessage& operator=(ScenarioMessage&& other) noexcept;
  ~ScenarioMessage();

  const proto::Scenario& operator*() const { return *message_; }
  proto::Scenario& operator*() { return *message_; }
  const proto::Scenario* operator->() const { return message_.get(); }
  proto::Scenario* operator->() { return message_.get(); }

 private:
  std::unique_ptr<proto::Scenario> message_;
};

}  // namespace drasim

#endif  // DRASIM_SIM_SCENARIO_SCENARIO_MESSAGE_H_
