package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const listenerURL = "type.googleapis.com/envoy.config.listener.v3.Listener"

// ErrRejected says that Envoy refused an update and serves what it had.
var ErrRejected = errors.New("stack: envoy rejected the update")

// updateLimit bounds how long Envoy may take to notice and judge a new file.
const updateLimit = 60 * time.Second

func (s *Stack) listenersFile(part string) string {
	return filepath.Join(s.dir, part+".listeners.yaml")
}

// splitListeners moves the listeners of c to a file that Envoy watches.
func (c document) splitListeners(file string) error {
	static, err := c.at("static_resources")
	if err != nil {
		return err
	}
	listeners, _ := static["listeners"].([]any)
	delete(static, "listeners")
	for _, l := range listeners {
		l.(map[string]any)["@type"] = listenerURL
	}
	c["dynamic_resources"] = map[string]any{"lds_config": map[string]any{
		"path_config_source":   map[string]any{"path": file},
		"resource_api_version": "V3",
	}}
	return document{"resources": listeners}.replace(file)
}

// replace writes the file by a rename, which is what Envoy looks out for.
func (c document) replace(file string) error {
	if err := c.write(file + ".new"); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// SetRules gives the i-th gateway of a [Options.Live] stack the plugin
// configuration in a file, without a restart. It returns when Envoy has taken
// it, or [ErrRejected]; then the old configuration goes on serving, and the
// gateway's log holds the reasons.
func (s *Stack) SetRules(ctx context.Context, i int, rules string) error {
	ctx, cancel := context.WithTimeout(ctx, updateLimit)
	defer cancel()
	g := s.gatewayConfig(i, s.prog.wasm)
	g.rules = rules
	c, err := g.build(filepath.Join(s.opts.Root, "envoy/envoy.yaml"))
	if err != nil {
		return err
	}
	admin := s.GatewayAdmin(i)
	before, err := readUpdates(ctx, admin)
	if err != nil {
		return err
	}
	if err := c.splitListeners(s.listenersFile(g.name)); err != nil {
		return err
	}
	for {
		now, err := readUpdates(ctx, admin)
		switch {
		case err != nil:
			return err
		case now.rejected > before.rejected:
			return ErrRejected
		case now.taken > before.taken:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: update: %w", g.name, ctx.Err())
		case <-time.After(pollEvery):
		}
	}
}

// updates counts what became of the versions of a gateway's listeners.
type updates struct{ taken, rejected int }

func readUpdates(ctx context.Context, admin string) (updates, error) {
	const prefix = "listener_manager.lds.update_"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+"/stats?filter=^listener_manager.lds.update_", nil)
	if err != nil {
		return updates{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return updates{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return updates{}, err
	}
	var u updates
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.Atoi(value)
		switch {
		case err != nil: // a histogram
		case name == prefix+"success":
			u.taken = n
		case name == prefix+"rejected":
			u.rejected = n
		}
	}
	return u, nil
}
