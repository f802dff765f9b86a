// Package knowledge keeps the files of projects and finds the passages that
// say something about a question, so that models answer from them.
//
// A file is cut into passages where its headings and paragraphs end. They are
// found by the words that they share with the question, the rarer the better
// (BM25), without any other service; with embeddings also by what they mean.
//
//	files, err := knowledge.New(ctx, db, nil)
//	file, err := files.For(account).Add(ctx, project, knowledge.NewFile{Name: "prices.md", Data: data})
//	found, err := files.For(account).Search(ctx, project, knowledge.Query{Text: "How much is a double room?"})
//
// Plain texts, Markdown, HTML, CSV and JSON are read; anything else is
// [ErrUnsupported], and what is too much is a [*TooLarge].
//
// Its tables, knowledge_…, belong to the projects of package aiflow, whose tables must be
// there: the files of a deleted project are not found any more, and [Service.Run]
// removes them. No transaction of this package is larger than a few hundred rows.
package knowledge
