// Package key reads the idempotency key from a request's header or cookies, joins
// keys of several parts, and judges them by a rule's grammar.
//
// # The rule for headers
//
// The value of the header is one key in one of two forms. Both give the bytes
// between the quotes: "abc" and abc are the same key.
//
//	key    = quoted / bare
//	quoted = sf-string            ; RFC 8941 section 3.3.3
//	       = DQUOTE *( %x20-21 / %x23-5B / %x5D-7E / "\" DQUOTE / "\\" ) DQUOTE
//	bare   = 1*( %x21-7E except DQUOTE , ; \ ( ) )
//
// The quoted form is what draft-ietf-httpapi-idempotency-key-header-07 section
// 2.1 asks for: an Item Structured Header whose value is a String. Its escapes
// are decoded as RFC 8941 section 4.2.5 says. The bare form is what most clients
// send today; it leaves out what would make the value a list, an inner list or
// a parameter in RFC 8941, so that no value has two readings.
//
// White space (SP and HTAB) around the value is no part of it (RFC 9110 section
// 5.5). Everything else is refused:
//
//   - Two header lines, even equal ones: the draft allows one. A proxy may have
//     joined them by a comma, so a list outside quotes is refused as well.
//   - Parameters: the draft defines none (RFC 8941 section 3.1.2 leaves them to
//     the field), and ignoring them would let two values that differ name one
//     action.
//   - Control bytes and bytes above 7E, in either form.
//   - An empty key, and a key of more bytes than the rule's max_length, counted
//     after decoding.
package key
