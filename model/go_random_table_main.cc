// Computes the table that Go's math/rand mixes into every seeded state, and writes it as C++
// literals.
//
//   go_random_table OUTPUT
//
// OUTPUT gets 607 lines "0x0123456789abcdefULL,", ready for inclusion within the braces of an
// array. The build runs this program, so the source carries the derivation and not the table. Exit
// codes: 0 done, 1 the file cannot be written, 2 bad usage.
//
// Definition of the table. Take the generator that GoRandom also uses: a ring `vec` of 607 words
// and the recurrence
//
//   y(n) = y(n-607) + y(n-273)  mod 2^64.
//
// Fill the ring from the small seed generator z -> 48271 z mod (2^31 - 1), starting at z = 1 and
// skipping 20 values: each word is (a << 20) ^ (b << 10) ^ c of three successive values. Then draw
// N = 7.8e12 numbers. The ring as it stands after these draws is the table.
//
// Position of y(n) in the ring. Let the draws be numbered n = 0, 1, ... Before each draw both
// indices move down by one, feed from 334 and tap from 0, so draw n writes position
//
//   feed(n) = 334 - (n+1)  mod 607,    and reads    tap(n) = -(n+1)  mod 607.
//
// Position feed(n) was written last by draw n-607; tap(n) equals feed(n-273), since 334 + 273 =
// 607. That is the recurrence, and it also gives the words before the first draw their numbers:
// y(n) for n = -607..-1 is the initial content of position feed(n).
//
// Skipping N draws. Renumber from the oldest word: s(k) = y(k-607), so s(k+607) = s(k+334) +
// s(k). Let E be the operator that shifts a sequence by one. Every sequence that follows the
// recurrence is annihilated by P(E), where P(x) = x^607 - x^334 - 1. Hence if x^N = c(0) + c(1) x +
// ... + c(606) x^606 modulo P, with coefficients in the integers mod 2^64, then
//
//   s(N+i) = sum over k of c(k) s(k+i)    for every i >= 0.
//
// P is monic, so the reduction needs no division and works in this ring too: x^d = x^(d-273) +
// x^(d-607). x^N takes one squaring per binary digit of N (43), each 607^2 / 2 products. The ring
// after N draws holds y(N-607+i) = s(N+i), i = 0..606, each at position feed(N-607+i) = feed(N+i).
#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <iostream>

namespace {

constexpr size_t kLength = 607;
constexpr size_t kLag = 273;
constexpr size_t kFirstFeed = kLength - kLag;
constexpr uint64_t kDraws = 7'800'000'000'000;

// Coefficients by rising power of x, modulo P and 2^64. Also used for plain lists of 607 words.
using Words = std::array<uint64_t, kLength>;

// The position that draw n writes, for n given modulo 607.
constexpr size_t FeedPosition(size_t n) {
  return (kFirstFeed + kLength - (n + 1) % kLength) % kLength;
}

Words InitialRing() {
  uint64_t z = 1;
  const auto next = [&z] {
    z = 48271 * z % 0x7fffffff;
    return z;
  };
  for (int i = 0; i < 20; ++i) next();
  Words ring{};
  for (uint64_t& word : ring) {
    const uint64_t high = next();
    const uint64_t middle = next();
    const uint64_t low = next();
    word = (high << 20) ^ (middle << 10) ^ low;
  }
  return ring;
}

Words TimesX(const Words& p) {
  const uint64_t top = p[kLength - 1];  // of x^607 = x^334 + 1
  Words shifted{};
  for (size_t k = 1; k < kLength; ++k) shifted[k] = p[k - 1];
  shifted[0] = top;
  shifted[kLength - kLag] += top;
  return shifted;
}

Words Square(const Words& p) {
  std::array<uint64_t, 2 * kLength - 1> product{};
  for (size_t i = 0; i < kLength; ++i) {
    product[2 * i] += p[i] * p[i];
    const uint64_t twice = 2 * p[i];
    for (size_t j = i + 1; j < kLength; ++j) product[i + j] += twice * p[j];
  }
  // Downwards from the highest power, because x^(d-273) may itself need reduction.
  for (size_t d = product.size() - 1; d >= kLength; --d) {
    product[d - kLag] += product[d];
    product[d - kLength] += product[d];
  }
  Words reduced{};
  for (size_t k = 0; k < kLength; ++k) reduced[k] = product[k];
  return reduced;
}

// x^exponent modulo P, by its binary digits from the highest.
Words PowerOfX(uint64_t exponent) {
  Words power{};
  power[0] = 1;
  for (int bit = 63; bit >= 0; --bit) {
    // Leading zeros leave the power at 1, which needs no squaring.
    if ((exponent >> bit) == 0) continue;
    power = Square(power);
    if (((exponent >> bit) & 1) != 0) power = TimesX(power);
  }
  return power;
}

// The ring after `draws` draws from `ring`.
Words RingAfter(const Words& ring, uint64_t draws) {
  // s(0..1212): 607 known words and the 606 more that the sums reach.
  std::array<uint64_t, 2 * kLength - 1> s{};
  for (size_t k = 0; k < kLength; ++k) s[k] = ring[FeedPosition(k)];  // feed(k-607) = feed(k)
  for (size_t k = kLength; k < s.size(); ++k) s[k] = s[k - kLength] + s[k - kLag];

  const Words c = PowerOfX(draws);
  const size_t draws_mod_length = static_cast<size_t>(draws % kLength);
  Words after{};
  for (size_t i = 0; i < kLength; ++i) {
    uint64_t sum = 0;
    for (size_t k = 0; k < kLength; ++k) sum += c[k] * s[k + i];
    after[FeedPosition(draws_mod_length + i)] = sum;
  }
  return after;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: go_random_table OUTPUT\n";
    return 2;
  }
  std::ofstream out(argv[1], std::ios::binary | std::ios::trunc);
  out << std::hex << std::setfill('0');
  for (const uint64_t word : RingAfter(InitialRing(), kDraws)) {
    out << "0x" << std::setw(16) << word << "ULL,\n";
  }
  out.close();
  if (!out) {
    std::cerr << "go_random_table: cannot write " << argv[1] << "\n";
    return 1;
  }
  return 0;
}
