#include "policies/allocator/device_taints.h"

#include "gtest/gtest.h"

namespace drasim {
namespace {

proto::kube::DeviceToleration TolerationOf(const char* key, const char* op, const char* value,
                                           const char* effect) {
  proto::kube::DeviceToleration toleration;
  toleration.set_key(key);
  toleration.set_operator_(op);
  toleration.set_value(value);
  toleration.set_effect(effect);
  return toleration;
}

proto::kube::DeviceTaint TaintOf(const char* effect) {
  proto::kube::DeviceTaint taint;
  taint.set_key("key");
  taint.set_value("value");
  taint.set_effect(effect);
  return taint;
}

TEST(DeviceTaintsTest, TolerationsMatchByKeyEffectAndOperator) {
  const proto::kube::DeviceTaint taint = TaintOf("NoSchedule");
  EXPECT_TRUE(ToleratesTaint(TolerationOf("", "Exists", "", ""), taint));
  EXPECT_TRUE(ToleratesTaint(TolerationOf("key", "Equal", "value", "NoSchedule"), taint));
  EXPECT_TRUE(ToleratesTaint(TolerationOf("key", "", "value", ""), taint));
  EXPECT_FALSE(ToleratesTaint(TolerationOf("key", "", "other", ""), taint));
  EXPECT_FALSE(ToleratesTaint(TolerationOf("other", "Exists", "", ""), taint));
  EXPECT_FALSE(ToleratesTaint(TolerationOf("key", "Exists", "", "NoExecute"), taint));
  EXPECT_FALSE(ToleratesTaint(TolerationOf("key", "Maybe", "value", ""), taint));
}

TEST(DeviceTaintsTest, OnlyTwoEffectsPreventAllocation) {
  for (const char* effect : {"NoSchedule", "NoExecute"}) {
    proto::kube::Device device;
    *device.add_taints() = TaintOf(effect);
    EXPECT_TRUE(TaintsPreventAllocation(device, {})) << effect;
    DeviceTolerations tolerations;
    *tolerations.Add() = TolerationOf("key", "Exists", "", "");
    EXPECT_FALSE(TaintsPreventAllocation(device, tolerations)) << effect;
  }
  proto::kube::Device device;
  *device.add_taints() = TaintOf("None");
  *device.add_taints() = TaintOf("Later");
  EXPECT_FALSE(TaintsPreventAllocation(device, {}));
}

}  // namespace
}  // namespace drasim
