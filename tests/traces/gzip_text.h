// Gzip for tests: zlib's own compressor, one member per call.
#ifndef DRASIM_TESTS_TRACES_GZIP_TEXT_H_
#define DRASIM_TESTS_TRACES_GZIP_TEXT_H_

#include <zlib.h>

#include <string>

#include "absl/strings/string_view.h"
#include "model/check.h"

namespace drasim {

inline std::string GzipText(absl::string_view text) {
  z_stream stream{};
  // 16 asks zlib for the gzip format.
  int code = deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  DRASIM_CHECK_EQ(code, Z_OK);
  std::string input(text);
  std::string out(deflateBound(&stream, static_cast<uLong>(input.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(&input[0]);
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(&out[0]);
  stream.avail_out = static_cast<uInt>(out.size());
  code = deflate(&stream, Z_FINISH);
  DRASIM_CHECK_EQ(code, Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

}  // namespace drasim

#endif  // DRASIM_TESTS_TRACES_GZIP_TEXT_H_
