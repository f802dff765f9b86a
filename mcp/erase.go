package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/trunklinehq/trunkline/internal/database"
	"github.com/trunklinehq/trunkline/internal/text"
)

// eraseChunk is the number of texts that one statement looks for, and of calls that
// one transaction changes.
const eraseChunk = 100

// likeEscapes escapes the special characters of LIKE.
var likeEscapes = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Erase erases the arguments of the account's calls in which one of the texts, such
// as the id of a contact, is a whole value, in any case. The call itself stays with
// its caller and outcome. Phone numbers need no erasing: see the package
// documentation. Erase reads all calls of the account, works in small steps, and
// may be called again after an error or a crash.
func (a *Account) Erase(ctx context.Context, texts []string) error {
	texts = slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return s == "" })
	for chunk := range slices.Chunk(texts, eraseChunk) {
		params, matches := []any{a.id}, make([]string, len(chunk))
		for i, text := range chunk {
			value, _ := json.Marshal(asStored(text)) // encoding a text cannot fail
			like := "%" + likeEscapes.Replace(string(value)) + "%"
			params = append(params, like, strings.ToLower(like))
			matches[i] = fmt.Sprintf(anyCase, len(params)-1, len(params))
		}
		if err := a.eraseWhere(ctx, strings.Join(matches, " OR "), params); err != nil {
			return err
		}
	}
	return nil
}

// eraseWhere erases the arguments of the calls that match a condition, page by
// page.
func (a *Account) eraseWhere(ctx context.Context, matches string, params []any) error {
	query := fmt.Sprintf(`SELECT id FROM mcp_audit WHERE account = $1 AND (%s) AND id > $%d ORDER BY id LIMIT %d`, matches, len(params)+1, eraseChunk)
	for after := int64(0); ; {
		var ids []int64
		if err := a.r.db.SelectContext(ctx, &ids, query, append(slices.Clip(params), after)...); err != nil {
			return fmt.Errorf("looking for calls: %w", err)
		}
		if len(ids) == 0 {
			return nil
		}
		after = ids[len(ids)-1]
		in, args := a.r.db.Dialect.InNumbers("id", 1, ids)
		err := a.r.db.Write(ctx, func(tx *database.Tx) error {
			_, err := tx.ExecContext(context.WithoutCancel(ctx), `UPDATE mcp_audit SET arguments = '{}' WHERE `+in, args...)
			return err
		})
		if err != nil {
			return fmt.Errorf("erasing calls: %w", err)
		}
		if len(ids) < eraseChunk {
			return nil
		}
	}
}

// anyCase compares ignoring case in both dialects. In SQLite, LIKE ignores the case
// of a to z, and lower changes no other letters.
const anyCase = `arguments LIKE $%d ESCAPE '\' OR lower(arguments) LIKE $%d ESCAPE '\'`

// asStored returns a text as the audit log has it. A phone number stays unchanged
// and therefore matches nothing: many numbers have the same last digits.
func asStored(s string) string {
	s = text.Sanitize(s)
	if kept := maskText(s); !strings.HasPrefix(kept, "•") {
		return kept
	}
	return s
}

// DeleteAll removes everything of the account: its calls and its limits. It works
// in small durable steps, and may be called again after an error or a crash.
func (a *Account) DeleteAll(ctx context.Context) error {
	for _, statement := range []string{
		`DELETE FROM mcp_audit WHERE id IN (SELECT id FROM mcp_audit WHERE account = $1 LIMIT $2)`,
		`DELETE FROM mcp_limit WHERE (account, caller, function) IN
			(SELECT account, caller, function FROM mcp_limit WHERE account = $1 LIMIT $2)`,
	} {
		if err := a.r.db.InSteps(ctx, statement, a.id, pruneChunk); err != nil {
			return fmt.Errorf("erasing calls: %w", err)
		}
	}
	return nil
}
