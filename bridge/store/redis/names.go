package redis

import (
	"encoding/hex"
	"strconv"

	"github.com/oncewall/oncewall/bridge/store"
)

// Buckets is the number of hash tags, and of indexes, over which records are
// spread. It is part of every key: changing it loses every record.
const Buckets = 1024

const (
	resultSuffix = ":r"
	indexSuffix  = "idx"
)

// tags holds "ow:{b<n>}:" for every bucket, indexes the index of each.
var tags, indexes = func() (t, i [Buckets]string) {
	for n := range t {
		t[n] = "ow:{b" + strconv.Itoa(n) + "}:"
		i[n] = t[n] + indexSuffix
	}
	return t, i
}()

func bucket(n store.Name) int { return int(n[0])<<2 | int(n[1])>>6 }

// keys names the three keys of a record. The first two share their bytes.
func keys(n store.Name) (record, result, index string) {
	b := bucket(n)
	buf := make([]byte, 0, len(tags[b])+2*len(n)+len(resultSuffix))
	buf = append(buf, tags[b]...)
	buf = hex.AppendEncode(buf, n[:])
	buf = append(buf, resultSuffix...)
	result = string(buf)
	return result[:len(result)-len(resultSuffix)], result, indexes[b]
}

// slot is the Redis Cluster hash slot of a bucket: CRC16 (XMODEM) of its tag.
func slot(bucket int) int {
	var crc uint16
	for _, c := range []byte("b" + strconv.Itoa(bucket)) {
		crc ^= uint16(c) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc % 16384)
}
