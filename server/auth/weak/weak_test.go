package weak_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/server/auth/weak"
)

func TestReason_RefusesCommonPasswords(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"password123", "PassWord123", " qwertyuiop ", "1234567890", "iloveyou123", "manchester"} {
		require.Equal(t, "is one of the most common passwords", weak.Reason(p), p)
	}
}

func TestReason_RefusesTheUsersOwnWords(t *testing.T) {
	t.Parallel()
	about := []string{"Ana.Gomez@example.org", "Ana María Gómez"}
	for _, p := range []string{
		"ana.gomez@example.org", "ANA.GOMEZ@EXAMPLE.ORG", "ana.gomez", "anagomezanagomez", "ana.gomez!1985",
		"Ana María Gómez", "maríamaríamaría", "example.org", "gomez@example2024",
	} {
		require.Equal(t, "must not consist of the e-mail or the name", weak.Reason(p, about...), p)
	}
}

func TestReason_TakesOthers(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"correct horse", "ana has a horse", "Gomez-7319-kettle", "ооооооооооочень", "anaconda in a box"} {
		require.Empty(t, weak.Reason(p, "ana.gomez@example.org", "Ana"), p)
	}
	require.Empty(t, weak.Reason("a b c d e f g", "a@b.cc", "A"), "single letters are no names")
}
