#include "sim/outputs/gbench_output.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/text/json_writer.h"
#include "sim/record/version.h"

namespace drasim {
namespace {

constexpr absl::string_view kCpuMetric = "cpu_seconds";
constexpr double kMsPerSecond = 1000;

// One repetition: the figures of a name and a seed.
using Repetition = std::vector<const ResultFigure*>;

// 0: not measured.
double CpuMs(const Repetition& repetition) {
  for (const ResultFigure* figure : repetition) {
    if (figure->metric == kCpuMetric) return kMsPerSecond * figure->value;
  }
  return 0;
}

struct Family {
  std::string name;
  std::vector<std::optional<uint64_t>> seeds;
  std::vector<Repetition> repetitions;  // beside the seeds
};

std::vector<Family> FamiliesOf(const ResultSet& results) {
  std::vector<Family> families;
  std::map<std::string, size_t> index;
  for (const ResultFigure& figure : results.figures) {
    const auto [at, is_new] = index.try_emplace(figure.name, families.size());
    if (is_new) families.push_back({figure.name, {}, {}});
    Family& family = families[at->second];
    const auto seed = std::find(family.seeds.begin(), family.seeds.end(), figure.seed);
    const auto repetition = static_cast<size_t>(seed - family.seeds.begin());
    if (seed == family.seeds.end()) {
      family.seeds.push_back(figure.seed);
      family.repetitions.emplace_back();
    }
    family.repetitions[repetition].push_back(&figure);
  }
  for (Family& family : families) {
    family.repetitions.erase(std::remove_if(family.repetitions.begin(), family.repetitions.end(),
                                            [](const Repetition& r) { return CpuMs(r) <= 0; }),
                             family.repetitions.end());
  }
  return families;
}

void WriteRepetition(const Family& family, size_t family_index, size_t r, JsonWriter* j) {
  const double ms = CpuMs(family.repetitions[r]);
  j->BeginObject();
  j->Key("name").String(family.name);
  j->Key("family_index").Uint(family_index);
  j->Key("per_family_instance_index").Uint(0);
  j->Key("run_name").String(family.name);
  j->Key("run_type").String("iteration");
  j->Key("repetitions").Uint(family.repetitions.size());
  j->Key("repetition_index").Uint(r);
  j->Key("threads").Uint(1);
  j->Key("iterations").Uint(1);
  j->Key("real_time").Double(ms);
  j->Key("cpu_time").Double(ms);
  j->Key("time_unit").String("ms");
  for (const ResultFigure* figure : family.repetitions[r]) {
    if (figure->metric != kCpuMetric) j->Key(figure->metric).Double(figure->value);
  }
  j->EndObject();
}

}  // namespace

std::string GoogleBenchmarkJson(const ResultSet& results) {
  JsonWriter json;
  json.BeginDocument("google-benchmark");
  json.Key("context").BeginObject();
  json.Key("executable").String("drasim");
  json.Key("drasim_version").String(kDrasimVersion);
  json.Key("drasim_command").String(results.command);
  json.EndObject();
  json.Key("benchmarks").BeginArray();
  const std::vector<Family> families = FamiliesOf(results);
  for (size_t f = 0; f < families.size(); ++f) {
    for (size_t r = 0; r < families[f].repetitions.size(); ++r) {
      WriteRepetition(families[f], f, r, &json);
    }
  }
  json.EndArray().EndObject();
  return json.text();
}

}  // namespace drasim
