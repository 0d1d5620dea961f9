// libFuzzer target: any bytes as a scenario. An accepted scenario must survive ToYaml and back.

#include <cstddef>
#include <cstdint>
#include <string>

#include "google/protobuf/util/message_differencer.h"
#include "model/check.h"
#include "model/proto/scenario.pb.h"
#include "model/text/yaml_proto.h"
#include "model/text/yaml_writer.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using drasim::MergeYaml;
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  drasim::proto::Scenario scenario;
  if (!MergeYaml(text, "fuzz.yaml", &scenario).ok()) return 0;
  const std::string yaml = drasim::ToYaml(scenario);
  drasim::proto::Scenario again;
  DRASIM_CHECK(MergeYaml(yaml, "again.yaml", &again).ok());
  DRASIM_CHECK(google::protobuf::util::MessageDifferencer::Equals(scenario, again));
  return 0;
}
