#include "model/fragmentation.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "model/check.h"

namespace drasim {

absl::string_view FragCaseName(FragCase c) {
  static constexpr absl::string_view kNames[kFragCases] = {"Q1", "Q2", "Q3", "Q4",
                                                           "XL", "XR", "NA"};
  return kNames[static_cast<size_t>(c)];
}

std::vector<TypicalPod> BuildTypicalPods(const ShapeTable& shapes,
                                         absl::Span<const int64_t> pods_by_shape,
                                         double popularity_percent) {
  // Memory, selectors and tolerations do not distinguish requests here.
  struct Counted {
    int64_t count;
    uint32_t shape;
  };
  std::vector<Counted> counted;
  absl::flat_hash_map<std::tuple<int64_t, int32_t, int32_t, std::string>, size_t> index;
  int64_t total = 0;
  for (size_t s = 0; s < pods_by_shape.size(); ++s) {
    if (pods_by_shape[s] == 0) continue;
    const PodShape& shape = shapes.row(ShapeId(s));
    auto [it, inserted] =
        index.try_emplace(std::make_tuple(shape.request.cpu_milli, shape.wanted_milli(),
                                          shape.wanted_gpus(), shape.request.gpu_spec),
                          counted.size());
    if (inserted) counted.push_back({0, static_cast<uint32_t>(s)});
    counted[it->second].count += pods_by_shape[s];
    total += pods_by_shape[s];
  }
  const auto key = [&shapes](const Counted& c) {
    const PodShape& s = shapes.row(ShapeId(c.shape));
    return std::make_tuple(c.count, s.request.cpu_milli, s.wanted_milli(), s.wanted_gpus(),
                           absl::string_view(s.request.gpu_spec));
  };
  std::sort(counted.begin(), counted.end(),
            [&key](const Counted& a, const Counted& b) { return key(a) > key(b); });
  const double needed = popularity_percent * static_cast<double>(total) / 100;
  int64_t covered = 0;
  size_t taken = 0;
  while (taken < counted.size() && static_cast<double>(covered) < needed)
    covered += counted[taken++].count;
  std::vector<TypicalPod> typical;
  for (size_t i = 0; i < taken; ++i) {
    const PodShape& s = shapes.row(ShapeId(counted[i].shape));
    const auto count = static_cast<double>(counted[i].count);
    // The artifact's weights: shares of all pods, divided a second time unless the list covers
    // every pod.
    const double share = count / static_cast<double>(total);
    const double weight = taken == counted.size()
                              ? share
                              : share / (static_cast<double>(covered) / static_cast<double>(total));
    TypicalPod pod;
    pod.cpu_milli = s.request.cpu_milli;
    pod.gpu_milli = s.wanted_milli();
    pod.gpu_count = s.wanted_gpus();
    pod.model_mask = s.request.model_mask;
    pod.gpu_spec = s.request.gpu_spec;
    pod.weight = weight;
    typical.push_back(std::move(pod));
  }
  return typical;
}

FragmentationModel::FragmentationModel(std::vector<TypicalPod> typical)
    : typical_(std::move(typical)) {
  std::vector<int32_t> thresholds;
  for (const TypicalPod& t : typical_) {
    cpu_requests_.push_back(t.cpu_milli);
    if (t.gpu_count > 0) thresholds.push_back(t.gpu_milli);
  }
  std::sort(cpu_requests_.begin(), cpu_requests_.end());
  cpu_requests_.erase(std::unique(cpu_requests_.begin(), cpu_requests_.end()), cpu_requests_.end());
  std::sort(thresholds.begin(), thresholds.end());
  thresholds.erase(std::unique(thresholds.begin(), thresholds.end()), thresholds.end());
  thresholds_ = static_cast<int>(thresholds.size());
  DRASIM_CHECK_LE(thresholds_, kDeviceMilli);
  for (int idle = 0; idle <= kDeviceMilli; ++idle) {
    rank_[static_cast<size_t>(idle)] = static_cast<uint16_t>(
        std::upper_bound(thresholds.begin(), thresholds.end(), idle) - thresholds.begin());
  }
  for (const TypicalPod& t : typical_) {
    const auto at =
        std::lower_bound(thresholds.begin(), thresholds.end(), t.gpu_milli) - thresholds.begin();
    compact_.push_back({t.cpu_milli, t.model_mask, t.weight,
                        static_cast<int16_t>(std::min(t.gpu_count, 32767)),
                        static_cast<int16_t>(t.gpu_count > 0 ? at : 0), t.gpu_milli});
  }
}

uint32_t FragmentationModel::CpuRank(int64_t cpu_milli_idle) const {
  const auto end = std::upper_bound(cpu_requests_.begin(), cpu_requests_.end(), cpu_milli_idle);
  return static_cast<uint32_t>(end - cpu_requests_.begin());
}

void FragmentationModel::BuildProfile(absl::Span<const int16_t> idle, Profile& out) const {
  const auto n = static_cast<size_t>(thresholds_);
  // Bucket b holds the devices with enough idle milli for exactly the first b thresholds.
  std::array<int16_t, kMaxThresholds> count;
  std::array<int32_t, kMaxThresholds> sum;
  std::fill_n(count.begin(), n + 1, int16_t{0});
  std::fill_n(sum.begin(), n + 1, 0);
  int32_t total = 0;
  for (int16_t milli : idle) {
    if (milli == 0) continue;
    const size_t bucket = rank_[static_cast<size_t>(milli)];
    ++count[bucket];
    sum[bucket] += milli;
    total += milli;
  }
  out.idle = total;
  int32_t below_milli = 0;
  int16_t nonzero = 0;
  for (size_t b = 0; b <= n; ++b) nonzero = static_cast<int16_t>(nonzero + count[b]);
  int16_t below = 0;
  for (size_t t = 0; t < n; ++t) {
    below = static_cast<int16_t>(below + count[t]);
    below_milli += sum[t];
    out.fitting[t] = static_cast<int16_t>(nonzero - below);
    out.too_small_milli[t] = below_milli;
  }
}

template <typename Add>
void FragmentationModel::ForEachMixedPart(const GpuNodeView& node, Add add) const {
  DRASIM_CHECK_EQ(node.device_models.size(), node.device_milli_idle.size());
  for (size_t i = 0; i < compact_.size(); ++i) {
    const Compact& t = compact_[i];
    const bool lacks_cpu = node.cpu_milli_idle < t.cpu_milli;
    int32_t fitting = 0;
    int32_t fitting_milli = 0;
    int32_t too_small_milli = 0;
    int32_t closed_milli = 0;
    bool open = false;  // some idle device has an acceptable model
    for (size_t d = 0; d < node.device_milli_idle.size(); ++d) {
      const int16_t milli = node.device_milli_idle[d];
      if (milli == 0) continue;
      if (t.gpu_count > 0 && (t.model_mask >> node.device_models[d] & 1) == 0) {
        closed_milli += milli;
        continue;
      }
      open = true;
      const bool fits = milli >= t.gpu_milli;
      fitting += fits ? 1 : 0;
      (fits ? fitting_milli : too_small_milli) += milli;
    }
    if (closed_milli > 0) add(i, FragCase::kNoAccess, closed_milli);
    if (!open) continue;
    const int32_t open_milli = fitting_milli + too_small_milli;
    if (t.gpu_count == 0) {
      add(i, lacks_cpu ? FragCase::kNoGpuLack : FragCase::kNoGpuFits, open_milli);
    } else if (fitting < t.gpu_count) {
      add(i, lacks_cpu ? FragCase::kLackBoth : FragCase::kLackGpu, open_milli);
    } else if (lacks_cpu) {
      add(i, FragCase::kLackCpu, open_milli);
    } else {
      add(i, FragCase::kLackGpu, too_small_milli);
      add(i, FragCase::kSatisfied, fitting_milli);
    }
  }
}

double FragmentationModel::MixedAmount(const GpuNodeView& node) const {
  std::array<double, kFragCases> sum{};
  ForEachMixedPart(node, [&](size_t i, FragCase which, int32_t milli) {
    sum[static_cast<size_t>(which)] += compact_[i].weight * milli;
  });
  return sum[0] + sum[1] + sum[3] + sum[4] + sum[5] + sum[6];
}

double FragmentationModel::Amount(const GpuNodeView& node) const {
  if (!node.device_models.empty()) return MixedAmount(node);
  Profile profile;
  BuildProfile(node.device_milli_idle, profile);
  if (profile.idle == 0) return 0;
  const double idle = profile.idle;
  std::array<double, kFragCases> sum{};
  const int64_t cpu = node.cpu_milli_idle;
  for (const Compact& t : compact_) {
    const bool lacks_cpu = cpu < t.cpu_milli;
    size_t which;
    double milli = idle;
    if (t.gpu_count == 0) {
      which = lacks_cpu ? 5 : 4;
    } else if ((t.model_mask & node.model_bit) == 0) {
      which = 6;
    } else if (profile.fitting[static_cast<size_t>(t.threshold)] >= t.gpu_count) {
      which = 1;
      milli = profile.too_small_milli[static_cast<size_t>(t.threshold)];
      if (lacks_cpu) {
        which = 3;
        milli = idle;
      }
    } else {
      which = lacks_cpu ? 0 : 1;
    }
    sum[which] += t.weight * milli;
  }
  return sum[0] + sum[1] + sum[3] + sum[4] + sum[5] + sum[6];
}

void FragmentationModel::AddParts(const GpuNodeView& node, int sign,
                                  absl::Span<int64_t> totals) const {
  DRASIM_CHECK_EQ(totals.size(), kFragCases * compact_.size());
  if (!node.device_models.empty()) {
    ForEachMixedPart(node, [&](size_t i, FragCase which, int32_t milli) {
      totals[static_cast<size_t>(which) * compact_.size() + i] += sign * int64_t{milli};
    });
    return;
  }
  Profile profile;
  BuildProfile(node.device_milli_idle, profile);
  if (profile.idle == 0) return;
  const size_t n = compact_.size();
  const int64_t idle = sign * int64_t{profile.idle};
  for (size_t i = 0; i < n; ++i) {
    const Compact& t = compact_[i];
    const bool lacks_cpu = node.cpu_milli_idle < t.cpu_milli;
    FragCase which;
    if (t.gpu_count == 0) {
      which = lacks_cpu ? FragCase::kNoGpuLack : FragCase::kNoGpuFits;
    } else if ((t.model_mask & node.model_bit) == 0) {
      which = FragCase::kNoAccess;
    } else if (profile.fitting[static_cast<size_t>(t.threshold)] < t.gpu_count) {
      which = lacks_cpu ? FragCase::kLackBoth : FragCase::kLackGpu;
    } else if (lacks_cpu) {
      which = FragCase::kLackCpu;
    } else {
      const int64_t small =
          sign * int64_t{profile.too_small_milli[static_cast<size_t>(t.threshold)]};
      totals[static_cast<size_t>(FragCase::kLackGpu) * n + i] += small;
      totals[static_cast<size_t>(FragCase::kSatisfied) * n + i] += idle - small;
      continue;
    }
    totals[static_cast<size_t>(which) * n + i] += idle;
  }
}

double FragmentationReport::amount_milli() const {
  return by_case[0] + by_case[1] + by_case[3] + by_case[4] + by_case[5] + by_case[6];
}

double FragmentationReport::idle_milli() const {
  double sum = 0;
  for (double part : by_case) sum += part;
  return sum;
}

double FragmentationReport::q124_percent() const {
  const double idle = idle_milli();
  return idle > 0 ? 100 * (by_case[0] + by_case[1] + by_case[3]) / idle : 0;
}

void FragmentationTracker::Update(const ClusterState& cluster, NodeId node) {
  totals_.resize(kFragCases * model_->size());
  const NodeRow& row = cluster.node(node);
  if (cpu_counted_.size() < cluster.node_count()) cpu_counted_.resize(cluster.node_count(), -1);
  const size_t devices_end = row.device_begin + row.gpu_count;
  if (idle_counted_.size() < devices_end) idle_counted_.resize(devices_end);
  GpuNodeView now = ViewOf(cluster, node);
  int64_t& cpu = cpu_counted_[node.value()];
  const auto kept = absl::MakeSpan(idle_counted_.data() + row.device_begin, row.gpu_count);
  const bool same_devices = std::equal(kept.begin(), kept.end(), now.device_milli_idle.begin());
  // As far as the measure sees, nothing may have changed.
  if (cpu >= 0 && row.available && same_devices &&
      model_->CpuRank(cpu) == model_->CpuRank(now.cpu_milli_idle)) {
    cpu = now.cpu_milli_idle;
    return;
  }
  is_reported_ = false;
  if (cpu >= 0) {
    GpuNodeView before = now;
    before.cpu_milli_idle = cpu;
    before.device_milli_idle = kept;
    model_->AddParts(before, -1, absl::MakeSpan(totals_));
  }
  cpu = -1;
  if (!row.available) return;  // An unavailable node has nothing idle.
  model_->AddParts(now, +1, absl::MakeSpan(totals_));
  cpu = now.cpu_milli_idle;
  std::copy(now.device_milli_idle.begin(), now.device_milli_idle.end(), kept.begin());
}

FragmentationReport FragmentationTracker::Report() const {
  if (is_reported_) return report_;
  is_reported_ = true;
  report_ = FragmentationReport();
  const size_t n = model_->size();
  if (totals_.empty()) return report_;
  for (size_t c = 0; c < kFragCases; ++c) {
    double sum = 0;
    for (size_t i = 0; i < n; ++i) {
      sum += model_->typical()[i].weight * static_cast<double>(totals_[c * n + i]);
    }
    report_.by_case[c] = sum;
  }
  return report_;
}

}  // namespace drasim
