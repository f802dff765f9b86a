// Package knowledge keeps the files of projects and finds passages in them that are
// relevant to a question, so that models can answer from the files.
//
// A file is split into passages at headings and paragraphs. A search ranks passages
// by the words that they share with the question, rarer words counting more (BM25).
// It needs no other service. With embeddings it also ranks them by meaning.
//
//	files, err := knowledge.New(ctx, db, nil)
//	file, err := files.For(account).Add(ctx, project, knowledge.NewFile{Name: "prices.md", Data: data})
//	found, err := files.For(account).Search(ctx, project, knowledge.Query{Text: "How much is a double room?"})
//
// Plain text, Markdown, HTML, CSV and JSON are supported; other types are
// [ErrUnsupported]. A file that exceeds a limit is a [*TooLarge].
//
// Its tables, knowledge_…, refer to the projects of package aiflow, whose tables
// must exist. The files of a deleted project are no longer found, and [Service.Run]
// removes them. No transaction of this package changes more than a few hundred
// rows.
package knowledge
