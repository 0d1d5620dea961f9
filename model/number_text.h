// Numbers as text, the same on every machine.
#ifndef DRASIM_MODEL_NUMBER_TEXT_H_
#define DRASIM_MODEL_NUMBER_TEXT_H_

#include <cstddef>
#include <string>

namespace drasim {

// The shortest decimal text that reads back to the same double: "95.23", "0.1", "1e+30". Reports
// never contain "nan" or "inf", because every metric is defined for every input.
void AppendDouble(std::string* out, double value);
std::string DoubleText(double value);

// value rounded to `decimals` places (0..9) as printf's "%.*f" rounds: the exact binary value
// decides, and exact ties go to even. Returned as the double nearest to that decimal. For |value| *
// 10^decimals below 2^52.
double RoundDecimals(double value, int decimals);

// Writes the text that AppendDouble makes of RoundDecimals(value, decimals) to `to`, which has room
// for kMostDoubleChars, and returns the end. Several times faster for numbers of ordinary size.
inline constexpr size_t kMostDoubleChars = 32;
char* WriteRounded(double value, int decimals, char* to);

// The double nearest to the decimal with that many significant digits (1..17) that is nearest to
// value: 95.24600000000001 to 15 digits is 95.246. For finite values.
double RoundSignificant(double value, int digits);

// Exactly `decimals` places, as printf's "%.*f".
std::string FixedText(double value, int decimals);

}  // namespace drasim

#endif  // DRASIM_MODEL_NUMBER_TEXT_H_
