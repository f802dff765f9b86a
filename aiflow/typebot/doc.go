// Package typebot makes flows of the exports of the builder Typebot, so that its
// users keep their work. It reads the documents of its versions
// 3 to 6 (https://docs.typebot.io), knows nothing of how they run, and needs no
// database.
//
//	f, err := typebot.Convert(export)
//	made, err := account.Create(ctx, aiflow.NewFlow{Project: project, Name: f.Name, Draft: f.Draft})
//
// What has no counterpart is left out of the draft, in whose place stands a
// note, and named in Problems with its place in the export. What is no export is
// [ErrFormat], and what is too large for a flow [ErrTooLarge].
package typebot
