module github.com/trunklinehq/trunkline/internal/tools/compose

go 1.26.0

// Its schema of compose files is read by a test.
require github.com/compose-spec/compose-go/v2 v2.16.2
