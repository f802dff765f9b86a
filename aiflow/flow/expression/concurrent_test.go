package expression_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A program and an environment serve any number of turns at once.
func TestConcurrentUse(t *testing.T) {
	t.Parallel()
	p := compile(t, `sortBy(vars.items, -(.price ?? 0)) | map(upper(.name) + string(#index)) | join(", ")`)
	tpl := parse(t, `{{ vars.name }} {{ formatDate(now, "DD.MM.", "Europe/Madrid") }} {{ vars.n }}`)
	items := vars()["items"]
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 200 {
				env := map[string]any{"vars": map[string]any{"items": items, "name": "Ana", "n": i}, "now": now}
				v, err := p.Eval(env, nil)
				assert.NoError(t, err)
				assert.Equal(t, "CUP0, PEN1, PIN2", v)
				v, err = tpl.Render(env, nil)
				assert.NoError(t, err)
				assert.Equal(t, fmt.Sprintf("Ana 15.03. %d", i), v)
			}
		})
	}
	wg.Wait()
}
