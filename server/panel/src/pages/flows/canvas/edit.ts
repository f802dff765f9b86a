import { blank, isRecord, type Schema } from '../../../ui/schema-form/schema'
import { places } from './flow'
import type { Document, NodeType, Place } from './types'

// Every edit takes a document and makes another one. What is not touched, known
// or unknown, stays as it is.

type Raw = Record<string, unknown>

const nodesOf = (document: Document) => (isRecord(document.nodes) ? document.nodes : {})
const nodeOf = (document: Document, id: string) => {
  const node = nodesOf(document)[id]
  return isRecord(node) ? node : undefined
}

/** withNode is the document with another node in the place of one. */
function withNode(document: Document, id: string, change: (node: Raw) => Raw): Document {
  const node = nodeOf(document, id)
  return node ? { ...document, nodes: { ...nodesOf(document), [id]: change(node) } } : document
}

function without<T>(all: Record<string, T>, name: string): Record<string, T> {
  const { [name]: _, ...rest } = all
  return rest
}

/** place says where nodes stand. */
export function place(document: Document, where: Record<string, Place>): Document {
  const nodes = nodesOf(document)
  const ui = isRecord(document.ui) ? document.ui : {}
  const all = Object.entries({ ...places(document), ...where }).filter(([id]) => id in nodes)
  return { ...document, ui: { ...ui, nodes: Object.fromEntries(all.map(([id, { x, y }]) => [id, { x: Math.round(x), y: Math.round(y) }])) } }
}

/** freshId is an id that no node has: the wish, or the wish with a number. */
export function freshId(taken: Record<string, unknown>, wish: string): string {
  const base = wish.replace(/[^A-Za-z0-9_-]/g, '').replace(/^[^A-Za-z]+/, '').replace(/\d+$/, '').slice(0, 58) || 'node'
  if (!(wish in taken) && wish.startsWith(base)) return wish
  for (let n = 2; ; n++) if (!(`${base}${n}` in taken)) return `${base}${n}`
}

/** begin is what a new node is configured with: what its form needs to be right. */
function begin(schema: Schema | undefined): Raw {
  const config: Raw = {}
  for (const name of schema?.required ?? []) {
    const member = schema?.properties?.[name] ?? {}
    config[name] = member.items && member.minItems ? Array.from({ length: member.minItems }, (_, at) => beginItem(member.items ?? {}, at)) : beginValue(member)
  }
  return config
}

function beginItem(schema: Schema, at: number): unknown {
  const item = beginValue(schema)
  return isRecord(item) && 'id' in item ? { ...item, id: `way${at + 1}` } : item
}

function beginValue(schema: Schema): unknown {
  if (schema.enum && schema.default === undefined) return schema.enum[0]
  return (schema.properties ? begin(schema) : blank(schema)) ?? ''
}

/** addNode puts a new node into a document. A first trigger is what the flow starts with. */
export function addNode(document: Document, type: NodeType, at: Place): { document: Document; id: string } {
  const nodes = nodesOf(document)
  const id = freshId(nodes, type.type)
  const config = begin(type.config as Schema)
  const node = { type: type.type, ...(Object.keys(config).length > 0 ? { config } : {}) }
  const next: Document = { ...document, nodes: { ...nodes, [id]: node } }
  const starts = typeof document.start !== 'string' || !(document.start in nodes)
  if (starts && (type.type === 'trigger' || document.kind === 'function')) next.start = id
  return { document: place(next, { [id]: at }), id }
}

/** connect has an output lead to a node, or nowhere. */
export function connect(document: Document, from: string, output: string, to: string | null): Document {
  return withNode(document, from, (node) => {
    const before = isRecord(node.next) ? node.next : {}
    const next = to === null ? without(before, output) : { ...before, [output]: to }
    return Object.keys(next).length > 0 ? { ...node, next } : without(node, 'next')
  })
}

/** configure gives a node another configuration. Outputs go with the branches whose ids they are. */
export function configure(document: Document, id: string, config: Raw, renamed: Record<string, string> = {}): Document {
  return withNode(document, id, (node) => {
    const next = isRecord(node.next) ? Object.fromEntries(Object.entries(node.next).map(([output, to]) => [renamed[output] ?? output, to])) : undefined
    const rest = Object.keys(config).length > 0 ? { ...node, config } : without(node, 'config')
    return next ? { ...rest, next } : rest
  })
}

/** setMember changes another member of a node; undefined takes it away. */
export function setMember(document: Document, id: string, member: 'name' | 'disabled', value: unknown): Document {
  return withNode(document, id, (node) => (value === undefined ? without(node, member) : { ...node, [member]: value }))
}

/** remove takes nodes away, and what leads to them. */
export function remove(document: Document, ids: readonly string[]): Document {
  const gone = new Set(ids)
  const nodes = Object.fromEntries(
    Object.entries(nodesOf(document))
      .filter(([id]) => !gone.has(id))
      .map(([id, node]) => [id, rewire(node, (to) => (gone.has(to) ? null : to))]),
  )
  return place({ ...document, nodes }, {})
}

/** rewire leads the outputs of a node elsewhere; one that does not change is the same. */
function rewire(node: unknown, lead: (to: string) => string | null): unknown {
  if (!isRecord(node) || !isRecord(node.next)) return node
  const led = Object.entries(node.next).map(([output, to]) => [output, typeof to === 'string' ? lead(to) : to] as const)
  if (led.every(([output, to]) => isRecord(node.next) && node.next[output] === to)) return node
  const next = Object.fromEntries(led.filter(([, to]) => to !== null))
  return Object.keys(next).length > 0 ? { ...node, next } : without(node, 'next')
}

/** rename gives a node another id, wherever it is named. */
export function rename(document: Document, id: string, as: string): Document {
  const nodes = nodesOf(document)
  if (id === as || as in nodes || !(id in nodes)) return document
  const named = (node: unknown) => {
    const led = rewire(node, (to) => (to === id ? as : to))
    return isRecord(led) && led.type === 'goto' && isRecord(led.config) && led.config.node === id ? { ...led, config: { ...led.config, node: as } } : led
  }
  const next: Document = { ...document, nodes: Object.fromEntries(Object.entries(nodes).map(([name, node]) => [name === id ? as : name, named(node)])) }
  if (document.start === id) next.start = as
  if (isRecord(document.settings) && document.settings.onError === id) next.settings = { ...document.settings, onError: as }
  const where = places(document)[id]
  return where ? place(next, { [as]: where }) : next
}

/** insert puts nodes into a document, under ids that are free, and says under which. */
export function insert(document: Document, nodes: Record<string, unknown>, where: Record<string, Place>): { document: Document; ids: string[] } {
  const all: Raw = { ...nodesOf(document) }
  const ids = new Map<string, string>()
  for (const id of Object.keys(nodes)) {
    const fresh = freshId(all, id)
    ids.set(id, fresh)
    all[fresh] = null
  }
  const at: Record<string, Place> = {}
  for (const [id, fresh] of ids) {
    all[fresh] = rewire(nodes[id], (to) => ids.get(to) ?? null)
    const stands = where[id]
    if (stands) at[fresh] = stands
  }
  return { document: place({ ...document, nodes: all }, at), ids: [...ids.values()] }
}
