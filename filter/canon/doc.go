// Package canon says when two JSON bodies ask for the same thing. It gives a
// body a canonical text and a digest of that text, and it finds the values that
// name a business action ([Lookup]).
//
// # Canonical text
//
// The canonical text of a JSON text (RFC 8259) is JSON itself:
//
//   - no white space between tokens;
//   - the members of an object in ascending order of their decoded names,
//     compared as UTF-8 bytes; those that differ by case alone have their order
//     of the body in the places that they have together;
//   - strings with the shortest escapes (\" \\ \b \t \n \f \r, other control
//     characters as \u00xx in lower case) and everything else as UTF-8; there is
//     no Unicode normalisation;
//   - a number as an exact decimal: an integer without leading or trailing
//     zeros, then, unless it is 0, the power of ten as "e" and an integer. So
//     1e2, 100 and 100.0 are all 1e2 and 12.50 is 125e-1. Nothing passes through
//     a float64: 9007199254740993 and 9007199254740992 differ, as do 1e400 and
//     1e401. The sign of zero is dropped: -0, 0.0 and 0e9 are all 0.
//
// A parser makes one tree of one text, so two different trees never share a
// canonical text.
//
// # What has no canonical text
//
// Where parsers disagree about what a body says, the package does not choose:
// duplicate member names, unpaired surrogate escapes, invalid UTF-8 and a byte
// order mark have no canonical text. Neither have nesting beyond [MaxDepth],
// exponents beyond [MaxExponent], an empty body, or anything after the first
// value. Such a body is compared by its raw bytes ([RawDigest]), under another
// domain, so that it never equals a canonical one. That can tell two equal
// requests apart; it can never take two different ones for equal.
//
// # Cost
//
// Time is linear in the body, times log n for the names of an object with n
// members. Memory stays within a small multiple of the body. Nothing recurses,
// whatever the body holds, and no number is expanded. The package keeps no state
// and is safe for concurrent use.
package canon
