// Package rediscluster runs real Redis servers on loopback for tests and for
// the local stack: a single server, or a cluster with replicas.
//
// Every server is a process of its own, ended by its own id on Close, and by the
// kernel when the process that started it dies. Logs and whatever else a server
// writes stay in the directory given; nothing is persisted.
package rediscluster
