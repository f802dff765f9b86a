import { expect, test } from 'vitest'
import { type Box, draw, lanes } from './route'

const box = (x: number, y: number): Box => ({ x, y, width: 200, height: 70 })

test('an edge that nothing stands in the way of is drawn as it is; another passes beside', () => {
  const boxes = new Map([
    ['a', box(0, 0)],
    ['b', box(0, 120)],
    ['c', box(0, 240)],
  ])
  const [near, far] = lanes(
    [
      { from: { x: 100, y: 70 }, to: { x: 100, y: 120 }, ends: ['a', 'b'] },
      { from: { x: 100, y: 70 }, to: { x: 100, y: 240 }, ends: ['a', 'c'] },
    ],
    boxes,
  )
  expect(near).toBeUndefined()
  expect(far).toBe(-14)
  expect(draw({ x: 100, y: 70 }, { x: 100, y: 240 }, far)).toBe('M100 70C100 96.4 -14 87.6 -14 114V196C-14 222.4 100 213.6 100 236')
})

test('edges that pass the same nodes have lanes of their own', () => {
  const boxes = new Map(['a', 'b', 'c'].map((id, at) => [id, box(0, at * 120)]))
  const line = { from: { x: 100, y: 70 }, to: { x: 100, y: 240 }, ends: ['a', 'c'] as const }
  const found = lanes([line, line, line], boxes)
  expect(new Set(found).size).toBe(3)
})

test('an edge that leads back passes all that it leads over', () => {
  const boxes = new Map([
    ['a', box(0, 0)],
    ['b', box(100, 120)],
    ['c', box(0, 240)],
  ])
  const [lane] = lanes([{ from: { x: 150, y: 310 }, to: { x: 100, y: 0 }, ends: ['c', 'a'] }], boxes)
  expect(lane).toBe(-14)
  expect(draw({ x: 150, y: 310 }, { x: 100, y: 0 }, lane)).toContain('V320')
})

test('an edge passes beside what a loop repeats, unless it belongs to it', () => {
  const boxes = new Map([
    ['a', box(0, 0)],
    ['b', box(0, 120)],
    ['c', box(0, 240)],
    ['a:', { x: -20, y: 98, width: 240, height: 112, holds: new Set(['b']) }],
  ])
  const [into, past] = lanes(
    [
      { from: { x: 100, y: 70 }, to: { x: 100, y: 120 }, ends: ['a', 'b'] },
      { from: { x: 130, y: 70 }, to: { x: 100, y: 240 }, ends: ['a', 'c'] },
    ],
    boxes,
  )
  expect(into).toBeUndefined()
  expect(past).toBe(234)
})
