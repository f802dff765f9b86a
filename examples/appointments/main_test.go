package main

import (
	"bufio"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestReadme runs the line of the README, and types what it says.
func TestReadme(t *testing.T) {
	t.Parallel()
	sh := testkit.NewShell(t)
	sh.Send(t, testkit.ReadExample(t).Block(t, "start")+"book\n")
	require.Equal(t, `Ask for an appointment: "book"`, sh.Line(t))
	require.Equal(t, "> When would you like to come? Free today: 9:00, 10:30, 15:00", sh.Line(t))
}

// TestTalk books a time that is taken while the customer thinks, takes another,
// and is not understood the next time.
func TestTalk(t *testing.T) {
	t.Parallel()
	day := &calendar{times: []string{"9:00", "10:30", "15:00"}, taken: map[string]string{}}
	in, typed := io.Pipe()
	shown, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(t.Context(), day, in, out)
		_ = out.Close()
	}()
	lines := bufio.NewScanner(shown)
	writes := func(text string) {
		t.Helper()
		_, err := io.WriteString(typed, text+"\n")
		require.NoError(t, err)
	}
	sees := func(want ...string) {
		t.Helper()
		var got []string
		for range want {
			require.True(t, lines.Scan(), "%v", got)
			got = append(got, lines.Text())
		}
		require.ElementsMatch(t, want, got)
	}

	sees(`Ask for an appointment: "book"`)
	writes("Can I book a time?")
	sees("> When would you like to come? Free today: 9:00, 10:30, 15:00")
	writes("noon")
	sees("> Please choose one of 9:00, 10:30, 15:00")
	require.True(t, day.book("9:00", "Mia"))
	writes("9:00")
	sees("> Somebody was faster.")
	sees("> When would you like to come? Free today: 10:30, 15:00")
	writes("15:00")
	sees("> See you at 15:00!")
	require.Equal(t, []string{"10:30"}, day.free())

	writes("I have to book another one")
	sees("> When would you like to come? Free today: 10:30")
	writes("noon")
	sees("> Please choose one of 10:30")
	writes("in the afternoon")
	sees("> One moment: somebody will help you.", "(front desk: Wants an appointment.)")
	require.NoError(t, typed.Close())
	require.NoError(t, <-done)
}
