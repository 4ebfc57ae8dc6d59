// Package redis keeps records in Redis: a single server, Sentinel or Cluster.
// Every operation is one Lua script on one node, hence one atomic step; the
// scripts under lua/ are the state machine of docs/protocol.md.
//
// A record is three keys of one hash tag: ow:{b<n>}:<hex of the name> (a hash),
// the same with :r (its result) and ow:{b<n>}:idx (the index of the bucket's
// records without a final word, scored by the end of their lease). n is the
// first ten bits of the name, so there are 1,024 buckets, each on one node. A
// name is an HMAC: no text of a client ever enters a key.
//
// What an acknowledged step survives is what Redis keeps: a failover may lose
// the last moments of asynchronous replication.
package redis
