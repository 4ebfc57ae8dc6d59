package rules

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// errNotStruct is the error of bytes that are no google.protobuf.Struct.
var errNotStruct = errors.New("not a google.protobuf.Struct")

// A configuration that is written as YAML in Envoy's file, a google.protobuf.Struct,
// is handed to a plugin in its binary form, whatever Envoy's documentation says of
// JSON. It begins with the tag of a field, which JSON takes for a line feed; a text
// of JSON is never a Struct to its end.
const structTag = '\n'

// readStruct reads a Struct into the tree that its JSON would give. A Struct knows
// no order: members stand by name, and none is there twice.
func readStruct(b []byte, depth int) (*node, error) {
	if depth == 0 {
		return nil, errDepth
	}
	n := &node{kind: nodeObject}
	err := eachField(b, func(num protowire.Number, value []byte, _ uint64) error {
		if num != 1 || value == nil {
			return errNotStruct
		}
		var m member
		err := eachField(value, func(num protowire.Number, value []byte, _ uint64) (err error) {
			switch {
			case num == 1 && value != nil:
				m.name = string(value)
			case num == 2 && value != nil:
				m.node, err = readValue(value, depth-1)
			default:
				err = errNotStruct
			}
			return err
		})
		if err == nil && m.node == nil {
			err = errNotStruct
		}
		n.members = append(n.members, m)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(n.members, func(a, b member) int { return cmp.Compare(a.name, b.name) })
	return n, nil
}

// readValue reads a google.protobuf.Value.
func readValue(b []byte, depth int) (*node, error) {
	if depth == 0 {
		return nil, errDepth
	}
	var n *node
	err := eachField(b, func(num protowire.Number, value []byte, scalar uint64) (err error) {
		switch {
		case num == 1 && value == nil:
			n = &node{kind: nodeNull}
		case num == 2 && value == nil:
			n = &node{kind: nodeNumber, text: strconv.FormatFloat(math.Float64frombits(scalar), 'f', -1, 64)}
		case num == 3 && value != nil:
			n = &node{kind: nodeString, text: string(value)}
		case num == 4 && value == nil:
			n = &node{kind: nodeBool, flag: scalar != 0}
		case num == 5 && value != nil:
			n, err = readStruct(value, depth)
		case num == 6 && value != nil:
			n = &node{kind: nodeList}
			err = eachField(value, func(num protowire.Number, value []byte, _ uint64) error {
				if num != 1 || value == nil {
					return errNotStruct
				}
				item, err := readValue(value, depth-1)
				n.items = append(n.items, item)
				return err
			})
		default:
			err = errNotStruct
		}
		return err
	})
	if err == nil && n == nil {
		err = errNotStruct
	}
	return n, err
}

// eachField calls f for each field of a message: value is that of a field with a
// length and never nil there, scalar that of a number.
func eachField(b []byte, f func(num protowire.Number, value []byte, scalar uint64) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errNotStruct
		}
		b = b[n:]
		var value []byte
		var scalar uint64
		switch kind {
		case protowire.BytesType:
			value, n = protowire.ConsumeBytes(b)
			if value == nil {
				value = []byte{}
			}
		case protowire.VarintType:
			scalar, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			scalar, n = protowire.ConsumeFixed64(b)
		default:
			return errNotStruct
		}
		if n < 0 {
			return errNotStruct
		}
		if err := f(num, value, scalar); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
