import { expect, test } from 'vitest'
import { difference, leaves, none, same } from './diff'

const flow = (nodes: object, more: object = {}) => ({ format: 'trunkline-flow/1', start: 'a', nodes, ...more })

test('the order of members means nothing', () => {
  expect(same({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true)
  expect(same({ a: undefined }, { b: 1 })).toBe(false)
  expect(same([1, 2], [2, 1])).toBe(false)
  expect(same({}, [])).toBe(false)
})

test('nodes, edges and the rest are told apart', () => {
  const from = flow({ a: { type: 'trigger', next: { out: 'b' } }, b: { type: 'message', config: { text: 'Hi', buttons: [{ id: 'x' }] } } }, { ui: { a: [0, 0] } })
  const to = flow({ a: { type: 'trigger', next: { out: 'c' } }, b: { type: 'message', config: { text: 'Hello', buttons: [{ id: 'y' }] } }, c: { type: 'end' } }, { settings: { timezone: 'UTC' } })
  const d = difference(from, to)
  expect(d.nodes).toEqual([
    {
      id: 'b',
      type: 'message',
      kind: 'changed',
      changes: [
        { path: '/nodes/b/config/buttons/0/id', kind: 'changed', from: 'x', to: 'y' },
        { path: '/nodes/b/config/text', kind: 'changed', from: 'Hi', to: 'Hello' },
      ],
    },
    { id: 'c', type: 'end', kind: 'added', changes: [{ path: '/nodes/c', kind: 'added', from: null, to: { type: 'end' } }] },
  ])
  expect(d.edges).toEqual([{ node: 'a', output: 'out', from: 'b', to: 'c' }])
  expect(d.document).toEqual([{ path: '/settings', kind: 'added', from: null, to: { timezone: 'UTC' } }])
  expect(none(difference(to, { ...to, ui: { b: [1, 1] } }))).toBe(true)
  expect(difference(to, from).nodes.map((n) => n.kind)).toEqual(['changed', 'removed'])
})

test('what is new is told value by value', () => {
  const node = { path: '/nodes/a', kind: 'added' as const, from: null, to: { type: 'message', config: { text: 'Hi', buttons: [{ id: 'x' }] } } }
  expect(leaves(node).map((one) => [one.path, one.to])).toEqual([
    ['/nodes/a/type', 'message'],
    ['/nodes/a/config/text', 'Hi'],
    ['/nodes/a/config/buttons/0/id', 'x'],
  ])
  expect(leaves(node, 1)).toHaveLength(1)
})
