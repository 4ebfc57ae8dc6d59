// Package bench measures what a request costs beside bare proxying: CPU per
// request of Envoy, of the bridge and of Redis, and how many callouts,
// operations and Redis commands a request makes.
//
// One stack is started, with one gateway of one worker and a second listener
// that is the same without the filter. Every case (see [cases]) sends the same
// POST with a small JSON body over the same number of HTTP/1.1 keep-alive
// connections, as fast as it is answered. The cases take turns, a slot each, in
// every round; a case is compared with bare proxying of its own round, and the
// report gives the median of these ratios with the least and the greatest. So
// what else the machine does falls on all cases alike, and no figure rests on
// one moment.
//
// CPU is what the kernel has booked for a process (user and system time), in
// ticks of 10 ms. The load generator runs in the calling process and is not
// counted; it competes for the same cores, as the shop does, so requests per
// second are told for information only.
//
// A run fails when a single answer is not what its case expects, when a
// duplicate of a finished key makes a callout or reaches the shop, and when a
// first request reaches it other than once. No time decides over success.
package bench
