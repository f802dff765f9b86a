package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
)

// Bodies returns what deliveries of the account carry, by their ids. What was
// erased, or is no longer stored, is left out.
func (a *Account) Bodies(ctx context.Context, ds []Delivery) (map[string]json.RawMessage, error) {
	byEvent := map[int64][]string{}
	var numbers []int64
	for i := range ds {
		n, ok := numberOf(ds[i].ID)
		if !ok {
			continue
		}
		if byEvent[n] == nil {
			numbers = append(numbers, n)
		}
		byEvent[n] = append(byEvent[n], ds[i].ID)
	}
	out := map[string]json.RawMessage{}
	for part := range slices.Chunk(numbers, eraseChunk) {
		var rows []struct {
			Number int64
			Body   []byte
		}
		in, args := a.d.db.Dialect.InNumbers("number", 2, part)
		err := a.d.db.SelectContext(ctx, &rows, `SELECT number, body FROM webhook_event WHERE account = $1 AND body <> '' AND `+in,
			append([]any{a.id}, args...)...)
		if err != nil {
			return nil, fmt.Errorf("reading the bodies of deliveries: %w", err)
		}
		for _, r := range rows {
			for _, id := range byEvent[r.Number] {
				out[id] = r.Body
			}
		}
	}
	return out, nil
}
