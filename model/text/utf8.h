// UTF-8, one code point at a time: strict decoding, and encoding.
#ifndef DRASIM_MODEL_TEXT_UTF8_H_
#define DRASIM_MODEL_TEXT_UTF8_H_

#include <cstddef>
#include <string>

#include "absl/strings/string_view.h"

namespace drasim {

// Reads the code point that begins at byte *position of `text`, stores it and moves *position past
// it. Returns false, with *position and *code_point as they were, at the end of the text and where
// the bytes are not well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above
// U+10FFFF).
bool DecodeUtf8(absl::string_view text, size_t* position, char32_t* code_point);

// Whether all of `text` is well-formed UTF-8. Linear in its bytes.
bool IsUtf8(absl::string_view text);

// Appends a code point. REQUIRES: it is a scalar value, so neither a surrogate nor above U+10FFFF.
void AppendUtf8(char32_t code_point, std::string* out);

}  // namespace drasim

#endif  // DRASIM_MODEL_TEXT_UTF8_H_
