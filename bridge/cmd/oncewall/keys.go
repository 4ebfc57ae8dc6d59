package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/oncewall/oncewall/client"
	"github.com/oncewall/oncewall/client/api"
)

const keysUsage = `usage: oncewall keys COMMAND [FLAGS]

  oncewall keys get     RECORD [--result]       show a record, and the decisions about it
  oncewall keys list    [--limit N] [--all]     unresolved records whose lease is over
  oncewall keys resolve RECORD --fence N --action ACTION --reason TEXT
                                                decide about one of them
  oncewall keys erase   RECORD --reason TEXT [--forget] [--force]
                                                forget its result, and who sent it
  oncewall keys erase   --namespace NS --principal KIND:ISSUER:VALUE --reason TEXT
                        [--dry-run] [--rate N] [--cursor C] [--forget] [--force]
                                                the same for all records of a principal

RECORD is --name HEX, as list shows it, or the parts that it is made of:
  --namespace NS --scope SCOPE --principal KIND:ISSUER:VALUE --key-file FILE [--issued]
where FILE holds the key ("-" is standard input): a key on the command line would
show in the process list. KIND is header, jwt, const, anonymous, uri_san,
dns_san, subject, sha256 or api.

ACTION is complete (--status N [--body-file FILE]), executed (--status N), release
or extend (--by DURATION). A record whose fence is not N any more is left alone.

erase leaves a tombstone, so that a late retry is refused (key-expired); with --forget
it leaves nothing, and A RETRY RUNS AGAIN. An unresolved record is left alone without
--force. It returns after the time for which gateways may still answer from their own
memory (35 s), with --no-wait at once. By principal it goes through the whole store,
--rate records a second (20000); when it is cut short it says how to go on (--cursor).

All of them take --url (default http://127.0.0.1:8082, the bridge's admin listener)
and --secret-file FILE, or the secret in $ONCEWALL_OPERATOR_SECRET. They write JSON.
`

// keysTimeout bounds a command, repetitions of its requests included.
const keysTimeout = 30 * time.Second

// keys talks to a bridge's admin listener.
func keys(args, environ []string, stdin io.Reader, stdout, stderr io.Writer) int {
	commands := map[string]func(*keysCommand) (any, error){"get": keysGet, "list": keysList, "resolve": keysResolve, "erase": keysErase}
	if len(args) == 0 || commands[args[0]] == nil {
		help := len(args) > 0 && (args[0] == "help" || args[0] == "-h" || args[0] == "--help")
		if help {
			fmt.Fprint(stdout, keysUsage)
			return exitOK
		}
		fmt.Fprint(stderr, keysUsage)
		return exitUsage
	}
	k := &keysCommand{stdin: stdin}
	k.flags(args[0], stderr)
	if err := k.set.Parse(args[1:]); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return exitOK
		}
		return exitUsage
	}
	if k.set.NArg() > 0 {
		fmt.Fprintf(stderr, "oncewall keys: unexpected argument %q\n", k.set.Arg(0))
		return exitUsage
	}
	var err error
	if k.operator, err = k.at.client(environ); err != nil {
		fmt.Fprintln(stderr, "oncewall keys:", err)
		return exitUsage
	}
	var cancel context.CancelFunc
	k.ctx, cancel = context.WithTimeout(context.Background(), k.timeout(args[0]))
	defer cancel()
	document, err := commands[args[0]](k)
	if document != nil {
		if err := writeJSON(stdout, document); err != nil {
			fmt.Fprintln(stderr, "oncewall keys:", err)
			return exitFailed
		}
	}
	var usage usageError
	switch {
	case errors.As(err, &usage):
		fmt.Fprintln(stderr, "oncewall keys:", err)
		return exitUsage
	case err != nil:
		fmt.Fprintln(stderr, "oncewall keys:", err)
		return exitFailed
	}
	return exitOK
}

// usageError is an error of the command line.
type usageError string

func (e usageError) Error() string { return string(e) }

// keysCommand is one command line.
type keysCommand struct {
	set      *flag.FlagSet
	stdin    io.Reader
	ctx      context.Context
	operator *client.Operator

	at                                         operatorFlags
	name, namespace, scope, principal, keyFile string
	issued, result, all                        bool
	forget, force, dryRun, noWait              bool
	cursor                                     string
	rate                                       int
	previous                                   string
	limit                                      int
	fence                                      uint64
	action, reason, bodyFile                   string
	status                                     int
	by                                         time.Duration
}

func (k *keysCommand) flags(command string, stderr io.Writer) {
	k.set = flag.NewFlagSet("keys "+command, flag.ContinueOnError)
	k.set.SetOutput(stderr)
	k.at.register(k.set)
	if command == "list" {
		k.set.IntVar(&k.limit, "limit", 100, "how `many` records")
		k.set.BoolVar(&k.all, "all", false, "all of them, page by page")
		return
	}
	k.set.StringVar(&k.name, "name", "", "the record's name, 64 `hex` digits")
	k.set.StringVar(&k.namespace, "namespace", "", "`namespace` of the key")
	k.set.StringVar(&k.scope, "scope", "", "`scope` of the key")
	k.set.StringVar(&k.principal, "principal", "", "`kind:issuer:value` of the key's principal")
	k.set.StringVar(&k.keyFile, "key-file", "", "`file` that holds the key; - is standard input")
	k.set.BoolVar(&k.issued, "issued", false, "the key was issued by the gateway")
	k.set.StringVar(&k.previous, "previous-scopes", "", "`scopes` that the key had before, the newest first, with commas between")
	if command == "get" {
		k.set.BoolVar(&k.result, "result", false, "show the recorded result too")
		return
	}
	if command == "erase" {
		k.eraseFlags()
		return
	}
	k.set.Uint64Var(&k.fence, "fence", 0, "the `fence` that was seen")
	k.set.StringVar(&k.action, "action", "", "complete, executed, release or extend")
	k.set.StringVar(&k.reason, "reason", "", "why, for the audit; no key belongs here")
	k.set.IntVar(&k.status, "status", 0, "status of the `result`")
	k.set.StringVar(&k.bodyFile, "body-file", "", "`file` that holds the result's body")
	k.set.DurationVar(&k.by, "by", 0, "how `long` the lease is to last from now")
}

// subject reads which record is meant.
func (k *keysCommand) subject() (api.Subject, error) {
	parts := k.namespace != "" || k.scope != "" || k.principal != "" || k.keyFile != "" || k.issued
	if (k.name != "") == parts {
		return api.Subject{}, usageError("either --name, or --namespace, --scope, --principal and --key-file")
	}
	if k.name != "" {
		return api.Subject{Name: k.name}, nil
	}
	principal, ok := k.who()
	if !ok || k.keyFile == "" {
		return api.Subject{}, usageError("--principal KIND:ISSUER:VALUE and --key-file are required without --name")
	}
	text, err := k.read(k.keyFile)
	if err != nil {
		return api.Subject{}, err
	}
	return api.Subject{
		Namespace: k.namespace, Scope: k.scope, Issued: k.issued, Key: strings.TrimRight(string(text), "\r\n"),
		Principal: principal, PreviousScopes: k.previousScopes(),
	}, nil
}

func (k *keysCommand) previousScopes() []string {
	if k.previous == "" {
		return nil
	}
	return strings.Split(k.previous, ",")
}

// who reads the principal.
func (k *keysCommand) who() (p *api.Principal, ok bool) {
	kind, rest, _ := strings.Cut(k.principal, ":")
	issuer, value, ok := strings.Cut(rest, ":")
	// An issuer may be a URL, whose colons are its own: the value is what follows
	// the last one.
	if at := strings.LastIndexByte(rest, ':'); kind == "jwt" && at >= 0 {
		issuer, value = rest[:at], rest[at+1:]
	}
	return &api.Principal{Kind: kind, Issuer: issuer, Value: value}, ok
}

func (k *keysCommand) read(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(k.stdin)
	}
	return os.ReadFile(name)
}
