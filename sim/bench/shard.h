// A part of the cells of a sweep or of a benchmark suite, as one of several machines runs it.
#ifndef DRASIM_SIM_BENCH_SHARD_H_
#define DRASIM_SIM_BENCH_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim::bench {

inline constexpr uint32_t kMaxShards = 10'000;

// Cells are dealt out in turn, so that those of a large entry are spread over all shards.
struct Shard {
  uint32_t number = 1;  // from 1 to `count`
  uint32_t count = 1;

  // Whether the shard has the cell at that position, from 0 on.
  bool Has(size_t position) const { return position % count == number - 1; }
  std::string Text() const;  // "2/8"
  bool operator==(const Shard&) const = default;
};

// InvalidArgument, beginning with `origin`, for anything but K/N with 1 <= K <= N <= kMaxShards.
absl::StatusOr<Shard> ParseShard(absl::string_view text, absl::string_view origin);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_SHARD_H_
