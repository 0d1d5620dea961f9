#include "traces/mig_generator.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "model/check.h"
#include "model/device_grant.h"
#include "model/number_text.h"
#include "model/status_macros.h"
#include "model/text/did_you_mean.h"
#include "model/time.h"
#include "traces/generator_options.h"

namespace drasim {
namespace {

std::string ProfileNames(const MigProduct& product) {
  return absl::StrJoin(product.profiles, ", ", [](std::string* out, const MigProfile& profile) {
    out->append(profile.name);
  });
}

}  // namespace

const MigProfile* MigProfileNamed(const MigProduct& product, absl::string_view name) {
  // The product's own names come before those of other drivers.
  for (const MigProfile& profile : product.profiles) {
    if (absl::EqualsIgnoreCase(profile.name, name)) return &profile;
  }
  for (const MigProfile& profile : product.profiles) {
    for (const std::string& other : profile.names) {
      if (absl::EqualsIgnoreCase(other, name)) return &profile;
    }
  }
  return nullptr;
}

std::string SuggestMigProfile(absl::string_view typed, absl::Span<const MigProduct> products) {
  std::vector<std::string> known;
  for (const MigProduct& product : products) {
    for (const MigProfile& profile : product.profiles) {
      known.push_back(profile.name);
      known.insert(known.end(), profile.names.begin(), profile.names.end());
    }
  }
  return Suggest(typed, known);
}

absl::Status CheckMigMix(const MigMixOptions& options) {
  if (options.shares.empty()) return RefusedOption("mig", "no profile", "one at least");
  for (size_t i = 0; i < options.shares.size(); ++i) {
    const double weight = options.shares[i].second;
    // Written so that NaN is refused.
    if (!(weight > 0 && weight <= 1e300)) {
      return RefusedOption(absl::StrCat("mig.", i, ".weight"), DoubleText(weight),
                           "a number above 0");
    }
  }
  if (options.pods < 0 || options.pods > MigMixSource::kMaxPods) {
    return RefusedOption("pods", absl::StrCat(options.pods),
                         absl::StrCat("0 to ", MigMixSource::kMaxPods));
  }
  if (options.offered_units < 0 || options.offered_units > MigMixSource::kMaxPods) {
    return RefusedOption("offered_percent", absl::StrCat(options.offered_units, " units"),
                         absl::StrCat("1 to ", MigMixSource::kMaxPods));
  }
  if (options.pods > 0 && options.offered_units > 0) {
    return RefusedOption("offered_percent", "pods, too", "one of them");
  }
  if (options.pods == 0 && options.offered_units == 0) {
    return RefusedOption("mig", "neither pods nor offered_percent", "one of them");
  }
  return absl::OkStatus();
}

MigMixSource::MigMixSource(const MigMixOptions& options)
    : pods_(options.pods),
      offered_units_(options.offered_units),
      times_("pod", options.seed),
      profile_stream_(options.seed, "workload/mig_profile") {}

absl::StatusOr<std::unique_ptr<MigMixSource>> MigMixSource::Create(const MigMixOptions& options,
                                                                   const MigProduct& product,
                                                                   ShapeTable* shapes) {
  RETURN_IF_ERROR(CheckMigMix(options));
  std::unique_ptr<MigMixSource> source(new MigMixSource(options));
  RETURN_IF_ERROR(
      source->times_.Parse("workload.generated.", options.interarrival, options.run_time));
  RETURN_IF_ERROR(source->AddKinds(options, product, shapes));
  return source;
}

absl::Status MigMixSource::AddKinds(const MigMixOptions& options, const MigProduct& product,
                                    ShapeTable* shapes) {
  double greatest = 0;
  for (const auto& share : options.shares) greatest = std::max(greatest, share.second);
  std::vector<const MigProfile*> seen;
  uint64_t sum = 0;
  int32_t fewest_units = product.units;
  for (size_t i = 0; i < options.shares.size(); ++i) {
    const std::string& name = options.shares[i].first;
    const MigProfile* const profile = MigProfileNamed(product, name);
    if (profile == nullptr) {
      return RefusedOption(absl::StrCat("mig.", i, ".profile"), absl::StrCat("'", name, "'"),
                           absl::StrCat("a profile of ", product.group, ": ", ProfileNames(product),
                                        SuggestMigProfile(name, absl::MakeConstSpan(&product, 1))));
    }
    if (std::find(seen.begin(), seen.end(), profile) != seen.end()) {
      return RefusedOption(absl::StrCat("mig.", i, ".profile"),
                           absl::StrCat("'", name, "' a second time"), "each profile once");
    }
    seen.push_back(profile);
    DRASIM_CHECK_GT(profile->size, 0);
    fewest_units = std::min(fewest_units, profile->size);
    // Whole weights make draws exact. A chance, however small, stays one.
    const double scaled = options.shares[i].second / greatest * kGreatestWeight;
    sum += scaled < 1 ? 1 : static_cast<uint64_t>(std::llround(scaled));
    cumulative_.push_back(sum);
    PodShape shape;
    shape.request.mig.emplace_back(profile->name, 1);
    shape.request.nominal_milli = MilliOfUnits(profile->size, product.units);
    kinds_.push_back(Kind{shapes->Intern(shape), profile->size});
  }
  const int64_t most_pods = pods_ > 0 ? pods_ : (offered_units_ - 1) / fewest_units + 1;
  name_digits_ = NumberDigits(most_pods, 7);
  return absl::OkStatus();
}

absl::StatusOr<bool> MigMixSource::Next(JobArrival* out) {
  RETURN_IF_ERROR(status_);
  if (AtEnd()) return false;
  *out = JobArrival();
  status_ = times_.Draw(next_, &time_ns_, out);
  RETURN_IF_ERROR(status_);
  const Kind& kind = kinds_[DrawIndex(cumulative_, &profile_stream_)];
  out->name = NumberedName("pod-", next_, name_digits_);
  out->shape = kind.shape;
  out->time = SimTime(time_ns_);
  asked_units_ += kind.units;
  ++next_;
  return true;
}

void MigMixSource::Save(StateWriter& out) const {
  out.Section("mig_mix_source");
  out.I64(pods_);
  out.I64(offered_units_);
  out.I64(next_);
  out.I64(asked_units_);
  out.I64(time_ns_);
  profile_stream_.Save(out);
  times_.Save(out);
  out.Str(status_.message());
}

absl::Status MigMixSource::Load(StateReader& in) {
  in.Section("mig_mix_source");
  const int64_t pods = in.I64();
  const int64_t offered_units = in.I64();
  if (in.status().ok() && (pods != pods_ || offered_units != offered_units_)) {
    in.Fail(absl::StrCat("the generated workload has ", pods_, " pods or ", offered_units_,
                         " units, the saved one ", pods, " or ", offered_units));
  }
  const int64_t next = in.I64();
  const int64_t asked_units = in.I64();
  const int64_t most_pods = pods_ > 0 ? pods_ : offered_units_;
  if (next < 0 || next > most_pods || asked_units < next) {
    in.Fail(absl::StrCat("there is no generated pod ", next, " after ", asked_units, " units"));
  }
  const int64_t time_ns = in.I64();
  if (time_ns < 0) in.Fail(absl::StrCat("the time ", time_ns, " ns is negative"));
  RETURN_IF_ERROR(profile_stream_.Load(in));
  RETURN_IF_ERROR(times_.Load(in));
  const std::string error = in.Str();
  RETURN_IF_ERROR(in.status());
  next_ = next;
  asked_units_ = asked_units;
  time_ns_ = time_ns;
  status_ = error.empty() ? absl::OkStatus() : absl::InvalidArgumentError(error);
  return absl::OkStatus();
}

}  // namespace drasim
