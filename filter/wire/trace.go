package wire

// SampledTrace reports whether s is a traceparent of a sampled request, as W3C
// Trace Context (level 1, section 3.2) has it for version 00:
//
//	00-<32 hex digits, not all 0>-<16 hex digits, not all 0>-<2 hex digits, the last bit set>
//
// Digits are in lower case. Whatever else is there, a list, another version or
// one byte more, is none: a trace is not worth guessing for.
func SampledTrace(s string) bool {
	if len(s) != MaxTraceBytes || s[0] != '0' || s[1] != '0' || s[2] != '-' || s[35] != '-' || s[52] != '-' {
		return false
	}
	return someHex(s[3:35]) && someHex(s[36:52]) && isHex(s[53]) && isHex(s[54]) && hexOdd(s[54])
}

// someHex reports whether s is hexadecimal in lower case, and not all 0.
func someHex(s string) bool {
	some := false
	for i := 0; i < len(s); i++ {
		if !isHex(s[i]) {
			return false
		}
		some = some || s[i] != '0'
	}
	return some
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }

// hexOdd reports the last bit of a hexadecimal digit: '0' is 48, 'a' is 97, for
// ten.
func hexOdd(c byte) bool { return c <= '9' == (c&1 == 1) }
