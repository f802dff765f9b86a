package template_test

import (
	"fmt"

	"github.com/trunklinehq/trunkline/provider"
	"github.com/trunklinehq/trunkline/provider/graph/template"
)

// A variable needs an example for the people who review the template.
func Example() {
	components, err := template.Definition(template.ComponentDefinition{Type: "BODY", Text: "Order {{1}} is on its way."})
	if err != nil {
		fmt.Println(err)
		return
	}
	err = template.Check(provider.TemplateDefinition{
		Name: "order_shipped", Category: "UTILITY", Language: "en_US", Components: components,
	})
	fmt.Println(err)
	// Output: provider: components[0].example must hold a value for each variable
}
