package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/oncewall/oncewall/client"
	"github.com/oncewall/oncewall/client/api"
)

// eraseTimeout bounds an erasure by principal, which goes through the whole store.
const eraseTimeout = 24 * time.Hour

func (k *keysCommand) timeout(command string) time.Duration {
	switch {
	case command == "erase" && k.byPrincipal():
		return eraseTimeout
	case command == "erase":
		return keysTimeout + time.Minute // the workers' memories
	}
	return keysTimeout
}

func (k *keysCommand) eraseFlags() {
	k.set.StringVar(&k.reason, "reason", "", "why, for the audit; no key belongs here")
	k.set.BoolVar(&k.forget, "forget", false, "leave nothing: a retry runs again")
	k.set.BoolVar(&k.force, "force", false, "erase unresolved records too")
	k.set.BoolVar(&k.dryRun, "dry-run", false, "by principal: only count")
	k.set.BoolVar(&k.noWait, "no-wait", false, "do not wait until gateways have forgotten too")
	k.set.StringVar(&k.cursor, "cursor", "", "by principal: where to go on")
	k.set.IntVar(&k.rate, "rate", 0, "by principal: `records` looked at in a second")
}

// byPrincipal reports whether a principal is named and no key of its.
func (k *keysCommand) byPrincipal() bool {
	return k.principal != "" && k.name == "" && k.scope == "" && k.keyFile == ""
}

func keysErase(k *keysCommand) (any, error) {
	if k.reason == "" {
		return nil, usageError("--reason is required")
	}
	if k.byPrincipal() {
		return k.erasePrincipal()
	}
	if k.dryRun || k.cursor != "" || k.rate != 0 {
		return nil, usageError("--dry-run, --cursor and --rate: only with --principal alone")
	}
	s, err := k.subject()
	if err != nil {
		return nil, err
	}
	out, err := k.operator.Erase(k.ctx, api.Erase{Subject: s, Reason: k.reason, Forget: k.forget, Force: k.force}, k.noWait)
	var p *client.ProblemError
	if errors.As(err, &p) && p.Record != nil {
		return p.Record, err
	}
	if out.Code == "" {
		return nil, err
	}
	return out, err
}

// erasePrincipal goes through the store part by part and adds up what it met.
func (k *keysCommand) erasePrincipal() (any, error) {
	who, ok := k.who()
	if !ok || k.namespace == "" || k.issued || k.previous != "" {
		return nil, usageError("by principal: --namespace and --principal KIND:ISSUER:VALUE, and no key")
	}
	total := api.ErasedBy{Next: k.cursor}
	for {
		part, err := k.operator.EraseBy(k.ctx, api.EraseBy{
			Namespace: k.namespace, Principal: *who, Reason: k.reason, Forget: k.forget, Force: k.force,
			DryRun: k.dryRun, Cursor: total.Next, Rate: k.rate,
		})
		if err != nil {
			if total.Next != "" {
				err = fmt.Errorf("%w; to go on: --cursor %s", err, total.Next)
			}
			return total, err
		}
		total.Examined += part.Examined
		total.Found += part.Found
		total.Erased += part.Erased
		total.Unresolved += part.Unresolved
		total.UnresolvedNames = append(total.UnresolvedNames, part.UnresolvedNames...)
		total.Restarted = total.Restarted || part.Restarted
		total.Next, total.Memories = part.Next, part.Memories
		if part.Next == "" {
			break
		}
	}
	if total.Erased > 0 && !k.noWait {
		wait := time.NewTimer(time.Duration(total.MemoriesEndMS) * time.Millisecond)
		defer wait.Stop()
		select {
		case <-wait.C:
		case <-k.ctx.Done():
			return total, k.ctx.Err()
		}
	}
	return total, nil
}
