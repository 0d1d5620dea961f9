#include "traces/byte_source.h"

#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"
#include "model/status_macros.h"
#include "traces/file_ptr.h"

namespace drasim {
namespace {

constexpr unsigned char kGzipMagic[2] = {0x1f, 0x8b};
constexpr size_t kInflateInputBytes = size_t{64} << 10;
// zlib counts output bytes in 32 bits.
constexpr size_t kMaxInflateBytes = size_t{1} << 30;

std::string ErrnoText(int error_number) {
  return std::error_code(error_number, std::generic_category()).message();
}

class ChunkSizes {
 public:
  explicit ChunkSizes(const ByteSourceOptions& options) : options_(options) {}

  // The part of `capacity` that the next read may use. To be called once per read.
  size_t Next(size_t capacity) {
    size_t limit = options_.chunk_bytes;
    if (first_ && options_.first_chunk_bytes > 0) limit = options_.first_chunk_bytes;
    first_ = false;
    return limit == 0 ? capacity : std::min(limit, capacity);
  }

 private:
  const ByteSourceOptions options_;
  bool first_ = true;
};

// Bytes as they are stored, before any unpacking.
class RawReader {
 public:
  virtual ~RawReader() = default;
  // Up to `capacity` bytes; 0 at the end.
  virtual absl::StatusOr<size_t> Read(char* out, size_t capacity) = 0;
};

class FileReader final : public RawReader {
 public:
  // Closes `owned`, which is null for standard input.
  FileReader(std::string name, std::FILE* file, FilePtr owned)
      : name_(std::move(name)), file_(file), owned_(std::move(owned)) {}

  absl::StatusOr<size_t> Read(char* out, size_t capacity) override {
    errno = 0;
    const size_t count = std::fread(out, 1, capacity, file_);
    const int error_number = errno;
    if (count == 0 && std::ferror(file_) != 0) {
      return absl::DataLossError(
          absl::StrCat(name_, ": cannot be read: ", ErrnoText(error_number)));
    }
    return count;
  }

 private:
  const std::string name_;
  std::FILE* const file_;
  FilePtr owned_;
};

class MemoryReader final : public RawReader {
 public:
  explicit MemoryReader(absl::string_view bytes) : bytes_(bytes) {}

  absl::StatusOr<size_t> Read(char* out, size_t capacity) override {
    const size_t count = std::min(capacity, bytes_.size());
    if (count > 0) std::memcpy(out, bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  absl::string_view bytes_;
};

class PlainSource final : public ByteSource {
 public:
  // `head`: bytes read from `raw` already.
  PlainSource(std::string name, std::unique_ptr<RawReader> raw, std::string head,
              const ByteSourceOptions& options)
      : ByteSource(std::move(name)),
        raw_(std::move(raw)),
        head_(std::move(head)),
        sizes_(options) {}

  absl::StatusOr<size_t> Read(char* out, size_t capacity) override {
    DRASIM_CHECK(capacity > 0);
    const size_t want = sizes_.Next(capacity);
    const size_t from_head = std::min(want, head_.size() - head_used_);
    if (from_head > 0) {
      std::memcpy(out, head_.data() + head_used_, from_head);
      head_used_ += from_head;
    }
    if (from_head == want) return want;
    ASSIGN_OR_RETURN(const size_t rest, raw_->Read(out + from_head, want - from_head));
    return from_head + rest;
  }

 private:
  std::unique_ptr<RawReader> raw_;
  const std::string head_;
  size_t head_used_ = 0;
  ChunkSizes sizes_;
};

class GzipSource final : public ByteSource {
 public:
  GzipSource(std::string name, std::unique_ptr<RawReader> raw, absl::string_view head,
             const ByteSourceOptions& options)
      : ByteSource(std::move(name)),
        raw_(std::move(raw)),
        input_(kInflateInputBytes),
        input_sizes_(options),
        output_sizes_(options) {
    std::memcpy(input_.data(), head.data(), head.size());
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(head.size());
    // 16 asks zlib for the gzip format.
    const int code = inflateInit2(&stream_, 16 + MAX_WBITS);
    DRASIM_CHECK_EQ(code, Z_OK);
  }
  ~GzipSource() override { inflateEnd(&stream_); }

  absl::StatusOr<size_t> Read(char* out, size_t capacity) override {
    DRASIM_CHECK(capacity > 0);
    RETURN_IF_ERROR(status_);
    const size_t want = std::min(output_sizes_.Next(capacity), kMaxInflateBytes);
    stream_.next_out = reinterpret_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(want);
    while (stream_.avail_out > 0 && !at_end_ && status_.ok()) status_ = Step();
    const size_t count = want - stream_.avail_out;
    if (count == 0 && !status_.ok()) return status_;
    return count;
  }

 private:
  absl::Status Damaged(absl::string_view why) const {
    return absl::DataLossError(absl::StrCat(name(), ": the gzip data ", why));
  }

  // Takes in more input, or unpacks some of it.
  absl::Status Step() {
    if (stream_.avail_in == 0) return Fill();
    if (!in_member_) {
      while (stream_.avail_in > 0 && *stream_.next_in == 0) {
        ++stream_.next_in;
        --stream_.avail_in;
      }
      if (stream_.avail_in == 0) return absl::OkStatus();
      if (*stream_.next_in != kGzipMagic[0]) return Damaged("is followed by other data");
      const int code = inflateReset(&stream_);
      DRASIM_CHECK_EQ(code, Z_OK);
      in_member_ = true;
    }
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      in_member_ = false;
      return absl::OkStatus();
    }
    // Z_BUF_ERROR asks for more input or more room, which the next step or the next Read brings.
    if (code == Z_OK || code == Z_BUF_ERROR) return absl::OkStatus();
    return Damaged(
        absl::StrCat("is damaged (", stream_.msg == nullptr ? "unknown reason" : stream_.msg, ")"));
  }

  absl::Status Fill() {
    ASSIGN_OR_RETURN(const size_t count,
                     raw_->Read(input_.data(), input_sizes_.Next(input_.size())));
    if (count == 0) {
      if (in_member_) return Damaged("ends too early: the file is cut short");
      at_end_ = true;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(count);
    return absl::OkStatus();
  }

  std::unique_ptr<RawReader> raw_;
  std::vector<char> input_;
  z_stream stream_{};
  bool in_member_ = true;
  bool at_end_ = false;
  absl::Status status_;
  ChunkSizes input_sizes_;
  ChunkSizes output_sizes_;
};

// Looks at the first bytes and picks the source that understands them.
absl::StatusOr<std::unique_ptr<ByteSource>> Recognise(std::string name,
                                                      std::unique_ptr<RawReader> raw,
                                                      const ByteSourceOptions& options) {
  std::string head(sizeof(kGzipMagic), '\0');
  size_t have = 0;
  while (have < head.size()) {
    ASSIGN_OR_RETURN(const size_t count, raw->Read(&head[have], head.size() - have));
    if (count == 0) break;
    have += count;
  }
  head.resize(have);
  if (head.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name, ": found an empty file, expected some text"));
  }
  std::unique_ptr<ByteSource> source;
  if (have == sizeof(kGzipMagic) && std::memcmp(head.data(), kGzipMagic, have) == 0) {
    source = std::make_unique<GzipSource>(std::move(name), std::move(raw), head, options);
  } else {
    source =
        std::make_unique<PlainSource>(std::move(name), std::move(raw), std::move(head), options);
  }
  return source;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ByteSource>> OpenByteSource(absl::string_view path,
                                                           const ByteSourceOptions& options) {
  if (path == "-") {
    const std::string name = "<stdin>";
    return Recognise(name, std::make_unique<FileReader>(name, stdin, nullptr), options);
  }
  const std::string name(path);
  if (name.empty()) return absl::InvalidArgumentError("found an empty path, expected a file's");
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(name, ignored);
  if (status.type() == std::filesystem::file_type::not_found) {
    return absl::NotFoundError(absl::StrCat(name, ": there is no such file"));
  }
  if (status.type() == std::filesystem::file_type::directory) {
    return absl::InvalidArgumentError(absl::StrCat(name, ": found a directory, expected a file"));
  }
  errno = 0;
  FilePtr file(std::fopen(name.c_str(), "rb"));
  const int error_number = errno;
  if (file == nullptr) {
    return absl::PermissionDeniedError(
        absl::StrCat(name, ": cannot be opened: ", ErrnoText(error_number)));
  }
  // Reads are large already: a second buffer would only copy.
  std::setvbuf(file.get(), nullptr, _IONBF, 0);
  std::FILE* const borrowed = file.get();
  return Recognise(name, std::make_unique<FileReader>(name, borrowed, std::move(file)), options);
}

absl::StatusOr<std::unique_ptr<ByteSource>> OpenMemory(absl::string_view name,
                                                       absl::string_view bytes,
                                                       const ByteSourceOptions& options) {
  return Recognise(std::string(name), std::make_unique<MemoryReader>(bytes), options);
}

absl::StatusOr<std::string> ReadAll(ByteSource& source, size_t max_bytes) {
  constexpr size_t kStepBytes = size_t{64} << 10;
  std::string all;
  for (;;) {
    const size_t old = all.size();
    all.resize(old + kStepBytes);
    ASSIGN_OR_RETURN(const size_t count, source.Read(&all[old], kStepBytes));
    all.resize(old + count);
    if (count == 0) return all;
    if (all.size() > max_bytes) {
      return absl::InvalidArgumentError(absl::StrCat(source.name(), ": found more than ", max_bytes,
                                                     " bytes, expected at most as many"));
    }
  }
}

}  // namespace drasim
