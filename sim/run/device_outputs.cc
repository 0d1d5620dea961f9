#include "sim/run/device_outputs.h"

#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "model/number_text.h"
#include "model/record.h"
#include "sim/record/device_report.h"

namespace drasim {
namespace {

constexpr std::pair<const char*, AdmissionFailure> kFailures[] = {
    {"devices_unavailable", AdmissionFailure::kDevicesUnavailable},
    {"resource_unregistered", AdmissionFailure::kResourceUnregistered},
    {"device_unhealthy", AdmissionFailure::kDeviceUnhealthy},
    {"allocate_failed", AdmissionFailure::kAllocateFailed},
    {"topology_affinity", AdmissionFailure::kTopologyAffinity}};
static_assert(std::size(kFailures) == kLastDeviceFailure);

double Percent(double part, int64_t whole) {
  return whole > 0 ? 100 * part / static_cast<double>(whole) : 0;
}

// Whether averages describe the run better than its end. Not for a stream, whose jobs never leave.
bool IsAveraged(const Simulation& sim) { return sim.spec().is_replay() && !sim.spec().is_stream(); }

DeviceAmounts MeanAmounts(const Simulation& sim) {
  return sim.device_report()->Mean(sim.engine().now());
}

// Figures of the tables.
DeviceAmounts MainAmounts(const Simulation& sim) {
  return IsAveraged(sim) ? MeanAmounts(sim) : sim.device_report()->now();
}

DeviceFigures FiguresOf(const Simulation& sim, const DeviceAmounts& a) {
  const DeviceReport& report = *sim.device_report();
  const auto share = [&a](int64_t part) { return Percent(static_cast<double>(part), a.capacity); };
  DeviceFigures f;
  f.present = true;
  if (report.arrived_pods() > 0) {
    f.acceptance_by_count =
        static_cast<double>(report.accepted_pods()) / static_cast<double>(report.arrived_pods());
  }
  if (report.arrived_milli() > 0) {
    f.acceptance_by_slices =
        static_cast<double>(report.accepted_milli()) / static_cast<double>(report.arrived_milli());
  }
  f.allocated_percent = share(a.held);
  f.demanded_percent = share(a.wanted);
  f.stranded_memory_percent = share(a.stranded());
  f.stranded_compute_percent = Percent(static_cast<double>(a.compute_stranded), a.compute_capacity);
  f.stranded_geometry_percent = share(a.stranded_geometry);
  f.stranded_layout_percent = share(a.stranded_layout);
  f.stranded_other_percent = share(a.stranded_other);
  f.waste_compute_percent = share(a.waste);
  f.waste_memory_percent = Percent(static_cast<double>(a.waste_memory_mib), a.granted_memory_mib);
  f.shortfall_percent = share(a.shortfall);
  f.slot_fragmentation_percent = Percent(a.slot_fragmentation, a.capacity);
  f.admission_failures = report.admission_failures();
  if (sim.front_end() != nullptr) {
    f.repartitions = sim.front_end()->repartitions();
    f.repartition_gpu_seconds = sim.front_end()->repartition_gpu_seconds();
  }
  return f;
}

// Levels at one moment, or averages.
void WriteState(const Simulation& sim, absl::string_view key, const DeviceAmounts& a,
                JsonWriter& j) {
  const DeviceFigures f = FiguresOf(sim, a);
  const auto percent = [&j](const char* name, double value) {
    j.Key(name).Double(RoundDecimals(value, 6));
  };
  j.Key(key).BeginObject();
  j.Key("capacity_milli").Int(a.capacity);
  j.Key("held_milli").Int(a.held);
  percent("held_percent", f.allocated_percent);
  j.Key("wanted_milli").Int(a.wanted);
  percent("wanted_percent", f.demanded_percent);
  j.Key("waste_milli").Int(a.waste);
  percent("waste_percent", f.waste_compute_percent);
  j.Key("shortfall_milli").Int(a.shortfall);
  percent("shortfall_percent", f.shortfall_percent);
  j.Key("granted_memory_mib").Int(a.granted_memory_mib);
  j.Key("waste_memory_mib").Int(a.waste_memory_mib);
  percent("waste_memory_percent", f.waste_memory_percent);
  j.Key("free_milli").Int(a.free);
  j.Key("stranded_milli").Int(a.stranded());
  percent("stranded_percent", f.stranded_memory_percent);
  j.Key("stranded_geometry_milli").Int(a.stranded_geometry);
  percent("stranded_geometry_percent", f.stranded_geometry_percent);
  j.Key("stranded_layout_milli").Int(a.stranded_layout);
  percent("stranded_layout_percent", f.stranded_layout_percent);
  j.Key("stranded_other_milli").Int(a.stranded_other);
  percent("stranded_other_percent", f.stranded_other_percent);
  j.Key("compute_capacity_milli").Int(a.compute_capacity);
  j.Key("stranded_compute_milli").Int(a.compute_stranded);
  percent("stranded_compute_percent", f.stranded_compute_percent);
  j.Key("slot_fragmentation_milli").Double(RoundDecimals(a.slot_fragmentation, 2));
  percent("slot_fragmentation_percent", f.slot_fragmentation_percent);
  j.EndObject();
}

}  // namespace

DeviceFigures DeviceFiguresOf(const Simulation& sim) { return FiguresOf(sim, MainAmounts(sim)); }

void WriteDevices(const Simulation& sim, JsonWriter& j) {
  const DeviceReport& report = *sim.device_report();
  const DeviceFigures f = DeviceFiguresOf(sim);
  j.Key("devices").BeginObject();
  j.Key("arrived_milli").Int(report.arrived_milli());
  j.Key("accepted_milli").Int(report.accepted_milli());
  j.Key("acceptance_by_count").Double(RoundDecimals(f.acceptance_by_count, 6));
  j.Key("acceptance_by_slices").Double(RoundDecimals(f.acceptance_by_slices, 6));
  j.Key("admission_failures").BeginObject();
  j.Key("total").Int(f.admission_failures);
  for (const auto& [name, failure] : kFailures) j.Key(name).Int(report.admission_failures(failure));
  j.EndObject();
  j.Key("repartitions").Int(f.repartitions);
  j.Key("repartition_gpu_seconds").Double(RoundDecimals(f.repartition_gpu_seconds, 6));
  WriteState(sim, "end", report.now(), j);
  if (IsAveraged(sim)) WriteState(sim, "mean", MeanAmounts(sim), j);
  j.Key("more_that_fit").BeginObject();
  for (const auto& [profile, count] : report.MoreThatFit()) j.Key(profile).Int(count);
  j.EndObject();
  j.EndObject();
}

void AddDeviceRows(const Simulation& sim, TextTable* table) {
  const DeviceAmounts a = MainAmounts(sim);
  const DeviceFigures f = FiguresOf(sim, a);
  const char* const when = IsAveraged(sim) ? ", mean" : "";
  const auto gpus = [](int64_t milli) { return FixedText(static_cast<double>(milli) / 1000, 1); };
  const auto add = [&](absl::string_view name, int64_t milli, double percent) {
    table->AddRow({absl::StrCat(name, when), gpus(milli),
                   absl::StrCat(FixedText(percent, 2), " % of ", gpus(a.capacity))});
  };
  add("GPUs wanted by pods", a.wanted, f.demanded_percent);
  add("GPUs handed out", a.held, f.allocated_percent);
  add("GPUs wasted", a.waste, f.waste_compute_percent);
  if (sim.cluster().any_mig()) {
    add("GPUs stranded by geometry", a.stranded_geometry, f.stranded_geometry_percent);
    add("GPUs stranded by layout", a.stranded_layout, f.stranded_layout_percent);
  }
  add("GPUs stranded otherwise", a.stranded_other, f.stranded_other_percent);
  if (sim.front_end() != nullptr) {
    table->AddRow({"admission failures", absl::StrCat(f.admission_failures), ""});
  }
}

}  // namespace drasim
