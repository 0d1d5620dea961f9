#include "model/fragmentation_memo.h"

#include <cstdint>
#include <vector>

#include "gtest/gtest.h"
#include "model/fragmentation.h"
#include "model/random.h"

namespace drasim {
namespace {

std::vector<TypicalPod> FewTypicalPods() {
  std::vector<TypicalPod> pods;
  for (int i = 0; i < 12; ++i) {
    TypicalPod pod;
    pod.cpu_milli = 1000 * (1 + i % 4);
    pod.gpu_count = i % 3;
    pod.gpu_milli = pod.gpu_count == 0 ? 0 : pod.gpu_count == 1 ? 100 + 150 * (i % 5) : 1000;
    pod.model_mask = i % 5 == 0 ? 1 : ~uint64_t{0};
    pod.weight = 0.03 + 0.01 * i;
    pods.push_back(pod);
  }
  return pods;
}

// Few enough states that most questions come twice, and more than the memory holds.
TEST(FragmentationMemoTest, AnswersAsTheModelBitForBit) {
  const FragmentationModel model(FewTypicalPods());
  FragmentationMemo memo(&model);
  Random random(7, "fragmentation memo");
  for (int round = 0; round < 60000; ++round) {
    std::vector<int16_t> idle(random.Below(11));
    for (int16_t& milli : idle) milli = static_cast<int16_t>(250 * random.Below(5));
    std::vector<uint8_t> models;
    GpuNodeView view;
    view.cpu_milli_idle = static_cast<int64_t>(500 * random.Below(10));
    view.model_bit = uint64_t{1} << random.Below(3);
    view.device_milli_idle = idle;
    if (random.Below(8) == 0) {
      for (size_t i = 0; i < idle.size(); ++i) models.push_back(static_cast<uint8_t>(i % 2));
      view.device_models = models;
      view.model_bit = 0;
    }
    ASSERT_EQ(memo.Amount(view), model.Amount(view)) << "round " << round;
  }
}

// The states differ in one of the things that an amount depends on.
TEST(FragmentationMemoTest, TellsStatesApart) {
  std::vector<TypicalPod> typical(1);
  typical[0].cpu_milli = 2000;
  typical[0].gpu_count = 1;
  typical[0].gpu_milli = 500;
  typical[0].model_mask = 1;
  typical[0].weight = 1;
  const FragmentationModel model(typical);
  FragmentationMemo memo(&model);
  const std::vector<int16_t> idle = {600, 300};
  const std::vector<int16_t> other = {600, 200};
  EXPECT_EQ(memo.Amount({2000, 1, idle}), 300);
  EXPECT_EQ(memo.Amount({1999, 1, idle}), 900);
  EXPECT_EQ(memo.Amount({2000, 2, idle}), 900);
  EXPECT_EQ(memo.Amount({2000, 1, other}), 200);
  EXPECT_EQ(memo.Amount({2500, 1, idle}), 300);
}

}  // namespace
}  // namespace drasim
