package assistant

import (
	"context"
	"errors"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/structured"
)

// Extract returns the [runtime.Caller] of [flow.CallExtract], which extracts values
// from a text. The result has no values if the text lacks one that the schema
// requires.
func (s *Service) Extract(ctx context.Context, req runtime.Request) (any, error) {
	c, err := s.begin(ctx, req, "extractor")
	if err != nil {
		return nil, err
	}
	r, err := c.extract(ctx)
	if err != nil {
		return nil, Failure(err)
	}
	r.Usage = c.usage()
	return r, nil
}

func (c *call) extract(ctx context.Context) (r *flow.ModelResult, err error) {
	ref := c.in.Model
	if ref == "" {
		if ref, err = c.s.opts.Model(ctx); err != nil {
			return nil, err
		}
	}
	m, name, err := c.model(ref)
	if err != nil {
		return nil, err
	}
	x, err := structured.Extract(ctx, m, structured.Extraction{
		Model: name, Schema: c.in.Schema, Text: c.in.Input, Locale: c.in.Locale, Now: c.s.opts.Now(), Repair: c.in.Repair,
	})
	var bad *structured.Misfit
	switch {
	case errors.As(err, &bad):
		return &flow.ModelResult{Finish: flow.FinishInvalid, StopReason: "invalid"}, nil
	case err != nil:
		return nil, err
	case x.Refused:
		return &flow.ModelResult{Finish: flow.FinishRefused, StopReason: string(llm.StopRefused)}, nil
	case len(x.Missing) > 0:
		return &flow.ModelResult{Finish: flow.FinishDone, Value: map[string]any{}, StopReason: "missing"}, nil
	}
	return &flow.ModelResult{Finish: flow.FinishDone, Value: x.Values, StopReason: string(llm.StopDone)}, nil
}
