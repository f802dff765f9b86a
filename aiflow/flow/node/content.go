package node

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trunklinehq/trunkline/aiflow/flow"
	"github.com/trunklinehq/trunkline/aiflow/flow/internal/values"
)

// writing renders the parts of a message and keeps the first error.
type writing struct {
	t   *flow.Turn
	m   values.Members
	err error
}

func (w *writing) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// text renders a text of at most so many characters.
func (w *writing) text(field string, x flow.Text, limit int) string {
	s, err := w.t.Text(x)
	switch {
	case err != nil:
		w.fail(fmt.Errorf("%s: %w", field, err))
	case len(s) > limit && utf8.RuneCountInString(s) > limit:
		w.fail(values.TooLarge(fmt.Sprintf("%s: has more than %d characters", field, limit)))
	}
	return s
}

// needed is like text for a field that must not be empty.
func (w *writing) needed(field string, x flow.Text, limit int) string {
	s := w.text(field, x, limit)
	if strings.TrimSpace(s) == "" {
		w.fail(&flow.Error{Code: codeMessageEmpty, Message: field + ": is empty"})
	}
	return s
}

func (w *writing) data(field string, list []flow.Data) []any {
	out := make([]any, len(list))
	for i, d := range list {
		v, err := w.t.Data(d)
		if err == nil {
			v, err = values.Admit(v)
		}
		if err != nil {
			w.fail(fmt.Errorf("%s[%d]: %w", field, i, err))
		}
		out[i] = v
	}
	return out
}

func (w *writing) number(field string, d flow.Data) any {
	v, err := w.t.Data(d)
	if err != nil {
		w.fail(fmt.Errorf("%s: %w", field, err))
		return nil
	}
	n, ok := values.ConformNumber(v, false)
	if !ok {
		w.fail(values.WrongType(field + ": must be a number"))
	}
	return n
}
