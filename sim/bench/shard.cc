#include "sim/bench/shard.h"

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace drasim::bench {

std::string Shard::Text() const { return absl::StrCat(number, "/", count); }

absl::StatusOr<Shard> ParseShard(absl::string_view text, absl::string_view origin) {
  const std::vector<absl::string_view> parts = absl::StrSplit(text, '/');
  Shard shard;
  if (parts.size() != 2 || !absl::SimpleAtoi(parts[0], &shard.number) ||
      !absl::SimpleAtoi(parts[1], &shard.count) || shard.number < 1 || shard.number > shard.count ||
      shard.count > kMaxShards) {
    return absl::InvalidArgumentError(
        absl::StrCat(origin, ": found '", text, "', expected K/N with K from 1 to N and N up to ",
                     kMaxShards, ", such as 2/8"));
  }
  return shard;
}

}  // namespace drasim::bench
