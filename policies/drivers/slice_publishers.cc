#include "policies/drivers/slice_publishers.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "model/key_error.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "policies/drivers/example_publisher.h"
#include "policies/drivers/file_publisher.h"
#include "policies/drivers/nvidia_publisher.h"

namespace drasim {
namespace {

using Slices = std::vector<proto::kube::ResourceSlice>;
using Made = absl::StatusOr<std::unique_ptr<SlicePublisher>>;

struct PublisherKind {
  absl::string_view kind;
  absl::string_view keys;  // besides those that all kinds have
  Made (*make)(const proto::SliceDriver& options, const Slices& slices);
};

constexpr absl::string_view kCommonKeys = "kind name order release on_unhealthy recovery publish";

// One line per file pair.
constexpr PublisherKind kPublisherKinds[] = {
    {"gpu.nvidia.com",
     "mig layout mig_mode consumable_shares driver_version cuda_version addressing_mode "
     "time_slicing mps",
     [](const proto::SliceDriver& o, const Slices&) { return NvidiaPublisher::Make(o); }},
    {"gpu.example.com", "devices partitions shared binding_conditions",
     [](const proto::SliceDriver& o, const Slices&) { return ExamplePublisher::Make(o); }},
    {"slices", "slices templates",
     [](const proto::SliceDriver& o, const Slices& s) { return FilePublisher::Make(o, s); }},
};

// KeyError for a key that is set and that the kind does not have.
absl::Status CheckKeys(const PublisherKind& kind, const proto::SliceDriver& options) {
  std::vector<absl::string_view> known = absl::StrSplit(kCommonKeys, ' ');
  const std::vector<absl::string_view> own = absl::StrSplit(kind.keys, ' ');
  known.insert(known.end(), own.begin(), own.end());
  std::vector<const google::protobuf::FieldDescriptor*> set;
  proto::SliceDriver::GetReflection()->ListFields(options, &set);
  for (const google::protobuf::FieldDescriptor* field : set) {
    if (std::find(known.begin(), known.end(), field->name()) != known.end()) continue;
    return KeyError(field->name(), absl::StrCat("the kind ", kind.kind, " has no such key, only ",
                                                absl::StrJoin(known, ", ")));
  }
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> SlicePublisherKinds() {
  std::vector<std::string> kinds;
  for (const PublisherKind& kind : kPublisherKinds) kinds.emplace_back(kind.kind);
  return kinds;
}

absl::StatusOr<std::unique_ptr<SlicePublisher>> MakeSlicePublisher(
    const proto::SliceDriver& options, const std::vector<proto::kube::ResourceSlice>& file_slices) {
  for (const PublisherKind& kind : kPublisherKinds) {
    if (kind.kind != options.kind()) continue;
    RETURN_IF_ERROR(CheckKeys(kind, options));
    return kind.make(options, file_slices);
  }
  const std::vector<std::string> kinds = SlicePublisherKinds();
  return KeyError("kind", absl::StrCat("found '", options.kind(), "', expected one of ",
                                       absl::StrJoin(kinds, ", "), Suggest(options.kind(), kinds)));
}

absl::Status CheckOpaqueConfig(absl::string_view driver, absl::string_view parameters) {
  proto::SliceDriver options;
  options.set_kind(std::string(driver));
  if (driver == "gpu.nvidia.com") {
    options.set_time_slicing(true);
    options.set_mps(true);
  }
  const Made made = MakeSlicePublisher(options, {});
  return made.ok() ? (*made)->CheckConfig(parameters) : absl::OkStatus();
}

}  // namespace drasim
