package config

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	secretA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	secretB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

// files is what secrets are read from.
var files = map[string]string{
	"/run/a": secretA + "\n", "/run/b": secretB + "\r\n", "/run/short": "short", "/run/empty": "\n",
	"/run/binary": strings.Repeat("\x01", 40), "/run/password": "p w\n", "/run/c": strings.Repeat("c", 32), "/run/d": strings.Repeat("d", 32),
}

func load(yaml string, dev bool, env ...string) (*Config, error) {
	return Load(Options{YAML: []byte(yaml), Environ: env, Dev: dev, ReadFile: func(name string) ([]byte, error) {
		if s, ok := files[name]; ok {
			return []byte(s), nil
		}
		return nil, fmt.Errorf("open %s: %w", name, os.ErrNotExist)
	}})
}

const minimal = `
store: {redis: {addresses: ["127.0.0.1:6379"]}}
secrets:
  bridge: {file: /run/a}
  naming: [{id: n1, file: /run/b}]
  sealing: [{id: s1, file: /run/c}]
`

func TestDefaults(t *testing.T) {
	c, err := load(minimal, false)
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:8081" || c.AdminListen != "127.0.0.1:8082" || c.IssueLife != 15*time.Minute ||
		c.DrainTimeout != 30*time.Second || c.ClockSkew != 500*time.Millisecond || c.Limits.MaxBatchBytes != 8<<20 ||
		c.Redis.Mode != Auto || c.Redis.DialTimeout != time.Second || c.TLS != (TLS{}) || c.Delay != 0 || c.Warnings != nil {
		t.Errorf("%+v", c)
	}
	if len(c.Secrets) != 1 || string(c.Secrets[0]) != secretA {
		t.Errorf("the line break of a secret's file is part of it: %q", c.Secrets)
	}
	if len(c.Sealing) != 1 || c.Sealing[0].ID != "s1" || string(c.Sealing[0].Bytes) != files["/run/c"] || c.Unsealed != ReadUnsealed {
		t.Errorf("sealing %+v, unsealed %q", c.Sealing, c.Unsealed)
	}
	if len(c.Naming) != 1 || c.Naming[0].ID != "n1" || string(c.Naming[0].Bytes) != secretB {
		t.Errorf("naming %+v", c.Naming)
	}
}

func TestEverything(t *testing.T) {
	c, err := load(`
listen: 0.0.0.0:9001
admin_listen: "[::1]:9002"
tls: {cert_file: /c, key_file: /k, client_ca_file: /ca}
store:
  redis:
    mode: sentinel
    addresses: [a:1, b:2]
    sentinel_master: main
    sentinel_username: su
    sentinel_password_env: SP
    username: u
    password_file: /run/password
    dial_timeout: 2s
    tls: {enabled: true, ca_file: /rca, cert_file: /rc, key_file: /rk, server_name: redis}
secrets:
  bridge: {env: BS}
  bridge_previous: {file: /run/a}
  naming:
  - {id: n2, env: NS, issue_from: 2026-07-01T12:00:00+02:00}
  - {id: n1, file: /run/b}
  sealing: [{id: s3, file: /run/c}, {id: s2, env: SS}, {id: s1, file: /run/d}]
  unsealed: refuse
issue_life: 1h
clock_skew: 1s
drain_timeout: 0s
limits:
  max_batch_bytes: 1MiB
  max_in_flight: 10
  max_lease: 1m
  max_ttl: 1h
  max_tombstone_ttl: 0s
  namespaces:
  - {name: edge, new_keys_per_second: 100, result_bytes_per_second: 1MiB, max_result: 64KiB}
  - {name: "*", max_result: 1KiB}
`, false, "BS="+strings.Repeat("s", 32), "NS="+strings.Repeat("n", 32), "SP=sp", "SS="+strings.Repeat("2", 32))
	if err != nil {
		t.Fatal(err)
	}
	want := Redis{
		Mode: Sentinel, Addresses: []string{"a:1", "b:2"}, SentinelMaster: "main", SentinelUsername: "su", SentinelPassword: "sp",
		Username: "u", Password: "p w", DialTimeout: 2 * time.Second,
		TLS: RedisTLS{Enabled: true, CAFile: "/rca", CertFile: "/rc", KeyFile: "/rk", ServerName: "redis"},
	}
	if !reflect.DeepEqual(*c.Redis, want) {
		t.Errorf("redis %+v", *c.Redis)
	}
	if (c.TLS != TLS{"/c", "/k", "/ca"}) || c.IssueLife != time.Hour || c.ClockSkew != time.Second || c.DrainTimeout != 0 ||
		(c.Limits != Limits{1 << 20, 10, 4096, 512, time.Minute, time.Hour, 0}) || c.Listen != "0.0.0.0:9001" || c.AdminListen != "[::1]:9002" {
		t.Errorf("%+v", c)
	}
	if !reflect.DeepEqual(c.Quotas, []Quota{{"edge", 100, 1 << 20, 64 << 10}, {"*", 0, 0, 1 << 10}}) {
		t.Errorf("quotas %+v", c.Quotas)
	}
	if len(c.Secrets) != 2 || string(c.Secrets[1]) != secretA || len(c.Naming) != 2 || c.Naming[0].ID != "n2" {
		t.Errorf("secrets %q, naming %+v", c.Secrets, c.Naming)
	}
	if from := time.Date(2026, 7, 1, 10, 0, 0, 0, time.UTC); !c.Naming[0].IssueFrom.Equal(from) || !c.Naming[1].IssueFrom.IsZero() {
		t.Errorf("issue_from %s, %s", c.Naming[0].IssueFrom, c.Naming[1].IssueFrom)
	}
	if len(c.Sealing) != 3 || c.Sealing[0].ID != "s3" || c.Sealing[1].ID != "s2" || c.Sealing[2].ID != "s1" || c.Unsealed != RefuseUnsealed {
		t.Errorf("sealing %+v, unsealed %q", c.Sealing, c.Unsealed)
	}
}

func TestEnvironmentWins(t *testing.T) {
	c, err := load(minimal+"listen: nonsense\n", false, "ONCEWALL_LISTEN=127.0.0.1:1", "ONCEWALL_ISSUE_LIFE=2s",
		"ONCEWALL_STORE_REDIS_ADDRESSES=h1:1, h2:2", "ONCEWALL_STORE_REDIS_TLS_ENABLED=true",
		"ONCEWALL_LIMITS_MAX_IN_FLIGHT=7", "ONCEWALL_SECRETS_NAMING_0_ID=other", "ONCEWALL_ADMIN_LISTEN=", "ONCEWALL_LISSEN=x")
	if err != nil {
		t.Fatal(err)
	}
	if c.Listen != "127.0.0.1:1" || c.IssueLife != 2*time.Second || !reflect.DeepEqual(c.Redis.Addresses, []string{"h1:1", "h2:2"}) ||
		!c.Redis.TLS.Enabled || c.Limits.MaxInFlight != 7 || c.Naming[0].ID != "other" || c.AdminListen != "127.0.0.1:8082" {
		t.Errorf("%+v", c)
	}
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "ONCEWALL_LISSEN") {
		t.Errorf("warnings %q", c.Warnings)
	}
}

func TestDev(t *testing.T) {
	c, err := load("secrets: {bridge: {file: /run/a}}", true, "BRIDGE_CLOCK_OFFSET=-1h", "BRIDGE_DELAY=10ms", "ISSUE_LIFE=3s")
	if err != nil {
		t.Fatal(err)
	}
	if c.Redis != nil || len(c.Naming) != 1 || c.ClockOffset != -time.Hour || c.Delay != 10*time.Millisecond || c.IssueLife != 3*time.Second {
		t.Errorf("%+v", c)
	}
	again, err := load("secrets: {bridge: {file: /run/a}}", true)
	if err != nil || string(again.Naming[0].Bytes) == string(c.Naming[0].Bytes) {
		t.Errorf("two runs share a generated naming secret, %v", err)
	}
	if _, err := load(minimal, true, "ONCEWALL_LISTEN=localhost:1", "ONCEWALL_ADMIN_LISTEN=[::1]:1"); err != nil {
		t.Errorf("loopback by name and by IPv6: %v", err)
	}
	c, err = load(minimal, true, "REDIS_VIA=127.0.0.1:7100")
	if err != nil || c.Redis.Via["127.0.0.1:6379"] != "127.0.0.1:7100" {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestFaults: each configuration has exactly the faults listed.
func TestFaults(t *testing.T) {
	with := func(extra string) string { return minimal + extra }
	redis := func(fields string) string {
		return "store: {redis: {" + fields + "}}\nsecrets: {bridge: {file: /run/a}, naming: [{id: n, file: /run/b}]}\n"
	}
	secrets := func(fields string) string {
		return "store: {redis: {addresses: [\"a:1\"]}}\nsecrets: {" + fields + "}\n"
	}
	const naming = "naming: [{id: n, file: /run/b}]"
	for name, tc := range map[string]struct {
		yaml string
		dev  bool
		env  []string
		want []string
	}{
		"nothing at all": {"", false, nil, []string{"store: not configured", "secrets.bridge: required", "secrets.naming: required"}},
		"several at once": {with("listen: 1\nissue_life: 25h\nlimits: {max_in_flight: 0}\nlimmits: {}\ntls: {certfile: x}\n"), false, nil, []string{
			"limmits: unknown field", "tls.certfile: unknown field", "listen: 1: must be host:port",
			`issue_life: "25h": must be a duration with its unit, 1s to 24h0m0s`, "limits.max_in_flight: 0: must be a whole number, 1 to 100000"}},
		"not yaml":            {"a: [", false, nil, []string{"not YAML", "store", "secrets.bridge", "secrets.naming"}},
		"two documents":       {minimal + "---\nlisten: a:1\n", false, nil, []string{"more than one YAML document"}},
		"twice":               {with("listen: a:1\nlisten: b:1\n"), false, nil, []string{"not YAML", "store", "secrets.bridge", "secrets.naming"}},
		"scalar for mapping":  {with("tls: yes\n"), false, nil, []string{`tls: "yes": must be a mapping`}},
		"list for mapping":    {with("tls: []\n"), false, nil, []string{"tls: a list: must be a mapping"}},
		"mapping for scalar":  {with("listen: {a: b}\n"), false, nil, []string{"listen: a mapping: must be host:port"}},
		"null":                {with("listen:\n"), false, nil, []string{"listen: nothing: must be host:port"}},
		"no unit":             {with("drain_timeout: 30\n"), false, nil, []string{"drain_timeout: 30: must be a duration"}},
		"port":                {with("listen: a:99999\n"), false, nil, []string{`listen: "a:99999": must be host:port`}},
		"size unit":           {with("limits: {max_batch_bytes: 8MB}\n"), false, nil, []string{`limits.max_batch_bytes: "8MB": must be a size`}},
		"size overflow":       {with("limits: {max_batch_bytes: 9223372036854775807GiB}\n"), false, nil, []string{"limits.max_batch_bytes"}},
		"size low":            {with("limits: {max_batch_bytes: 1KiB}\n"), false, nil, []string{"262144B to"}},
		"number for string":   {with("tls: {cert_file: 1, key_file: a}\n"), false, nil, []string{"tls.cert_file: 1: must be a string", "tls: cert_file and key_file"}},
		"half a pair":         {with("tls: {cert_file: a}\n"), false, nil, []string{"tls: cert_file and key_file go together"}},
		"client ca alone":     {with("tls: {client_ca_file: a}\n"), false, nil, []string{"tls.client_ca_file: needs cert_file"}},
		"dev not on loopback": {minimal, true, []string{"ONCEWALL_LISTEN=0.0.0.0:1", "ONCEWALL_ADMIN_LISTEN=:2"}, []string{`listen: "0.0.0.0:1": must be a loopback`, `admin_listen: ":2"`}},
		"dev knobs": {minimal, false, []string{"BRIDGE_CLOCK_OFFSET=1s", "BRIDGE_DELAY=1s", "ISSUE_LIFE=1s", "REDIS_VIA=a:1"}, []string{
			"BRIDGE_CLOCK_OFFSET: \"1s\": only with --dev", "BRIDGE_DELAY", "ISSUE_LIFE", "REDIS_VIA"}},
		"bad dev knobs": {minimal, true, []string{"BRIDGE_CLOCK_OFFSET=1", "BRIDGE_DELAY=1h", "ISSUE_LIFE=0s", "REDIS_VIA=a:1,b:1"}, []string{
			"BRIDGE_CLOCK_OFFSET: \"1\"", "BRIDGE_DELAY", "ISSUE_LIFE", "REDIS_VIA: 2 addresses"}},
		"bad environment":       {minimal, false, []string{"ONCEWALL_STORE_REDIS_ADDRESSES=a", "ONCEWALL_STORE_REDIS_TLS_ENABLED=1"}, []string{`store.redis.addresses: "a"`, "store.redis.tls.enabled"}},
		"no address":            {redis("mode: single"), false, nil, []string{"store.redis.addresses: required"}},
		"empty addresses":       {redis("addresses: []"), false, nil, []string{"store.redis.addresses: a list: must be a list of 1 to 64"}},
		"mode":                  {redis("mode: clustered, addresses: ['a:1']"), false, nil, []string{`store.redis.mode: "clustered": must be one of [auto single sentinel cluster]`}},
		"single with two":       {redis("mode: single, addresses: ['a:1', 'b:1']"), false, nil, []string{"2 addresses: must be 1"}},
		"sentinel's master":     {redis("mode: sentinel, addresses: ['a:1']"), false, nil, []string{"sentinel_master: required"}},
		"master elsewhere":      {redis("mode: cluster, sentinel_master: m, addresses: ['a:1']"), false, nil, []string{"sentinel_master: \"m\": only with"}},
		"user alone":            {redis("username: u, addresses: ['a:1']"), false, nil, []string{"store.redis.username: needs password"}},
		"inline password":       {redis("password: p, addresses: ['a:1']"), false, nil, []string{"store.redis.password: unknown field"}},
		"password twice":        {redis("password_env: A, password_file: /run/a, addresses: ['a:1']"), false, nil, []string{"store.redis.password_env: env and file are both set"}},
		"tls not enabled":       {redis("tls: {ca_file: a}, addresses: ['a:1']"), false, nil, []string{"store.redis.tls.enabled: must be true"}},
		"tls half a pair":       {redis("tls: {enabled: true, key_file: a}, addresses: ['a:1']"), false, nil, []string{"store.redis.tls: cert_file"}},
		"inline secret":         {secrets("bridge: " + secretA + ", " + naming), false, nil, []string{"secrets.bridge: must be a mapping with env or file", "secrets.bridge: required"}},
		"bridge short":          {secrets("bridge: {file: /run/short}, " + naming), false, nil, []string{"secrets.bridge: 5 bytes: must be at least 32"}},
		"bridge empty":          {secrets("bridge: {file: /run/empty}, " + naming), false, nil, []string{"secrets.bridge.file: \"/run/empty\": the file is empty"}},
		"bridge binary":         {secrets("bridge: {file: /run/binary}, " + naming), false, nil, []string{"secrets.bridge: must be visible ASCII"}},
		"bridge not there":      {secrets("bridge: {file: /run/none}, " + naming), false, nil, []string{"secrets.bridge.file: open /run/none"}},
		"bridge env not there":  {secrets("bridge: {env: NONE}, " + naming), false, nil, []string{"secrets.bridge.env: \"NONE\": the variable is not set"}},
		"bridge twice":          {secrets("bridge: {env: A, file: /run/a}, " + naming), false, nil, []string{"secrets.bridge.env: env and file"}},
		"previous alone":        {secrets("bridge_previous: {file: /run/a}, " + naming), false, nil, []string{"bridge_previous: needs secrets.bridge", "secrets.bridge: required"}},
		"naming with dev":       {"store: {redis: {addresses: ['a:1']}}\nsecrets: {bridge: {file: /run/a}}", true, nil, []string{"secrets.naming: required"}},
		"naming short":          {secrets("bridge: {file: /run/a}, naming: [{id: n, file: /run/short}]"), false, nil, []string{"secrets.naming: naming: secret \"n\": 5 bytes"}},
		"naming short and more": {"listen: 1\n" + secrets("bridge: {file: /run/a}, naming: [{id: n, file: /run/short}]"), false, nil, []string{"listen", "secrets.naming: naming: secret \"n\": 5 bytes"}},
		"naming same":           {secrets("bridge: {file: /run/a}, naming: [{id: n, file: /run/a}, {id: m, file: /run/a}]"), false, nil, []string{"are the same"}},
		"naming three":          {secrets("bridge: {file: /run/a}, naming: [{}, {}, {}]"), false, nil, []string{"secrets.naming: 3 entries: must be at most 2", "secrets.naming: required"}},
		"naming without id":     {secrets("bridge: {file: /run/a}, naming: [{file: /run/a}]"), false, nil, []string{"secrets.naming[0].id: required"}},
		"naming without secret": {secrets("bridge: {file: /run/a}, naming: [{id: a}]"), false, nil, []string{"secrets.naming[0]: env or file"}},
		"issue_from alone":      {secrets("bridge: {file: /run/a}, naming: [{id: n, file: /run/b, issue_from: 2026-07-01T12:00:00Z}]"), false, nil, []string{"secrets.naming[0].issue_from: needs secrets.naming[1]"}},
		"issue_from no time":    {secrets("bridge: {file: /run/a}, naming: [{id: n, file: /run/b, issue_from: 2026-07-01}, {id: m, file: /run/c}]"), false, nil, []string{"secrets.naming[0].issue_from: \"2026-07-01\": must be a time"}},
		"issue_from of old":     {secrets("bridge: {file: /run/a}, naming: [{id: n, file: /run/b}, {id: m, file: /run/c, issue_from: 2026-07-01T12:00:00Z}]"), false, nil, []string{"secrets.naming[1].issue_from: unknown field"}},
		"sealing short":         {secrets("bridge: {file: /run/a}, " + naming + ", sealing: [{id: s, file: /run/short}]"), false, nil, []string{"secrets.sealing: seal: secret \"s\": 5 bytes: must be at least 32"}},
		"sealing id":            {secrets("bridge: {file: /run/a}, " + naming + ", sealing: [{id: 's 1', file: /run/c}]"), false, nil, []string{"secrets.sealing: seal: secret 0: id"}},
		"sealing nine":          {secrets("bridge: {file: /run/a}, " + naming + ", sealing: [{}, {}, {}, {}, {}, {}, {}, {}, {}]"), false, nil, []string{"secrets.sealing: 9 entries: must be at most 8"}},
		"sealing as naming":     {secrets("bridge: {file: /run/a}, " + naming + ", sealing: [{id: s, file: /run/b}]"), false, nil, []string{"secrets.sealing: secret \"s\" serves another purpose too"}},
		"sealing as bridge":     {secrets("bridge: {file: /run/a}, " + naming + ", sealing: [{id: s, file: /run/a}]"), false, nil, []string{"secrets.sealing: secret \"s\" serves another purpose too"}},
		"sealing with a gap":    {secrets("bridge: {file: /run/a}, " + naming + ", sealing: [{id: s, file: /run/c}, {}, {id: r, file: /run/d}]"), false, nil, []string{"secrets.sealing[2]: needs secrets.sealing[1]"}},
		"sealing inline":        {secrets("bridge: {file: /run/a}, " + naming + ", sealing: [{id: s, file: /run/c, secret: x}]"), false, nil, []string{"secrets.sealing[0].secret: unknown field"}},
		"unsealed alone":        {secrets("bridge: {file: /run/a}, " + naming + ", unsealed: refuse"), false, nil, []string{"secrets.unsealed: \"refuse\": needs secrets.sealing"}},
		"unsealed word":         {secrets("bridge: {file: /run/a}, " + naming + ", unsealed: ignore"), false, nil, []string{"secrets.unsealed: \"ignore\": must be one of [read refuse write]"}},
		"quota of nobody":       {with("limits: {namespaces: [{max_result: 1KiB}]}"), false, nil, []string{"limits.namespaces[0].name: 0 bytes: must be 1 to 128"}},
		"quota of nothing":      {with("limits: {namespaces: [{name: a}]}"), false, nil, []string{"limits.namespaces[0]: bounds nothing"}},
		"quota twice":           {with("limits: {namespaces: [{name: a, max_result: 1KiB}, {name: a, max_result: 2KiB}]}"), false, nil, []string{"limits.namespaces[1].name: \"a\": used twice"}},
		"quota with a gap":      {minimal, false, []string{"ONCEWALL_LIMITS_NAMESPACES_1_NAME=a", "ONCEWALL_LIMITS_NAMESPACES_1_MAX_RESULT=1KiB"}, []string{"limits.namespaces[1]: needs limits.namespaces[0]"}},
		"quota of zero":         {with("limits: {namespaces: [{name: a, new_keys_per_second: 0, max_result: 1KiB}]}"), false, nil, []string{"limits.namespaces[0].new_keys_per_second: 0: must be"}},
		"naming not a list":     {secrets("bridge: {file: /run/a}, naming: {id: a}"), false, nil, []string{"secrets.naming.id: unknown field", "secrets.naming: required"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(tc.yaml, tc.dev, tc.env...)
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("got %v, want faults", err)
			}
			text := err.Error()
			for _, want := range tc.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q", want)
				}
			}
			if len(faults) != len(tc.want) {
				t.Errorf("%d faults, want %d", len(faults), len(tc.want))
			}
			if t.Failed() {
				t.Log(text)
			}
		})
	}
}

// TestFaultsNameNoSecret: a fault may be copied into a ticket.
func TestFaultsNameNoSecret(t *testing.T) {
	_, err := load("store: {redis: {addresses: ['a:1'], username: u}}\nsecrets: {bridge: {env: S}, naming: [{id: n, env: S}, {id: m, env: S}]}",
		false, "S=hunter2")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%v", err)
	}
	for _, yaml := range []string{"secrets: hunter2", "secrets: {bridge: hunter2}", "secrets: {naming: [hunter2]}", "secrets: {naming: hunter2}",
		"store: {redis: {password: hunter2}}"} {
		if _, err := load(yaml, false); err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}

// TestWarnsOfClearText: legal inside a mesh, and worth a word.
func TestWarnsOfClearText(t *testing.T) {
	c, err := load(minimal, false, "ONCEWALL_LISTEN=10.0.0.1:80")
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "in clear") {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestWarnsOfUnsealedResults: a store that others read as well deserves the word.
func TestWarnsOfUnsealedResults(t *testing.T) {
	c, err := load("store: {redis: {addresses: ['a:1']}}\nsecrets: {bridge: {file: /run/a}, naming: [{id: n, file: /run/b}]}", false)
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "secrets.sealing: not set") {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestDocumentation keeps the page and the table of fields together. Fields of a
// list longer than two stand there once, with n for the index.
func TestDocumentation(t *testing.T) {
	page, err := os.ReadFile("../../docs/configuration-bridge.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z_.0-9\\[\\]]+)` \\|").FindAllStringSubmatch(string(page), -1) {
		documented[m[1]] = true
	}
	fields := map[string]bool{}
	for _, f := range defaults().table() {
		path := f.path
		for list, most := range lists {
			if rest, ok := strings.CutPrefix(path, list+"["); ok && most > 2 {
				_, member, _ := strings.Cut(rest, "]")
				path = list + "[n]" + member
			}
		}
		fields[path] = true
	}
	for path := range fields {
		if !documented[path] {
			t.Errorf("%s is not documented", path)
		}
		delete(documented, path)
	}
	for path := range documented {
		t.Errorf("%s is documented and does not exist", path)
	}
}
