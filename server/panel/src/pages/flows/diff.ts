import type { Schemas } from '../../api/client'
import type { Document } from './engine'

/** Difference is what the server tells of two versions, but for functions. */
export type Difference = Pick<Schemas['FlowDiff'], 'nodes' | 'edges' | 'document'> & { functions?: Schemas['FlowDiff']['functions'] }
type Change = Schemas['DocumentChange']
type Value = Record<string, unknown>

const isObject = (v: unknown): v is Value => typeof v === 'object' && v !== null && !Array.isArray(v)

/** same says whether two JSON values are equal, whatever the order of members. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((one, i) => same(one, b[i]))
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return names.length === Object.keys(b).length && names.every((name) => name in b && same(a[name], b[name]))
}

const escape = (name: string) => name.replaceAll('~', '~0').replaceAll('/', '~1')
const part = (v: unknown): Value => (isObject(v) ? v : {})
const sorted = (...all: Value[]) => [...new Set(all.flatMap(Object.keys))].sort()

function changes(from: unknown, to: unknown, path: string, out: Change[]) {
  if (same(from, to)) return
  if (isObject(from) && isObject(to)) {
    for (const name of sorted(from, to)) changes(from[name], to[name], `${path}/${escape(name)}`, out)
  } else if (Array.isArray(from) && Array.isArray(to) && from.length === to.length) {
    from.forEach((one, at) => changes(one, to[at], `${path}/${at}`, out))
  } else {
    const kind = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed'
    out.push({ path, kind, from: from ?? null, to: to ?? null })
  }
}

/** difference compares two documents as the server does: without ui, and lists of one length item by item. */
export function difference(from: Document, to: Document): Difference {
  const out: Difference = { nodes: [], edges: [], document: [] }
  const [before, after] = [part(from.nodes), part(to.nodes)]
  for (const id of sorted(before, after)) {
    const { next: was, ...old } = part(before[id])
    const { next: is, ...now } = part(after[id])
    const list: Change[] = []
    changes(id in before ? old : undefined, id in after ? now : undefined, `/nodes/${escape(id)}`, list)
    const kind = !(id in before) ? 'added' : !(id in after) ? 'removed' : 'changed'
    if (kind !== 'changed' || list.length > 0) out.nodes.push({ id, type: String(now.type ?? old.type ?? '') || null, kind, changes: list })
    const [led, leads] = [part(was), part(is)]
    for (const output of sorted(led, leads)) {
      if (!same(led[output], leads[output])) out.edges.push({ node: id, output, from: text(led[output]), to: text(leads[output]) })
    }
  }
  const { nodes: _, ui: __, ...rest } = from
  const { nodes: ___, ui: ____, ...other } = to
  changes(rest, other, '', out.document)
  return out
}

const text = (v: unknown) => (v === undefined || v === null ? null : String(v))

/** leaves are the values that a change of something large is made of, at most so many. */
export function leaves(change: Change, most = 30): Change[] {
  const { kind, from, to, path } = change
  const value = kind === 'added' ? to : kind === 'removed' ? from : undefined
  if (!isObject(value) && !Array.isArray(value)) return [change]
  const out: Change[] = []
  for (const [name, one] of Object.entries(value)) {
    if (out.length >= most) break
    out.push(...leaves({ kind, path: `${path}/${escape(name)}`, from: kind === 'removed' ? one : null, to: kind === 'added' ? one : null }, most - out.length))
  }
  return out
}

/** none says whether nothing has changed. */
export const none = (d: Difference) => d.nodes.length + d.edges.length + d.document.length + (d.functions?.length ?? 0) === 0
