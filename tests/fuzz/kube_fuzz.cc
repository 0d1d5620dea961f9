// libFuzzer target: any bytes as a manifest or dump, as a line of cases and as slices. Objects that
// are read must survive kubectl's text and back.

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "google/protobuf/util/message_differencer.h"
#include "model/check.h"
#include "model/kube/reader.h"
#include "model/kube/sdra_case_reader.h"
#include "model/kube/slice_reader.h"
#include "model/kube/writer.h"

namespace {

void ReadBack(const drasim::proto::kube::Object& object) {
  drasim::KubeReadOptions options;
  options.validate = false;
  for (const auto format : {drasim::KubeTextFormat::kYaml, drasim::KubeTextFormat::kJson}) {
    const absl::StatusOr<drasim::KubeManifest> again =
        drasim::ReadKubeObjects(drasim::PrintKubeObject(object, format), "again", options);
    DRASIM_CHECK(again.ok());
    DRASIM_CHECK_EQ(again->objects.size(), size_t{1});
    DRASIM_CHECK(
        google::protobuf::util::MessageDifferencer::Equals(again->objects[0].object, object));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  const absl::StatusOr<drasim::KubeManifest> read = drasim::ReadKubeObjects(text, "fuzz");
  if (read.ok()) {
    for (const drasim::KubeObject& object : read->objects) ReadBack(object.object);
  }
  drasim::KubeReadOptions of_cluster;
  of_cluster.of_cluster = true;
  (void)drasim::ReadKubeObjects(text, "fuzz", of_cluster);
  (void)drasim::ReadResourceSlices(text, "fuzz");
  const absl::StatusOr<drasim::SdraLine> line = drasim::SdraLine::Parse(text, "fuzz");
  if (!line.ok()) return 0;
  (void)line->Case();
  (void)line->AllocatorWant();
  (void)line->PluginWant();
  return 0;
}
