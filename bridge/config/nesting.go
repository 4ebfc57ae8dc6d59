package config

import (
	"fmt"

	"github.com/goccy/go-yaml/token"
)

// maxNesting bounds the collections within one another in a YAML file, and what
// stands before a value in one line ("- - a: !t &b"). Envoy's own files have about 30.
const maxNesting = 256

// checkNesting refuses what is nested more than 256 deep. The time that the decoder
// takes grows with the square of the depth: minutes for 200,000 brackets.
func checkNesting(tokens token.Tokens) error {
	depth, run, line := 0, 0, 0
	for _, t := range tokens {
		if depth == 0 && t.Position.Line != line {
			run, line = 0, t.Position.Line
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
			run = 0
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
			run = 0
		case token.CollectEntryType:
			run = 0
		case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType, token.TagType, token.AnchorType:
			run++
		}
		if depth+run > maxNesting {
			return fmt.Errorf("nested more than %d deep, in line %d", maxNesting, t.Position.Line)
		}
	}
	return nil
}
