// Package strict reads the JSON documents that the bridge is sent: requests of its
// API, and backends' answers. What two readers could take differently, it refuses,
// where encoding/json would choose: it takes the last of two equal members, takes a
// member in another case for the one that is meant, and puts U+FFFD in place of text
// that is none, under which two keys become one.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/oncewall/oncewall/filter/canon"
)

// Why a document is refused, beside the errors of encoding/json. None of them holds
// anything of the document.
var (
	ErrSyntax    = errors.New("not one JSON document")
	ErrText      = errors.New("text that is not valid Unicode")
	ErrDuplicate = errors.New("a member that comes twice")
	ErrMember    = errors.New("a member that is not expected")
)

// Decode reads the one document that b is into the value that into points to. The
// names of its members, at any depth, are of a to z, 0 to 9 and "_", as all names of
// the bridge's documents are: encoding/json matches such a name with no other.
// Members of maps are held to that too. An error that is none of the above is a
// [json.UnmarshalTypeError] or another of encoding/json. into may have been written
// to where there is an error.
func Decode(b []byte, into any) error {
	known := true
	switch err := canon.Names(b, func(name []byte) bool {
		known = plain(name)
		return known
	}); {
	case errors.Is(err, canon.ErrUTF8), errors.Is(err, canon.ErrSurrogate):
		return ErrText
	case errors.Is(err, canon.ErrDuplicate):
		return ErrDuplicate
	case err != nil:
		return ErrSyntax
	case !known:
		return ErrMember
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	// encoding/json has no type for it. The name in its text is the sender's own.
	if err != nil && strings.HasPrefix(err.Error(), "json: unknown field ") {
		return ErrMember
	}
	return err
}

func plain(name []byte) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
