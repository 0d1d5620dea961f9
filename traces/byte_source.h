// ByteSource: the bytes of a trace from a file, a .gz file, standard input or memory.
//
// Gzip (RFC 1952) is recognised by its two magic bytes, never by a file name, and unpacked on the
// fly: several members in a row and zero bytes behind the last one are accepted, as gzip(1) does.
// Memory use is constant.
#ifndef DRASIM_TRACES_BYTE_SOURCE_H_
#define DRASIM_TRACES_BYTE_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace drasim {

// Reads are cut to these sizes, so that tests can put the seam between two reads anywhere.
struct ByteSourceOptions {
  size_t chunk_bytes = 0;        // most bytes of one Read; 0 = as many as the caller has room for
  size_t first_chunk_bytes = 0;  // the same for the first Read; 0 = chunk_bytes
};

// A stream of bytes, read once from front to back. Not thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  // Puts up to `capacity` bytes at `out` and returns how many; 0 is the end, for good. Bytes ahead
  // of damaged gzip data are handed out before the error. Errors (DataLoss) begin with name() and
  // repeat at every further call. REQUIRES: capacity > 0.
  virtual absl::StatusOr<size_t> Read(char* out, size_t capacity) = 0;

  // The source as error messages show it: the path, "<stdin>", or the name given to OpenMemory.
  const std::string& name() const { return name_; }

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}

 private:
  const std::string name_;
};

// Opens the file `path`; "-" is standard input. Errors: NotFound for a missing file,
// InvalidArgument for a directory or an empty file, PermissionDenied for a file that may not be
// opened, DataLoss when reading fails.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenByteSource(absl::string_view path,
                                                           const ByteSourceOptions& options = {});

// The bytes of `bytes`, plain or gzip, which must outlive the source. Empty bytes are
// InvalidArgument.
absl::StatusOr<std::unique_ptr<ByteSource>> OpenMemory(absl::string_view name,
                                                       absl::string_view bytes,
                                                       const ByteSourceOptions& options = {});

// Everything that is left in `source`. InvalidArgument when that is more than `max_bytes`.
absl::StatusOr<std::string> ReadAll(ByteSource& source, size_t max_bytes);

}  // namespace drasim

#endif  // DRASIM_TRACES_BYTE_SOURCE_H_
