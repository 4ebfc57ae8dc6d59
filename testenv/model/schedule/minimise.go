package schedule

import (
	"context"
	"slices"
)

// Minimise drops actions while the rest still differs, until no single one can be
// dropped, and returns what is left and how it differs.
func (r *Runner) Minimise(ctx context.Context, actions []Action, d *Difference) ([]Action, *Difference, error) {
	actions = actions[:d.At+1]
	for size := len(actions) / 2; size > 0; {
		dropped := false
		for from := 0; from+size <= len(actions); {
			fewer := slices.Delete(slices.Clone(actions), from, from+size)
			again, err := r.Run(ctx, fewer)
			if err != nil {
				return nil, nil, err
			}
			if again == nil {
				from += size
				continue
			}
			actions, d, dropped = fewer[:again.At+1], again, true
		}
		if !dropped {
			size /= 2
		}
	}
	return actions, d, nil
}
