package main

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/testkit"
)

// TestCommandsAreAudited runs every command that changes something of an
// account: each has an entry, as the operator's, and what is refused has none.
func TestCommandsAreAudited(t *testing.T) {
	t.Parallel()
	testkit.EachURL(t, func(t *testing.T, url string) {
		env := []string{"TRUNKLINE_DATABASE_URL=" + url, "TRUNKLINE_DATA=" + t.TempDir(), "TRUNKLINE_QUOTA_RUNS=7"}
		p, _ := start(t, env)
		p.terminate(t)
		run := func(code int, stdin string, args ...string) string {
			t.Helper()
			got, out, why := typed(t, env, stdin, args...)
			require.Equal(t, code, got, "%v: %s", args, why)
			return out + why
		}
		const ben = "ben@example.org"
		account := regexp.MustCompile(`account (\S+)`).FindStringSubmatch(run(0, "correct horse\n", "user", "create", "ana@example.org"))[1]
		run(0, "correct horse\n", "user", "create", ben, "--account", account)
		run(0, "", "user", "owner", ben)
		run(0, "", "user", "disable", ben)
		run(0, "", "user", "enable", ben)
		run(0, "battery staple\n", "user", "password", ben)
		run(0, "", "user", "reset", ben)
		run(1, "", "user", "second-factor-off", ben)
		require.Regexp(t, `(?m)^messages +5 +account$`, run(0, "", "account", "quota", account, "messages=5", "api=0", "runs=1"))
		shown := run(0, "", "account", "quota", account, "runs=default")
		require.Regexp(t, `(?m)^runs +7 +default$`, shown)
		require.Regexp(t, `(?m)^api +unlimited +account$`, shown)
		require.Equal(t, shown, run(0, "", "account", "quota", account))
		for says, args := range map[string][]string{
			"there is no such account": {"none", "runs=1"}, "the name must be one of": {account, "spoons=1"},
			"the value of runs must be a whole number": {account, "runs=-1"}, "the value of api must be a whole number": {account, "runs=3", "api=x"},
		} {
			require.Contains(t, run(2, "", append([]string{"account", "quota"}, args...)...), says)
		}

		var got []struct{ Kind, Account, Action, Details string }
		require.NoError(t, testkit.Open(t, url).Select(&got, `SELECT kind, account, action, details FROM auditlog_entry ORDER BY id`))
		var actions []string
		for _, e := range got {
			require.Equal(t, []string{"operator", account}, []string{e.Kind, e.Account})
			require.NotContains(t, e.Details, "staple")
			actions = append(actions, e.Action)
		}
		require.Equal(t, []string{
			"account.create", "user.create", "user.create", "user.update", "user.disable", "user.enable", "user.reset", "user.requestReset", "account.quota", "account.quota",
		}, actions)
		require.JSONEq(t, `{"messages":5,"api":0,"runs":1}`, got[8].Details)
		require.JSONEq(t, `{"runs":"default"}`, got[9].Details, fmt.Sprint(got))
	})
}
