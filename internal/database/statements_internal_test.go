package database

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompiledOnce(t *testing.T) {
	t.Parallel()
	const text = `SELECT a FROM (SELECT a FROM t LIMIT $12) AS x WHERE b = $1 LIMIT 7`
	require.Equal(t, `SELECT a FROM (SELECT a FROM t LIMIT $12 + 0) AS x WHERE b = $1 LIMIT 7`, SQLite.compiledOnce(text))
	require.Equal(t, text, Postgres.compiledOnce(text))
}
