package main

import (
	"bytes"
	"strings"
	"testing"
)

// What is typed wrongly is told on one line that names the command.
func TestFlagFaultsAreOneLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"size", "--rps", "many"}, `oncewall size: invalid value "many"`},
		{[]string{"size", "--body", "2KB"}, "oncewall size: invalid value"},
		{[]string{"size", "--nope"}, "oncewall size: flag provided but not defined"},
		{[]string{"explain", probed, "/a", "--nope"}, "oncewall explain: flag provided but not defined"},
		{[]string{"explain", probed, "/a", "-H", "x"}, "oncewall explain: invalid value"},
		{[]string{"explain", probed, "/a", "--claim", "a\nb"}, "oncewall explain: invalid value"},
		{[]string{"explain", probed, "/a", "-X", "P OST"}, `oncewall explain: method "P OST": must be`},
		{[]string{"explain", probed, "/a", "-XP\nOST"}, `oncewall explain: method "P\nOST": must be`},
	} {
		var stdout, stderr bytes.Buffer
		code := run(c.args, nil, &stdout, &stderr)
		if text := stderr.String(); code != exitUsage || stdout.Len() > 0 || !strings.HasPrefix(text, c.want) || strings.Count(text, "\n") != 1 {
			t.Errorf("%q: code %d: %s", c.args, code, text)
		}
	}
	for _, command := range []string{"size", "explain"} {
		var stdout, stderr bytes.Buffer
		if code := run([]string{command, "-h"}, nil, &stdout, &stderr); code != exitOK || strings.Count(stderr.String(), "\n") < 5 {
			t.Errorf("%s -h: code %d: %s", command, code, stderr.String())
		}
	}
}
