#include "policies/dra/claim_version.h"

#include <google/protobuf/util/message_differencer.h>

#include <memory>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace drasim {
namespace claim_version_test {

namespace kube = ::drasim::proto::kube;
using ::google::protobuf::FieldDescriptor;
using ::google::protobuf::Message;

// Sets every field, lists with one entry; messages that contain themselves only so deep.
void FillAll(Message* message, int depth) {
  const auto* const reflection = message->GetReflection();
  for (int i = 0; i < message->GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* const field = message->GetDescriptor()->field(i);
    const bool list = field->is_repeated();
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        if (depth == 0) break;
        FillAll(list ? reflection->AddMessage(message, field)
                     : reflection->MutableMessage(message, field),
                depth - 1);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        list ? reflection->AddString(message, field, field->name())
             : reflection->SetString(message, field, field->name());
        break;
      case FieldDescriptor::CPPTYPE_BOOL:
        list ? reflection->AddBool(message, field, true)
             : reflection->SetBool(message, field, true);
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        list ? reflection->AddInt64(message, field, 7) : reflection->SetInt64(message, field, 7);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        list ? reflection->AddInt32(message, field, 7) : reflection->SetInt32(message, field, 7);
        break;
      default:
        break;
    }
  }
}

ClaimRef FullClaim() {
  auto claim = std::make_shared<kube::ResourceClaimV1>();
  FillAll(claim.get(), 8);
  return claim;
}

bool AreEqual(const Message& a, const Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

TEST(ClaimVersionTest, AVersionHasEveryFieldOfTheOneBefore) {
  const ClaimRef claim = FullClaim();
  ASSERT_FALSE(claim->status().allocation().devices().results().empty());
  const ClaimRef next = ClaimDraft(claim).Finish();
  EXPECT_TRUE(AreEqual(*claim, *next)) << next->DebugString();
}

TEST(ClaimVersionTest, VersionsShareTheirParts) {
  const ClaimRef first = ClaimDraft(FullClaim()).Finish();
  const ClaimRef second = ClaimDraft(first).Finish();
  EXPECT_EQ(&first->spec().devices(), &second->spec().devices());
  EXPECT_EQ(&first->status().allocation(), &second->status().allocation());
  EXPECT_EQ(&first->metadata(), &second->metadata());
}

TEST(ClaimVersionTest, PartsOutliveTheVersionsThatHadThem) {
  ClaimParts parts;
  std::weak_ptr<const kube::ResourceClaimV1> original;
  {
    const ClaimRef claim = FullClaim();
    original = claim.message();
    parts = PartsOf(ClaimDraft(claim).Finish());
  }
  EXPECT_FALSE(original.expired());  // which has them
  EXPECT_EQ(parts.allocation->devices().results(0).driver(), "driver");
  parts = ClaimParts();
  EXPECT_TRUE(original.expired());
}

TEST(ClaimVersionTest, ADraftChangesWhatItIsTold) {
  const ClaimRef claim = FullClaim();
  ClaimDraft draft(claim);
  draft.metadata()->set_name("other");
  draft.status()->clear_reserved_for();
  draft.parts().allocation = nullptr;
  const ClaimRef next = std::move(draft).Finish();
  EXPECT_EQ(next->metadata().name(), "other");
  EXPECT_EQ(next->status().reserved_for_size(), 0);
  EXPECT_FALSE(next->status().has_allocation());
  EXPECT_EQ(claim->metadata().name(), "name");
  EXPECT_TRUE(claim->status().has_allocation());
}

TEST(ClaimVersionTest, AnEmptyDraftSetsNothing) {
  EXPECT_TRUE(AreEqual(*ClaimDraft().Finish(), kube::ResourceClaimV1()));
}

// The copy is whole, lives longer than the original, and leaves it as it was.
TEST(ClaimVersionTest, TimestampIsOnACopy) {
  auto allocation = std::make_shared<kube::AllocationResultV1>();
  FillAll(allocation.get(), 8);
  kube::AllocationResultV1 expected = *allocation;
  expected.set_allocation_timestamp("2000-01-01T00:00:01Z");
  const std::string bytes = allocation->SerializeAsString();
  const AllocationRef stamped = WithTimestamp(allocation, "2000-01-01T00:00:01Z");
  EXPECT_EQ(&stamped->devices(), &allocation->devices());
  EXPECT_EQ(allocation->SerializeAsString(), bytes);
  allocation = nullptr;
  EXPECT_TRUE(AreEqual(*stamped, expected));
}

TEST(ClaimVersionTest, EditsAreMadeWhenRead) {
  ClaimEdit edit;
  edit.guards = true;
  edit.consumer = {"pod", "u"};
  const ClaimRef claim = FullClaim();
  const ClaimRef edited = EditClaim(claim, edit);
  EXPECT_EQ(edited.uid(), claim->metadata().uid());
  EXPECT_EQ(edited.allocation(), claim.allocation());
  EXPECT_TRUE(edited.deleting());
  EXPECT_TRUE(edited.IsControlledBy("uid"));
  EXPECT_FALSE(edited.IsControlledBy("name"));
  EXPECT_EQ(edited->metadata().finalizers_size(), claim->metadata().finalizers_size() + 1);
  EXPECT_EQ(edited->status().reserved_for_size(), claim->status().reserved_for_size() + 1);
  EXPECT_EQ(&edited->spec().devices(), &claim->spec().devices());
  const ClaimRef copy = edited;
  EXPECT_EQ(copy.get(), edited.get());
}

}  // namespace claim_version_test
}  // namespace drasim
