package config

import (
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// MaxBytes bounds the bridge's configuration file.
const MaxBytes = 1 << 20

const (
	// fewMembers is how many members a mapping may have at no cost: hundreds of
	// thousands of such mappings take the decoder a few seconds.
	fewMembers = 256
	// maxMemberCost bounds the cost of larger ones: a member that follows k others of
	// its mapping costs k, which is what the decoder copies for it. One mapping may
	// have 4,008 members, or sixteen a thousand each. The decoder takes a tenth of a
	// second for that much, and twenty seconds for a mapping of 60,000.
	maxMemberCost = 8_000_000
	// maxNullCost bounds the product of the values that are left out ("a:" and nothing
	// behind it) and of all tokens: for each the decoder moves what follows. It takes
	// it most of a second for that much, and 42 s for a mebibyte of "- a:".
	maxNullCost = 2_000_000_000
)

// CheckCost refuses a YAML text that the decoder would take minutes for: one that is
// nested more than 256 deep, or has mappings of thousands of lines, or leaves as many
// values out. Its own time grows with the length of the text alone.
func CheckCost(data []byte) error {
	tokens := lexer.Tokenize(string(data))
	if err := checkNesting(tokens); err != nil {
		return err
	}
	return checkMembers(tokens)
}

// block is a mapping that is written a member a line, or the list of documents.
type block struct{ column, members int }

// checkMembers counts the members of block mappings, which are told apart by their
// columns, and documents. Those within braces cost no more than their number.
func checkMembers(tokens token.Tokens) error {
	open := []block{{}} // the documents' column is left of all others
	flow, cost, nulls := 0, 0, 0
	var first *token.Token // of the line, behind the marks of list entries
	for _, t := range tokens {
		column := t.Position.Column
		if flow == 0 && t.Type != token.CommentType && (first == nil || first.Position.Line != t.Position.Line || first.Type == token.SequenceEntryType) {
			first = t
		}
		if lacksValue(t, first, flow > 0) {
			nulls++
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
			continue
		case token.SequenceEndType, token.MappingEndType:
			flow = max(flow-1, 0)
			continue
		case token.DocumentHeaderType:
			column = 0
		case token.SequenceEntryType:
			if flow == 0 {
				open = closeTo(open, column) // each entry begins mappings of its own
			}
			continue
		case token.MappingKeyType:
		case token.MappingValueType:
			if t == first {
				continue // of a "?", which was counted
			}
			column = first.Position.Column
		default:
			continue
		}
		if flow > 0 {
			continue
		}
		open = closeTo(open, column)
		if open[len(open)-1].column < column {
			open = append(open, block{column: column})
		}
		b := &open[len(open)-1]
		if b.members++; b.members > fewMembers {
			cost += b.members - 1
		}
		if cost > maxMemberCost {
			return fmt.Errorf("mappings are too large, in line %d: one may have 4008 members, sixteen a thousand each", t.Position.Line)
		}
	}
	if n := len(tokens); nulls*n > maxNullCost {
		return fmt.Errorf("%d values are left out: must be at most %d in a file of %d tokens", nulls, maxNullCost/n, n)
	}
	return nil
}

// lacksValue reports whether a value should follow t and does not: the line ends, and
// the next one does not belong to it, or in braces the next member comes, or their
// end. first is the first token of the line.
func lacksValue(t, first *token.Token, inFlow bool) bool {
	switch t.Type {
	case token.MappingValueType, token.MappingKeyType, token.TagType, token.AnchorType, token.SequenceEntryType:
	default:
		return false
	}
	next := t.Next
	if t.Type == token.AnchorType && next != nil {
		next = next.Next // behind its name
	}
	for next != nil && next.Type == token.CommentType {
		next = next.Next
	}
	if next == nil {
		return true
	}
	if inFlow {
		return next.Type == token.CollectEntryType || next.Type == token.MappingEndType || next.Type == token.SequenceEndType
	}
	column := first.Position.Column
	switch {
	case next.Position.Line == t.Position.Line:
		return false
	case t.Type == token.SequenceEntryType:
		column = t.Position.Column
	case next.Type == token.SequenceEntryType:
		return next.Position.Column < column
	}
	return next.Position.Column <= column
}

// closeTo drops the mappings that lie right of a column.
func closeTo(open []block, column int) []block {
	for len(open) > 1 && open[len(open)-1].column > column {
		open = open[:len(open)-1]
	}
	return open
}
