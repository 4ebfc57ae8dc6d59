package rules

// defaultDiscoveryPath is where clients look for such documents (RFC 8615).
const defaultDiscoveryPath = "/.well-known/idempotency"

// IsDiscovery reports whether the request asks for the document about the rules:
// a GET or HEAD of the discovery path, spelled as it is configured.
func (c *Config) IsDiscovery(method, path string) bool {
	return c.Discovery != "" && (method == "GET" || method == "HEAD") && cutQuery(path) == c.Discovery
}

// LooksUp reports whether callers may ask about keys of a scope, the current one of
// a rule: one of its rules lets them, and none that has or had it forbids it.
func (c *Config) LooksUp(scope string) bool {
	if c.Lookup == "" {
		return false
	}
	allowed := false
	for _, r := range c.Rules {
		if !r.Lookup && r.OwnsScope(scope) {
			return false
		}
		allowed = allowed || r.Lookup && r.Scope == scope
	}
	return allowed
}
