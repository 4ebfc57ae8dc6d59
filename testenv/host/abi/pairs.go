// Package abi has the wire forms of the proxy-wasm ABI that hosts and filters
// exchange in memory.
package abi

import (
	"encoding/binary"
	"errors"
)

// Limits of a header map that a filter hands to the host.
const (
	MaxPairs     = 1024
	MaxPairBytes = 1 << 20
)

// ErrPairs says that bytes are no header map, or exceed the limits.
var ErrPairs = errors.New("abi: no header map, or above 1024 pairs or 1 MiB")

// EncodePairs gives the bytes of a header map, little endian:
//
//	+---+----+----+----+----+-----+------+-----+------+----
//	| n | k0 | v0 | k1 | v1 | ... | key0 \0 | value0 \0 | ...
//	+---+----+----+----+----+-----+------+-----+------+----
//
// n, and the sizes k and v without the closing zeros, are 32 bits wide. No
// pairs are n = 0 alone.
func EncodePairs(pairs [][2]string) []byte {
	size := 4
	for _, p := range pairs {
		size += 8 + len(p[0]) + 1 + len(p[1]) + 1
	}
	b := make([]byte, 0, size)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(pairs)))
	for _, p := range pairs {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p[0])))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(p[1])))
	}
	for _, p := range pairs {
		b = append(append(b, p[0]...), 0)
		b = append(append(b, p[1]...), 0)
	}
	return b
}

// DecodePairs reads what EncodePairs wrote. The host of Envoy takes anything
// else, bytes left over included, for an empty map without telling.
func DecodePairs(b []byte) ([][2]string, error) {
	if len(b) < 4 || len(b) > MaxPairBytes {
		return nil, ErrPairs
	}
	n := binary.LittleEndian.Uint32(b)
	if n > MaxPairs || uint64(len(b)) < 4+8*uint64(n) {
		return nil, ErrPairs
	}
	sizes, rest := b[4:4+8*n], b[4+8*n:]
	part := func(size uint32) (string, bool) {
		if uint64(size)+1 > uint64(len(rest)) || rest[size] != 0 {
			return "", false
		}
		s := string(rest[:size])
		rest = rest[size+1:]
		return s, true
	}
	pairs := make([][2]string, n)
	for i := range pairs {
		var ok0, ok1 bool
		pairs[i][0], ok0 = part(binary.LittleEndian.Uint32(sizes[8*i:]))
		if ok0 {
			pairs[i][1], ok1 = part(binary.LittleEndian.Uint32(sizes[8*i+4:]))
		}
		if !ok0 || !ok1 {
			return nil, ErrPairs
		}
	}
	if len(rest) != 0 {
		return nil, ErrPairs
	}
	return pairs, nil
}
