import { expect, test } from 'vitest'
import { paste, read, write } from './clipboard'
import { remove } from './edit'

const document = {
  start: 'a',
  nodes: {
    a: { type: 'trigger', next: { out: 'b' } },
    b: { type: 'message', config: { text: 'Hello' }, next: { out: 'c', error: 'd' } },
    c: { type: 'message', next: { out: 'b' } },
    d: { type: 'end' },
  },
  ui: { nodes: { b: { x: 100, y: 0 }, c: { x: 100, y: 200 } }, zoom: 2 },
}
const where = document.ui.nodes

test('what is copied is pasted under free ids, its edges within it, its middle at the place', () => {
  const clip = read(write(document, ['b', 'c', 'gone'], where))
  if (!clip) throw new Error('nothing was read')
  const { document: next, ids } = paste(document, clip, { x: 10, y: 20 })
  expect(ids).toEqual(['b2', 'c2'])
  expect(next).toEqual({
    start: 'a',
    nodes: { ...document.nodes, b2: { type: 'message', config: { text: 'Hello' }, next: { out: 'c2' } }, c2: { type: 'message', next: { out: 'b2' } } },
    ui: { nodes: { ...where, b2: { x: 10, y: -80 }, c2: { x: 10, y: 120 } }, zoom: 2 },
  })
  expect(paste(remove(document, ['b']), clip, { x: 0, y: 0 }).ids).toEqual(['b', 'c2'])
})

test('a whole document can be pasted; other texts cannot', () => {
  expect(Object.keys(read(JSON.stringify({ format: 'trunkline-flow/1', ...document }))?.nodes ?? {})).toEqual(['a', 'b', 'c', 'd'])
  for (const text of ['', 'hello', '1', 'null', '{}', '{"format":"trunkline-nodes/1","nodes":[]}', '{"format":"trunkline-nodes/1","nodes":{"a":1}}', '{"nodes":{"a":{"type":"end"}}}']) expect(read(text)).toBeUndefined()
})
