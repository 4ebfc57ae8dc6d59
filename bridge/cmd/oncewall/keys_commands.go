package main

import (
	"errors"

	"github.com/oncewall/oncewall/client"
	"github.com/oncewall/oncewall/client/api"
)

func keysGet(k *keysCommand) (any, error) {
	s, err := k.subject()
	if err != nil {
		return nil, err
	}
	r, err := k.operator.Get(k.ctx, s, k.result)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func keysList(k *keysCommand) (any, error) {
	out := api.OverduePage{Records: []api.Record{}}
	for {
		page, err := k.operator.Overdue(k.ctx, out.Next, k.limit)
		if err != nil {
			return nil, err
		}
		out.Records, out.Next = append(out.Records, page.Records...), page.Next
		if out.Next == "" || !k.all && len(out.Records) > 0 {
			return out, nil
		}
	}
}

// keysResolve shows what became of a decision; where it was refused it shows the
// record that it met.
func keysResolve(k *keysCommand) (any, error) {
	s, err := k.subject()
	if err != nil {
		return nil, err
	}
	if k.fence == 0 || k.action == "" || k.reason == "" {
		return nil, usageError("--fence, --action and --reason are required")
	}
	r := api.Resolve{Subject: s, Fence: k.fence, Action: k.action, Reason: k.reason, ExtendMS: k.by.Milliseconds()}
	switch {
	case k.action == "complete":
		r.Result = &api.Result{Status: k.status}
		if k.bodyFile != "" {
			if r.Result.Body, err = k.read(k.bodyFile); err != nil {
				return nil, err
			}
		}
	case k.bodyFile != "":
		return nil, usageError("--body-file: only with --action complete")
	default:
		r.Status = k.status
	}
	out, err := k.operator.Resolve(k.ctx, r)
	var p *client.ProblemError
	if errors.As(err, &p) && p.Record != nil {
		return p.Record, err
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}
