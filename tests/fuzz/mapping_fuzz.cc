// libFuzzer: mapping text and a table read with it must end in pods, nodes or errors, and in
// nothing worse.
//
// Input: one byte of options, the mapping's YAML, a line "===", the table. Checked: pods have times
// in order and sane shapes; a strict reader stops at the first row that a lenient one counts; every
// cut of the input gives the same number of pods.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "model/check.h"
#include "model/device_set.h"
#include "model/event_source.h"
#include "model/gpu_model_table.h"
#include "model/node_spec.h"
#include "model/pod_shape.h"
#include "model/shape_table.h"
#include "traces/byte_source.h"
#include "traces/mapping.h"
#include "traces/table_source.h"

namespace drasim {
namespace {

struct Counts {
  int64_t pods = 0;
  int64_t skipped = 0;
  bool good = false;
};

Counts ReadPods(const proto::TableMapping& mapping, absl::string_view table, bool lenient,
                const ByteSourceOptions& chunks) {
  Counts counts;
  GpuModelTable models;
  ShapeTable shapes(&models);
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("table", table, chunks);
  if (!bytes.ok()) return counts;
  TableSourceOptions options;
  options.lenient = lenient;
  absl::StatusOr<std::unique_ptr<TableSource>> source =
      TableSource::Open(*std::move(bytes), mapping, &shapes, options);
  if (!source.ok()) return counts;
  JobArrival pod;
  int64_t last_ns = 0;
  absl::StatusOr<bool> got = (*source)->Next(&pod);
  for (; got.ok() && *got; got = (*source)->Next(&pod)) {
    ++counts.pods;
    DRASIM_CHECK(!pod.name.empty());
    DRASIM_CHECK_GE(pod.time.ns(), last_ns);
    DRASIM_CHECK_GE(pod.run_time.ns(), 0);
    last_ns = pod.time.ns();
    const PodShape& shape = shapes.row(pod.shape);
    DRASIM_CHECK(shape.request.cpu_milli >= 0 && shape.request.memory_bytes >= 0 &&
                 shape.request.gpu_count >= 0);
    DRASIM_CHECK(shape.request.gpu_milli >= 0 && shape.request.gpu_milli <= kDeviceMilli);
    DRASIM_CHECK_EQ(shape.request.gpu_milli == 0, shape.request.gpu_count == 0);
  }
  counts.skipped = (*source)->skipped_rows();
  counts.good = got.ok();
  return counts;
}

void ReadNodeTable(const proto::TableMapping& mapping, absl::string_view table) {
  absl::StatusOr<std::unique_ptr<ByteSource>> bytes = OpenMemory("table", table);
  if (!bytes.ok()) return;
  absl::StatusOr<std::vector<NodeSpec>> nodes = ReadNodes(*std::move(bytes), mapping);
  if (!nodes.ok()) return;
  for (const NodeSpec& node : *nodes) {
    DRASIM_CHECK(!node.name.empty());
    DRASIM_CHECK(node.gpu_count >= 0 && node.gpu_count <= kMaxDevicesPerNode);
    DRASIM_CHECK(node.gpu_count > 0 || node.gpu_model.empty());
  }
}

void FuzzOne(absl::string_view input) {
  constexpr absl::string_view kDivider = "\n===\n";
  if (input.empty()) return;
  const size_t chunk_bytes = static_cast<unsigned char>(input.front());
  input.remove_prefix(1);
  const size_t divider = input.find(kDivider);
  const absl::string_view yaml = input.substr(0, divider);
  absl::StatusOr<proto::TableMapping> mapping = ParseMapping(yaml, "fuzz.yaml");
  if (!mapping.ok() || divider == absl::string_view::npos) return;
  const absl::string_view table = input.substr(divider + kDivider.size());
  if (mapping->has_nodes()) ReadNodeTable(*mapping, table);
  if (!mapping->has_pods()) return;
  ByteSourceOptions chunks;
  chunks.chunk_bytes = chunk_bytes;
  const Counts strict = ReadPods(*mapping, table, false, {});
  const Counts lenient = ReadPods(*mapping, table, true, {});
  const Counts cut = ReadPods(*mapping, table, true, chunks);
  DRASIM_CHECK(cut.pods == lenient.pods && cut.skipped == lenient.skipped);
  DRASIM_CHECK_EQ(cut.good, lenient.good);
  DRASIM_CHECK_EQ(strict.skipped, 0);
  DRASIM_CHECK_LE(strict.pods, lenient.pods);
  if (strict.good) DRASIM_CHECK(lenient.skipped == 0 && lenient.pods == strict.pods);
}

}  // namespace
}  // namespace drasim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  drasim::FuzzOne(absl::string_view(reinterpret_cast<const char*>(data), size));
  return 0;
}
