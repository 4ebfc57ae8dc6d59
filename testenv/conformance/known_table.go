package conformance

// Known are the differences that remain. docs/conformance.md lists them.
var Known = []KnownDifference{{
	ID: "flag-order", Scenario: `end-.*`, Section: `access log`, Host: `,URX`, Envoy: `URX,`,
	Reason: "Envoy's access log lists response flags in the order in which they were set. The host keeps them as the bits that the property `response.flags` has, and lists them from the lowest.",
}, {
	ID: "compressed-bytes", Scenario: `calls-foreign`, Section: `trace`, Host: `ff:compress`, Envoy: `ff:compress`,
	Reason: "Another implementation of zlib gives other bytes for the same data. Each reads what the other wrote.",
}, {
	ID: "not-modelled", Scenario: `foreign-not-modelled`, Section: `trace|fault`, Host: `unimplemented|is not modelled`, Envoy: `ff:|^$`,
	Reason: "CEL expressions and signatures are not modelled. A filter that calls them fails its test with the name of what is missing.",
}, {
	ID: "refused-text", Version: "1.36.2", Scenario: `.*-refused.*`, Section: `trace|client`, Host: `98|121|remote connection failure`, Envoy: `167|190|, transport failure reason`,
	Reason: "The text of a refused connection names the transport's reason, too. The host is modelled after 1.40, which does not.",
}, {
	ID: "keep-alive", Version: "1.36.2", Scenario: `sanitized-.*`, Section: `trace`, Host: `rsh 6 0|pairs:2`, Envoy: `rsh 7 0|keep-alive: timeout=5`,
	Reason: "An upstream's `keep-alive` header reaches the filter. The host is modelled after 1.40, which removes it before.",
}}
