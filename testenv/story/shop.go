package story

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/oncewall/oncewall/testenv/shop"
)

// Shop asks a running shop what really happened.
type Shop struct{ Addr string }

// Executions returns every request of a key that reached a handler.
func (s Shop) Executions(ctx context.Context, key string) (x shop.Executions, err error) {
	err = s.ask(ctx, "GET", "/executions?key="+url.QueryEscape(key), "", &x)
	return x, err
}

// Tagged returns every request that carried x-shop-tag.
func (s Shop) Tagged(ctx context.Context, tag string) (x shop.Executions, err error) {
	err = s.ask(ctx, "GET", "/executions?tag="+url.QueryEscape(tag), "", &x)
	return x, err
}

// Compensations returns the calls that came before a key was freed.
func (s Shop) Compensations(ctx context.Context, key string) (x shop.Compensations, err error) {
	err = s.ask(ctx, "GET", "/compensations?key="+url.QueryEscape(key), "", &x)
	return x, err
}

// AnswerCompensations says with which status later ones are answered.
func (s Shop) AnswerCompensations(ctx context.Context, status int) error {
	return s.ask(ctx, "PUT", fmt.Sprintf("/compensations?status=%d", status), "", nil)
}

// SetGuards switches the shop's own defences.
func (s Shop) SetGuards(ctx context.Context, g shop.Guards) error {
	return s.ask(ctx, "PUT", "/guards", g.String(), nil)
}

// OpenSale forgets earlier sales and puts items in stock.
func (s Shop) OpenSale(ctx context.Context, items int) error {
	return s.ask(ctx, "PUT", fmt.Sprintf("/sale?items=%d", items), "", nil)
}

// Sale reports the sale.
func (s Shop) Sale(ctx context.Context) (r shop.SaleReport, err error) {
	err = s.ask(ctx, "GET", "/sale", "", &r)
	return r, err
}

func (s Shop) ask(ctx context.Context, method, path, body string, to any) error {
	b, err := call(ctx, method, "http://"+s.Addr+path, strings.NewReader(body))
	if err != nil {
		return fmt.Errorf("shop: %w", err)
	}
	if to == nil {
		return nil
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("shop: %s: %w", path, err)
	}
	return nil
}
