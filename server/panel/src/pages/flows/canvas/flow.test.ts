import { expect, test } from 'vitest'
import every from '../../../../../../aiflow/flow/testdata/every-node.json'
import own from '../../../../../../aiflow/flow/testdata/own.json'
import described from '../../../../../../aiflow/flow/testdata/palette.json'
import { addNode, configure, connect, place, remove, rename } from './edit'
import { bodies, edges, pointerOf, ports, read } from './flow'
import { marksOf } from './marks'
import { summary } from './summary'
import { variables } from './suggest'
import type { Document, NodeType, Palette } from './types'
import { fieldAt, titled } from './when'
import type { Schema } from '../../../ui/schema-form/schema'

const palette = described as unknown as Palette
const type = (name: string) => {
  const found = palette.nodes?.find((one) => one.type === name)
  if (!found) throw new Error(`no type ${name}`)
  return found
}

/** bot is a document of the other engine. */
const bot: Document = {
  format: 'trunkline-flow/1',
  kind: 'flow',
  engine: 'botengine',
  slug: 'menu',
  name: 'Menu',
  start: 'begin',
  nodes: {
    begin: { type: 'trigger', config: { on: [{ kind: 'any_message' }] }, next: { out: 'which' } },
    which: { type: 'condition', config: { branches: [{ id: 'price', when: "input.text == 'price'" }] }, next: { price: 'say', else: 'say' } },
    say: { type: 'message', config: { text: 'Hello' } },
  },
}

test.each([
  ['aiflow', every as Document],
  ['botengine', bot],
])('edges of a document of %s are all those of its outputs, and make the same document again', (_, document) => {
  const flow = read(document)
  const found = edges(flow)
  const written = Object.values(document.nodes as Record<string, { next?: object }>).reduce((sum, node) => sum + Object.keys(node.next ?? {}).length, 0)
  expect(found).toHaveLength(written)
  expect(new Set(found.map((edge) => edge.id)).size).toBe(written)

  const bare = Object.keys(flow.nodes).reduce((all, id) => Object.keys(flow.nodes[id]?.next ?? {}).reduce((next, output) => connect(next, id, output, null), all), document)
  expect(edges(read(bare))).toEqual([])
  expect(found.reduce((next, { from, output, to }) => connect(next, from, output, to), bare)).toEqual(document)
})

test('names that every object has are names like others', () => {
  const hostile = JSON.parse('{"start":"valueOf","nodes":{"__proto__":{"type":"constructor","config":{"toString":"x"},"next":{"out":"toString"}},"a":{"type":"__proto__","next":{"out":"__proto__"}}}}') as Document
  const flow = read(hostile)
  expect(Object.keys(flow.nodes)).toEqual(['__proto__', 'a'])
  expect(edges(flow).map(({ from, to }) => [from, to])).toEqual([['a', '__proto__']])
  expect(Object.values(flow.nodes).map(summary)).toEqual(['x', ''])
  expect(flow.nodes.constructor).toBeUndefined()
})

test('every edge of a document leaves by an output that its node shows', () => {
  for (const document of [every as Document, bot]) {
    const flow = read(document)
    for (const { from, output } of edges(flow)) {
      const node = flow.nodes[from]
      if (node) expect(ports(node, type(node.type)).map((port) => port.output)).toContain(output)
    }
  }
})

test('outputs are those of the type and of what is configured', () => {
  const outputs = (name: string, node: object, names?: Parameters<typeof ports>[2]) => ports({ type: name, config: {}, next: {}, ...node }, type(name), names).map((port) => port.output)
  expect(outputs('switch', { config: { cases: [{ id: 'a' }, { id: 'b' }] } })).toEqual(['a', 'b', 'default'])
  expect(outputs('loop', {})).toEqual(['body', 'done', 'limit', 'error'])
  expect(outputs('question', { config: { choices: [{ id: 'yes' }] } })).toEqual(['out', 'choice:yes', 'invalid', 'timeout', 'cancel', 'error'])
  expect(outputs('http', { next: { 'status:404': 'x' } })).toEqual(['out', 'status:404', 'error'])
  expect(outputs('call', {}, () => ['default', 'none'])).toEqual(['out', 'return:default', 'return:none', 'timeout', 'error'])
  expect(outputs('end', { next: { out: 'x' } })).toEqual(['out'])
})

test('what is drawn of a document may be anything', () => {
  for (const document of [{}, { nodes: null }, { nodes: [1] }, { nodes: { a: 1, b: { type: 2, next: 'x', config: [] } }, ui: { nodes: { b: { x: '1' } } } }]) {
    const flow = read(document)
    expect(edges(flow)).toEqual([])
    expect(Object.values(flow.nodes).every((node) => typeof node.type === 'string')).toBe(true)
  }
})

test('nodes that an edit does not touch are the same', () => {
  const before = read(bot)
  const after = read(connect(bot, 'say', 'out', 'begin'))
  expect(after.nodes.begin).toBe(before.nodes.begin)
  expect(after.nodes.say).not.toBe(before.nodes.say)
})

test('a node is added as its form needs it, renamed wherever it is named, and taken away with what leads to it', () => {
  const added = addNode(bot, type('random'), { x: 1.4, y: 2 })
  expect(added.id).toBe('random')
  expect(added.document).toMatchObject({ nodes: { random: { type: 'random', config: { branches: [{ id: 'way1' }, { id: 'way2' }] } } }, ui: { nodes: { random: { x: 1, y: 2 } } } })
  expect(addNode({}, type('trigger'), { x: 0, y: 0 })).toMatchObject({ id: 'trigger', document: { start: 'trigger' } })

  const jumping: Document = { ...bot, settings: { onError: 'say' }, nodes: { ...(bot.nodes as object), jump: { type: 'goto', config: { node: 'say' } } } }
  const renamed = rename(place(jumping, { say: { x: 5, y: 6 } }), 'say', 'hello')
  expect(renamed).toMatchObject({
    settings: { onError: 'hello' },
    nodes: { which: { next: { price: 'hello', else: 'hello' } }, jump: { config: { node: 'hello' } }, hello: { type: 'message' } },
    ui: { nodes: { hello: { x: 5, y: 6 } } },
  })
  expect(Object.keys(renamed.nodes as object)).toEqual(['begin', 'which', 'hello', 'jump'])
  expect(rename(bot, 'say', 'begin')).toBe(bot)

  const less = remove(renamed, ['hello'])
  expect(less.nodes).toEqual({ begin: (bot.nodes as Record<string, unknown>).begin, which: { type: 'condition', config: { branches: [{ id: 'price', when: "input.text == 'price'" }] } }, jump: { type: 'goto', config: { node: 'hello' } } })
})

test('edges go with the branches whose ids they are', () => {
  const next = configure(bot, 'which', { branches: [{ id: 'cost', when: 'true' }] }, { price: 'cost' })
  expect(next).toMatchObject({ nodes: { which: { next: { cost: 'say', else: 'say' } } } })
})

test('the body of a loop is what it repeats, without what it goes on with', () => {
  const flow = read({
    nodes: {
      each: { type: 'loop', next: { body: 'one', done: 'after' } },
      one: { type: 'message', next: { out: 'two', error: 'after' } },
      two: { type: 'message' },
      after: { type: 'end' },
    },
  })
  expect(bodies(flow)).toEqual([{ loop: 'each', nodes: ['one', 'two'] }])
})

test('marks count steps of the flow, and say where the run is', () => {
  const step = (node: string, output: string | null, path: string[] = [], error: { code: string; message: string } | null = null) => ({ node, output, path, error })
  const marks = marksOf([step('begin', 'out'), step('each', 'body'), step('one', 'out', ['each[0]']), step('one', 'error', ['each[1]'], { code: 'x', message: '' }), step('inner', 'out', ['call:vat']), step('ask', null)], 'waiting')
  expect(marks).toEqual({
    nodes: {
      begin: { state: 'done', times: 1 },
      each: { state: 'done', times: 1 },
      one: { state: 'failed', times: 2 },
      ask: { state: 'waiting', times: 1, current: true },
    },
    edges: {
      'begin:out': { state: 'done', times: 1 },
      'each:body': { state: 'done', times: 1 },
      'one:out': { state: 'done', times: 1 },
      'one:error': { state: 'failed', times: 1 },
    },
  })
})

test('what is missing is a problem of the field that would hold it', () => {
  expect(pointerOf({ code: 'shape.required', path: '/nodes/a/config', message: 'text is missing' })).toBe('/nodes/a/config/text')
  expect(pointerOf({ code: 'shape.type', path: '/nodes/a/config/text', message: 'is no text' })).toBe('/nodes/a/config/text')
})

test('a node type of the program draws its outputs, its summary and its fields by what the palette says', () => {
  const shelf = own as unknown as NodeType
  const document = { nodes: { look: { type: 'x.shelf', config: { item: '{{ input.text }}', saveTo: 'found' }, next: { out: 'end' } }, end: { type: 'end' } } }
  const flow = read(document)
  const look = flow.nodes.look ?? { type: '' }
  expect(ports(look, shelf).map((port) => [port.output, port.side])).toEqual([
    ['out', false],
    ['none', false],
    ['error', true],
  ])
  expect(summary(look)).toBe('{{ input.text }} found')
  expect(variables(flow, new Map([['x.shelf', shelf]]))).toEqual(['found'])
  expect(fieldAt(titled(shelf.config as Schema), '/nodes/look/config/to/town')).toBe('to/town')
})
