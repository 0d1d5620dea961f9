// ClaimRef: an immutable version of a ResourceClaim of resource.k8s.io/v1. A write makes another
// version.
//
// The rules read few of the versions that they receive. A version may therefore come from a
// ClaimSource, which builds the v1 message at its first use, once for all copies of the reference.
#ifndef DRASIM_POLICIES_DRA_CLAIM_REF_H_
#define DRASIM_POLICIES_DRA_CLAIM_REF_H_

#include <google/protobuf/arena.h>

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/strings/string_view.h"
#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"

namespace drasim {

using AllocationRef = std::shared_ptr<const proto::kube::AllocationResultV1>;
using DevicesRef = std::shared_ptr<const proto::kube::DeviceClaim>;

bool IsReservedFor(const proto::kube::ResourceClaimV1& claim, absl::string_view consumer_uid);

class ClaimSource {
 public:
  using Message = std::shared_ptr<const proto::kube::ResourceClaimV1>;

  virtual ~ClaimSource() = default;
  // Never null.
  const Message& message() const {
    if (message_ == nullptr) message_ = Make();
    return message_;
  }
  // Fields that do not need the message. Texts are valid as long as the source is.
  virtual absl::string_view ns() const = 0;      // metadata.namespace
  virtual absl::string_view name() const = 0;    // metadata.name
  virtual std::string uid() const = 0;           // metadata.uid
  virtual bool deleting() const = 0;             // has a deletionTimestamp
  virtual bool guarded() const = 0;              // has kStructuredClaimFinalizer
  virtual DevicesRef devices() const = 0;        // spec.devices; null: not set
  virtual AllocationRef allocation() const = 0;  // null: not allocated
  // `owner` and `consumer` are UIDs.
  virtual bool IsControlledBy(absl::string_view owner) const = 0;
  virtual bool IsReservedFor(absl::string_view consumer) const = 0;

 protected:
  virtual Message Make() const = 0;

 private:
  mutable Message message_;
};

class ClaimRef {
 public:
  using Message = ClaimSource::Message;

  ClaimRef() = default;
  // NOLINTBEGIN(google-explicit-constructor): it is used as a pointer is
  ClaimRef(std::nullptr_t) {}
  template <typename T>
  requires std::is_convertible_v<std::shared_ptr<T>, Message> ClaimRef(std::shared_ptr<T> message)
      : message_(std::move(message)) {}
  // NOLINTEND(google-explicit-constructor)
  // REQUIRES: not null.
  explicit ClaimRef(std::shared_ptr<const ClaimSource> source) : source_(std::move(source)) {}

  const Message& message() const { return source_ == nullptr ? message_ : source_->message(); }
  const proto::kube::ResourceClaimV1* get() const { return message().get(); }
  const proto::kube::ResourceClaimV1& operator*() const { return *message(); }
  const proto::kube::ResourceClaimV1* operator->() const { return get(); }
  // Null for a version that is a message.
  const ClaimSource* source() const { return source_.get(); }

  // Fields that do not need the message (ClaimSource). REQUIRES: not null.
  absl::string_view ns() const;
  absl::string_view name() const;
  std::string uid() const;
  bool deleting() const;
  bool guarded() const;
  DevicesRef devices() const;
  AllocationRef allocation() const;
  bool is_allocated() const { return allocation() != nullptr; }
  bool IsControlledBy(absl::string_view owner) const;
  bool IsReservedFor(absl::string_view consumer) const;

  friend bool operator==(const ClaimRef& ref, std::nullptr_t) {
    return ref.source_ == nullptr && ref.message_ == nullptr;
  }
  // Whether both are the same version, not whether versions are equal.
  friend bool operator==(const ClaimRef&, const ClaimRef&) = default;

  // For checkpoints (sim/dra/api/plane_archive.h): the message.
  template <typename Archive, typename Self>
  static void Fields(Archive& a, Self& s) {
    if constexpr (Archive::kLoads) {
      s.source_ = nullptr;
      a(s.message_);
    } else {
      a(s.message());
    }
  }

 private:
  std::shared_ptr<const ClaimSource> source_;
  Message message_;  // of a version without a source
};

// Parts of a claim that its versions share (claim_version.h).
struct ClaimParts {
  DevicesRef devices;                                       // spec.devices; null: not set
  AllocationRef allocation;                                 // status.allocation; null: not set
  std::shared_ptr<const proto::kube::ObjectMeta> metadata;  // null: not set
};

// The parts of a claim. If KeepParts did not make its message, they keep the message alive. O(1).
ClaimParts PartsOf(const ClaimRef& claim);

// A reference to `claim`, a message of the arena that points to the parts; keeps both alive.
ClaimRef::Message KeepParts(proto::kube::ResourceClaimV1* claim,
                            std::shared_ptr<google::protobuf::Arena> arena, ClaimParts parts);

}  // namespace drasim

#endif  // DRASIM_POLICIES_DRA_CLAIM_REF_H_
