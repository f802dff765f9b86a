// Package author has a model write the draft of a flow after a description in
// plain words.
//
//	proposal, err := author.Propose(ctx, model, node.NewTypes(), author.Wish{
//		Text: "Ask for the name and the city, then thank them.", Slug: "contact", Name: "Contact", Model: "gpt-5", Repair: 2,
//	})
//	// show proposal.Draft and proposal.Problems to a person
//
// What the model is told of the flow language is made from the node types
// themselves, so that it knows those that are added. What it proposes is held
// against the rules of the real thing, and it is told what is wrong until
// nothing is, or it has had its tries. Only a person publishes it.
// Without a model there is [Sketch].
//
// A model that answers nothing like a flow is [ErrNoFlow]; why it did not answer
// is an error of package llm.
package author
