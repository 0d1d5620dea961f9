#include "model/kube/kube_time.h"

#include "absl/strings/str_cat.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"

namespace drasim {
namespace {

// 2000-01-01T00:00:00Z.
constexpr int64_t kRunBeginNs = 946'684'800 * kSecondNs;

}  // namespace

int64_t KubeTimeNs(const std::string& text) {
  absl::Time time;
  std::string error;
  if (!absl::ParseTime(absl::RFC3339_full, text, &time, &error)) return 0;
  return absl::ToUnixNanos(time);
}

std::string KubeTimeText(int64_t ns) {
  const absl::CivilSecond time =
      absl::ToCivilSecond(absl::FromUnixSeconds(ns / kSecondNs), absl::UTCTimeZone());
  const auto two = [](int number) { return absl::Dec(number, absl::kZeroPad2); };
  return absl::StrCat(time.year(), "-", two(time.month()), "-", two(time.day()), "T",
                      two(time.hour()), ":", two(time.minute()), ":", two(time.second()), "Z");
}

int64_t RunTimeNs(SimTime time) { return kRunBeginNs + time.ns(); }

std::string RunTimeText(SimTime time) { return KubeTimeText(RunTimeNs(time)); }

SimTime RunTimeOf(const std::string& text) { return SimTime(KubeTimeNs(text) - kRunBeginNs); }

SimTime WholeSeconds(SimTime time) { return SimTime(time.ns() - time.ns() % kSecondNs); }

}  // namespace drasim
