package main

import "math"

// What a key costs in Redis 7.0 with jemalloc, in bytes, by MEMORY USAGE, and by
// used_memory beside it. TestSizeMeasured holds them against a real server.
const (
	// recordBytes is the record: a listpack hash of a finished key with its three
	// keyed digests, and its name in the key table.
	recordBytes = 376
	// resultKeyBytes is what the key of a result takes beside its value.
	resultKeyBytes = 120
	// expiryBytes is a key's entry in the table of expiries, and its share of both
	// tables' buckets, which are doubled when they are full.
	expiryBytes = 56
	// framingBytes is what an encoded, sealed response has beside its header
	// lines and body: envelope, lengths, seal.
	framingBytes = 96
)

// What an operation moves over the network between bridge and Redis, beside the
// response itself: script digest, keys, arguments, answers.
const (
	newInBytes  = 965 // a claim and its completion
	newOutBytes = 66
	dupInBytes  = 466 // a claim that is answered with the record
	dupOutBytes = 48
	// replicaBytes is the stream of one new key's writes to a replica: the commands
	// that the scripts run, in full.
	replicaBytes = 1651
)

// headroom is what maxmemory must have beside the records: bursts, client and
// replication buffers, allocator fragmentation.
const headroom = 1.3

// estimate is what a load comes to.
type estimate struct {
	stored           int64   // bytes of an encoded response
	recordOnly       int64   // bytes of memory of a key without its result
	perRecord        int64   // bytes of memory of a key with its result
	newKeys          float64 // a second
	finished, tombs  float64 // keys with a result, keys of which only a tombstone is left
	redisKeys        float64
	memory           float64 // bytes, one copy of everything
	total            float64 // with replicas
	perMaster        float64
	maxMemory        float64 // of each node
	scripts          float64 // a second
	in, out, replica float64 // bytes a second
}

func (l *load) estimate() estimate {
	var e estimate
	e.stored = l.body + l.headers + framingBytes
	e.recordOnly = recordBytes + expiryBytes
	e.perRecord = e.recordOnly + resultKeyBytes + allocated(e.stored) + expiryBytes
	e.newKeys = l.rps * (1 - l.duplicates)
	e.finished = e.newKeys * l.ttl.Seconds()
	e.tombs = e.newKeys * l.tombstone.Seconds()
	e.redisKeys = 2*e.finished + e.tombs
	e.memory = e.finished*float64(e.perRecord) + e.tombs*float64(e.recordOnly)
	e.total = e.memory * float64(1+l.replicas)
	e.perMaster = e.memory / float64(l.masters)
	e.maxMemory = math.Ceil(e.perMaster*headroom/(64<<20)) * (64 << 20)
	repeats := l.rps * l.duplicates
	e.scripts = 2*e.newKeys + repeats
	e.in = e.newKeys*float64(newInBytes+e.stored) + repeats*dupInBytes
	e.out = e.newKeys*newOutBytes + repeats*float64(dupOutBytes+e.stored)
	e.replica = e.newKeys * float64(replicaBytes+e.stored) * float64(l.replicas)
	return e
}

// allocated is the size class from which jemalloc serves n bytes: four to each
// doubling.
func allocated(n int64) int64 {
	const stringHeader = 10
	n += stringHeader
	if n <= 64 {
		return (n + 15) &^ 15
	}
	step := int64(16)
	for step*8 < n {
		step *= 2
	}
	return (n + step - 1) / step * step
}
