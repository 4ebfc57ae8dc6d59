// Package config reads the bridge's configuration: one strict YAML file, each
// field of which an environment variable ONCEWALL_<PATH> overrides, and secrets,
// which come from files or from the environment and never stand in the YAML.
//
// Everything wrong is reported at once, as one [Faults]. The fields, their
// defaults and bounds are listed in docs/configuration-bridge.md; a test keeps
// that page and the table in table.go together.
package config
