package host

import "fmt"

// Status is what a host call returns.
type Status uint32

// Statuses of the ABI that Envoy returns.
const (
	StatusOK                   Status = 0
	StatusNotFound             Status = 1
	StatusBadArgument          Status = 2
	StatusSerializationFailure Status = 3
	StatusParseFailure         Status = 4
	StatusInvalidMemoryAccess  Status = 6
	StatusEmpty                Status = 7
	StatusCasMismatch          Status = 8
	StatusInternalFailure      Status = 10
	StatusBrokenConnection     Status = 11
	StatusUnimplemented        Status = 12
)

var statusNames = map[Status]string{
	StatusOK: "ok", StatusNotFound: "not_found", StatusBadArgument: "bad_argument",
	StatusSerializationFailure: "serialization_failure", StatusParseFailure: "parse_failure",
	StatusInvalidMemoryAccess: "invalid_memory_access", StatusEmpty: "empty", StatusCasMismatch: "cas_mismatch",
	StatusInternalFailure: "internal_failure", StatusBrokenConnection: "broken_connection",
	StatusUnimplemented: "unimplemented",
}

func (s Status) String() string {
	if n, ok := statusNames[s]; ok {
		return n
	}
	return fmt.Sprintf("status(%d)", uint32(s))
}
