// @vitest-environment jsdom
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Problem } from '../../api/client'
import { Draft } from './draft'
import type { Document, Opened } from './engine'
import type { Kept } from './kept'

/** World is a server with one flow, and a browser that keeps things. */
function world(document: Document = { n: 0 }) {
  const w = {
    flow: { id: 'f', name: 'F', document, problems: [], version: 0, revision: 1, active: true } as Opened,
    kept: null as Kept | null,
    saves: 0,
    fails: null as Problem | null,
    loseAnswer: false,
    draft: () => {
      const draft = new Draft(w.flow, {
        save: async (next, base) => {
          w.saves++
          if (w.fails) throw w.fails
          if (base !== null && base !== w.flow.revision) throw new Problem(412, {})
          w.flow = { ...w.flow, document: next, revision: w.flow.revision + 1 }
          if (w.loseAnswer) throw new Problem(0, {})
          return w.flow
        },
        read: async () => w.flow,
        saved: () => undefined,
        keeper: {
          open: async () => w.kept,
          put: async (kept) => void (w.kept = structuredClone(kept)),
          clear: async () => void (w.kept = null),
          close: () => undefined,
        },
      })
      return draft
    },
  }
  return w
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('edits are kept at once, saved after a pause, and let go of then', async () => {
  const w = world()
  const draft = w.draft()
  draft.change({ n: 1 })
  draft.change({ n: 2 })
  await vi.advanceTimersByTimeAsync(1)
  expect(w.kept?.document).toEqual({ n: 2 })
  expect(w.saves).toBe(0)
  await vi.advanceTimersByTimeAsync(600)
  expect(w.saves).toBe(1)
  expect(draft.now().saving).toBe('saved')
  expect(w.flow.document).toEqual({ n: 2 })
  expect(w.kept).toBeNull()
})

test('what a crash left is taken up and saved', async () => {
  const w = world()
  const first = w.draft()
  first.change({ n: 7 })
  await vi.advanceTimersByTimeAsync(1)
  const second = w.draft() // the first is gone: it never got to save
  await second.open()
  expect(second.now().document).toEqual({ n: 7 })
  await vi.advanceTimersByTimeAsync(5)
  expect(w.flow.document).toEqual({ n: 7 })
})

test('while the server is away edits go on, and are saved when it is back', async () => {
  const w = world()
  const draft = w.draft()
  w.fails = new Problem(0, {})
  draft.change({ n: 1 })
  await vi.advanceTimersByTimeAsync(700)
  expect(draft.now().saving).toBe('lost')
  draft.change({ n: 2 })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(w.kept?.document).toEqual({ n: 2 })
  w.fails = null
  await vi.advanceTimersByTimeAsync(20_000)
  expect(draft.now().saving).toBe('saved')
  expect(w.flow.document).toEqual({ n: 2 })
})

test('an answer that was lost is no conflict with oneself', async () => {
  const w = world()
  const draft = w.draft()
  w.loseAnswer = true
  draft.change({ n: 1 })
  await vi.advanceTimersByTimeAsync(600)
  w.loseAnswer = false
  draft.change({ n: 2 })
  await vi.advanceTimersByTimeAsync(2_000)
  expect(draft.now().saving).toBe('saved')
  expect(w.flow.document).toEqual({ n: 2 })
})

test('a new name is no conflict; a change by somebody else is one', async () => {
  const w = world()
  const draft = w.draft()
  w.flow = { ...w.flow, name: 'G', revision: 2 }
  draft.change({ n: 1 })
  await vi.advanceTimersByTimeAsync(700)
  expect(draft.now().saving).toBe('saved')

  w.flow = { ...w.flow, document: { n: 9 }, revision: 9 }
  draft.change({ n: 2 })
  await vi.advanceTimersByTimeAsync(700)
  expect(draft.now().saving).toBe('conflict')
  expect(draft.now().theirs?.document).toEqual({ n: 9 })
  expect(w.flow.document).toEqual({ n: 9 })
  draft.change({ n: 3 })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(w.flow.document).toEqual({ n: 9 })
  expect(w.kept?.document).toEqual({ n: 3 })
  await draft.overwrite()
  expect(w.flow.document).toEqual({ n: 3 })
  expect(w.kept).toBeNull()
})

test('a clean draft follows the server, an edited one does not', async () => {
  const w = world()
  const draft = w.draft()
  draft.heard({ ...w.flow, document: { n: 5 }, revision: 2 })
  expect(draft.now().document).toEqual({ n: 5 })
  draft.change({ n: 6 })
  draft.heard({ ...w.flow, document: { n: 8 }, revision: 3 })
  expect(draft.now().document).toEqual({ n: 6 })
})

test('a text that is no document is kept and not sent', async () => {
  const w = world()
  const draft = w.draft()
  draft.type('{"n": ')
  await vi.advanceTimersByTimeAsync(2_000)
  expect(draft.now().saving).toBe('unreadable')
  expect(w.saves).toBe(0)
  const next = w.draft()
  await next.open()
  expect(next.now().text).toBe('{"n": ')
  next.type('{"n": 4}')
  await vi.advanceTimersByTimeAsync(700)
  expect(w.flow.document).toEqual({ n: 4 })
})

test('what the server refuses stays, and says why', async () => {
  const w = world()
  const draft = w.draft()
  w.fails = new Problem(422, { detail: 'is nested too deep' })
  draft.change({ n: 1 })
  await vi.advanceTimersByTimeAsync(700)
  expect(draft.now()).toMatchObject({ saving: 'refused', wrong: 'is nested too deep', document: { n: 1 } })
  expect(w.kept?.document).toEqual({ n: 1 })
})
