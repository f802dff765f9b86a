// Package store holds the rows of chats and messages and the batch, which is
// the work of one transaction on them.
//
// Only this package locks. A batch locks chats in the order of their ids,
// with [Batch.Open], [Batch.Lock] or [Batch.LoadLocked], and only then queues
// something for them: what is queued for a chat is then in the order of the
// commits. Messages are changed while their chat is locked.
package store
