#include "traces/csv_splitter.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/status/statusor.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "model/check.h"

namespace drasim {
namespace {

constexpr size_t kBlock = 64;
// A block may be loaded at any position of the data, also the last one.
constexpr size_t kPadding = kBlock;
constexpr size_t kMaxOptionBytes = size_t{1} << 28;
constexpr size_t kFirstStarts = 64;
constexpr absl::string_view kByteOrderMark = "\xEF\xBB\xBF";

inline uint64_t PortableMask(const char* block, char separator) {
  uint64_t mask = 0;
  for (size_t i = 0; i < kBlock; ++i) {
    const char c = block[i];
    const bool hit = c == separator || c == '\n' || c == '"';
    mask |= static_cast<uint64_t>(hit) << i;
  }
  return mask;
}

#if defined(__SSE2__)
inline uint64_t BlockMask(const char* block, char separator) {
  const __m128i separators = _mm_set1_epi8(separator);
  const __m128i newlines = _mm_set1_epi8('\n');
  const __m128i quotes = _mm_set1_epi8('"');
  uint64_t mask = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i bytes = _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(block + size_t{16} * static_cast<size_t>(i)));
    const __m128i hits = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, separators), _mm_cmpeq_epi8(bytes, newlines)),
        _mm_cmpeq_epi8(bytes, quotes));
    mask |= static_cast<uint64_t>(static_cast<uint32_t>(_mm_movemask_epi8(hits))) << (16 * i);
  }
  return mask;
}
#else
inline uint64_t BlockMask(const char* block, char separator) {
  return PortableMask(block, separator);
}
#endif

// The mask of the block at `block`, without what lies behind the data.
inline uint64_t MaskAt(const char* base, size_t block, size_t end, char separator) {
  uint64_t mask = BlockMask(base + block, separator);
  if (end - block < kBlock) mask &= (uint64_t{1} << (end - block)) - 1;
  return mask;
}

// The offset of the first `c` in base[from, to), or `to`.
inline size_t FindByte(const char* base, char c, size_t from, size_t to) {
  if (from >= to) return to;
  const void* const found = std::memchr(base + from, c, to - from);
  if (found == nullptr) return to;
  return static_cast<size_t>(static_cast<const char*>(found) - base);
}

}  // namespace

namespace internal {

uint64_t StructuralMask(const char* block, char separator) { return BlockMask(block, separator); }

uint64_t StructuralMaskPortable(const char* block, char separator) {
  return PortableMask(block, separator);
}

}  // namespace internal

CsvSplitter::CsvSplitter(ByteSource* source, const CsvOptions& options)
    : source_(source),
      options_(options),
      buffer_(options.buffer_bytes + kPadding),
      starts_(kFirstStarts) {
  DRASIM_CHECK(options.separator != '"' && options.separator != '\n' && options.separator != '\r');
  DRASIM_CHECK(options.comment.find('\n') == std::string::npos);
  DRASIM_CHECK(options.comment.empty() || options.comment.front() != '"');
  DRASIM_CHECK(options.buffer_bytes >= 1 && options.buffer_bytes <= kMaxOptionBytes);
  DRASIM_CHECK(options.max_row_bytes <= kMaxOptionBytes);
}

CsvSplitter::Result CsvSplitter::Next() {
  if (special_) [[unlikely]] {
    if (!Resume()) return Result::kFailed;
  }
  for (;;) {
    if (pos_ == end_) [[unlikely]] {
      if (eof_) return Result::kEnd;
      if (!Refill()) return Result::kFailed;
      continue;
    }
    switch (ScanLine()) {
      case Scan::kRow:
        return Result::kRow;
      case Scan::kSkipped:
        continue;
      case Scan::kBad:
        return Result::kBadRow;
      case Scan::kNeedMore:
        break;
    }
    // The scan saw no end of the row in all of the data.
    if (end_ - pos_ > options_.max_row_bytes) {
      TooLong();
      return Result::kBadRow;
    }
    if (!Refill()) return Result::kFailed;
  }
}

CsvPosition CsvSplitter::position(size_t i) const {
  return PositionOf(row_begin_, row_line_, sliced_ ? slices_[i].raw_begin : starts_[i]);
}

CsvPosition CsvSplitter::end_position() const {
  return PositionOf(row_begin_, row_line_, row_end_);
}

CsvPosition CsvSplitter::PositionOf(size_t row_begin, int64_t row_line, size_t offset) const {
  CsvPosition position;
  position.line = row_line;
  size_t line_begin = row_begin;
  for (size_t at = FindByte(buffer_.data(), '\n', line_begin, offset); at < offset;
       at = FindByte(buffer_.data(), '\n', line_begin, offset)) {
    ++position.line;
    line_begin = at + 1;
  }
  position.column = static_cast<int64_t>(offset - line_begin) + 1;
  return position;
}

// Rare work ahead of the next row. False when the source has failed.
bool CsvSplitter::Resume() {
  if (!status_.ok()) return false;
  if (!started_) {
    started_ = true;
    while (end_ < kByteOrderMark.size() && !eof_) {
      if (!Refill()) return false;
    }
    if (absl::string_view(buffer_.data(), end_).substr(0, kByteOrderMark.size()) ==
        kByteOrderMark) {
      pos_ = kByteOrderMark.size();
      ResetScan();
    }
  }
  if (bad_ && !DiscardLine()) return false;
  bad_ = false;
  special_ = false;
  return true;
}

bool CsvSplitter::DiscardLine() {
  for (;;) {
    const size_t newline = FindByte(buffer_.data(), '\n', pos_, end_);
    if (newline < end_) {
      pos_ = newline + 1;
      ++line_;
      ResetScan();
      return true;
    }
    pos_ = end_;
    if (eof_) return true;
    if (!Refill()) return false;
  }
}

// Moves the unfinished row to the front and reads on behind it. At least doubles what is there, so
// that rescanning a long row after every piece stays linear in total. False when the source fails.
bool CsvSplitter::Refill() {
  const size_t pending = end_ - pos_;
  if (pos_ > 0 && pending > 0) std::memmove(buffer_.data(), buffer_.data() + pos_, pending);
  pos_ = 0;
  end_ = pending;
  const size_t target = std::max<size_t>(2 * pending, 1);
  if (buffer_.size() - kPadding < target) buffer_.resize(2 * target + kPadding);
  while (end_ < target && !eof_ && source_status_.ok()) {
    absl::StatusOr<size_t> count =
        source_->Read(buffer_.data() + end_, buffer_.size() - kPadding - end_);
    if (count.ok()) {
      eof_ = *count == 0;
      end_ += *count;
    } else {
      source_status_ = count.status();
    }
  }
  // Bytes that were read ahead of the error are split first.
  if (end_ == pending && !source_status_.ok()) {
    status_ = source_status_;
    special_ = true;
    return false;
  }
  ResetScan();
  return true;
}

void CsvSplitter::ResetScan() {
  block_ = pos_ / kBlock * kBlock;
  mask_ =
      MaskAt(buffer_.data(), block_, end_, options_.separator) & (~uint64_t{0} << (pos_ % kBlock));
}

CsvSplitter::Scan CsvSplitter::ScanLine() {
  const std::string& comment = options_.comment;
  if (!comment.empty() && buffer_[pos_] == comment.front()) [[unlikely]] {
    const size_t have = std::min(comment.size(), end_ - pos_);
    if (std::memcmp(buffer_.data() + pos_, comment.data(), have) == 0) {
      if (have == comment.size()) return ScanComment();
      if (!eof_) return Scan::kNeedMore;
    }
  }
  return options_.separator == ' ' ? ScanBlanks() : ScanRow();
}

CsvSplitter::Scan CsvSplitter::ScanComment() {
  const size_t limit = ScanLimit();
  const size_t newline = FindByte(buffer_.data(), '\n', pos_, limit);
  if (newline == limit) {
    if (limit - pos_ > options_.max_row_bytes) return TooLong();
    if (!eof_) return Scan::kNeedMore;
  }
  pos_ = newline == limit ? limit : newline + 1;
  ++line_;
  ResetScan();
  return Scan::kSkipped;
}

CsvSplitter::Scan CsvSplitter::ScanRow() {
  const char* const base = buffer_.data();
  const char separator = options_.separator;
  const size_t end = end_;
  uint32_t* starts = starts_.data();
  size_t room = starts_.size() - 1;
  size_t block = block_;
  uint64_t mask = mask_;
  size_t count = 1;
  starts[0] = static_cast<uint32_t>(pos_);
  for (;;) {
    while (mask == 0) {
      block += kBlock;
      if (block >= end) {
        if (!eof_) return Scan::kNeedMore;
        return FinishRow(end, end, count);
      }
      mask = MaskAt(base, block, end, separator);
    }
    const size_t at = block + static_cast<size_t>(std::countr_zero(mask));
    mask &= mask - 1;
    const char c = base[at];
    if (c == separator) {
      if (count == room) [[unlikely]] {
        starts_.resize(2 * starts_.size());
        starts = starts_.data();
        room = starts_.size() - 1;
      }
      starts[count++] = static_cast<uint32_t>(at + 1);
    } else if (c == '\n') {
      block_ = block;
      mask_ = mask;
      return FinishRow(at, at + 1, count);
    } else if (at == starts[count - 1]) {
      return ScanQuoted();
    }
  }
}

// The row of ScanRow ends in front of `row_end` and the next one begins at `next`.
CsvSplitter::Scan CsvSplitter::FinishRow(size_t row_end, size_t next, size_t count) {
  if (row_end - pos_ > options_.max_row_bytes) return TooLong();
  if (row_end > starts_[count - 1] && buffer_[row_end - 1] == '\r') --row_end;
  row_begin_ = pos_;
  row_end_ = row_end;
  row_line_ = line_;
  pos_ = next;
  ++line_;
  if (row_end == row_begin_) return Scan::kSkipped;
  starts_[count] = static_cast<uint32_t>(row_end + 1);
  count_ = count;
  sliced_ = false;
  return Scan::kRow;
}

CsvSplitter::Scan CsvSplitter::ScanBlanks() {
  const char* const base = buffer_.data();
  const size_t limit = ScanLimit();
  size_t row_end = FindByte(base, '\n', pos_, limit);
  if (row_end == limit) {
    if (limit - pos_ > options_.max_row_bytes) return TooLong();
    if (!eof_) return Scan::kNeedMore;
  }
  const size_t next = row_end == limit ? limit : row_end + 1;
  if (row_end > pos_ && base[row_end - 1] == '\r') --row_end;
  slices_.clear();
  size_t at = pos_;
  for (;;) {
    while (at < row_end && (base[at] == ' ' || base[at] == '\t')) ++at;
    if (at == row_end) break;
    Slice slice;
    slice.raw_begin = slice.begin = at;
    while (at < row_end && base[at] != ' ' && base[at] != '\t') ++at;
    slice.raw_end = slice.end = at;
    slices_.push_back(slice);
  }
  if (!slices_.empty()) return FinishSlices(row_end, next);
  pos_ = next;
  ++line_;
  ResetScan();
  return Scan::kSkipped;
}

CsvSplitter::Scan CsvSplitter::ScanQuoted() {
  const size_t limit = ScanLimit();
  slices_.clear();
  size_t at = pos_;
  for (;;) {
    Slice slice;
    slice.raw_begin = at;
    const bool quoted = at < limit && buffer_[at] == '"';
    switch (quoted ? ScanQuotedField(limit, &slice, &at) : ScanPlainField(limit, &slice, &at)) {
      case Stop::kSeparator:
        slices_.push_back(slice);
        break;
      case Stop::kRowEnd:
        slices_.push_back(slice);
        return FinishSlices(slice.raw_end, at);
      case Stop::kBadText:
        return Bad(
            kCsvTextAfterQuote, at,
            absl::StrCat("found '", absl::CHexEscape(absl::string_view(buffer_.data() + at, 1)),
                         "' after a closing quote, expected a separator or the end of the "
                         "row"));
      case Stop::kOutOfBytes:
        if (limit - pos_ > options_.max_row_bytes) return TooLong();
        if (!eof_) return Scan::kNeedMore;
        return Bad(kCsvUnclosedQuote, slice.raw_begin,
                   "found an opening quote, expected a closing one before the end of the input");
    }
  }
}

// `*next` becomes the place behind the byte that ended the field.
CsvSplitter::Stop CsvSplitter::ScanPlainField(size_t limit, Slice* slice, size_t* next) const {
  const char* const base = buffer_.data();
  size_t at = slice->raw_begin;
  while (at < limit && base[at] != options_.separator && base[at] != '\n') ++at;
  if (at == limit && !EndsAt(limit)) return Stop::kOutOfBytes;
  const bool separated = at < limit && base[at] == options_.separator;
  *next = at == limit ? limit : at + 1;
  if (!separated && at > slice->raw_begin && base[at - 1] == '\r') --at;
  slice->begin = slice->raw_begin;
  slice->end = at;
  slice->raw_end = at;
  return separated ? Stop::kSeparator : Stop::kRowEnd;
}

// On kBadText `*next` becomes the place of that text.
CsvSplitter::Stop CsvSplitter::ScanQuotedField(size_t limit, Slice* slice, size_t* next) const {
  const char* const base = buffer_.data();
  size_t close = slice->raw_begin + 1;
  for (;;) {
    close = FindByte(base, '"', close, limit);
    if (close >= limit) return Stop::kOutOfBytes;
    if (close + 1 == limit || base[close + 1] != '"') break;
    slice->escaped = true;
    close += 2;
  }
  const size_t after = close + 1;
  slice->begin = slice->raw_begin + 1;
  slice->end = close;
  slice->raw_end = after;
  *next = after;
  if (after == limit) return EndsAt(limit) ? Stop::kRowEnd : Stop::kOutOfBytes;
  if (base[after] == '\r') {
    if (after + 1 == limit) {
      *next = limit;
      return EndsAt(limit) ? Stop::kRowEnd : Stop::kOutOfBytes;
    }
    if (base[after + 1] != '\n') return Stop::kBadText;
    *next = after + 2;
    return Stop::kRowEnd;
  }
  if (base[after] != options_.separator && base[after] != '\n') return Stop::kBadText;
  *next = after + 1;
  return base[after] == '\n' ? Stop::kRowEnd : Stop::kSeparator;
}

// Completes the row in slices_, whose text ends at `raw_end`.
CsvSplitter::Scan CsvSplitter::FinishSlices(size_t raw_end, size_t next) {
  const char* const base = buffer_.data();
  scratch_.clear();
  // Views into scratch_ are taken while it grows, so it must not move.
  scratch_.reserve(raw_end - pos_);
  for (Slice& slice : slices_) {
    if (!slice.escaped) {
      slice.text = absl::string_view(base + slice.begin, slice.end - slice.begin);
      continue;
    }
    const size_t from = scratch_.size();
    for (size_t at = slice.begin; at < slice.end; ++at) {
      scratch_.push_back(base[at]);
      if (base[at] == '"') ++at;
    }
    slice.text = absl::string_view(scratch_.data() + from, scratch_.size() - from);
  }
  row_begin_ = pos_;
  row_end_ = raw_end;
  row_line_ = line_;
  line_ += 1 + std::count(base + pos_, base + raw_end, '\n');
  pos_ = next;
  count_ = slices_.size();
  sliced_ = true;
  ResetScan();
  return Scan::kRow;
}

CsvSplitter::Scan CsvSplitter::Bad(absl::string_view kind, size_t at, absl::string_view what) {
  error_.kind = kind;
  error_.at = PositionOf(pos_, line_, at);
  error_.what = std::string(what);
  bad_ = true;
  special_ = true;
  return Scan::kBad;
}

CsvSplitter::Scan CsvSplitter::TooLong() {
  return Bad(kCsvRowTooLong, pos_,
             absl::StrCat("found more than ", options_.max_row_bytes,
                          " bytes, expected the end of the row before that"));
}

// The limit of a scan for the end of a row: one byte more than the longest row has.
size_t CsvSplitter::ScanLimit() const { return std::min(end_, pos_ + options_.max_row_bytes + 1); }

// Whether a row may end at `limit` because the input does.
bool CsvSplitter::EndsAt(size_t limit) const {
  return eof_ && limit == end_ && limit - pos_ <= options_.max_row_bytes;
}

}  // namespace drasim
