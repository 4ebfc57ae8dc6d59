package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/oncewall/oncewall/testenv/apitest"
)

// asProgram makes this test binary be the consumer, so that a test can kill it.
const asProgram = "CONSUMER_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const lease = 1500 * time.Millisecond

// world is a bridge, a queue with one message, and a sink.
type world struct {
	*testing.T
	bridge              *apitest.Bridge
	queue, sink, secret string
	message             message
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, bridge: apitest.Start(t), queue: t.TempDir(), sink: t.TempDir(), secret: filepath.Join(t.TempDir(), "secret")}
	w.write(w.secret, apitest.Consumer+"\n")
	w.message = message{Type: "payment.due", ID: "4711", Amount: 250}
	w.deliver("first")
	return w
}

func (w *world) write(file, text string) {
	w.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

// deliver puts the message into the queue, as a queue does once more at times.
func (w *world) deliver(name string) {
	w.Helper()
	text, err := json.Marshal(w.message)
	if err != nil {
		w.Fatal(err)
	}
	w.write(filepath.Join(w.queue, name+".json"), string(text))
}

// process is a running consumer, and the words of its output.
type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func (w *world) start(die string) *process {
	w.Helper()
	cmd := exec.Command(os.Args[0], "--bridge", w.bridge.Data, "--secret-file", w.secret, "--queue", w.queue, "--sink", w.sink,
		"--lease", lease.String(), "--die", die)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		w.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return &process{cmd, bufio.NewScanner(out)}
}

// until reads lines up to the one that begins with word and returns its last
// field.
func (w *world) until(p *process, word string) (last string) {
	w.Helper()
	for p.lines.Scan() {
		if line := p.lines.Text(); strings.HasPrefix(line, word+" ") {
			return line[strings.LastIndexByte(line, ' ')+1:]
		}
	}
	w.Fatalf("the consumer ended without %q", word)
	return ""
}

func (w *world) entry() entry {
	w.Helper()
	var e entry
	text, err := os.ReadFile(sink{w.sink}.file(w.message.key()))
	if err == nil {
		err = json.Unmarshal(text, &e)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.Fatal(err)
	}
	return e
}

// TestKilled: a consumer dies by SIGKILL between claim and completion, before or
// after its effect. When its lease has ended another one takes over with a higher
// fence, and the effect has been had once.
func TestKilled(t *testing.T) {
	for _, point := range []string{"claimed", "applied"} {
		t.Run(point, func(t *testing.T) {
			w := newWorld(t)
			first := w.start(point)
			before := w.until(first, point)
			if err := first.cmd.Process.Signal(syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			first.cmd.Wait()
			killed := time.Now()

			second := w.start("")
			after := w.until(second, "claimed")
			if took := time.Since(killed); took < lease/3 {
				t.Errorf("taken over after %s of a lease of %s", took, lease)
			}
			if w.until(second, "done"); number(t, after) <= number(t, before) {
				t.Errorf("fence %s after %s", after, before)
			}
			if err := second.cmd.Wait(); err != nil {
				t.Error(err)
			}
			if e := w.entry(); e.Effects != 1 || e.Amount != 250 || e.Fence != number(t, after) {
				t.Errorf("%+v", e)
			}
			if left, _ := filepath.Glob(filepath.Join(w.queue, "*.json")); len(left) != 0 {
				t.Errorf("not acknowledged: %v", left)
			}
			// The owner that died would be refused if it came back.
			if _, err := (sink{w.sink}).apply(w.message.key(), number(t, before), 250); !errors.Is(err, errFence) {
				t.Errorf("the sink took the old fence: %v", err)
			}
		})
	}
}

// TestKilledBeforeAcknowledging: the key is complete and its message is still in
// the queue. The next delivery gets the recorded receipt, without an effect.
func TestKilledBeforeAcknowledging(t *testing.T) {
	w := newWorld(t)
	first := w.start("done")
	receipt := w.until(first, "done")
	if err := first.cmd.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	first.cmd.Wait()
	if left, _ := filepath.Glob(filepath.Join(w.queue, "*.json")); len(left) != 1 {
		t.Fatalf("in the queue: %v", left)
	}
	before := w.entry()
	second := w.start("")
	if again := w.until(second, "done"); again != receipt {
		t.Errorf("receipt %q, then %q", receipt, again)
	}
	if err := second.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if after := w.entry(); after != before || after.Effects != 1 {
		t.Errorf("%+v, then %+v", before, after)
	}
	if left, _ := filepath.Glob(filepath.Join(w.queue, "*.json")); len(left) != 0 {
		t.Errorf("not acknowledged: %v", left)
	}
}

// TestSlow: a consumer that takes longer than its lease keeps its claim, and
// nobody takes over.
func TestSlow(t *testing.T) {
	w := newWorld(t)
	slow := w.start("claimed")
	w.until(slow, "claimed")
	began := time.Now()
	other := w.start("")
	for time.Since(began) < 2*lease {
		w.until(other, "waiting")
	}
	if e := w.entry(); e.Fence != 0 {
		t.Errorf("%+v", e)
	}
}

// TestDeliveredTwice: the second delivery is acknowledged without an effect.
func TestDeliveredTwice(t *testing.T) {
	w := newWorld(t)
	w.deliver("second")
	p := w.start("")
	w.until(p, "done")
	w.until(p, "done")
	if err := p.cmd.Wait(); err != nil {
		t.Error(err)
	}
	if e := w.entry(); e.Effects != 1 {
		t.Errorf("%+v", e)
	}
}

func number(t *testing.T, s string) (n uint64) {
	t.Helper()
	if _, err := fmt.Sscan(s, &n); err != nil {
		t.Fatal(err)
	}
	return n
}
