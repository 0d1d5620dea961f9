#include "model/kube/gpu_annotations.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/proto/kube.pb.h"

namespace drasim {
namespace gpu_annotations_test {

using Texts = std::map<std::string, std::string>;

proto::kube::ObjectMeta MetaWith(const Texts& annotations) {
  proto::kube::ObjectMeta meta;
  meta.mutable_annotations()->insert(annotations.begin(), annotations.end());
  return meta;
}

Texts TextsOf(const proto::kube::ObjectMeta& meta) {
  return {meta.annotations().begin(), meta.annotations().end()};
}

GpuAnnotations ReadGood(const Texts& annotations) {
  std::vector<KubeProblem> problems;
  const GpuAnnotations gpus = ReadGpuAnnotations(MetaWith(annotations), &problems);
  EXPECT_TRUE(problems.empty()) << problems[0].path << ": " << problems[0].what;
  return gpus;
}

TEST(GpuAnnotationsTest, ReadsOpenbsNames) {
  EXPECT_EQ(ReadGood({{"alibabacloud.com/gpu-count", "1"},
                      {"alibabacloud.com/gpu-milli", "460"},
                      {"alibabacloud.com/gpu-card-model", "V100M16|V100M32"},
                      {"alibabacloud.com/gpu-index", "3"}}),
            (GpuAnnotations{1, 460, "V100M16|V100M32", DeviceSet::Of(3)}));
  EXPECT_EQ(ReadGood({{"alibabacloud.com/gpu-count", "2"}}).milli, 1000);
  EXPECT_EQ(ReadGood({{"alibabacloud.com/gpu-milli", "300"}}), GpuAnnotations());
  EXPECT_EQ(ReadGood({{"alibabacloud.com/gpu-index", "7-0"}}).devices,
            DeviceSet::Of(0) | DeviceSet::Of(7));
  EXPECT_EQ(ReadGood({{"alibabacloud.com/gpu-index", ""}, {"other", "x"}}), GpuAnnotations());
}

TEST(GpuAnnotationsTest, ValuesWithAProblemAreAbsent) {
  const std::vector<std::pair<Texts, std::string>> mistakes = {
      {{{"alibabacloud.com/gpu-count", "65"}},
       "annotations[alibabacloud.com/gpu-count]: found '65', expected a number from 0 to 64"},
      {{{"alibabacloud.com/gpu-milli", "-1"}},
       "annotations[alibabacloud.com/gpu-milli]: found '-1', expected a number from 0 to 1000"},
      {{{"alibabacloud.com/gpu-index", "0-64"}},
       "annotations[alibabacloud.com/gpu-index]: found '0-64', expected different numbers of GPUs "
       "with - between them"},
      {{{"alibabacloud.com/gpu-index", "1-1"}},
       "annotations[alibabacloud.com/gpu-index]: found '1-1', expected different numbers of GPUs "
       "with - between them"},
  };
  for (const auto& [annotations, message] : mistakes) {
    std::vector<KubeProblem> problems;
    EXPECT_EQ(ReadGpuAnnotations(MetaWith(annotations), &problems), GpuAnnotations()) << message;
    ASSERT_EQ(problems.size(), 1u) << message;
    EXPECT_EQ(problems[0].path + ": " + problems[0].what, message);
  }
}

TEST(GpuAnnotationsTest, WritesWhatItReads) {
  const Texts texts = {{"alibabacloud.com/gpu-count", "2"},
                       {"alibabacloud.com/gpu-milli", "500"},
                       {"alibabacloud.com/gpu-card-model", "T4"},
                       {"alibabacloud.com/gpu-index", "0-5"},
                       {"mine", "x"}};
  proto::kube::ObjectMeta meta = MetaWith({{"mine", "x"}});
  SetGpuAnnotations(ReadGood(texts), &meta);
  EXPECT_EQ(TextsOf(meta), texts);
  SetGpuIndex(DeviceSet::Of(1), &meta);
  EXPECT_EQ(meta.annotations().at("alibabacloud.com/gpu-index"), "1");
  SetGpuAnnotations(GpuAnnotations(), &meta);
  EXPECT_EQ(TextsOf(meta), (Texts{{"mine", "x"}}));
}

}  // namespace gpu_annotations_test
}  // namespace drasim
