package host

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"slices"
)

// foreign are Envoy's own foreign functions; nil ones are not modelled.
var foreign = map[string]func(x *fctx, args []byte) ([]byte, Status){
	"compress":               compress,
	"uncompress":             uncompress,
	"clear_route_cache":      func(*fctx, []byte) ([]byte, Status) { return nil, StatusOK },
	"declare_property":       declareProperty,
	"set_envoy_filter_state": setFilterState,
	"verify_signature":       nil,
	"sign":                   nil,
	"expr_create":            nil,
	"expr_evaluate":          nil,
	"expr_delete":            nil,
}

// compress gives the argument in zlib's form.
func compress(_ *fctx, args []byte) ([]byte, Status) {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(args)
	w.Close()
	return b.Bytes(), StatusOK
}

// uncompress reads zlib's form; serialization failure for anything else.
func uncompress(_ *fctx, args []byte) ([]byte, Status) {
	r, err := zlib.NewReader(bytes.NewReader(args))
	if err != nil {
		return nil, StatusSerializationFailure
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, StatusSerializationFailure
	}
	return b, StatusOK
}

// declareProperty declares a filter state's type: protobuf with the name in
// field 1. A name can be declared once.
func declareProperty(x *fctx, args []byte) ([]byte, Status) {
	f, ok := protoFields(args)
	if !ok {
		return nil, StatusBadArgument
	}
	name := string(f[1])
	if x.root.declared[name] {
		return nil, StatusBadArgument
	}
	x.root.declared[name] = true
	return nil, StatusOK
}

// setFilterState sets filter state of a registered name: protobuf with the name
// in field 1, the value in 2. Not found: no such name is registered, or no
// stream.
func setFilterState(x *fctx, args []byte) ([]byte, Status) {
	f, ok := protoFields(args)
	if !ok {
		return nil, StatusBadArgument
	}
	name := string(f[1])
	if name != "envoy.string" && !slices.Contains(x.vm.h.o.FilterStates, name) || x.filterState() == nil {
		return nil, StatusNotFound
	}
	x.filterState()[name] = f[2]
	return nil, StatusOK
}

// protoFields reads the length-delimited fields of a protobuf message; numbers
// are skipped.
func protoFields(b []byte) (map[uint64][]byte, bool) {
	fields := map[uint64][]byte{}
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		b = b[n:]
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, false
		}
		b = b[n:]
		switch tag & 7 {
		case 0:
		case 2:
			if v > uint64(len(b)) {
				return nil, false
			}
			fields[tag>>3], b = b[:v], b[v:]
		default:
			return nil, false
		}
	}
	return fields, true
}
