package rules

import (
	"os"
	"testing"
	"time"
)

func readShop(t testing.TB) *Config {
	t.Helper()
	b, err := os.ReadFile("testdata/shop.json")
	if err != nil {
		t.Fatal(err)
	}
	c, err := Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestShopParses(t *testing.T) {
	c := readShop(t)
	if got := c.Match("POST", "/orders/1?x"); got == nil || got.Name != "orders" || got.Recovery.Lease != 10*time.Second {
		t.Fatalf("got %+v", got)
	}
}
