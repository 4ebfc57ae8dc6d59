// Package stack runs Oncewall on loopback: one or more Envoys with the filter,
// one or more bridges, the shop behind them and, on wish, a real Redis Cluster.
//
// It serves two masters. `make up` and `make down` run it detached, on the fixed
// ports of the contract ([FromEnv] reads the environment variables). Tests, the
// story and the benchmarks call [Start] and get a [Stack] on free ports, whose
// parts they can stop, kill, pause and start again.
//
// What holds in both:
//   - Every part is a process of its own in a process group of its own, and the
//     only listener on its ports: [Start] fails, naming the port, where one is
//     taken.
//   - Nothing restarts a part, and the death of one ends no other.
//   - [Start] returns when every part is ready (polled, with a deadline), or
//     with every fault that the parts reported, and then nothing is left running.
//   - The parts' output and process ids are in <dir>/<part>.log and
//     <dir>/<part>.pid; secrets are random, made once for each stack, kept with
//     mode 0600 and passed by environment alone.
//
// Parts are named gateway, gateway-2, bridge, bridge-2, shop, edge, inner and
// redis-7000 (with its port). Start order: Redis, then all others at once.
package stack
