package admin

import (
	"fmt"
	"strings"

	"github.com/oncewall/oncewall/client/api"
	"github.com/oncewall/oncewall/filter"
	"github.com/oncewall/oncewall/filter/wire"
)

// replayable is responseOf for a result that is to be replayed to whoever repeats
// the request, by the gateway or by a consumer: what the gateway would take for a
// broken record, or would not have recorded itself, is refused. Names become lower
// case, as the gateway has them, and white space around values goes.
func replayable(in *api.Result) (*wire.Response, *api.Problem) {
	out, p := responseOf(in)
	if p != nil {
		return nil, p
	}
	for i := range out.Headers {
		h := &out.Headers[i]
		h.Name, h.Value = strings.ToLower(h.Name), strings.Trim(h.Value, " \t")
		if filter.NotFromOutside(h.Name) {
			return nil, invalid(fmt.Sprintf("result.headers[%d]: a line that is not recorded: it belongs to one exchange, one hop, a session or the gateway", i))
		}
	}
	if err := filter.CheckResponse(out); err != nil {
		return nil, invalid("result." + err.Error())
	}
	return out, nil
}
