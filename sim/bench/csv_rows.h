// A small CSV file as a whole: results that are read back, checked and joined.
#ifndef DRASIM_SIM_BENCH_CSV_ROWS_H_
#define DRASIM_SIM_BENCH_CSV_ROWS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace drasim::bench {

struct CsvRow {
  std::vector<std::string> fields;
  int64_t line = 0;  // of the file, from 1 on

  // The fields as a line without its end, quoted as AppendCsvField does it: the bytes of a file
  // that was written that way.
  std::string Text() const;
};

// All rows, the header first. Errors of OpenByteSource; InvalidArgument ("FILE:LINE:COLUMN: ...")
// for text that is no CSV, for a row with fewer or more fields than the header, and for a last
// line without its end, which may be cut off.
absl::StatusOr<std::vector<CsvRow>> ReadCsvRows(const std::string& path);

}  // namespace drasim::bench

#endif  // DRASIM_SIM_BENCH_CSV_ROWS_H_
