package entity_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/trunklinehq/trunkline/extractor/entity"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	for phone, want := range map[string][2]string{
		"5511987654321": {"BR", "America/Sao_Paulo"}, "+16502530000": {"US", "America/Los_Angeles"}, "4930123456": {"DE", "Europe/Berlin"},
		"": {}, "ana": {}, "1": {}, "+80012345678": {"001"},
	} {
		region, zone := entity.Writer(phone)
		require.Equal(t, want[0], region, phone)
		if want[1] == "" {
			require.Nil(t, zone, phone)
			continue
		}
		require.NotNil(t, zone, phone)
		require.Equal(t, want[1], zone.String(), phone)
	}
}
