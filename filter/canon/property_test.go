package canon

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestSpellingDoesNotMatter: one tree, spelled twice, has one canonical text, unless
// members that differ by case alone change places.
func TestSpellingDoesNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tree := treeGen(3).Draw(t, "tree")
		one, two := spell(t, tree), spell(t, tree)
		a, err := Append(nil, []byte(one))
		if err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		b, err := Append(nil, []byte(two))
		if err != nil {
			t.Fatalf("%s: %v", two, err)
		}
		if !slices.Equal(foldOrders([]byte(one)), foldOrders([]byte(two))) {
			if bytes.Equal(a, b) {
				t.Fatalf("%s\nand %s\ngive %s", one, two, a)
			}
			return
		}
		if !bytes.Equal(a, b) {
			t.Fatalf("%s\nand %s\ngive %s\nand %s", one, two, a, b)
		}
		da, oka := Digest([]byte(one))
		db, okb := Digest([]byte(two))
		if !oka || !okb || da != db {
			t.Fatalf("%s\nand %s\nhave two digests", one, two)
		}
	})
}

// TestDigestsFollowTheOracle: of any two trees, the digests are equal exactly
// where the oracle finds the trees equal.
func TestDigestsFollowTheOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// Shallow trees with few values: equal ones are drawn often enough.
		depth := rapid.IntRange(0, 2).Draw(t, "depth")
		one := spell(t, treeGen(depth).Draw(t, "one"))
		two := spell(t, treeGen(depth).Draw(t, "two"))
		checkAgainstOracle(t, []byte(one), []byte(two))
	})
}

// TestOneByteMatters changes, drops or adds one byte of a body.
func TestOneByteMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one := []byte(spell(t, treeGen(2).Draw(t, "tree")))
		at := rapid.IntRange(0, len(one)-1).Draw(t, "at")
		c := rapid.SampledFrom([]byte("0123456789.eE+-\"\\/{}[],: ntfu\x00\xff\xed")).Draw(t, "byte")
		two := bytes.Clone(one)
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			two[at] = c
		case 1:
			two = append(two[:at], two[at+1:]...)
		case 2:
			two = append(two[:at], append([]byte{c}, one[at:]...)...)
		}
		checkAgainstOracle(t, one, two)
	})
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

// checkAgainstOracle checks two bodies, whatever they hold, each by itself and
// against each other.
func checkAgainstOracle(t fataler, one, two []byte) {
	t.Helper()
	checkBody(t, one)
	checkBody(t, two)
	da, oka := Digest(one)
	db, okb := Digest(two)
	if !oka || !okb {
		return
	}
	a, _ := parseTree(one)
	b, _ := parseTree(two)
	if same := sameTree(a, b) && slices.Equal(foldOrders(one), foldOrders(two)); same != (da == db) {
		t.Fatalf("%q\nand %q:\nsame tree %v, same digest %v", one, two, same, da == db)
	}
}

// checkBody checks that a body has a canonical text exactly where the oracle
// can compare it, and that this text means the same and is its own.
func checkBody(t fataler, body []byte) {
	t.Helper()
	text, err := Append(nil, body)
	tree, comparable := parseTree(body)
	switch err {
	case nil:
		if !comparable {
			t.Fatalf("%q has a canonical text but no tree", body)
		}
	case ErrDepth, ErrExponent:
		return
	default:
		if comparable {
			t.Fatalf("%q: %v, but it has a tree", body, err)
		}
		if err == ErrSyntax && json.Valid(body) {
			t.Fatalf("%q: %v, but encoding/json reads it", body, err)
		}
		return
	}
	back, ok := parseTree(text)
	if !ok || !sameTree(tree, back) || !slices.Equal(foldOrders(body), foldOrders(text)) {
		t.Fatalf("%q became %q", body, text)
	}
	again, err := Append(nil, text)
	if err != nil && !strings.Contains(string(text), "e") || err == nil && !bytes.Equal(again, text) {
		t.Fatalf("%q became %q, %v", text, again, err)
	}
}
