#include "model/kube/shared_message.h"

#include <google/protobuf/message.h>
#include <google/protobuf/util/message_differencer.h>

namespace drasim::internal {

bool HaveSameFields(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

}  // namespace drasim::internal
