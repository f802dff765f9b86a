// Package node is the built-in node types of the flow language. Each type has one
// file, with its configuration, the checks of it, and its step.
//
// [NewTypes] returns them. A program may add its own to what it returns, with
// [flow.Types.Register].
package node

import (
	"sync"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// NewTypes returns the built-in node types.
func NewTypes() *flow.Types { return builtins().Clone() }

// builtins are the built-in types. They never change.
var builtins = sync.OnceValue(func() *flow.Types { return flow.TypesOf(builtin()...) })

// builtin are the node types that every registry has.
func builtin() []flow.NodeType {
	return []flow.NodeType{
		flow.TriggerType(), messageType(), questionType(), conditionType(), setType(), httpType(), delayType(),
		handoffType(), gotoType(), endType(), extractType(), randomType(), contactType(), flowType(), eventType(),
		noteType(),
		switchType(), loopType(), breakType(), continueType(), callType(), returnType(), throwType(), waitType(),
		assistantType(), agentType(), toolType(),
	}
}

// modern are the engines of what the older editor does not know.
func modern() []string { return []string{flow.EngineFlow} }
