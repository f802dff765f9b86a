import { Problem } from '../../api/client'
import { same } from './diff'
import type { Document, FlowProblem, Opened } from './engine'
import type { Keeper, Kept } from './kept'

/**
 * How a draft is: the server has it, not yet, or is being asked; it cannot be
 * reached; it refuses it; what was typed is no document; or somebody else has
 * changed it meanwhile.
 */
export type Saving = 'saved' | 'edited' | 'saving' | 'lost' | 'refused' | 'unreadable' | 'conflict'

export interface Shown {
  document: Document
  /** What stands in the text view, while it is not the document as it is written. */
  text: string | undefined
  saving: Saving
  /** Of the document that was saved last. */
  problems: FlowProblem[]
  /** Why the server refuses it. */
  wrong: string
  /** What somebody else has saved. */
  theirs: Opened | null
}

export interface Ways {
  save: (document: Document, base: number | null) => Promise<Opened>
  read: () => Promise<Opened>
  /** saved is told what the server has. */
  saved: (opened: Opened) => void
  keeper: Keeper
}

const pause = 600 // ms after the last edit
const forNow = (error: unknown) => !(error instanceof Problem) || error.status === 0 || error.status === 401 || error.status === 429 || error.status >= 500

/**
 * Draft is a document that is being edited. What is edited is kept in the
 * browser at once and sent when nothing was edited for a while; it is let go
 * of when the server has it.
 */
export class Draft {
  private shown: Shown
  private base: number
  private origin: Document // what stood in the revision base
  private sent: Document[] = [] // from base, without an answer: one of them may have been taken
  private busy = false
  private closed = false
  private failures = 0
  private timer: ReturnType<typeof setTimeout> | undefined
  private wanted: Kept | null | undefined // to be written: undefined: nothing
  private writing: Promise<void> | undefined
  private unkept = false
  private readonly watchers = new Set<() => void>()
  private readonly ways: Ways

  constructor(opened: Opened, ways: Ways) {
    this.ways = ways
    this.base = opened.revision
    this.origin = opened.document
    this.shown = { document: opened.document, text: undefined, saving: 'saved', problems: opened.problems, wrong: '', theirs: null }
  }

  /** open takes up what an earlier page has left. */
  async open() {
    const kept = await this.ways.keeper.open().catch(() => null)
    if (!kept || this.shown.saving !== 'saved') return
    this.base = kept.base
    this.origin = kept.origin
    this.sent = kept.sent
    const readable = kept.text === undefined || read(kept.text) !== null
    this.set({ document: kept.document, text: kept.text, saving: readable ? 'edited' : 'unreadable' })
    if (readable) this.later(0)
  }

  readonly now = () => this.shown
  readonly subscribe = (tell: () => void) => {
    this.watchers.add(tell)
    return () => void this.watchers.delete(tell)
  }

  /** change is an edit of the document. */
  readonly change = (document: Document) => {
    this.edit({ document, text: undefined })
    this.later(pause)
  }

  /** type is an edit of the document as text; what is no document yet is kept, but not sent. */
  readonly type = (text: string) => {
    const document = read(text)
    if (document) {
      this.edit({ document, text })
      this.later(pause)
      return
    }
    clearTimeout(this.timer)
    this.edit({ text })
    this.set({ saving: 'unreadable' })
  }

  /** clean says whether the server has all that was typed. */
  clean = () => this.shown.saving === 'saved'
  /** safe says whether the page may go away: the server has it all, or the browser. */
  safe = () => this.clean() || (!this.unkept && this.wanted === undefined && !this.writing)

  /** heard takes over what the server has now, unless there are edits: they are saved first, or refused. */
  readonly heard = (opened: Opened) => {
    if (opened.revision <= this.base || this.busy) return
    if (!this.clean()) {
      if (same(opened.document, this.origin)) this.base = opened.revision
      return
    }
    this.base = opened.revision
    this.origin = opened.document
    this.set(same(opened.document, this.shown.document) ? { problems: opened.problems } : { document: opened.document, text: undefined, problems: opened.problems })
  }

  /** flush saves at once, and ends when that is done. */
  readonly flush = async () => {
    clearTimeout(this.timer)
    if (['edited', 'lost', 'refused'].includes(this.shown.saving)) await this.save(this.base)
    return this.clean()
  }

  /** takeTheirs gives up what was edited here. */
  readonly takeTheirs = () => {
    const { theirs } = this.shown
    if (theirs) this.settle(theirs, { document: theirs.document, text: undefined })
  }

  /** overwrite saves what was edited here over what somebody else has saved. */
  readonly overwrite = () => {
    this.set({ theirs: null, saving: 'edited' })
    return this.save(null)
  }

  /** close saves what is not saved, if that is possible; the browser keeps it until then. */
  close() {
    this.closed = true
    void this.flush().finally(async () => {
      await this.writing
      this.ways.keeper.close()
    })
  }

  private edit(part: Partial<Shown>) {
    this.set({ ...part, saving: this.shown.saving === 'conflict' ? 'conflict' : 'edited', wrong: '' })
    this.keep()
  }

  private later(ms: number) {
    clearTimeout(this.timer)
    if (!this.closed) this.timer = setTimeout(() => void this.flush(), ms)
  }

  private async save(base: number | null) {
    if (this.busy) return
    const { document } = this.shown
    this.busy = true
    this.sent = [...this.sent.filter((one) => one !== document), document].slice(-10)
    this.set({ saving: 'saving' })
    this.keep()
    try {
      this.got(await this.ways.save(document, base), document)
    } catch (error) {
      await this.failed(error)
    } finally {
      this.busy = false
    }
    if (this.shown.saving === 'edited') this.later(pause)
  }

  private got(opened: Opened, document: Document) {
    this.failures = 0
    if (same(this.shown.document, document) && (this.shown.text === undefined || read(this.shown.text))) {
      this.settle(opened, {})
      return
    }
    // Edited again while it was on its way.
    this.base = opened.revision
    this.origin = opened.document
    this.sent = []
    this.set({ problems: opened.problems, saving: this.shown.saving === 'unreadable' ? 'unreadable' : 'edited' })
    this.keep()
    this.ways.saved(opened)
  }

  private settle(opened: Opened, part: Partial<Shown>) {
    this.base = opened.revision
    this.origin = opened.document
    this.sent = []
    this.set({ ...part, problems: opened.problems, saving: 'saved', wrong: '', theirs: null })
    this.write(null)
    this.ways.saved(opened)
  }

  private async failed(error: unknown) {
    if (error instanceof Problem && error.status === 412) {
      try {
        await this.passed(await this.ways.read())
        return
      } catch (again) {
        error = again
      }
    }
    if (forNow(error)) {
      this.set({ saving: this.shown.saving === 'unreadable' ? 'unreadable' : 'lost' })
      this.later(Math.min(1_000 * 2 ** this.failures++, 15_000))
      return
    }
    this.set({ saving: 'refused', wrong: (error as Error).message })
  }

  /** passed is called when the revision that the edits began from is not the newest any more. */
  private async passed(theirs: Opened) {
    if (![this.origin, ...this.sent].some((one) => same(theirs.document, one))) {
      this.set({ saving: 'conflict', theirs })
      return
    }
    // It is what was sent before, whose answer was lost, or only its name changed.
    this.base = theirs.revision
    this.origin = theirs.document
    const { document } = this.shown
    this.got(same(theirs.document, document) ? theirs : await this.ways.save(document, theirs.revision), document)
  }

  private keep() {
    const { document, text } = this.shown
    this.write({ document, base: this.base, origin: this.origin, sent: this.sent, at: Date.now(), ...(text === undefined ? {} : { text }) })
  }

  /** write has the browser keep it, or let go of it; of several the last one counts. */
  private write(next: Kept | null) {
    this.wanted = next
    this.writing ??= (async () => {
      while (this.wanted !== undefined) {
        const kept = this.wanted
        this.wanted = undefined
        try {
          await (kept ? this.ways.keeper.put(kept) : this.ways.keeper.clear())
          this.unkept = false
        } catch {
          this.unkept = true
        }
      }
      this.writing = undefined
    })()
  }

  private set(part: Partial<Shown>) {
    this.shown = { ...this.shown, ...part }
    this.watchers.forEach((tell) => tell())
  }
}

export const write = (document: unknown) => JSON.stringify(document, null, 2)

/** read is the document that a text is, if it is one. */
export function read(text: string): Document | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Document) : null
  } catch {
    return null
  }
}
