package host

// buffer is bytes on their way. One with a limit tells when they become more
// than it, and when they have shrunk to half of it after that.
type buffer struct {
	b      []byte
	limit  int // 0: none
	above  bool
	onHigh func()
	onLow  func()
}

func (f *buffer) add(b []byte) {
	f.b = append(f.b, b...)
	f.check()
}

func (f *buffer) replace(b []byte) {
	f.b = b
	f.check()
}

// take empties the buffer.
func (f *buffer) take() []byte {
	b := f.b
	f.b = nil
	f.check()
	return b
}

func (f *buffer) check() {
	switch {
	case f.limit > 0 && !f.above && len(f.b) > f.limit:
		f.above = true
		f.onHigh()
	case f.above && len(f.b) <= f.limit/2:
		f.above = false
		f.onLow()
	}
}
