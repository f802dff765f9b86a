package template

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
	"github.com/trunklinehq/trunkline/messaging/internal/store"
	"github.com/trunklinehq/trunkline/messaging/payload"
	"github.com/trunklinehq/trunkline/provider"
)

// Find finds the template that a send names in our copy, and holds the
// send against it. Without a copy it returns [ErrNoCopy]: the network has the
// word.
func (c *Copies) Find(ctx context.Context, q database.Reader, ref *store.Reference, call provider.TemplateCall) (*Row, error) {
	var rows []*Row
	err := q.SelectContext(ctx, &rows, `SELECT `+Columns+` FROM messaging_template WHERE reference = $1 AND name = $2 ORDER BY language`,
		ref.ID, text.Sanitize(call.Name))
	if err != nil {
		return nil, fmt.Errorf("finding a template: %w", err)
	}
	if len(rows) == 0 {
		if known, err := c.knowsTemplates(ctx, q, ref); err != nil {
			return nil, err
		} else if !known {
			return nil, ErrNoCopy
		}
		return nil, &payload.Invalid{Field: "message.template.name", Message: "must be the name of a template of this reference"}
	}
	i := slices.IndexFunc(rows, func(r *Row) bool { return r.Language == text.Sanitize(call.Language.Code) })
	if i < 0 {
		var have []string
		for _, r := range rows {
			have = append(have, r.Language)
		}
		return nil, &payload.Invalid{Field: "message.template.language.code", Message: "must be a language of this template: " + strings.Join(have, ", ")}
	}
	r := rows[i]
	if r.Status != provider.TemplateApproved {
		why := string(r.Status)
		if r.ProviderStatus != "" && r.ProviderStatus != why {
			why += " (" + r.ProviderStatus + ")"
		}
		return nil, &payload.Invalid{Field: "message.template.name", Message: "must be an approved template; the status of this one is " + JoinWords(why, r.Reason)}
	}
	return r, r.Fits(call)
}
