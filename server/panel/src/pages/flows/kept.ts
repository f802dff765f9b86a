import { fresh, held, hold } from '../../api/alive'

/** Kept is a draft that the server does not have yet. */
export interface Kept {
  document: Record<string, unknown>
  /** What was typed in the text view, while it is no document. */
  text?: string
  /** The revision that the draft began from, and what it was then. */
  base: number
  origin: Record<string, unknown>
  /** What was sent without an answer: one of them may be there. */
  sent: Record<string, unknown>[]
  at: number
}

/** Keeper keeps the draft of one flow, for one tab. */
export interface Keeper {
  /** open is what this tab, or one that is gone, has left. */
  open: () => Promise<Kept | null>
  put: (kept: Kept) => Promise<void>
  clear: () => Promise<void>
  close: () => void
}

const store = 'drafts'

function database(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open('trunkline', 1)
    asked.onupgradeneeded = () => asked.result.createObjectStore(store)
    asked.onsuccess = () => resolve(asked.result)
    asked.onerror = () => reject(asked.error ?? new Error('IndexedDB'))
  })
}

let opened: Promise<IDBDatabase> | undefined

/** act does something with the drafts, as one transaction that is on the disk when it ends. */
async function act<T>(mode: IDBTransactionMode, run: (drafts: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  opened ??= database()
  const all = (await opened).transaction(store, mode, { durability: 'strict' })
  const asked = run(all.objectStore(store))
  return new Promise((resolve, reject) => {
    all.oncomplete = () => resolve(asked.result)
    all.onabort = () => reject(all.error ?? new Error('IndexedDB'))
  })
}

const nameOf = (key: string) => `trunkline-draft ${key}`

/**
 * keeper keeps what is typed in this tab. Each tab keeps its own: two that
 * show one flow do not write over each other. A tab that is gone has let go of
 * its hold, and what it left is taken up by the next that opens the flow.
 */
export function keeper(flow: string): Keeper {
  const key = `${flow} ${fresh()}`
  const here = hold(nameOf(key))
  return {
    open: async () => {
      await here.begun
      const keys = ((await act('readonly', (drafts) => drafts.getAllKeys())) as string[]).filter((one) => one.startsWith(`${flow} `))
      if (keys.length === 0) return null
      const living = await held()
      let last: { key: string; kept: Kept } | null = null
      for (const one of keys) {
        if (living.has(nameOf(one))) continue
        const kept = (await act('readonly', (drafts) => drafts.get(one))) as Kept | undefined
        if (kept && (!last || kept.at > last.kept.at)) last = { key: one, kept }
      }
      if (!last) return null
      await act('readwrite', (drafts) => drafts.put(last.kept, key))
      await act('readwrite', (drafts) => drafts.delete(last.key))
      return last.kept
    },
    put: async (kept) => void (await act('readwrite', (drafts) => drafts.put(kept, key))),
    clear: async () => void (await act('readwrite', (drafts) => drafts.delete(key))),
    close: here.end,
  }
}
