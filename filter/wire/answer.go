package wire

import "math"

// Answer: 1 results.

func (m *Answer) append(b []byte) []byte {
	var at int
	for i := range m.Results {
		b, at = openElement(b, 1)
		b = m.Results[i].append(b)
		closeElement(b, at)
	}
	return b
}

func (m *Answer) decode(b []byte) error {
	m.Results = m.Results[:0]
	return fields(b, 1<<1, func(f field) error {
		if f.num == 1 {
			return element(f, &m.Results, MaxOperations, decodeResult)
		}
		return nil
	})
}

// Result: 1 code, 2 fence, 3 attempt, 4 lease, 5 retry after, 6 status, 7 age,
// 8 remaining, 9 differs, 10 result, 11 restored, 12 key, 13 expires at, 14 text,
// 15 withheld, 16 state.

func (m *Result) append(b []byte) []byte {
	b = appendNumber(b, 1, m.Code)
	b = appendNumber(b, 2, m.Fence)
	b = appendNumber(b, 3, m.Attempt)
	b = appendNumber(b, 4, m.LeaseMS)
	b = appendNumber(b, 5, m.RetryAfterMS)
	b = appendNumber(b, 6, m.Status)
	b = appendNumber(b, 7, m.AgeMS)
	b = appendNumber(b, 8, m.RemainingMS)
	b = appendData(b, 9, m.Differs)
	b = appendData(b, 10, m.Result)
	b = appendFlag(b, 11, m.Restored)
	b = appendText(b, 12, m.Key)
	b = appendNumber(b, 13, m.ExpiresAtMS)
	b = appendText(b, 14, m.Text)
	b = appendFlag(b, 15, m.Withheld)
	return appendNumber(b, 16, m.State)
}

func decodeResult(b []byte, m *Result) error {
	return fields(b, 0, func(f field) error {
		switch f.num {
		case 1:
			return number(f, &m.Code, math.MaxUint8)
		case 2:
			return number(f, &m.Fence, math.MaxUint64)
		case 3:
			return number(f, &m.Attempt, math.MaxUint32)
		case 4:
			return number(f, &m.LeaseMS, maxInt64)
		case 5:
			return number(f, &m.RetryAfterMS, maxInt64)
		case 6:
			return number(f, &m.Status, math.MaxUint16)
		case 7:
			return number(f, &m.AgeMS, maxInt64)
		case 8:
			return number(f, &m.RemainingMS, maxInt64)
		case 9:
			return data(f, &m.Differs)
		case 10:
			return data(f, &m.Result)
		case 11:
			return flag(f, &m.Restored)
		case 12:
			return text(f, &m.Key)
		case 13:
			return number(f, &m.ExpiresAtMS, maxInt64)
		case 14:
			return text(f, &m.Text)
		case 15:
			return flag(f, &m.Withheld)
		case 16:
			return number(f, &m.State, math.MaxUint8)
		}
		return nil
	})
}
