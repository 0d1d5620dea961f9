// SharedMessage: an immutable protobuf message that objects of the control plane share, compared by
// value. Null: the field is not set.
#ifndef DRASIM_MODEL_KUBE_SHARED_MESSAGE_H_
#define DRASIM_MODEL_KUBE_SHARED_MESSAGE_H_

#include <memory>
#include <utility>

namespace google::protobuf {
class Message;
}  // namespace google::protobuf

namespace drasim {

namespace internal {
// Whether two messages of one type have the same fields. O(fields).
bool HaveSameFields(const google::protobuf::Message& a, const google::protobuf::Message& b);
}  // namespace internal

template <typename T>
class SharedMessage {
 public:
  SharedMessage() = default;
  // REQUIRES: T is complete.
  explicit SharedMessage(T message)
      : message_(std::make_shared<const T>(std::move(message))), as_message_(message_.get()) {}
  explicit SharedMessage(std::shared_ptr<const T> message)
      : message_(std::move(message)), as_message_(message_.get()) {}

  explicit operator bool() const { return message_ != nullptr; }
  const T& operator*() const { return *message_; }
  const T* operator->() const { return message_.get(); }
  const std::shared_ptr<const T>& shared() const { return message_; }

  // O(1) for the same message and for null, else O(fields). Works where T is incomplete.
  friend bool operator==(const SharedMessage& a, const SharedMessage& b) {
    if (a.message_ == b.message_) return true;
    return a.message_ != nullptr && b.message_ != nullptr &&
           internal::HaveSameFields(*a.as_message_, *b.as_message_);
  }

 private:
  std::shared_ptr<const T> message_;
  const google::protobuf::Message* as_message_ = nullptr;  // *message_
};

}  // namespace drasim

#endif  // DRASIM_MODEL_KUBE_SHARED_MESSAGE_H_
