package filter

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of the local table, which all workers of one Envoy share.
const (
	// LocalSlots is the number of slots. They are made at start, because the ABI
	// compares on a write only if the value is already there, and deletes nothing.
	LocalSlots = 2048
	// localEntries bounds the keys of one slot. A key for which there is no room
	// is refused, for as long as the store is away. Slots fill unevenly: with fewer
	// entries the first refusal comes while most of the table is empty.
	localEntries = 32
	// localTries bounds the attempts to write a slot that other workers write too.
	localTries = 64
	// localSaltBytes is the size of the salt that spreads keys over slots; it is
	// kept in the slot behind the last, so that no client can aim at one slot.
	localSaltBytes = 16
)

// Shared is memory that the workers of one Envoy share: proxy-wasm's shared data
// under names that belong to one namespace.
type Shared interface {
	// Get returns a slot's value and the number of its last write; false where it
	// was never written.
	Get(slot int) (value []byte, cas uint32, ok bool)
	// Set writes a slot if its last write is still cas; 0 writes in any case. It
	// reports whether it has written.
	Set(slot int, value []byte, cas uint32) bool
	// Clock is the time that all workers agree on, in Unix nanoseconds.
	Clock() int64
}

// localState is where a key that was claimed locally stands.
type localState uint8

const (
	localInFlight localState = iota + 1
	localUnknown             // forwarded, and no complete answer came
	localDone                // executed with status
)

// localEntry is one key that was claimed while the store was away.
type localEntry struct {
	id     [16]byte
	owner  [wire.OwnerBytes]byte
	print  localPrint
	lease  int64 // Clock: until when the claim is trusted without news
	until  int64 // Clock: end of the entry's life
	status uint16
	state  localState
	// told says that the bridge knows the outcome: from then on it decides where it
	// can be asked, and the entry may make room for another.
	told bool
}

const localEntryBytes = 16 + wire.OwnerBytes + 12 + 8 + 8 + 2 + 1 + 1

func (e *localEntry) append(b []byte) []byte {
	b = append(b, e.id[:]...)
	b = append(b, e.owner[:]...)
	b = append(append(b, e.print.made[:]...), e.print.sum[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(e.lease))
	b = binary.LittleEndian.AppendUint64(b, uint64(e.until))
	b = binary.LittleEndian.AppendUint16(b, e.status)
	told := byte(0)
	if e.told {
		told = 1
	}
	return append(b, byte(e.state), told)
}

func (e *localEntry) decode(b []byte) {
	copy(e.id[:], b)
	b = b[len(e.id):]
	copy(e.owner[:], b)
	b = b[len(e.owner):]
	copy(e.print.made[:], b)
	copy(e.print.sum[:], b[len(e.print.made):])
	b = b[len(e.print.made)+len(e.print.sum):]
	e.lease = int64(binary.LittleEndian.Uint64(b))
	e.until = int64(binary.LittleEndian.Uint64(b[8:]))
	e.status = binary.LittleEndian.Uint16(b[16:])
	e.state, e.told = localState(b[18]), b[19] == 1
}

// localVersion is the first byte of a slot; a slot of another version is left
// alone.
const localVersion = 1

// local is the table as a worker uses it.
type local struct {
	shared Shared
	salt   [localSaltBytes]byte
}

// PrepareLocal makes the slots that are not there. The host runs it on its main
// thread before any worker has a stream, and it changes no slot that exists, so
// that neither a worker that starts again nor a new configuration forgets a key.
// seed is random.
func PrepareLocal(m Shared, seed [localSaltBytes]byte) {
	for i := range LocalSlots + 1 {
		if _, _, ok := m.Get(i); ok {
			continue
		}
		if i == LocalSlots {
			m.Set(i, seed[:], 0)
		} else {
			m.Set(i, []byte{localVersion}, 0)
		}
	}
}

// UseLocal gives the worker the table that rules with `unavailable: local` keep
// their claims in. Without it those rules refuse while the store is away.
func (w *Worker) UseLocal(m Shared) {
	salt, _, ok := m.Get(LocalSlots)
	if !ok || len(salt) != localSaltBytes {
		return
	}
	w.local = &local{shared: m, salt: [localSaltBytes]byte(salt)}
}

// place is where a record's key lies, and its name in there.
func (l *local) place(id recordID) (slot int, name [16]byte) {
	sum := sha256.Sum256(append(append(make([]byte, 0, localSaltBytes+len(id)), l.salt[:]...), id[:]...))
	copy(name[:], sum[:])
	return int(binary.LittleEndian.Uint16(sum[16:])) % LocalSlots, name
}

// localPrint is what the table keeps of a fingerprint.
type localPrint struct {
	made [4]byte // of its parts and their algorithms
	sum  [8]byte // of the whole
}

func printOf(fingerprint []byte) (p localPrint) {
	made := make([]byte, 0, 16)
	for part := range wire.Parts(fingerprint) {
		made = binary.BigEndian.AppendUint16(append(made, byte(part.ID)), uint16(part.Algorithm))
	}
	sum := sha256.Sum256(made)
	copy(p.made[:], sum[:])
	sum = sha256.Sum256(fingerprint)
	copy(p.sum[:], sum[:])
	return p
}

// conflicts reports whether two fingerprints that were made alike differ. Those
// that were not, since a rule's configuration changed in between, say nothing.
func (p localPrint) conflicts(q localPrint) bool { return p.made == q.made && p.sum != q.sum }

// change reads a slot, hands its living entries to f, and writes what f returns.
// f runs again where another worker wrote meanwhile; it returns false to leave
// the slot as it is. change reports whether f's last word took effect.
func (l *local) change(slot int, f func(entries []localEntry) ([]localEntry, bool)) bool {
	var room [localEntries + 1]localEntry
	for range localTries {
		value, cas, ok := l.shared.Get(slot)
		if !ok || len(value)%localEntryBytes != 1 || value[0] != localVersion {
			return false
		}
		value = value[1:]
		entries, now := room[:0], l.shared.Clock()
		for ; len(value) > 0 && len(entries) < localEntries; value = value[localEntryBytes:] {
			var e localEntry
			if e.decode(value); now < e.until {
				entries = append(entries, e)
			}
		}
		entries, write := f(entries)
		if !write {
			return true
		}
		b := append(make([]byte, 0, 1+len(entries)*localEntryBytes), localVersion)
		for i := range entries {
			b = entries[i].append(b)
		}
		if l.shared.Set(slot, b, cas) {
			return true
		}
	}
	return false
}

// find returns what is known of a record; nil: nothing.
func (l *local) find(id recordID) *localEntry {
	slot, name := l.place(id)
	var found *localEntry
	l.change(slot, func(entries []localEntry) ([]localEntry, bool) {
		found = nil
		for i := range entries {
			if entries[i].id == name {
				e := entries[i]
				found = &e
			}
		}
		return nil, false
	})
	return found
}

// claim enters a claim. It returns the entry that is there already, or granted
// with none; neither where there is no room.
func (l *local) claim(id recordID, owner, fingerprint []byte, lease, life time.Duration, takeOver bool) (there *localEntry, granted bool) {
	slot, name := l.place(id)
	done := l.change(slot, func(entries []localEntry) ([]localEntry, bool) {
		there, granted = nil, false
		now := l.shared.Clock()
		e := localEntry{id: name, print: printOf(fingerprint), lease: now + int64(lease), until: now + int64(max(life, lease)), state: localInFlight}
		copy(e.owner[:], owner)
		oldest := -1 // of those that the bridge knows
		for i := range entries {
			old := &entries[i]
			if old.id == name {
				if over := old.state != localDone && now >= old.lease; !(over && takeOver && !old.print.conflicts(e.print)) {
					seen := *old
					if over && old.state == localInFlight {
						seen.state = localUnknown
					}
					there = &seen
					return nil, false
				}
				granted = true
				entries[i] = e
				return entries, true
			}
			if old.told && (oldest < 0 || old.until < entries[oldest].until) {
				oldest = i
			}
		}
		switch {
		case len(entries) < localEntries:
			entries = append(entries, e)
		case oldest >= 0:
			entries[oldest] = e
		default:
			return nil, false
		}
		granted = true
		return entries, true
	})
	if !done {
		return nil, false
	}
	return there, granted
}

// update changes the entry of an owner, or removes it where f returns false.
func (l *local) update(id recordID, owner []byte, f func(e *localEntry) bool) {
	slot, name := l.place(id)
	l.change(slot, func(entries []localEntry) ([]localEntry, bool) {
		for i := range entries {
			e := &entries[i]
			if e.id != name || !bytes.Equal(e.owner[:], owner) {
				continue
			}
			if !f(e) {
				entries = append(entries[:i], entries[i+1:]...)
			}
			return entries, true
		}
		return nil, false
	})
}
