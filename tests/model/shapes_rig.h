// GPU models and shapes in one line each, for tests of shapes.
#ifndef DRASIM_TESTS_MODEL_SHAPES_RIG_H_
#define DRASIM_TESTS_MODEL_SHAPES_RIG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "model/gpu_model_table.h"
#include "model/pod_shape.h"

namespace drasim {
namespace shapes_rig {

inline GpuModelTable Models(const std::vector<std::string>& names) {
  GpuModelTable models;
  for (const std::string& name : names) EXPECT_TRUE(models.Intern(name).ok());
  return models;
}

inline PodShape Shape(int64_t cpu_milli, int64_t memory_bytes, int32_t gpu_count, int32_t gpu_milli,
                      const std::string& gpu_spec) {
  PodShape shape;
  shape.request.cpu_milli = cpu_milli;
  shape.request.memory_bytes = memory_bytes;
  shape.request.gpu_count = gpu_count;
  shape.request.gpu_milli = gpu_milli;
  shape.request.gpu_spec = gpu_spec;
  return shape;
}

}  // namespace shapes_rig
}  // namespace drasim

#endif  // DRASIM_TESTS_MODEL_SHAPES_RIG_H_
