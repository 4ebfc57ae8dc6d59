package redis

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"

	"github.com/oncewall/oncewall/filter/wire"
)

var (
	//go:embed lua/prelude.lua
	prelude string
	//go:embed lua/issue.lua
	issueLua string
	//go:embed lua/claim.lua
	claimLua string
	//go:embed lua/final.lua
	finalLua string
	//go:embed lua/release.lua
	releaseLua string
	//go:embed lua/unknown.lua
	unknownLua string
	//go:embed lua/renew.lua
	renewLua string
	//go:embed lua/sweep.lua
	sweepLua string
	//go:embed lua/gate.lua
	gateLua string
	//go:embed lua/lookup.lua
	lookupLua string
)

// A script is sent by its digest; a node that does not know it answers NOSCRIPT
// and is sent the text.
type script struct{ text, sha string }

func newScript(body string) *script {
	text := prelude + "\n" + body
	sum := sha1.Sum([]byte(text))
	return &script{text: text, sha: hex.EncodeToString(sum[:])}
}

// newGated is a script of an operation, whose record may be elsewhere.
func newGated(body string) *script { return newScript(gateLua + "\n" + body) }

var scripts = func() (s [wire.Get + 1]*script) {
	final := newGated(finalLua)
	s[wire.Issue] = newGated(issueLua)
	s[wire.Claim] = newGated(claimLua)
	s[wire.Executed] = final
	s[wire.Complete] = final
	s[wire.Release] = newGated(releaseLua)
	s[wire.Unknown] = newGated(unknownLua)
	s[wire.Renew] = newGated(renewLua)
	s[wire.Get] = newGated(lookupLua)
	return s
}()

var sweepScript = newScript(sweepLua)
