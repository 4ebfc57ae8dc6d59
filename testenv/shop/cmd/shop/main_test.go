package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestRunServesUntilItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error, 1)
	env := map[string]string{"SHOP_PORT": "0", "SHOP_GUARDS": "unique"}
	go func() { ended <- run(ctx, nil, func(name string) string { return env[name] }, w) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(strings.ReplaceAll(line, ",", " "))
	if len(words) != 6 || words[5] != "unique" || !strings.HasPrefix(words[3], "127.0.0.1:") {
		t.Fatalf("printed %q", line)
	}
	res, err := http.Post("http://"+words[3]+"/orders", "text/plain", strings.NewReader("x"))
	if err != nil || res.StatusCode != 201 {
		t.Fatalf("%v, %v", res, err)
	}
	res.Body.Close()
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestRunRefusesBadSettings(t *testing.T) {
	none := func(string) string { return "" }
	for _, args := range [][]string{{"-guards=some"}, {"-port=x"}, {"-nothing"}, {"-port=0", "extra"}} {
		if err := run(context.Background(), args, none, new(bytes.Buffer)); err == nil {
			t.Errorf("%v was accepted", args)
		}
	}
}
