// Package settings keeps what references are configured with: it checks and
// merges the settings of a kind, seals their secrets, opens and masks them,
// and asks networks for those that a reference lacks.
package settings
