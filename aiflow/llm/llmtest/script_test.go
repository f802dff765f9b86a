package llmtest_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/aiflow/llm/llmtest"
	"github.com/trunklinehq/trunkline/aiflow/llm/modeltest"
)

func TestScriptConformance(t *testing.T) {
	t.Parallel()
	modeltest.Suite{
		Provider: "script", OneHourCache: true,
		Start: func(_ *testing.T, _ time.Duration, steps ...llmtest.Step) (llm.Model, modeltest.Script) {
			s := llmtest.NewScript(steps...)
			return s, s
		},
	}.Run(t)
}

// replayed records each answer and gives what is played back of it.
type replayed struct {
	t     *testing.T
	model llm.Model
}

func (r replayed) Generate(ctx context.Context, q *llm.Request) (*llm.Response, error) {
	var file bytes.Buffer
	quiet := *q
	if q.OnText != nil {
		quiet.OnText = func(string) {}
	}
	_, err := llmtest.Record(r.model, &file).Generate(ctx, &quiet)
	if file.Len() == 0 {
		return nil, err
	}
	m, err := llmtest.Replay(&file)
	require.NoError(r.t, err)
	return m.Generate(ctx, q)
}

func TestReplayConformance(t *testing.T) {
	t.Parallel()
	modeltest.Suite{
		Provider: "script", Recorded: true, OneHourCache: true,
		Start: func(t *testing.T, _ time.Duration, steps ...llmtest.Step) (llm.Model, modeltest.Script) {
			s := llmtest.NewScript(steps...)
			return replayed{t, s}, s
		},
	}.Run(t)
}
