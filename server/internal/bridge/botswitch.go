package bridge

import (
	"context"

	"github.com/trunklinehq/trunkline/botengine"
	"github.com/trunklinehq/trunkline/provider"
)

// BotSwitch lets agents switch bots.
type BotSwitch struct{ Bots *botengine.Service }

// SwitchBot lets a bot answer on its reference, or not.
func (b BotSwitch) SwitchBot(ctx context.Context, account string, ref provider.ReferenceID, botID string, active bool) (bool, error) {
	return b.Bots.For(account).Bots().Switch(ctx, int64(ref), botID, active)
}
