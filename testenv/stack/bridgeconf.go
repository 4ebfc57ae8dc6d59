package stack

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Variables that carry secrets to the bridge; the first one goes to Envoy too.
const (
	bridgeSecretEnv  = "ONCEWALL_BRIDGE_SECRET"
	namingSecretEnv  = "ONCEWALL_NAMING_SECRET"
	sealingSecretEnv = "ONCEWALL_SEALING_SECRET"
	// Of the JSON API, for users and not for a part of the stack.
	consumerSecretEnv = "ONCEWALL_STACK_CONSUMER_SECRET"
	operatorSecretEnv = "ONCEWALL_STACK_OPERATOR_SECRET"
)

// apiNamespace is where the stack's consumer may have keys; the gateway has others.
const apiNamespace = "jobs"

// bridgeEnv returns the environment of a bridge. The file of the options is
// passed to it untouched, so that the bridge judges the user's own text; what
// belongs to the stack overrides fields by the bridge's own variables.
func (s *Stack) bridgeEnv(port, admin int, clockOffset time.Duration, secrets secrets) []string {
	// A user may override fields as in production.
	var env []string
	for _, line := range os.Environ() {
		if strings.HasPrefix(line, "ONCEWALL_") {
			env = append(env, line)
		}
	}
	set := map[string]string{
		bridgeSecretEnv:         secrets.bridge,
		namingSecretEnv:         secrets.naming,
		sealingSecretEnv:        secrets.sealing,
		"ONCEWALL_LISTEN":       Addr(port),
		"ONCEWALL_ADMIN_LISTEN": Addr(admin),
	}
	// A file that cannot be read here is the bridge's to refuse.
	file, _ := readYAML(s.opts.BridgeConfig)
	if walk(map[string]any(file), []any{"secrets", "bridge"}) == nil {
		set["ONCEWALL_SECRETS_BRIDGE_ENV"] = bridgeSecretEnv
	}
	if walk(map[string]any(file), []any{"secrets", "naming"}) == nil {
		set["ONCEWALL_SECRETS_NAMING_0_ID"] = "stack"
		set["ONCEWALL_SECRETS_NAMING_0_ENV"] = namingSecretEnv
	}
	if walk(map[string]any(file), []any{"secrets", "sealing"}) == nil {
		set["ONCEWALL_SECRETS_SEALING_0_ID"] = "stack"
		set["ONCEWALL_SECRETS_SEALING_0_ENV"] = sealingSecretEnv
	}
	if walk(map[string]any(file), []any{"secrets", "api"}) == nil {
		for at, caller := range []struct{ role, env, secret, allow string }{
			{"consumer", consumerSecretEnv, secrets.consumer, apiNamespace + "/*"},
			{"operator", operatorSecretEnv, secrets.operator, ""},
		} {
			n := "ONCEWALL_SECRETS_API_" + strconv.Itoa(at) + "_"
			set[n+"ID"], set[n+"ROLE"], set[n+"ENV"], set[caller.env] = caller.role, caller.role, caller.env, caller.secret
			if caller.allow != "" {
				set[n+"ALLOW"] = caller.allow
			}
		}
	}
	for name, url := range shopURLs(file, s.Shop()) {
		set[name] = url
	}
	if s.opts.Store == Cluster {
		set["ONCEWALL_STORE_REDIS_MODE"] = "cluster"
		set["ONCEWALL_STORE_REDIS_ADDRESSES"] = strings.Join(s.Redis(), ",")
		if len(s.opts.RedisVia) > 0 {
			set["REDIS_VIA"] = strings.Join(s.opts.RedisVia, ",")
		}
	}
	for name, d := range map[string]time.Duration{
		"BRIDGE_CLOCK_OFFSET": clockOffset,
		"BRIDGE_DELAY":        s.opts.BridgeDelay,
		"ISSUE_LIFE":          s.opts.IssueLife,
	} {
		if d != 0 {
			set[name] = d.String()
		}
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		env = append(env, name+"="+set[name])
	}
	return env
}

// shopAddr stands in a bridge's configuration for the address of the stack's shop,
// wherever that is.
const shopAddr = "//127.0.0.1:8090/"

// shopURLs are the variables that replace the shop's address in a bridge's probes
// and compensations.
func shopURLs(file document, shop string) map[string]string {
	set := map[string]string{}
	scopes, _ := walk(map[string]any(file), []any{"recovery", "scopes"}).([]any)
	for i := range scopes {
		for _, part := range []string{"probe", "compensate"} {
			url, _ := walk(map[string]any(file), []any{"recovery", "scopes", i, part, "url"}).(string)
			if strings.Contains(url, shopAddr) {
				set[fmt.Sprintf("ONCEWALL_RECOVERY_SCOPES_%d_%s_URL", i, strings.ToUpper(part))] = strings.Replace(url, shopAddr, "//"+shop+"/", 1)
			}
		}
	}
	return set
}
