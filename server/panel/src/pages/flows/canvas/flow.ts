import { isRecord, type Schema } from '../../../ui/schema-form/schema'
import { type Document, edgeId, type Flow, type FlowNode, type FlowProblem, type NodeType, type Place } from './types'

/** bare is a record that inherits nothing: a node may be called constructor. */
const bare = <T>() => Object.create(null) as Record<string, T>

/** read is what can be drawn of a document, which may be anything. */
export function read(document: Document): Flow {
  const nodes = bare<FlowNode>()
  for (const [id, node] of Object.entries(isRecord(document.nodes) ? document.nodes : {})) {
    if (isRecord(node)) nodes[id] = readNode(node)
  }
  return { ...document, nodes, ...(typeof document.start === 'string' ? {} : { start: '' }), ui: { nodes: places(document) } } as Flow
}

// Nodes that did not change keep their identity, so that they are not drawn anew.
const known = new WeakMap<object, FlowNode>()

function readNode(node: Record<string, unknown>): FlowNode {
  let read = known.get(node)
  if (!read) {
    const next = Object.entries(isRecord(node.next) ? node.next : {}).filter((edge): edge is [string, string] => typeof edge[1] === 'string')
    read = {
      ...node,
      type: typeof node.type === 'string' ? node.type : '',
      config: isRecord(node.config) ? node.config : {},
      next: Object.fromEntries(next),
      disabled: node.disabled === true,
      name: typeof node.name === 'string' ? node.name : '',
    }
    known.set(node, read)
  }
  return read
}

/** places are where the nodes stand that somebody has placed. */
export function places(document: Document): Record<string, Place> {
  const found = bare<Place>()
  const nodes = isRecord(document.ui) && isRecord(document.ui.nodes) ? document.ui.nodes : {}
  for (const [id, place] of Object.entries(nodes)) {
    if (isRecord(place) && Number.isFinite(place.x) && Number.isFinite(place.y)) found[id] = { x: Number(place.x), y: Number(place.y) }
  }
  return found
}

/** Edge leads from an output of a node to the next one. */
export interface Edge {
  id: string
  from: string
  output: string
  to: string
}

/** edges are those that lead somewhere, in the order of the document. */
export function edges(flow: Flow): Edge[] {
  return Object.entries(flow.nodes).flatMap(([from, node]) =>
    Object.entries(node.next ?? {})
      .filter(([, to]) => to in flow.nodes)
      .map(([output, to]) => ({ id: edgeId(from, output), from, output, to })),
  )
}

/** Port is an output that a node has, by its type and by how it is configured. */
export interface Port {
  output: string
  /** The output without what all of its kind begin with: choice:small is small. */
  label: string
  /** When a run leaves by it. */
  text: string
  /** Whether most flows leave it open: errors, times that are over. */
  side: boolean
}

/** Names are those that outputs have from elsewhere: what a function returns, which intents there are. */
export type Names = (node: FlowNode, prefix: string) => string[]

const sides = new Set(['error', 'timeout', 'limit', 'invalid', 'cancel', 'refused', 'denied', 'unavailable', 'handoff', 'assigned', 'reply'])

/** ports are the outputs of a node in the order of its type. One that is connected is always among them. */
export function ports(node: FlowNode, type: NodeType | undefined, names: Names = () => []): Port[] {
  const wired = Object.keys(node.next ?? {})
  const found = new Map<string, Port>()
  const add = (output: string, label: string, text: string, side = false) => {
    if (!found.has(output)) found.set(output, { output, label, text, side })
  }
  for (const { name, text } of type?.outputs ?? []) {
    const at = name.indexOf('<')
    if (at < 0) {
      add(name, name, text, sides.has(name))
      continue
    }
    const prefix = name.slice(0, at)
    const own = names(node, prefix)
    const ids = own.length > 0 ? own : configured(node, type)
    for (const id of ids) add(prefix + id, id, text)
    for (const output of wired) if (prefix && output.startsWith(prefix)) add(output, output.slice(prefix.length), text)
  }
  for (const output of wired) add(output, output, '')
  return [...found.values()]
}

/** branches is the member of a configuration whose items' ids are outputs. */
export function branches(type: NodeType | undefined): string | undefined {
  const schema = type?.config as Schema | undefined
  return Object.entries(schema?.properties ?? {}).find(([, member]) => member.items?.required?.includes('id'))?.[0]
}

function configured(node: FlowNode, type: NodeType | undefined): string[] {
  const items = node.config?.[branches(type) ?? '']
  if (!Array.isArray(items)) return []
  return items.flatMap((item: unknown) => (isRecord(item) && typeof item.id === 'string' && item.id !== '' ? [item.id] : []))
}

/** openOutputs are kinds of outputs that can be given any name, as status:<code>. */
export function openOutputs(node: FlowNode, type: NodeType | undefined): { prefix: string; hint: string }[] {
  return (type?.outputs ?? []).flatMap(({ name }) => {
    const at = name.indexOf('<')
    return at > 0 && !branches(type) && node.type === type?.type ? [{ prefix: name.slice(0, at), hint: name.slice(at + 1, -1) }] : []
  })
}

/** title is what a node is called. */
export const title = (id: string, node: FlowNode | undefined) => node?.name || id

/** behind are the nodes that a path from one leads to, itself among them, without passing those it must stay out of. */
export function behind(flow: Flow, from: readonly string[], out: ReadonlySet<string> = new Set()): Set<string> {
  const seen = new Set<string>()
  const open = from.filter((id) => id in flow.nodes && !out.has(id))
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    for (const to of Object.values(flow.nodes[id]?.next ?? {})) if (to in flow.nodes && !out.has(to)) open.push(to)
  }
  return seen
}

/** Body is what a loop repeats. */
export interface Body {
  loop: string
  nodes: string[]
}

/** frameOf is what stands around the nodes of a body; undefined when none of them stands anywhere. */
export function frameOf(nodes: readonly (Place & { width: number; height: number })[]): (Place & { width: number; height: number }) | undefined {
  if (nodes.length === 0) return undefined
  const [x, y] = [Math.min(...nodes.map((node) => node.x)) - 20, Math.min(...nodes.map((node) => node.y)) - 22]
  return { x, y, width: Math.max(...nodes.map((node) => node.x + node.width)) + 20 - x, height: Math.max(...nodes.map((node) => node.y + node.height)) + 20 - y }
}

/** bodies are those of all loops: what stands behind body, and is not what the loop goes on with. */
export function bodies(flow: Flow): Body[] {
  return Object.entries(flow.nodes).flatMap(([loop, node]) => {
    const first = node.next?.body
    if (!first || !(first in flow.nodes)) return []
    const rest = Object.entries(node.next ?? {}).filter(([output]) => output !== 'body')
    const after = behind(flow, rest.map(([, to]) => to), new Set([loop]))
    const nodes = [...behind(flow, [first], new Set([loop]))].filter((id) => !after.has(id))
    return nodes.length > 0 ? [{ loop, nodes }] : []
  })
}

/** pointerOf is what a problem is about: what is missing is told at what lacks it. */
export function pointerOf({ code, path, message }: Pick<FlowProblem, 'code' | 'path' | 'message'>): string {
  const missing = code.endsWith('.required') ? /^(\w+) is missing$/.exec(message)?.[1] : undefined
  return missing ? `${path}/${missing}` : path
}
