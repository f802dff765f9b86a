package main

import (
	"fmt"

	"github.com/trunklinehq/trunkline/extractor"
)

func main() {
	text := "Write to ana@example.com before 5 March 2027, the price is $17.50"
	for _, found := range extractor.Entities(text, nil) {
		fmt.Println(found.Name, found.Value)
	}
}
