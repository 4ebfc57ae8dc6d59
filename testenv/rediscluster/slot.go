package rediscluster

import "strings"

// Slot is the hash slot of a key: CRC16 (XMODEM) of its hash tag, or of the
// whole key where it has none.
func Slot(key string) int {
	if i := strings.IndexByte(key, '{'); i >= 0 {
		if n := strings.IndexByte(key[i+1:], '}'); n > 0 {
			key = key[i+1 : i+1+n]
		}
	}
	var crc uint16
	for _, c := range []byte(key) {
		crc ^= uint16(c) << 8
		for range 8 {
			if crc&0x8000 != 0 {
				crc = crc<<1 ^ 0x1021
			} else {
				crc <<= 1
			}
		}
	}
	return int(crc % slots)
}

// Master is the index of the node that holds slot when a cluster of so many
// masters starts.
func (c *Config) Master(slot int) int {
	m := c.Masters
	if m == 0 {
		m = 3
	}
	for i := range m {
		if slot < (i+1)*slots/m {
			return i
		}
	}
	return m - 1
}
