package rules

// defaultDiscoveryPath is where clients look for such documents (RFC 8615).
const defaultDiscoveryPath = "/.well-known/idempotency"

// IsDiscovery reports whether the request asks for the document about the rules:
// a GET or HEAD of the discovery path, spelled as it is configured.
func (c *Config) IsDiscovery(method, path string) bool {
	return c.Discovery != "" && (method == "GET" || method == "HEAD") && cutQuery(path) == c.Discovery
}
