package apierr_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/internal/apierr"
)

func TestError(t *testing.T) {
	t.Parallel()
	missing := apierr.New("webhook", apierr.NotFound, "there is no such webhook")
	require.EqualError(t, missing, "webhook: there is no such webhook")
	err := fmt.Errorf("deleting: %w", missing)
	require.ErrorIs(t, err, missing)
	require.NotErrorIs(t, err, apierr.New("webhook", apierr.NotFound, "there is no such webhook"), "each is an error of its own")
	var e *apierr.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "not_found", e.Code)
	require.Equal(t, "there is no such webhook", e.Message)
}

func TestInvalid(t *testing.T) {
	t.Parallel()
	var bad *apierr.Invalid
	require.ErrorAs(t, fmt.Errorf("creating: %w", &apierr.Invalid{Field: "name", Message: "must not be empty"}), &bad)
	require.EqualError(t, bad, "name must not be empty")
}
