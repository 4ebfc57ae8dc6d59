// Package client lets a Go program do something once: a consumer of a queue, a
// cron job, anything that has a business key and not a gateway before it.
//
//	c, err := client.New(client.Config{URL: "http://127.0.0.1:8081", Secret: secret,
//		Namespace: "jobs", Scope: "invoices", Principal: "billing",
//		Policy: client.Policy{TTL: 24 * time.Hour, Lease: 30 * time.Second, Recovery: client.Reacquire}})
//	result, err := c.Do(ctx, "invoice.created:4711", func(ctx context.Context, fence uint64) (client.Result, error) {
//		return client.Result{Status: 200}, pay(ctx, fence)
//	})
//
// [Client.Do] claims the key, calls the function, renews the claim while it works
// and completes it. A repeat gets the result of the first. What the function does
// must carry the fence to wherever the effect is, and that must refuse a fence
// lower than one it has seen, if the policy says [Reacquire]: a process that was
// stopped longer than its lease may wake up beside its successor.
//
// Requests that fail on the way are repeated with the same owner until the
// context ends, so an answer that was lost changes nothing. Keys are sent in
// bodies alone.
package client
