package aiflow

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/internal/audit"
	"github.com/trunklinehq/trunkline/internal/database"
)

// Renamed is what followed from another slug.
type Renamed struct {
	Flow   Flow
	Drafts []Flow // others whose drafts name it by its new slug now; never nil
	// Published are flows whose published versions name it by its old slug; never
	// nil. Those that came with a function keep it, and work. Those that jump
	// to a flow find it by its published slug: publish them after it.
	Published []Use
}

var slugPattern = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// Rename gives the draft of a flow or a function another slug, and with it all
// drafts of the project that name it, in one transaction, if a [File] could hold
// these drafts. What is published stays as it is until it is published again.
func (a Flows) Rename(ctx context.Context, id, slug string) (Renamed, error) {
	if !slugPattern.MatchString(slug) {
		return Renamed{}, &Invalid{Field: "slug", Message: "must have 1 to 64 lower-case letters, digits, - and _, and begin with a letter or a digit"}
	}
	var r flowRow
	var drafts []flowRow
	var published []Use
	err := a.s.db.InTx(ctx, func(tx *database.Tx) (err error) {
		if r, err = a.flow(ctx, tx, id, a.s.db.Dialect.ForUpdate()); err != nil {
			return err
		}
		d, problems := flow.Decode([]byte(r.Draft))
		if d == nil {
			return &Refused{problems}
		}
		if d.Slug == slug {
			return nil
		}
		if drafts, published, err = a.renameOthers(ctx, tx, r, d.Slug, slug); err != nil {
			return err
		}
		if r.Draft, _, err = renamed(r.Draft, d.Slug, slug, true); err != nil {
			return err
		}
		if err := a.s.saveTx(ctx, tx, &r); err != nil {
			return err
		}
		return recordFlowTx(ctx, tx, audit.FlowRename, r, map[string]any{"from": d.Slug, "to": slug, "drafts": len(drafts)})
	})
	if err != nil {
		return Renamed{}, fmt.Errorf("renaming a flow: %w", err)
	}
	out := Renamed{Drafts: []Flow{}, Published: append([]Use{}, published...)}
	if out.Flow, err = a.view(ctx, r); err != nil {
		return Renamed{}, err
	}
	for _, other := range drafts {
		f, err := a.view(ctx, other)
		if err != nil {
			return Renamed{}, err
		}
		out.Drafts = append(out.Drafts, f)
	}
	return out, nil
}

// renameOthers changes the other drafts of the project that name r.
func (a Flows) renameOthers(ctx context.Context, tx *database.Tx, r flowRow, from, to string) (drafts []flowRow, published []Use, err error) {
	size := 0
	for last, more := int64(0), true; more; {
		var rows []transferRow
		if err := tx.SelectContext(ctx, &rows, selectTransfer+` WHERE f.project = $1 AND NOT f.removed AND f.number > $2 AND f.id <> $3 ORDER BY f.number LIMIT $4`+a.s.lockOf("f"),
			r.Project, last, r.ID, usedByBatch); err != nil {
			return nil, nil, fmt.Errorf("looking for what names a flow: %w", err)
		}
		for _, other := range rows {
			last = other.Number
			if d, _ := flow.Decode([]byte(other.Draft)); other.Slug == to || d != nil && d.Slug == to {
				return nil, nil, &Invalid{Field: "slug", Message: "is used by another flow of the project"}
			}
			if use := other.names(r.ID, from); use != nil {
				published = append(published, *use)
			}
			draft, changed, err := renamed(other.Draft, from, to, false)
			if err != nil {
				return nil, nil, err
			}
			if !changed {
				continue
			}
			if size += len(draft); size > MaxFileBytes || len(drafts) == MaxFileFlows {
				return nil, nil, &Invalid{Field: "slug", Message: fmt.Sprintf("is used in more than %d drafts, or in more than %d MiB of them: change some of them first",
					MaxFileFlows, MaxFileBytes>>20)}
			}
			other.Draft = draft
			if err := a.s.saveTx(ctx, tx, &other.flowRow); err != nil {
				return nil, nil, err
			}
			drafts = append(drafts, other.flowRow)
		}
		more = len(rows) == usedByBatch
	}
	return drafts, published, nil
}

// lockOf is lock for a statement that joins tables.
func (s *Service) lockOf(table string) string {
	if l := s.db.Dialect.ForUpdate(); l != "" {
		return l + " OF " + table
	}
	return ""
}

// names says how the published version of r names a flow; nil: it does not.
func (r transferRow) names(id, slug string) *Use {
	u := r.use(id, slug)
	if u.Published != nil || r.Document == nil {
		if u.Published == nil {
			return nil
		}
		return &u
	}
	if _, jumps, err := renamed(*r.Document, slug, slug+"-", false); err == nil && jumps {
		u.Published = &r.Version
		return &u
	}
	return nil
}

// renamed is a draft in which what names one slug names another, and whether
// that changed it. own says that it is the draft of what is renamed.
func renamed(draft, from, to string, own bool) (string, bool, error) {
	var doc, nodes map[string]json.RawMessage
	if json.Unmarshal([]byte(draft), &doc) != nil {
		return draft, false, nil
	}
	if json.Unmarshal(doc["nodes"], &nodes) != nil {
		nodes = nil
	}
	changed := own
	for id, raw := range nodes {
		node, did, err := renamedNode(raw, from, to)
		if err != nil {
			return "", false, err
		}
		if did {
			nodes[id], changed = node, true
		}
	}
	if !changed {
		return draft, false, nil
	}
	if own {
		doc["slug"] = quoted(to)
	}
	if nodes != nil {
		raw, err := plainJSON(nodes)
		if err != nil {
			return "", false, err
		}
		doc["nodes"] = raw
	}
	out, err := plainJSON(doc)
	return string(out), true, err
}

// renamedNode is a node that names another slug, if it named from.
func renamedNode(raw json.RawMessage, from, to string) (json.RawMessage, bool, error) {
	var node, config map[string]json.RawMessage
	if json.Unmarshal(raw, &node) != nil || json.Unmarshal(node["config"], &config) != nil {
		return raw, false, nil
	}
	var kind string
	_ = json.Unmarshal(node["type"], &kind) // what is none has none of the types below
	member := map[string]string{"call": "function", "flow": "flow", "agent": "functions"}[kind]
	if member == "" || config == nil {
		return raw, false, nil
	}
	value, changed := config[member], false
	var many []json.RawMessage
	if names(value, from) {
		value, changed = quoted(to), true
	} else if json.Unmarshal(value, &many) == nil {
		for i, item := range many {
			if names(item, from) {
				many[i], changed = quoted(to), true
			}
		}
	}
	if !changed {
		return raw, false, nil
	}
	if many != nil {
		var err error
		if value, err = plainJSON(many); err != nil {
			return nil, false, err
		}
	}
	config[member] = value
	inner, err := plainJSON(config)
	if err != nil {
		return nil, false, err
	}
	node["config"] = inner
	out, err := plainJSON(node)
	return out, true, err
}

// names says whether a value is a slug.
func names(value json.RawMessage, slug string) bool {
	var text string
	return json.Unmarshal(value, &text) == nil && text == slug && slug != ""
}

func quoted(slug string) json.RawMessage { return json.RawMessage(`"` + slug + `"`) }

// plainJSON writes a value without escapes that it did not have.
func plainJSON(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("writing a draft: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}
