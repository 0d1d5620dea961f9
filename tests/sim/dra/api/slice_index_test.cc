#include "sim/dra/api/slice_index.h"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/kube/name.h"
#include "model/kube/objects.h"
#include "model/proto/resource.pb.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/object_cache.h"

namespace drasim {
namespace slice_index_test {

class SliceIndexTest : public ::testing::Test {
 protected:
  Ref<ResourceSliceObject> Slice(Uid uid, const std::string& name, const std::string& pool,
                                 int64_t generation, const std::vector<std::string>& devices) {
    proto::kube::ResourceSlice slice;
    slice.mutable_spec()->set_driver("driver");
    slice.mutable_spec()->mutable_pool()->set_name(pool);
    slice.mutable_spec()->mutable_pool()->set_generation(generation);
    for (const std::string& device : devices) {
      slice.mutable_spec()->add_devices()->set_name(device);
    }
    auto object = std::make_shared<ResourceSliceObject>();
    object->meta.uid = uid;
    object->meta.name = names_.Intern(name);
    object->object = SharedMessage<proto::kube::ResourceSlice>(std::move(slice));
    return object;
  }
  void Commit(const Ref<ResourceSliceObject>& slice, bool deleted = false) {
    WatchEvent event;
    event.type = deleted ? WatchEvent::Type::kDeleted : WatchEvent::Type::kModified;
    event.object = slice;
    event.before = deleted ? objects_.of<ResourceSliceObject>().Erase(slice->meta.uid)
                           : objects_.of<ResourceSliceObject>().Put(slice);
    index_.OnCommit(event);
  }
  // "NAME[PLACE]"; empty: nobody publishes it.
  std::string Find(const std::string& pool, const std::string& device) {
    int place = 0;
    const Ref<ResourceSliceObject> slice = index_.Find("driver", pool, device, &place);
    if (slice == nullptr) return "";
    return std::string(slice->meta.name.text()) + "[" + std::to_string(place) + "]";
  }

  NamePool names_;
  ObjectCache objects_;
  SliceIndex index_{&objects_};
};

TEST_F(SliceIndexTest, FollowsTheServer) {
  Commit(Slice(1, "a0", "a", 1, {"x", "y"}));
  Commit(Slice(2, "a1", "a", 1, {"z"}));
  Commit(Slice(3, "b0", "b", 1, {"x"}));
  EXPECT_EQ(Find("a", "y"), "a0[1]");
  EXPECT_EQ(Find("a", "z"), "a1[0]");
  EXPECT_EQ(Find("b", "x"), "b0[0]");
  EXPECT_EQ(Find("b", "y"), "");
  EXPECT_EQ(Find("c", "x"), "");
  Commit(Slice(1, "a0", "a", 1, {"y"}));  // changed
  EXPECT_EQ(Find("a", "y"), "a0[0]");
  EXPECT_EQ(Find("a", "x"), "");
  Commit(Slice(3, "b0", "c", 1, {"x"}));  // moved to another pool
  EXPECT_EQ(Find("b", "x"), "");
  EXPECT_EQ(Find("c", "x"), "b0[0]");
  Commit(Slice(2, "a1", "a", 1, {"z"}), /*deleted=*/true);
  EXPECT_EQ(Find("a", "z"), "");
}

TEST_F(SliceIndexTest, TheLatestGenerationCounts) {
  Commit(Slice(1, "old", "a", 1, {"x", "y"}));
  Commit(Slice(2, "new", "a", 2, {"y"}));
  EXPECT_EQ(Find("a", "y"), "new[0]");
  EXPECT_EQ(Find("a", "x"), "old[0]");  // held devices are described as they were
}

}  // namespace slice_index_test
}  // namespace drasim
