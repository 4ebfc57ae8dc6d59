package main

import (
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"strings"

	"github.com/oncewall/oncewall/client"
)

// operatorSecretEnv holds the operator's secret where no file does.
const operatorSecretEnv = "ONCEWALL_OPERATOR_SECRET"

// operatorFlags say which bridge is asked, and where the secret for it lies.
type operatorFlags struct{ url, secretFile string }

func (o *operatorFlags) register(set *flag.FlagSet) {
	set.StringVar(&o.url, "url", "http://127.0.0.1:8082", "the bridge's admin `listener`")
	set.StringVar(&o.secretFile, "secret-file", "", "`file` that holds the operator's secret")
}

// client makes a client of that bridge. It sends nothing.
func (o *operatorFlags) client(environ []string) (*client.Operator, error) {
	secret, err := o.secret(environ)
	if err != nil {
		return nil, err
	}
	return client.NewOperator(o.url, secret, nil)
}

func (o *operatorFlags) secret(environ []string) (string, error) {
	if o.secretFile != "" {
		b, err := os.ReadFile(o.secretFile)
		return strings.TrimRight(string(b), "\r\n"), err
	}
	for _, line := range environ {
		if s, ok := strings.CutPrefix(line, operatorSecretEnv+"="); ok && s != "" {
			return s, nil
		}
	}
	return "", errors.New("no secret: --secret-file or $" + operatorSecretEnv)
}

// writeJSON writes a document for people and programs.
func writeJSON(w io.Writer, document any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(document)
}
