#include "sim/run/quota_table.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "model/resource_request.h"
#include "model/status_macros.h"
#include "traces/byte_source.h"
#include "traces/date_time.h"

namespace drasim {
namespace {

constexpr size_t kMaxQuotaBytes = 64u << 20;
constexpr int64_t kMaxGpus = 1'000'000'000;

}  // namespace

absl::Status ReadQuotaTable(const std::string& path, int64_t origin_ns, Quotas* quotas) {
  ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxQuotaBytes));
  std::vector<std::string> tenants;
  int64_t line_number = 0;
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  const auto fail = [&](absl::string_view what) {
    return absl::InvalidArgumentError(absl::StrCat(path, ":", line_number, ": ", what));
  };
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.empty()) continue;
    const std::vector<absl::string_view> fields = absl::StrSplit(line, ',');
    if (tenants.empty()) {
      if (fields[0] != "date" || fields.size() < 2) {
        return fail(absl::StrCat("found '", fields[0], "', expected the header date,TENANT,..."));
      }
      for (size_t t = 1; t < fields.size(); ++t) tenants.emplace_back(fields[t]);
      continue;
    }
    if (fields.size() != tenants.size() + 1) {
      return fail(absl::StrCat("found ", fields.size(), " fields, expected ", tenants.size() + 1));
    }
    const absl::StatusOr<int64_t> day_ns = ParseDateTimeNs(fields[0], "");
    if (!day_ns.ok()) return fail(day_ns.status().message());
    if (*day_ns <= last_ns) return fail("found a day that is not after the one before");
    last_ns = *day_ns;
    for (size_t t = 0; t < tenants.size(); ++t) {
      if (tenants[t] == "total") continue;
      int64_t gpus = 0;
      if (!absl::SimpleAtoi(fields[t + 1], &gpus) || gpus < 0 || gpus > kMaxGpus) {
        return fail(absl::StrCat("found '", fields[t + 1], "' for ", tenants[t],
                                 ", expected a number of GPUs"));
      }
      const ResourceAmounts limit = {Quotas::kUnlimited, Quotas::kUnlimited, gpus * kDeviceMilli};
      quotas->Add(tenants[t], SimTime(std::max<int64_t>(0, *day_ns - origin_ns)), limit);
    }
  }
  if (tenants.empty()) return fail("found no header, expected date,TENANT,...");
  return absl::OkStatus();
}

absl::StatusOr<Quotas> MakeQuotas(absl::Span<const QuotaSpec> entries, int64_t origin_ns) {
  Quotas quotas;
  for (const QuotaSpec& entry : entries) {
    if (entry.path.empty()) {
      quotas.Add(entry.tenant, SimTime(), entry.limit);
    } else {
      RETURN_IF_ERROR(ReadQuotaTable(entry.path, origin_ns, &quotas));
    }
  }
  return quotas;
}

}  // namespace drasim
