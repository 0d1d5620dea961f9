// libFuzzer: the splitter against the naive one, over any text, options and chunk sizes.
//
// Input: three bytes of options, then the text.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "model/check.h"
#include "tests/traces/naive_csv.h"
#include "traces/byte_source.h"
#include "traces/csv_splitter.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kOptionBytes = 3;
  if (size < kOptionBytes) return 0;
  const absl::string_view text(reinterpret_cast<const char*>(data) + kOptionBytes,
                               size - kOptionBytes);
  // An unpacking source would see another text.
  if (text.substr(0, 2) == "\x1f\x8b") return 0;
  constexpr char kSeparators[] = {',', ';', '\t', ' '};
  constexpr const char* kComments[] = {"", "#", "//", " "};
  const size_t first = data[0];
  const size_t second = data[1];
  const size_t third = data[2];
  drasim::CsvOptions options;
  options.separator = kSeparators[first % 4];
  options.comment = kComments[first / 4 % 4];
  // Small enough for short inputs to reach it.
  if (first >= 128) options.max_row_bytes = first % 32;
  options.buffer_bytes = 1 + second;
  drasim::ByteSourceOptions chunks;
  chunks.chunk_bytes = third;
  chunks.first_chunk_bytes = second % 64;
  const std::vector<drasim::NaiveRow> expected = drasim::NaiveSplit(text, options);
  DRASIM_CHECK(drasim::RealSplit(text, options, chunks) == expected);
  return 0;
}
