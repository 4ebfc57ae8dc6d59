package admin

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/oncewall/oncewall/bridge/server"
	"github.com/oncewall/oncewall/bridge/store"
	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter/rules"
	"github.com/oncewall/oncewall/filter/wire"
)

// Bounds of a page of overdue records.
const (
	defaultPage = 100
	maxPage     = 500
)

var principalKinds = map[string]uint8{
	"header": uint8(rules.PrincipalHeader), "jwt": uint8(rules.PrincipalJWT), "const": uint8(rules.PrincipalConst),
	"anonymous": uint8(rules.PrincipalAnonymous), "api": wire.PrincipalAPI,
	"uri_san": uint8(rules.PrincipalURISAN), "dns_san": uint8(rules.PrincipalDNSSAN),
	"subject": uint8(rules.PrincipalSubject), "sha256": uint8(rules.PrincipalDigest),
}

func (a *API) operatorRoutes() http.Handler {
	return a.routes(true, map[string]route{
		api.PathRecord:  {smallBody, getRecord},
		api.PathOverdue: {smallBody, overdue},
		api.PathResolve: {a.cfg.MaxBodyBytes, resolve},
		api.PathErase:   {smallBody, erase},
		api.PathEraseBy: {smallBody, erasePrincipal},
		api.PathReport:  {0, report},
	})
}

// subject returns the name of the record that s means.
func (c *call) subject(s *api.Subject) (store.Name, *api.Problem) {
	var name store.Name
	if s.Name != "" {
		if s.Namespace != "" || s.Scope != "" || s.Principal != nil || s.Key != "" || s.Issued || len(s.PreviousScopes) > 0 {
			return name, invalid("name: either the name, or namespace, scope, principal and key")
		}
		if len(s.Name) != 2*len(name) {
			return name, invalid(fmt.Sprintf("name: must be %d hexadecimal digits", 2*len(name)))
		}
		if _, err := hex.Decode(name[:], []byte(s.Name)); err != nil {
			return name, invalid(fmt.Sprintf("name: must be %d hexadecimal digits", 2*len(name)))
		}
		return name, nil
	}
	if s.Principal == nil {
		return name, invalid("name: required, or namespace, scope, principal and key")
	}
	principal, p := principalOf(s.Principal)
	if p == nil {
		p = previousFault(s.PreviousScopes)
	}
	if p != nil {
		return name, p
	}
	return c.locate(server.Subject{
		Namespace: s.Namespace, Scope: s.Scope, Key: s.Key, Issued: s.Issued,
		Principal: principal, PreviousScopes: strings.Join(s.PreviousScopes, ","),
	}, operatorTimeout)
}

// locate returns the name under which a record lives.
func (c *call) locate(sub server.Subject, timeout time.Duration) (store.Name, *api.Problem) {
	ctx, cancel := context.WithTimeout(c.ctx, timeout)
	defer cancel()
	name, err := c.cfg.Server.Locate(ctx, sub)
	var fault server.SubjectError
	switch {
	case errors.As(err, &fault):
		return name, invalid(err.Error())
	case err != nil:
		return name, away(err)
	}
	return name, nil
}

// principalOf encodes a principal.
func principalOf(p *api.Principal) (string, *api.Problem) {
	kind, ok := principalKinds[p.Kind]
	if !ok {
		return "", invalid("principal.kind: must be header, jwt, const, anonymous, uri_san, dns_san, subject, sha256 or api")
	}
	return wire.EncodePrincipal(kind, p.Issuer, p.Value), nil
}

func getRecord(c *call) (any, *api.Problem) {
	var in api.GetRecord
	if p := c.read(&in); p != nil {
		return nil, p
	}
	name, p := c.subject(&in.Subject)
	if p != nil {
		return nil, p
	}
	ctx, cancel := context.WithTimeout(c.ctx, operatorTimeout)
	defer cancel()
	r, response, err := c.cfg.Server.Get(ctx, name, in.WithResult)
	if err != nil {
		return nil, away(err)
	}
	entries, err := c.cfg.Server.Audit(ctx, name)
	if err != nil {
		return nil, away(err)
	}
	if response != nil {
		c.cfg.Log.Info("result read", "audit", true, "operator", c.caller.ID, "record", nameText(name))
	}
	out := recordOf(&r, response)
	out.Name = nameText(name)
	c.explain(&out, name, &r)
	for _, e := range entries {
		// Whoever writes to the store must not break the answer.
		var a api.Audit
		if json.Unmarshal(e, &a) == nil {
			out.Audit = append(out.Audit, a)
		}
	}
	return &out, nil
}

// explain says since when an unresolved record is overdue, and why.
func (c *call) explain(out *api.Record, name store.Name, r *store.Record) {
	if !r.State.Unresolved() || !r.LeaseOver {
		return
	}
	if r.Lease < 0 {
		out.OverdueSince = c.cfg.Now().Add(r.Lease).UTC().Format(time.RFC3339)
	}
	if c.cfg.Why != nil {
		out.Why = c.cfg.Why(name, r)
	}
}

func overdue(c *call) (any, *api.Problem) {
	var in api.Overdue
	if p := c.read(&in); p != nil {
		return nil, p
	}
	if in.Limit == 0 {
		in.Limit = defaultPage
	}
	if in.Limit < 1 || in.Limit > maxPage {
		return nil, invalid(fmt.Sprintf("limit: %d: must be 1 to %d", in.Limit, maxPage))
	}
	ctx, cancel := context.WithTimeout(c.ctx, operatorTimeout)
	defer cancel()
	list, next, err := c.cfg.Server.Overdue(ctx, in.Cursor, in.Limit)
	if err != nil {
		return nil, away(err)
	}
	page := &api.OverduePage{Records: make([]api.Record, len(list)), Next: next}
	for i := range list {
		page.Records[i] = recordOf(&list[i].Record, nil)
		page.Records[i].Name = nameText(list[i].Name)
		c.explain(&page.Records[i], list[i].Name, &list[i].Record)
	}
	return page, nil
}
