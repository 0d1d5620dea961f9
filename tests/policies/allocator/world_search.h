// The allocator on a random cluster.
#ifndef DRASIM_TESTS_POLICIES_ALLOCATOR_WORLD_SEARCH_H_
#define DRASIM_TESTS_POLICIES_ALLOCATOR_WORLD_SEARCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "policies/allocator/cel_verdicts.h"
#include "policies/allocator/device_catalog.h"
#include "policies/allocator/node_pools.h"
#include "policies/allocator/structured_allocator.h"
#include "tests/policies/allocator/random_world.h"

namespace drasim {

template <typename Object>
std::vector<const Object*> PointersTo(const std::vector<Object>& objects) {
  std::vector<const Object*> pointers;
  for (const Object& object : objects) pointers.push_back(&object);
  return pointers;
}

inline std::string AnswerText(const AllocationAnswer& answer) {
  std::string text = absl::StrCat(static_cast<int>(answer.outcome), " ", answer.error);
  for (const auto& result : answer.results) absl::StrAppend(&text, "\n", result.DebugString());
  return text;
}

class WorldSearch {
 public:
  // kExhaustive counts steps; kPruned prunes from the first step on; kUsual after some steps.
  enum class Mode : uint8_t { kExhaustive, kPruned, kUsual };

  // The world outlives the search.
  WorldSearch(const RandomWorld& world, Mode mode) {
    AllocatorOptions options = world.options;
    options.count_steps = mode == Mode::kExhaustive;
    if (mode == Mode::kPruned) options.steps_before_pruning = 0;
    if (mode == Mode::kUsual) options.steps_before_pruning = 8;
    catalog_ = *DeviceCatalog::Make(PointersTo(world.slices));
    auto allocator =
        StructuredAllocator::Make(std::make_shared<NodePools>(options, catalog_),
                                  MakeCelVerdicts(&catalog_->columns(), options.features),
                                  PointersTo(world.classes), world.use);
    EXPECT_TRUE(allocator.ok()) << allocator.status();
    allocator_ = *std::move(allocator);
  }

  AllocationAnswer Allocate(const RandomWorld& world) {
    return allocator_->Allocate(world.node, AskFor(PointersTo(world.claims)));
  }

 private:
  std::shared_ptr<DeviceCatalog> catalog_;
  std::unique_ptr<StructuredAllocator> allocator_;
};

}  // namespace drasim

#endif  // DRASIM_TESTS_POLICIES_ALLOCATOR_WORLD_SEARCH_H_
