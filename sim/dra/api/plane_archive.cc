#include "sim/dra/api/plane_archive.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include "model/proto/kube.pb.h"
#include "model/proto/resource.pb.h"

namespace drasim::plane_archive {

template <typename T>
std::string BytesOfMessage(const T& message) {
  std::string bytes;
  {
    google::protobuf::io::StringOutputStream stream(&bytes);
    google::protobuf::io::CodedOutputStream coded(&stream);
    coded.SetSerializationDeterministic(true);
    message.SerializeToCodedStream(&coded);
  }
  return bytes;
}

template <typename T>
Ref<T> MessageOfBytes(absl::string_view bytes) {
  auto message = std::make_shared<T>();
  if (!message->ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return nullptr;
  return message;
}

template <typename T>
SharedMessage<T> SharedMessageOf(Ref<T> message) {
  return SharedMessage<T>(std::move(message));
}

// Every type of message that some state has.
#define DRASIM_PLANE_MESSAGE(Type)                                         \
  template std::string BytesOfMessage(const proto::kube::Type& message);   \
  template Ref<proto::kube::Type> MessageOfBytes(absl::string_view bytes); \
  template SharedMessage<proto::kube::Type> SharedMessageOf(Ref<proto::kube::Type> message)

DRASIM_PLANE_MESSAGE(AllocationResultV1);
DRASIM_PLANE_MESSAGE(ContainerExtendedResourceRequest);
DRASIM_PLANE_MESSAGE(DeviceClaim);
DRASIM_PLANE_MESSAGE(DeviceClass);
DRASIM_PLANE_MESSAGE(DeviceTaintRule);
DRASIM_PLANE_MESSAGE(ExtendedResourceClaimStatus);
DRASIM_PLANE_MESSAGE(PodSpec);
DRASIM_PLANE_MESSAGE(ResourceClaimStatusV1);
DRASIM_PLANE_MESSAGE(ResourceClaimV1);
DRASIM_PLANE_MESSAGE(ResourceSlice);

#undef DRASIM_PLANE_MESSAGE

}  // namespace drasim::plane_archive
