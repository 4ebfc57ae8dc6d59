package wire

import "math"

// MaxHeaderLines bounds the lines of a recorded response.
const MaxHeaderLines = 1024

// Response: 1 status, 2 header lines, 3 body.

func (m *Response) append(b []byte) []byte {
	b = appendNumber(b, 1, m.Status)
	var at int
	for i := range m.Headers {
		b, at = openElement(b, 2)
		b = appendText(b, 1, m.Headers[i].Name)
		b = appendText(b, 2, m.Headers[i].Value)
		closeElement(b, at)
	}
	return appendData(b, 3, m.Body)
}

func (m *Response) decode(b []byte) error {
	*m = Response{Headers: m.Headers[:0]}
	return fields(b, 1<<2, func(f field) error {
		switch f.num {
		case 1:
			return number(f, &m.Status, math.MaxUint16)
		case 2:
			return element(f, &m.Headers, MaxHeaderLines, decodeLine)
		case 3:
			return data(f, &m.Body)
		}
		return nil
	})
}

// HeaderLine: 1 name, 2 value.

func decodeLine(b []byte, m *HeaderLine) error {
	return fields(b, 0, func(f field) error {
		switch f.num {
		case 1:
			return text(f, &m.Name)
		case 2:
			return text(f, &m.Value)
		}
		return nil
	})
}
