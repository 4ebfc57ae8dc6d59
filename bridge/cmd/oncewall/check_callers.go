package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/oncewall/oncewall/filter/rules"
)

// surroundings is what an Envoy file says of those who establish callers.
type surroundings struct {
	tokens       bool   // a jwt_authn filter is there
	anyIssuer    string // and this provider of it takes tokens that say any issuer
	certificates bool   // a listener checks certificates against a CA
	unverified   bool   // and takes what it could not verify
	metadata     bool   // a route has metadata under oncewall
}

func surroundingsOf(document any) (s surroundings) {
	walkMaps(document, func(m map[string]any) {
		kind, _ := m["@type"].(string)
		if strings.HasSuffix(kind, ".JwtAuthentication") {
			s.tokens = true
			providers, _ := m["providers"].(map[string]any)
			for _, name := range slices.Sorted(maps.Keys(providers)) {
				if p, ok := providers[name].(map[string]any); ok && s.anyIssuer == "" && (p["issuer"] == nil || p["issuer"] == "") {
					s.anyIssuer = name
				}
			}
		}
		if strings.HasSuffix(kind, ".DownstreamTlsContext") {
			walkMaps(m, func(inner map[string]any) {
				s.certificates = s.certificates || inner["trusted_ca"] != nil || inner["validation_context_sds_secret_config"] != nil ||
					inner["combined_validation_context"] != nil || inner["custom_validator_config"] != nil
				s.unverified = s.unverified || inner["trust_chain_verification"] == "ACCEPT_UNTRUSTED"
			})
		}
		if filters, ok := m["filter_metadata"].(map[string]any); ok {
			s.metadata = s.metadata || filters["oncewall"] != nil
		}
	})
	return s
}

// disagreeCallers compares the sources of principals and keys with the file that
// the plugin's configuration was found in. What Envoy gets by xDS is not in it.
func disagreeCallers(f *pluginFile) (remarks []string) {
	if !f.fromEnvoy {
		return nil
	}
	for _, r := range f.cfg.Rules {
		if r.Mode == rules.Off {
			continue
		}
		add := func(format string, args ...any) {
			remarks = append(remarks, fmt.Sprintf("rule %q: "+format, append([]any{r.Name}, args...)...))
		}
		sources := append([]rules.Principal{r.Principal}, r.Principal.Or...)
		claims := slices.ContainsFunc(sources, func(p rules.Principal) bool { return p.Kind == rules.PrincipalJWT }) ||
			slices.ContainsFunc(r.Key.From, usesClaim)
		if claims && !f.around.tokens {
			add("reads a jwt_claim, and no jwt_authn filter is in this file")
		}
		if claims && f.around.anyIssuer != "" {
			add("reads a jwt_claim, and jwt_authn's provider %q states no issuer: who signs its tokens may say to be any", f.around.anyIssuer)
		}
		if slices.ContainsFunc(sources, func(p rules.Principal) bool { return p.Kind.Certificate() }) {
			switch {
			case !f.around.certificates:
				add("reads a peer_certificate, and no listener in this file checks certificates (trusted_ca)")
			case f.around.unverified:
				add("reads a peer_certificate, and a listener takes unverified ones (ACCEPT_UNTRUSTED)")
			}
		}
	}
	if f.around.metadata && !f.cfg.Envoy.RouteMetadata {
		remarks = append(remarks, "routes have metadata under oncewall, which is read only with envoy.route_metadata: true")
	}
	return remarks
}

// lookupsForAll names the rules whose results anybody may ask for who knows a key.
func lookupsForAll(cfg *rules.Config) (remarks []string) {
	for _, r := range cfg.Rules {
		if r.Mode != rules.Off && r.Lookup && cfg.Lookup != "" && !r.Principal.Names() {
			remarks = append(remarks, fmt.Sprintf("rule %q: lookup true, and principal does not always name a caller: whoever reaches %s and knows a key gets its result", r.Name, cfg.Lookup))
		}
	}
	return remarks
}

func usesClaim(s rules.KeySource) bool {
	return slices.ContainsFunc(s.Parts(), func(p rules.KeySource) bool { return p.Claim != "" })
}
