package view

import (
	"github.com/trunklinehq/trunkline/aiflow/flow/runtime"
	"github.com/trunklinehq/trunkline/provider"
)

// RunChat returns a chat as runs know it.
func RunChat(account string, ref provider.ReferenceID, key, id string) runtime.Chat {
	return runtime.Chat{Account: account, Reference: int64(ref), Key: key, ID: id}
}
