// A PlaneReader reads what a PlaneWriter wrote: values, containers, names and shared objects.
#include "sim/dra/api/plane_archive.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "model/ids.h"
#include "model/kube/objects.h"
#include "model/random.h"
#include "model/state_io.h"
#include "model/time.h"
#include "sim/dra/api/api_types.h"
#include "sim/dra/api/object_cache.h"
#include "sim/dra/api/rate_limiter.h"
#include "sim/dra/api/work_queue.h"

namespace drasim {
namespace plane_archive_test {

template <typename T>
std::string Written(const T& value) {
  StateWriter out;
  PlaneWriter archive(&out);
  archive(value);
  return out.Release();
}

template <typename T>
absl::Status Read(const std::string& bytes, NamePool* names, T* value) {
  StateReader in(bytes);
  PlaneReader archive(&in, names);
  archive(*value);
  if (in.status().ok() && !in.AtEnd()) return absl::DataLossError("bytes are left");
  return in.status();
}

// The value after a way through the archive; its bytes are the same again.
template <typename T>
void ExpectSame(const T& value, NamePool* names) {
  const std::string bytes = Written(value);
  T read{};
  EXPECT_EQ(Read(bytes, names, &read), absl::OkStatus());
  EXPECT_TRUE(read == value);
  EXPECT_EQ(Written(read), bytes);
}

struct Stage {
  enum class Kind : uint8_t { kFirst, kSecond };
  Kind kind = Kind::kFirst;
  std::optional<SimTime> at;
  double share = 0;
  bool operator==(const Stage&) const = default;
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    a(s.kind, s.at, s.share);
  }
};

TEST(PlaneArchiveTest, ReadsWhatWasWritten) {
  NamePool names;
  const Name a = names.Intern("a"), b = names.Intern("b");
  ExpectSame<int64_t>(-5, &names);
  ExpectSame<uint64_t>(~uint64_t{0}, &names);
  ExpectSame(std::string("text"), &names);
  ExpectSame(PodId(size_t{7}), &names);
  ExpectSame(PodId(), &names);
  ExpectSame(SimDuration::Seconds(-3), &names);
  ExpectSame(Name(), &names);
  ExpectSame(std::vector<Name>{a, b, a, Name()}, &names);
  ExpectSame(std::vector<bool>{true, false, true}, &names);
  ExpectSame(std::deque<int32_t>{1, -2}, &names);
  ExpectSame(std::array<SimTime, 2>{SimTime(1), SimTime(-1)}, &names);
  ExpectSame(std::vector<Stage>{{Stage::Kind::kSecond, SimTime(3), 0.5}, {}}, &names);
  ExpectSame(absl::btree_map<NodeId, std::string>{{NodeId(size_t{1}), "x"}, {NodeId(), "y"}},
             &names);
  ExpectSame(absl::btree_set<std::pair<uint64_t, PodId>>{{1, PodId(size_t{2})}}, &names);
  ExpectSame(absl::flat_hash_set<std::pair<Name, Name>>{{a, b}, {b, a}, {Name(), a}}, &names);
  ExpectSame(NodeSet(), &names);
  ExpectSame(NodeSet::Of({NodeId(size_t{4}), NodeId(size_t{2})}), &names);
}

// Hash containers have another order in every process.
TEST(PlaneArchiveTest, HashContainersAreWrittenInTheOrderOfTheirKeys) {
  NamePool names;
  absl::flat_hash_map<std::pair<Name, Name>, uint64_t> up, down;
  for (int i = 0; i < 200; ++i) {
    const Name name = names.Intern(absl::StrCat("name-", i));
    up[{name, Name()}] = 1;
  }
  for (int i = 199; i >= 0; --i) down[{names.Intern(absl::StrCat("name-", i)), Name()}] = 1;
  EXPECT_EQ(Written(up), Written(down));
  ExpectSame(up, &names);
}

Ref<ResourceClaim> AClaim(NamePool& names, Uid uid, absl::string_view name) {
  auto claim = std::make_shared<ResourceClaim>();
  claim->meta.ns = names.Intern("default");
  claim->meta.name = names.Intern(name);
  claim->meta.uid = uid;
  claim->meta.version = 10 + uid;
  claim->meta.finalizers.push_back(names.Intern("driver/deletion-protection"));
  claim->labels = {{"key", "value"}};
  claim->spec.class_name = names.Intern("gpu");
  claim->spec.mode = AllocationMode::kImmediate;
  auto allocation = std::make_shared<Allocation>();
  allocation->handles.push_back({names.Intern("driver"), "data"});
  allocation->available_on = NodeSet::Of({NodeId(size_t{3})});
  allocation->node = NodeId(size_t{3});
  allocation->grants.push_back({1, 2, 250});
  claim->status.allocation = std::move(allocation);
  claim->status.reserved_for.push_back({names.Intern("pods"), names.Intern("pod"), 9});
  return claim;
}

TEST(PlaneArchiveTest, ObjectsOfAllKinds) {
  NamePool names;
  Pod pod;
  pod.meta.name = names.Intern("pod");
  pod.meta.uid = 9;
  pod.claims.push_back({names.Intern("gpu"), Name(), names.Intern("template"), false});
  pod.node = NodeId(size_t{3});
  pod.phase = KubePodPhase::kRunning;
  pod.claim_names.push_back({names.Intern("gpu"), names.Intern("claim")});
  pod.unschedulable = SummaryId(size_t{2});
  pod.nominated = NodeId(size_t{1});
  pod.row = PodId(size_t{5});
  PodSchedulingContext context;
  context.meta.owner = 9;
  context.selected = NodeId(size_t{1});
  context.potential = {NodeId(size_t{1}), NodeId(size_t{2})};
  context.claims.push_back({names.Intern("gpu"), {NodeId(size_t{2})}});
  ResourceClass gpu_class;
  gpu_class.driver = names.Intern("driver");
  gpu_class.parameters = {names.Intern("g"), names.Intern("k"), names.Intern("n"),
                          names.Intern("p")};
  gpu_class.suitable_nodes = NodeSet::Of({NodeId(size_t{1})});
  ResourceClaimTemplate made_from;
  made_from.spec.class_name = names.Intern("gpu");
  ParametersObject parameters;
  parameters.kind = names.Intern("k");
  parameters.fields = {{"a.b", "1"}};
  const Ref<ResourceClaim> claim = AClaim(names, 4, "claim");
  ExpectSame(pod, &names);
  ExpectSame(context, &names);
  ExpectSame(gpu_class, &names);
  ExpectSame(made_from, &names);
  ExpectSame(parameters, &names);
  ExpectSame(*claim, &names);
  for (const ObjectRef& object :
       {ObjectRef(claim), ObjectRef(std::make_shared<const Pod>(pod)), ObjectRef()}) {
    ObjectRef read;
    ASSERT_EQ(Read(Written(object), &names, &read), absl::OkStatus());
    EXPECT_EQ(KindOf(read), KindOf(object));
    EXPECT_EQ(MetaOf(read) == nullptr, MetaOf(object) == nullptr);
  }
}

// The server, caches and messages hold one snapshot; its bytes are there once.
TEST(PlaneArchiveTest, SharedObjectsAreSharedAgain) {
  NamePool names;
  const Ref<ResourceClaim> claim = AClaim(names, 4, "claim");
  auto later = std::make_shared<ResourceClaim>(*claim);
  later->meta.version = 99;
  const std::vector<Ref<ResourceClaim>> claims = {claim, later, claim, nullptr, later};
  const std::string bytes = Written(claims);
  EXPECT_LT(bytes.size(), 2 * Written(std::vector<Ref<ResourceClaim>>{claim}).size());
  std::vector<Ref<ResourceClaim>> read;
  ASSERT_EQ(Read(bytes, &names, &read), absl::OkStatus());
  ASSERT_EQ(read.size(), 5u);
  EXPECT_EQ(read[0], read[2]);
  EXPECT_EQ(read[1], read[4]);
  EXPECT_NE(read[0], read[1]);
  EXPECT_EQ(read[3], nullptr);
  EXPECT_EQ(*read[1], *later);
  // Two states of the claim have the same allocation.
  EXPECT_EQ(read[0]->status.allocation, read[1]->status.allocation);
}

TEST(PlaneArchiveTest, ANameStaysWithTheYoungerObject) {
  NamePool names;
  ObjectCache cache;
  cache.of<ResourceClaim>().Put(AClaim(names, 4, "claim"));
  cache.of<ResourceClaim>().Put(AClaim(names, 6, "claim"));
  ObjectCache read;
  ASSERT_EQ(Read(Written(cache), &names, &read), absl::OkStatus());
  EXPECT_EQ(read.claim(names.Intern("default"), names.Intern("claim"))->meta.uid, 6u);
  // The older one gets no name back.
  cache.of<ResourceClaim>().Erase(6);
  ASSERT_EQ(Read(Written(cache), &names, &read), absl::OkStatus());
  EXPECT_EQ(read.claim(names.Intern("default"), names.Intern("claim")), nullptr);
  EXPECT_NE(read.of<ResourceClaim>().Find(4), nullptr);
}

TEST(PlaneArchiveTest, LimitersAndQueuesContinue) {
  NamePool names;
  RateLimiter limiter(10, 2), limiter_again(10, 2);
  for (int i = 0; i < 5; ++i) limiter.Take(SimTime(i));
  ASSERT_EQ(Read(Written(limiter), &names, &limiter_again), absl::OkStatus());
  EXPECT_EQ(limiter_again.Take(SimTime(9)), limiter.Take(SimTime(9)));
  WorkQueue queue(2), queue_again(2);
  for (const uint64_t key : {5u, 3u, 8u}) queue.Add(key);
  queue.Get();
  queue.Add(5);
  queue.DelayAfterFailure(3, SimTime());
  ASSERT_EQ(Read(Written(queue), &names, &queue_again), absl::OkStatus());
  for (WorkQueue* q : {&queue, &queue_again}) q->Done(5);
  EXPECT_EQ(queue_again.DelayAfterFailure(3, SimTime()), queue.DelayAfterFailure(3, SimTime()));
  for (const uint64_t key : {3u, 8u}) {
    EXPECT_EQ(queue.Get(), key);
    EXPECT_EQ(queue_again.Get(), key);
  }
  Random random(1, "stream"), random_again(2, "stream");
  random.U64();
  ASSERT_EQ(Read(Written(random), &names, &random_again), absl::OkStatus());
  EXPECT_EQ(random_again.U64(), random.U64());
}

TEST(PlaneArchiveTest, BadBytesAreRefused) {
  NamePool names;
  const std::vector<ObjectRef> objects = {AClaim(names, 4, "claim"), AClaim(names, 5, "other")};
  const std::string bytes = Written(objects);
  for (size_t size = 0; size < bytes.size(); ++size) {
    std::vector<ObjectRef> read;
    EXPECT_EQ(Read(bytes.substr(0, size), &names, &read).code(), absl::StatusCode::kDataLoss);
  }
  Name name;
  EXPECT_FALSE(Read(Written(uint64_t{2}), &names, &name).ok());  // a name that was not given
  Ref<Pod> pod;
  EXPECT_FALSE(Read(Written(uint64_t{2}), &names, &pod).ok());
  ObjectRef object;
  EXPECT_FALSE(Read(Written(uint64_t{6}), &names, &object).ok());
  absl::flat_hash_map<uint64_t, uint64_t> map;
  EXPECT_FALSE(
      Read(Written(std::vector<uint64_t>{1, 7, 1, 8}).replace(0, 1, "\2"), &names, &map).ok());
}

}  // namespace plane_archive_test
}  // namespace drasim
