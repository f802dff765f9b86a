// Package structured has a model answer with JSON that fits a JSON Schema.
// Providers differ in how strictly they keep to one, so that what comes is
// validated here, and a model that missed it is told what is wrong and asked
// again.
//
//	schema, err := structured.Compile([]byte(`{"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}`))
//	answer, err := structured.Generate(ctx, model, request, structured.Wanted{Schema: schema, Repair: 1})
//	fmt.Println(answer.Value)
//
// [Extract] has it take values out of a text, and counts only those whose words
// are there. An answer that never fits is a [*Misfit].
//
// Schemas are those of https://json-schema.org/draft/2020-12.
package structured
