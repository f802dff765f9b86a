package knowledge

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Limits of embeddings.
const (
	embedBatch = 96 // texts of one call
	// maxCompared is the maximum number of passages whose embeddings are compared:
	// all of a small project, otherwise those that share the most words.
	maxCompared = 2000
	// likeness is the minimum cosine of a passage that shares no word.
	likeness = 0.3
	// fusion dampens the first ranks when two rankings are merged, see Cormack et
	// al., "Reciprocal Rank Fusion", 2009.
	fusion = 60
)

// vectors returns the embeddings of texts; nil if there is no model or it fails.
func (s *Service) vectors(ctx context.Context, t Texts) [][]float32 {
	if s.opts.Embed == nil {
		return nil
	}
	var out [][]float32
	for batch := range slices.Chunk(t.Texts, embedBatch) {
		part := t
		part.Texts = batch
		vs, err := s.opts.Embed(ctx, part)
		if err == nil && len(vs) != len(batch) {
			err = fmt.Errorf("knowledge: %d vectors for %d texts", len(vs), len(batch))
		}
		if err != nil {
			s.opts.Logger.WarnContext(ctx, "texts could not be embedded", "project", t.Project, "error", err)
			return nil
		}
		out = append(out, vs...)
	}
	return out
}

// packed encodes a vector, normalized to length 1.
func packed(v []float32) []byte {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if sum == 0 || math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil
	}
	scale := 1 / math.Sqrt(sum)
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(float32(float64(x)*scale)))
	}
	return out
}

// near returns the cosine of two stored vectors; 0 when they cannot be compared.
func near(a, b []byte) float64 {
	if len(a) != len(b) {
		return 0
	}
	var sum float32
	for i := 0; i+4 <= len(a); i += 4 {
		sum += math.Float32frombits(binary.LittleEndian.Uint32(a[i:])) * math.Float32frombits(binary.LittleEndian.Uint32(b[i:]))
	}
	return float64(sum)
}

// semantic merges the hits by words with the hits by meaning.
func (a *Account) semantic(ctx context.Context, c *corpus, q Query, found []hit) ([]hit, error) {
	if a.s.opts.Embed == nil {
		return found, nil
	}
	asked := a.s.vectors(ctx, Texts{Account: a.id, Project: c.project, Flow: q.Flow, Run: q.Run, Texts: []string{q.Text}})
	if len(asked) == 0 {
		return found, nil
	}
	rows, err := a.compared(ctx, c, found)
	if err != nil {
		return nil, err
	}
	to := packed(asked[0])
	var alike []hit
	for _, r := range rows {
		if score := near(to, r.Vector); score >= likeness {
			alike = append(alike, hit{spot{r.File, r.Part}, score})
		}
	}
	slices.SortFunc(alike, byScore)
	return fuse(found, alike), nil
}

type vectorRow struct {
	File   int64
	Part   int
	Vector []byte
}

// compared reads the embeddings of the passages to compare.
func (a *Account) compared(ctx context.Context, c *corpus, found []hit) (rows []vectorRow, err error) {
	if c.passages <= maxCompared {
		err = a.s.db.SelectContext(ctx, &rows, `SELECT p.file, p.part, p.vector FROM knowledge_passage p JOIN knowledge_file f ON f.number = p.file
			WHERE f.project = $1 AND f.ready AND p.vector IS NOT NULL`, c.project)
	} else {
		byFile := map[int64][]int64{}
		for _, h := range found[:min(len(found), maxCompared)] {
			byFile[h.file] = append(byFile[h.file], int64(h.part))
		}
		for file, parts := range byFile {
			var some []vectorRow
			in, args := a.s.db.Dialect.InNumbers("part", 2, parts)
			err = a.s.db.SelectContext(ctx, &some, `SELECT file, part, vector FROM knowledge_passage WHERE file = $1 AND vector IS NOT NULL AND `+in,
				append([]any{file}, args...)...)
			if err != nil {
				break
			}
			rows = append(rows, some...)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("reading vectors: %w", err)
	}
	return rows, nil
}

// fuse merges several rankings.
func fuse(orders ...[]hit) []hit {
	scores := map[spot]float64{}
	for _, hits := range orders {
		for i, h := range hits {
			scores[h.spot] += 1 / float64(fusion+i)
		}
	}
	out := make([]hit, 0, len(scores))
	for s, score := range scores {
		out = append(out, hit{s, score})
	}
	slices.SortFunc(out, byScore)
	return out
}
