package redis

import (
	"bytes"

	"github.com/oncewall/oncewall/bridge/store"
)

// waves splits idx, operations of one node in their order, so that an operation
// is sent only when every earlier one of the same record and owner has answered.
// Operations of several owners on one record share a wave: they stay in order in
// the pipeline, and none of them depends on another's answer. After one that has
// to wait, everything on that record waits.
func waves(ops []store.Operation, idx []int) [][]int {
	if len(idx) == 1 {
		return [][]int{idx}
	}
	var out [][]int
	for len(idx) > 0 {
		first, rest := wave(ops, idx)
		out = append(out, first)
		idx = rest
	}
	return out
}

func wave(ops []store.Operation, idx []int) (first, rest []int) {
	// A name is an HMAC, so any of its bytes are a good hash. The table is at
	// least twice as large as a batch; chains link operations of one record.
	size := 1
	for size < 2*len(idx) {
		size *= 2
	}
	table := make([]int32, size) // position in idx, plus one
	prev := make([]int32, len(idx))
	waits := make([]bool, len(idx))
	split := false
	for i, o := range idx {
		name := &ops[o].Name
		h := (int(name[30])<<8 | int(name[31])) & (size - 1)
		for table[h] != 0 && ops[idx[table[h]-1]].Name != *name {
			h = (h + 1) & (size - 1)
		}
		prev[i] = table[h]
		table[h] = int32(i + 1)
		for p := prev[i]; p != 0 && !waits[i]; p = prev[p-1] {
			waits[i] = waits[p-1] || bytes.Equal(ops[idx[p-1]].Owner, ops[o].Owner)
		}
		split = split || waits[i]
	}
	if !split {
		return idx, nil
	}
	for i, o := range idx {
		if waits[i] {
			rest = append(rest, o)
		} else {
			first = append(first, o)
		}
	}
	return first, rest
}
