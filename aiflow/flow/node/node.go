// Package node has the built-in node types of the flow language. Each type has a
// file with its configuration, its checks and its step.
//
// [NewTypes] returns the types. A program may add its own with
// [flow.Types.Register].
package node

import (
	"sync"

	"github.com/trunklinehq/trunkline/aiflow/flow"
)

// NewTypes returns the built-in node types.
func NewTypes() *flow.Types { return builtins().Clone() }

// builtins returns the built-in types, which never change.
var builtins = sync.OnceValue(func() *flow.Types { return flow.TypesOf(builtin()...) })

// builtin returns the node types that every registry has.
func builtin() []flow.NodeType {
	return []flow.NodeType{
		flow.TriggerType(), messageType(), questionType(), conditionType(), setType(), httpType(), delayType(),
		handoffType(), gotoType(), endType(), extractType(), randomType(), contactType(), flowType(), eventType(),
		noteType(),
		switchType(), loopType(), breakType(), continueType(), callType(), returnType(), throwType(), waitType(),
		assistantType(), agentType(), toolType(),
	}
}

// modern returns the engines for node types that the older editor does not support.
func modern() []string { return []string{flow.EngineFlow} }
