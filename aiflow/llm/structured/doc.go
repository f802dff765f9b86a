// Package structured makes a model answer with JSON that matches a JSON Schema.
// Providers do not all enforce schemas. The package therefore validates the answer,
// and, if it does not match, tells the model what is wrong and asks again.
//
//	schema, err := structured.Compile([]byte(`{"type": "object", "required": ["city"], "properties": {"city": {"type": "string"}}}`))
//	answer, err := structured.Generate(ctx, model, request, structured.Wanted{Schema: schema, Repair: 1})
//	fmt.Println(answer.Value)
//
// [Extract] makes a model extract values from a text, and accepts only values with
// evidence in the text. An answer that never matches is a [*Misfit].
//
// Schemas are those of https://json-schema.org/draft/2020-12.
package structured
