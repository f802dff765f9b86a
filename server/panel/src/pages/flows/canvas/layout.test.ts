import { expect, test } from 'vitest'
import every from '../../../../../../aiflow/flow/testdata/every-node.json'
import described from '../../../../../../aiflow/flow/testdata/palette.json'
import { edges, ports, read } from './flow'
import { arrange, complete } from './layout'
import { height, nodeWidth } from './size'
import type { Flow, Palette, Place } from './types'

const palette = described as unknown as Palette

function widths(flow: Flow) {
  return (id: string) => {
    const node = flow.nodes[id]
    return node ? nodeWidth(ports(node, palette.nodes?.find((type) => type.type === node.type)), node.next) : 0
  }
}

function overlaps(flow: Flow, places: Record<string, Place>): string[] {
  const widthOf = widths(flow)
  const all = Object.entries(places)
  return all.flatMap(([a, one], at) =>
    all.slice(at + 1).flatMap(([b, two]) => (one.x < two.x + widthOf(b) && two.x < one.x + widthOf(a) && one.y < two.y + height && two.y < one.y + height ? [`${a} ${b}`] : [])),
  )
}

/** tangle is a flow of 300 nodes: chains, switches, loops, joins, ways back and parts that stand alone. */
function tangle(seed: number): Flow {
  let state = seed
  const random = (n: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state % n
  }
  const nodes: Record<string, object> = {}
  for (let n = 0; n < 300; n++) {
    const to = (most: number) => `n${Math.min(299, n + 1 + random(most))}`
    const kind = random(10)
    if (n === 299 || kind === 0) nodes[`n${n}`] = { type: 'end' }
    else if (kind === 1) nodes[`n${n}`] = { type: 'loop', config: { kind: 'count' }, next: { body: to(4), done: to(12) } }
    else if (kind === 2) nodes[`n${n}`] = { type: 'switch', config: { cases: ['a', 'b', 'c', 'd'].map((id) => ({ id })) }, next: { a: to(9), b: to(20), d: `n${random(300)}`, default: to(2) } }
    else nodes[`n${n}`] = { type: 'message', next: { out: to(2), ...(kind === 3 ? { error: 'n299' } : {}) } }
  }
  return read({ start: 'n0', nodes })
}

test.each([1, 2, 3, 4, 5])('300 nodes stand without overlap (%i)', (seed) => {
  const flow = tangle(seed)
  const places = arrange(flow, widths(flow))
  expect(Object.keys(places)).toHaveLength(300)
  expect(overlaps(flow, places)).toEqual([])
})

test('every node of the language finds its place, and the start is on top', () => {
  const flow = read(every)
  const places = arrange(flow, widths(flow))
  expect(Object.keys(places).sort()).toEqual(Object.keys(every.nodes).sort())
  expect(overlaps(flow, places)).toEqual([])
  expect(places.start?.y).toBe(0)
})

test('an edge leads downwards but where it goes back, and what follows a loop stands below its body', () => {
  const flow = read({
    start: 'start',
    nodes: {
      start: { type: 'trigger', next: { out: 'each' } },
      each: { type: 'loop', next: { body: 'one', done: 'after' } },
      one: { type: 'message', next: { out: 'two' } },
      two: { type: 'message' },
      after: { type: 'question', next: { out: 'end', invalid: 'each' } },
      end: { type: 'end' },
    },
  })
  const places = arrange(flow, widths(flow))
  const y = (id: string) => places[id]?.y ?? 0
  for (const { from, to, output } of edges(flow)) expect(output === 'invalid' ? y(from) > y(to) : y(from) < y(to), `${from} ${to}`).toBe(true)
  expect(y('after')).toBeGreaterThan(y('two'))
})

test('who stands somewhere stays there; who does not stands below who leads there, over nobody', () => {
  const flow = read({
    nodes: { a: { type: 'message', next: { out: 'b' } }, b: { type: 'message' }, c: { type: 'message' } },
    ui: { nodes: { a: { x: 500, y: 0 }, c: { x: 480, y: 120 } } },
  })
  const places = complete(flow, widths(flow))
  expect(places).toMatchObject({ a: { x: 500, y: 0 }, c: { x: 480, y: 120 } })
  expect(places.b?.y).toBeGreaterThan(0)
  expect(overlaps(flow, places)).toEqual([])
})
