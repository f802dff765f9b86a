import type { Document } from './types'

const steps = 100
/** What is typed in one field within this time of another is one step. */
const burst = 1_500

/** History is what undo and redo go to: at most 100 documents each way. */
export class History {
  private past: Document[] = []
  private future: Document[] = []
  private field = ''
  private at = -Infinity

  /** add keeps what was there before an edit. Edits of one field that follow each other are one step. */
  add(before: Document, field = '', now = Date.now()) {
    const typed = field !== '' && field === this.field && now - this.at < burst && this.future.length === 0
    this.field = field
    this.at = now
    if (typed) return
    this.past = [...this.past, before].slice(-steps)
    this.future = []
  }

  /** undo is the document before the last edit. */
  undo(current: Document): Document | undefined {
    const before = this.past.pop()
    if (before) this.future.push(current)
    this.field = ''
    return before
  }

  /** redo is the document that undo left. */
  redo(current: Document): Document | undefined {
    const after = this.future.pop()
    if (after) this.past.push(current)
    this.field = ''
    return after
  }

  get canUndo() {
    return this.past.length > 0
  }

  get canRedo() {
    return this.future.length > 0
  }
}
