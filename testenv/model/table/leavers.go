package table

import "github.com/oncewall/oncewall/filter/wire"

// A released owner is refused by every later claim that would be granted. The
// record remembers it as the owner of RELEASED and ISSUED, else as a leaver, for
// the life of a marker.

// leave makes owner the newest leaver of r; where there are too many the oldest
// is dropped. It reports that.
func (c *Case) leave(owner string) (dropped bool) {
	r := &c.After
	r.forget(c.Now)
	var keep []Leaver
	for _, l := range r.Leavers {
		if l.Owner != "" && l.Owner != owner {
			keep = append(keep, l)
		}
	}
	keep = append(keep, Leaver{owner, c.Now + c.Limits.Marker.Microseconds()})
	if dropped = len(keep) > MaxLeavers; dropped {
		keep = keep[1:]
	}
	r.Leavers = [MaxLeavers]Leaver{}
	copy(r.Leavers[:], keep)
	return dropped
}

// forget drops the leavers whose time is over, wherever a record is written whole.
func (r *Record) forget(now int64) {
	var keep [MaxLeavers]Leaver
	n := 0
	for _, l := range r.Leavers {
		if l.Until > now {
			keep[n] = l
			n++
		}
	}
	r.Leavers = keep
}

// succeed keeps who released ISSUED or RELEASED, where another owner follows.
func (c *Case) succeed() (dropped bool) {
	c.After.forget(c.Now)
	b := &c.Before
	if (b.State == Issued || b.State == Released) && b.Owner != "" && !c.me() {
		return c.leave(b.Owner)
	}
	return false
}

// left: the owner has released, and the record remembers it.
func (c *Case) left() bool {
	b := &c.Before
	if (b.State == Issued || b.State == Released) && c.me() {
		return true
	}
	for _, l := range b.Leavers {
		if l.Owner == string(c.Op.Owner) && l.Until > c.Now {
			return true
		}
	}
	return false
}

// remark lets the mark of who released it hold for as long as a new one would.
func remark(c *Case) {
	c.After.Left = max(c.After.Left, c.Limits.Marker.Microseconds())
	c.Reply.Code = wire.OK
}

// leaveAlone changes nothing but that the owner is a leaver.
func leaveAlone(c *Case) {
	c.Reply.Dropped = c.leave(string(c.Op.Owner))
	c.After.Left = max(c.After.Left, c.Limits.Marker.Microseconds())
	c.Reply.Code = wire.OK
}
