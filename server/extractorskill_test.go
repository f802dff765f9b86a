package server_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/aiflow/llm"
	"github.com/trunklinehq/trunkline/internal/testkit"
	"github.com/trunklinehq/trunkline/server"
)

const (
	extractChild = "EXTRACT_CHILD" // where a child finds the database
	extractDies  = "EXTRACT_DIES"  // what it was doing when it was killed
	atModel      = "asking"
	atCommit     = "prepared"
)

// traveller is a model that finds where somebody wants to go. At "asking" it
// says so instead, and hangs.
type traveller struct{ dies string }

func (m traveller) Generate(ctx context.Context, _ *llm.Request) (*llm.Response, error) {
	if m.dies == atModel {
		_, _ = fmt.Println(atModel)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return &llm.Response{
		Message: llm.Assistant(`{"values":{"city":"Rome"},"evidence":{"city":"Rome"}}`), Stop: llm.StopDone,
		Usage: llm.Usage{Known: true, Input: 90, Output: 10},
	}, nil
}

// extracting is a server with that model, which hangs after some commit.
func extracting(dies string) func(*server.Config) {
	return func(c *server.Config) {
		local(c)
		c.Exclusive, c.Models = true, map[string]llm.Model{"mine": traveller{dies}}
		c.ChangeFlows(func(o *runtime.Options) {
			o.AfterCommit = func(what string) {
				if what == dies {
					_, _ = fmt.Println(what)
					select {}
				}
			}
		})
	}
}

// TestExtractChild runs a server until it is killed. It is the whole of a child
// process, and nothing in any other.
func TestExtractChild(t *testing.T) {
	url := os.Getenv(extractChild)
	if url == "" {
		return
	}
	f := setupOn(t, testkit.Open(t, url), extracting(os.Getenv(extractDies)))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends with the parent, however that ends
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	_ = f.Run(ctx)
}

// TestExtractingKilled ends processes by kill -9 while they look for values in a
// message: while a model is asked, and when what was found is stored but nobody
// has been asked who answers. The next continues, and nothing is told twice.
func TestExtractingKilled(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		f := setupOn(t, testkit.Open(t, url), extracting(""))
		ana := f.as(t, "ana")
		ref := ana.sandbox(t)
		in := startIntegrator(t)
		in.include(t, ana, ref, "/extracted")
		ana.extractor(t, ref, "regex", `{"pattern":"#(?P<order>\\d+)"}`)
		ana.extractor(t, ref, "ai", `{"model":"mine/x","schema":{"type":"object","properties":{"city":{"type":"string"}}}}`)
		ana.bot(t, ref, orderBot)
		ana.write(t, ref, "bob", "#17 to Rome")
		kills := []string{atModel, atCommit}
		for _, dies := range kills {
			child, _ := testkit.Child(t, "TestExtractChild", dies, extractChild+"="+url, extractDies+"="+dies)
			require.NoError(t, child.Process.Kill())
			_ = child.Wait()
		}
		working(t, f)
		ana.awaitShown(t, ref, "bob", "out: #17 to Rome", "in: Order 17 is on its way.")
		ana.write(t, ref, "bob", "#18 to Rome")
		in.awaitPublished(t, "/extracted",
			`message #17 to Rome {"city":"Rome","order":"17"}`, `data regex <nil> {"order":"17"}`, `data ai <nil> {"city":"Rome"}`,
			"message Order 17 is on its way. null",
			`message #18 to Rome {"city":"Rome","order":"18"}`, `data regex <nil> {"order":"18"}`, `data ai <nil> {"city":"Rome"}`,
			"message Order 18 is on its way. null")
		t.Logf("promise: killed while a model was asked, and after what was found was stored: every event told once, in order")
	})
}
