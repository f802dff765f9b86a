import { expect, test } from 'vitest'
import { History } from './history'

const doc = (n: number) => ({ n })

test('100 edits can be undone, and done again', () => {
  const history = new History()
  for (let n = 0; n < 150; n++) history.add(doc(n), doc(n + 1))
  let now = doc(150)
  for (let n = 149; n >= 50; n--) {
    now = history.undo(now) as typeof now
    expect(now).toEqual(doc(n))
  }
  expect(history.undo(now)).toBeUndefined()
  expect(history.canUndo).toBe(false)
  for (let n = 51; n <= 150; n++) {
    now = history.redo(now) as typeof now
    expect(now).toEqual(doc(n))
  }
  expect(history.redo(now)).toBeUndefined()
})

test('what is typed in one field at once is one step', () => {
  const history = new History()
  history.add(doc(1), doc(2), 'a/text', 1_000)
  history.add(doc(2), doc(3), 'a/text', 1_900)
  history.add(doc(3), doc(4), 'a/text', 3_000)
  history.add(doc(4), doc(5), 'b/text', 3_100)
  history.add(doc(5), doc(6), 'b/text', 9_000)
  expect(history.undo(doc(6))).toEqual(doc(5))
  expect(history.undo(doc(5))).toEqual(doc(4))
  expect(history.undo(doc(4))).toEqual(doc(1))
  expect(history.canUndo).toBe(false)
})

test('an edit after undo forgets what was undone, even in the same field', () => {
  const history = new History()
  history.add(doc(1), doc(2), 'a', 0)
  const before = history.undo(doc(2))
  expect(before).toEqual(doc(1))
  history.add(doc(1), doc(2), 'a', 1)
  expect(history.canRedo).toBe(false)
  expect(history.undo(doc(3))).toEqual(doc(1))
})

test('what came from elsewhere can be undone, what is but another copy is no step', () => {
  const history = new History()
  history.meet(doc(1))
  history.meet(doc(1))
  expect(history.canUndo).toBe(false)
  history.meet(doc(2))
  expect(history.undo(doc(2))).toEqual(doc(1))
  history.meet(doc(1))
  expect(history.redo(doc(1))).toEqual(doc(2))
})
