import type { Document } from './types'

const steps = 100
/** What is typed in one field within this time of another is one step. */
const burst = 1_500

/** History is what undo and redo go to: at most 100 documents each way. */
export class History {
  private past: Document[] = []
  private future: Document[] = []
  private latest: Document | undefined
  private field = ''
  private at = -Infinity

  /** add keeps what was there before an edit. Edits of one field that follow each other are one step. */
  add(before: Document, after?: Document, field = '', now = Date.now()) {
    const typed = field !== '' && field === this.field && now - this.at < burst && this.future.length === 0
    this.latest = after
    this.field = field
    this.at = now
    if (typed) return
    this.past = [...this.past, before].slice(-steps)
    this.future = []
  }

  /** meet takes note of what is there now. What came from elsewhere, as from the text, can be undone like an edit. */
  meet(document: Document) {
    const before = this.latest
    this.latest = document
    if (before && before !== document && JSON.stringify(before) !== JSON.stringify(document)) this.add(before, document, 'elsewhere')
  }

  /** undo is the document before the last edit. */
  undo(current: Document): Document | undefined {
    return this.move(this.past, this.future, current)
  }

  /** redo is the document that undo left. */
  redo(current: Document): Document | undefined {
    return this.move(this.future, this.past, current)
  }

  private move(from: Document[], to: Document[], current: Document): Document | undefined {
    const next = from.pop()
    if (!next) return undefined
    to.push(current)
    this.field = ''
    this.latest = next
    return next
  }

  get canUndo() {
    return this.past.length > 0
  }

  get canRedo() {
    return this.future.length > 0
  }
}
