package store

import "context"

// Node is how one node of a store is.
type Node struct {
	Address string
	Master  bool
	// Fault says why the node cannot do its part: a master that takes no write, one
	// that slots lack, a replica that does not answer. "": it can.
	Fault string
	// Evicts says that the node may throw records away when its memory is full, or
	// that this cannot be told. Fault says how it is set.
	Evicts bool
}

// Prober is what a store of several nodes offers beside [Store]: how each of them
// is. Ready says no where any master has a fault or any node evicts; who can do
// with some of the keys looks here.
type Prober interface {
	// Nodes returns at ctx's end at the latest. Its error means that no node can
	// be spoken of at all.
	Nodes(ctx context.Context) ([]Node, error)
}
